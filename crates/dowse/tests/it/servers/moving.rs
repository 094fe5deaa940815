//! Proves that: a data folder is moved to PostgreSQL and back, with the embedded engine and with
//! Qdrant, to equal answers, originals included; an interrupted move is repeated, and what was
//! deleted since is gone; a catalogue that holds something else is refused; a backup of servers that
//! run, and of a database without a server, is restored into either kind.

use std::process::Output;

use serde_json::Value;
use testkit::{Folder, Server};

use super::{Bed, Collection, Member, start_in};
use crate::test_server::dowse;

const LOCAL: &str = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
                     [limits]\nrate_per_minute = { default = 100000 }\n";

fn run(arguments: &[&str]) -> Output {
    let mut command = dowse(arguments[0]);
    command.args(&arguments[1..]).output().unwrap()
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn fails(output: &Output, reason: &str) {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed.contains(reason), "{printed}");
}

fn config_of(folder: &Folder) -> String {
    folder.join("dowse.toml").to_str().unwrap().to_owned()
}

fn local() -> Member {
    let folder = Folder::new();
    folder.write("dowse.toml", LOCAL);
    Member { server: start_in(&folder), folder }
}

fn stopped(member: Member) -> Folder {
    let Member { server, folder } = member;
    assert!(server.stop().success());
    folder
}

fn text(n: usize) -> String {
    format!("Letter number{n} from the harbour of Lisbon.")
}

/// What somebody sees of a collection.
#[derive(Debug, PartialEq)]
struct Seen {
    found: Vec<(String, String)>,
    originals: Vec<String>,
    n_documents: u64,
}

fn seen(member: &Member, collection: &Collection, ids: &[String]) -> Seen {
    Seen {
        found: member.found(collection, "harbour letter"),
        originals: ids.iter().map(|id| member.original(id).text()).collect(),
        n_documents: member.n_documents(collection),
    }
}

fn filled(member: &Member) -> (Collection, Vec<String>) {
    let collection = member.collection();
    let ids: Vec<String> =
        (0..8).map(|n| member.add(&collection, &format!("t{n}"), &text(n))).collect();
    member.wait_until_ready(&ids);
    member.wait_until("not all are found", || {
        member.found(&collection, "harbour letter").len() == ids.len()
    });
    (collection, ids)
}

fn there_and_back(bed: &Bed) {
    let member = local();
    let (collection, mut ids) = filled(&member);
    let before = seen(&member, &collection, &ids);

    let there = Folder::new();
    there.write("dowse.toml", bed.config());
    let to = config_of(&there);
    let from = config_of(&member.folder);
    fails(&run(&["move", "--config", &from, "--to", &to]), "stop every server");
    let folder = stopped(member);
    let moved = succeeds(&run(&["move", "--config", &from, "--to", &to, "--json"]));
    let moved: Value = serde_json::from_str(&moved).unwrap();
    assert_eq!((&moved["documents"], &moved["uploads"]), (&8.into(), &8.into()), "{moved}");
    // It is its own catalogue now: nothing is moved into it again.
    fails(&run(&["move", "--config", &from, "--to", &to]), "a move goes into an empty catalogue");

    let shared = Member { server: start_in(&there), folder: there };
    shared.wait_until("answers differ", || seen(&shared, &collection, &ids) == before);
    // A server with a folder of its own serves the same database: nothing is moved under it.
    let operator = Folder::new();
    operator.write("dowse.toml", bed.config());
    let elsewhere = Folder::new();
    elsewhere.write("dowse.toml", LOCAL);
    let refused = run(&["move", "--config", &config_of(&operator), "--to", &config_of(&elsewhere)]);
    fails(&refused, "serves the catalogue in PostgreSQL");
    let late = shared.add(&collection, "late", "A late letter from the harbour.");
    shared.wait_until_ready(std::slice::from_ref(&late));
    shared.wait_until("it is not found", || {
        shared.found(&collection, "harbour letter").len() == ids.len() + 1
    });
    ids.push(late);
    let after = seen(&shared, &collection, &ids);
    let there = stopped(shared);

    let back = Folder::new();
    back.write("dowse.toml", LOCAL);
    succeeds(&run(&["move", "--config", &config_of(&there), "--to", &config_of(&back)]));
    let member = Member { server: start_in(&back), folder: back };
    member.wait_until("answers differ", || seen(&member, &collection, &ids) == after);
    drop(folder);
}

#[test]
fn a_data_folder_moves_to_postgres_and_back() {
    let Some(bed) = Bed::embedded() else { return };
    there_and_back(&bed);
}

#[test]
fn a_data_folder_moves_to_postgres_and_qdrant_and_back() {
    let Some(bed) = Bed::qdrant(1) else { return };
    there_and_back(&bed);
}

#[test]
fn an_interrupted_move_is_repeated_and_what_was_deleted_since_is_gone() {
    let Some(bed) = Bed::embedded() else { return };
    let member = local();
    let (collection, ids) = filled(&member);
    let folder = stopped(member);
    let there = Folder::new();
    there.write("dowse.toml", bed.config());
    let (from, to) = (config_of(&folder), config_of(&there));
    // The database is away in the middle: whatever arrived by then stays unfinished.
    bed.postgres.run(
        "CREATE SCHEMA dowse; CREATE FUNCTION dowse.refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'interrupted'; END $$",
    );
    succeeds(&run(&["check", "--config", &to]));
    bed.postgres.run(
        "CREATE TRIGGER interrupting BEFORE INSERT ON dowse.pieces FOR EACH ROW \
         EXECUTE FUNCTION dowse.refuse()",
    );
    fails(&run(&["move", "--config", &from, "--to", &to]), "interrupted");
    bed.postgres.run("DROP TRIGGER interrupting ON dowse.pieces");

    let member = Member { server: start_in(&folder), folder };
    let path = format!("/v1/documents/{}", ids[0]);
    assert!(member.http().send(&testkit::Request::new("DELETE", &path)).status < 300);
    member.wait_until("it is still there", || {
        member.found(&collection, "harbour letter").len() == ids.len() - 1
            && member.n_documents(&collection) == ids.len() as u64 - 1
    });
    // A deletion is out of the answers before it is out of the statistics that scores follow, which
    // a server has caught up with when it starts.
    let folder = stopped(member);
    let member = Member { server: start_in(&folder), folder };
    let before = seen(&member, &collection, &ids[1..]);
    let folder = stopped(member);
    succeeds(&run(&["move", "--config", &from, "--to", &to]));
    drop(folder);
    let shared = Member { server: start_in(&there), folder: there };
    shared.wait_until("answers differ", || seen(&shared, &collection, &ids[1..]) == before);
    assert_eq!(shared.http().get(&path).status, 404);
}

#[test]
fn a_move_that_was_killed_is_repeated() {
    let Some(bed) = Bed::embedded() else { return };
    let member = local();
    let (collection, ids) = filled(&member);
    let before = seen(&member, &collection, &ids);
    let folder = stopped(member);
    let there = Folder::new();
    there.write("dowse.toml", bed.config());
    let (from, to) = (config_of(&folder), config_of(&there));
    succeeds(&run(&["check", "--config", &to]));
    // Something that the move writes waits for ever, once in each of its parts.
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    bed.postgres.run(
        "CREATE FUNCTION dowse.wait() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$",
    );
    for table in ["documents", "pieces"] {
        bed.postgres.run(&format!(
            "CREATE TRIGGER waiting BEFORE INSERT ON dowse.{table} FOR EACH ROW \
             EXECUTE FUNCTION dowse.wait()"
        ));
        let mut command = dowse("move");
        let mut moving = command.args(["--config", &from, "--to", &to]).spawn().unwrap();
        let is_there =
            testkit::wait_until(super::PATIENCE, || bed.postgres.run(waiting).trim() != "0");
        assert!(is_there, "the move never came to `{table}`");
        moving.kill().unwrap();
        moving.wait().unwrap();
        bed.postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
        );
        bed.postgres.run(&format!("DROP TRIGGER waiting ON dowse.{table}"));
    }
    succeeds(&run(&["move", "--config", &from, "--to", &to]));
    let shared = Member { server: start_in(&there), folder: there };
    shared.wait_until("answers differ", || seen(&shared, &collection, &ids) == before);
    drop(folder);
}

#[test]
fn a_backup_of_shared_servers_is_restored_into_either_kind() {
    let Some(bed) = Bed::embedded() else { return };
    let members = bed.start_many(2);
    let (collection, ids) = filled(&members[0]);
    let before = seen(&members[0], &collection, &ids);
    let file = Folder::new();
    let (running, alone) = (file.join("running.zip"), file.join("alone.zip"));
    let (running, alone) = (running.to_str().unwrap(), alone.to_str().unwrap());
    // By a server that runs, and by the command itself while servers run.
    succeeds(&run(&["backup", "--config", &config_of(&members[0].folder), running]));
    let operator = Folder::new();
    operator.write("dowse.toml", bed.config());
    succeeds(&run(&["backup", "--config", &config_of(&operator), alone]));

    let here = Folder::new();
    here.write("dowse.toml", LOCAL);
    succeeds(&run(&["restore", "--config", &config_of(&here), running]));
    let restored = Member { server: start_in(&here), folder: here };
    restored.wait_until("answers differ", || seen(&restored, &collection, &ids) == before);

    // Into another schema of the same database, with a server that runs on it already.
    let other = Folder::new();
    let config =
        bed.config().replace("[store.postgres]\n", "[store.postgres]\nschema = \"other\"\n");
    other.write("dowse.toml", config);
    let waiting = Member { server: start_in(&other), folder: other };
    let beside = Folder::new();
    beside.write("dowse.toml", fs_err::read(waiting.folder.join("dowse.toml")).unwrap());
    succeeds(&run(&["restore", "--config", &config_of(&beside), alone]));
    waiting.wait_until("answers differ", || seen(&waiting, &collection, &ids) == before);
    fails(&run(&["restore", "--config", &config_of(&beside), alone]), "could not be restored");

    // A backup of a data folder goes into PostgreSQL as well.
    let local_copy = file.join("local.zip");
    let local_copy = local_copy.to_str().unwrap();
    succeeds(&run(&["backup", "--config", &config_of(&restored.folder), local_copy]));
    let third = Folder::new();
    let config =
        bed.config().replace("[store.postgres]\n", "[store.postgres]\nschema = \"third\"\n");
    third.write("dowse.toml", config);
    succeeds(&run(&["restore", "--config", &config_of(&third), local_copy]));
    let restored = Member {
        server: Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &third.join("dowse.toml")),
        folder: third,
    };
    restored.wait_until("answers differ", || seen(&restored, &collection, &ids) == before);
}
