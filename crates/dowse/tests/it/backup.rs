//! A backup holds everything that was acknowledged, is made beside a running server, and comes
//! back to an equal answer; what is no backup is refused.

use std::process::Output;

use serde_json::{Value, json};
use testkit::{Folder, Request, Server};

use crate::test_server::{TestServer, dowse};

const CONFIG: &str = "[embedder]\nprovider = \"none\"\n";

fn run(subcommand: &str, folder: &Folder, file: &str) -> Output {
    let mut command = dowse(subcommand);
    command.arg("--config").arg(folder.join("dowse.toml")).arg(folder.join(file));
    command.output().unwrap()
}

#[track_caller]
fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn fails(output: &Output, reason: &str) {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed.contains(reason), "{printed}");
}

fn add_documents(test_server: &TestServer, n_documents: usize) -> (String, Vec<String>) {
    let base = test_server.http().post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
    let base = base["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = test_server.http().post_json(&path, &json!({ "name": "c" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let ids = (0..n_documents)
        .map(|n| {
            let text = format!("The tram number {n} climbs to the castle of Brasov.");
            let body = json!({ "title": format!("t{n}"), "text": text });
            let made = test_server.http().post_json(&path, &body);
            assert_eq!(made.status, 202, "{}", made.text());
            made.json()["id"].as_str().unwrap().to_owned()
        })
        .collect();
    (base, ids)
}

fn states(test_server: &TestServer, ids: &[String]) -> Vec<Value> {
    ids.iter()
        .map(|id| test_server.http().get(&format!("/v1/documents/{id}")).json()["status"].clone())
        .collect()
}

fn search(test_server: &TestServer, base: &str) -> Value {
    let path = format!("/v1/knowledge-bases/{base}/search");
    let body = json!({ "query": "tram to the castle", "threshold": 0.0, "max_results": 50 });
    test_server.http().send(&Request::new("POST", &path).json(&body)).json()["results"].clone()
}

fn all_ready(test_server: &TestServer, ids: &[String]) -> bool {
    states(test_server, ids).iter().all(|state| state == "ready")
}

#[test]
fn a_backup_beside_a_running_server_comes_back_to_an_equal_answer() {
    let test_server = TestServer::start(CONFIG);
    let (base, ids) = add_documents(&test_server, 40);
    // Not waited for: what was acknowledged and not yet indexed is in the backup as well.
    succeeds(&run("backup", &test_server.folder, "copy"));
    fails(&run("backup", &test_server.folder, "copy"), "exists already");
    test_server.wait_until(|| all_ready(&test_server, &ids));
    let answer = search(&test_server, &base);
    assert!(answer.as_array().unwrap().len() >= 40, "{answer}");

    let other = Folder::new();
    other.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    std::fs::copy(test_server.folder.join("copy"), other.join("copy")).unwrap();
    succeeds(&run("restore", &other, "copy"));
    fails(&run("restore", &other, "copy"), "could not be restored");
    let server = Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &other.join("dowse.toml"));
    let restored = TestServer { server, folder: other };
    restored.wait_until(|| all_ready(&restored, &ids));
    let again = search(&restored, &base);
    assert_eq!(by_chunk(&answer), by_chunk(&again));
}

#[test]
fn uploads_that_come_and_go_do_not_disturb_a_backup() {
    let test_server = TestServer::start(CONFIG);
    let (_, ids) = add_documents(&test_server, 1);
    let path = format!("/v1/documents/{}", ids[0]);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (test_server, path, is_over) = (&test_server, &path, &is_over);
            scope.spawn(move || {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let body = json!({ "title": "t", "text": format!("Words of number {n}.") });
                    // One of several at the same time may be told that it came too late.
                    test_server.http().send(&Request::new("PUT", path).json(&body));
                }
            });
        }
        let made: Vec<Output> =
            (0..8).map(|n| run("backup", &test_server.folder, &format!("copy-{n}"))).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        made.iter().for_each(succeeds);
    });
}

/// Gives the score of every chunk as it is printed; equal scores may come in another order.
fn by_chunk(answer: &Value) -> std::collections::BTreeMap<String, String> {
    let entry = |result: &Value| {
        let id = result["metadata"]["chunk_id"].as_str().unwrap().to_owned();
        (id, result["score"].to_string())
    };
    answer.as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn a_backup_without_a_server_works_too() {
    let test_server = TestServer::start(CONFIG);
    let (_, ids) = add_documents(&test_server, 3);
    test_server.wait_until(|| all_ready(&test_server, &ids));
    let TestServer { server, folder } = test_server;
    assert!(server.stop().success());
    succeeds(&run("backup", &folder, "copy"));
    let other = Folder::new();
    other.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    std::fs::copy(folder.join("copy"), other.join("copy")).unwrap();
    succeeds(&run("restore", &other, "copy"));
    let server = Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &other.join("dowse.toml"));
    let restored = TestServer { server, folder: other };
    assert!(all_ready(&restored, &ids), "{:?}", states(&restored, &ids));
}

#[test]
fn what_is_no_backup_or_is_damaged_is_refused() {
    let test_server = TestServer::start(CONFIG);
    add_documents(&test_server, 2);
    succeeds(&run("backup", &test_server.folder, "copy"));
    let whole = fs_err::read(test_server.folder.join("copy")).unwrap();
    let refused = |bytes: &[u8], reason: &str| {
        let other = Folder::new();
        other.write("dowse.toml", "data_dir = \"data\"\n");
        other.write("copy", bytes);
        fails(&run("restore", &other, "copy"), reason);
        assert!(!other.join("data/store/catalogue.sqlite").exists());
    };
    refused(b"", "is empty");
    refused(b"some other file", "is not a backup");
    refused(&whole[..whole.len() / 2], "is damaged");
    let mut flipped = whole.clone();
    flipped[5_000] ^= 1;
    refused(&flipped, "is damaged");
}

/// The catalogue had its place before the files of its documents: whoever started a server on a
/// folder whose restore was stopped in between had documents without files, and no second try.
#[test]
fn a_restore_that_was_stopped_leaves_no_catalogue_and_can_be_repeated() {
    let test_server = TestServer::start(CONFIG);
    let (base, ids) = add_documents(&test_server, 3);
    // Small contents are in the catalogue itself.
    let large = json!({ "title": "large", "text": "Words of a large document.\n".repeat(20_000) });
    let path = format!("/v1/documents/{}", ids[0]);
    assert_eq!(test_server.http().send(&Request::new("PUT", &path).json(&large)).status, 202);
    test_server.wait_until(|| all_ready(&test_server, &ids));
    let before = search(&test_server, &base);
    succeeds(&run("backup", &test_server.folder, "copy"));
    let other = Folder::new();
    other.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    other.write("copy", fs_err::read(test_server.folder.join("copy")).unwrap());
    // A file is where the folder of uploads belongs: they cannot be written.
    other.write("data/uploads", "in the way");
    assert!(!run("restore", &other, "copy").status.success());
    assert!(!other.join("data/store/catalogue.sqlite").exists());
    // A part of a data folder was taken for a whole one that holds nothing, and then no restore
    // was possible.
    let is_refused = || {
        for words in
            [&["check"][..], &["check", "--repair"], &["serve"], &["status"], &["kb", "list"]]
        {
            let mut command = dowse(words[0]);
            command.args(&words[1..]).arg("--config").arg(other.join("dowse.toml"));
            fails(&command.output().unwrap(), "did not end");
        }
        assert!(!other.join("data/store/catalogue.sqlite").exists());
    };
    is_refused();
    // One that was killed leaves what it had written.
    fs_err::write(other.join("data/store/catalogue.restoring"), "SQLite format 3\0 and").unwrap();
    fs_err::remove_file(other.join("data/uploads")).unwrap();
    is_refused();
    succeeds(&run("restore", &other, "copy"));
    assert!(!other.join("data/store/catalogue.restoring").exists());
    let server = Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &other.join("dowse.toml"));
    let restored = TestServer { server, folder: other };
    restored.wait_until(|| all_ready(&restored, &ids));
    assert_eq!(by_chunk(&search(&restored, &base)), by_chunk(&before));
    // A second restore into the same place refuses it and changes nothing there.
    let file = restored.folder.join("data/uploads/mine");
    fs_err::write(&file, "mine").unwrap();
    fails(&run("restore", &restored.folder, "copy"), "could not be restored");
    assert_eq!(fs_err::read_to_string(file).unwrap(), "mine");
}

/// A server that said that its catalogue is gone took documents all the same, and lost them.
#[cfg(unix)]
#[test]
fn nothing_is_taken_when_the_catalogue_is_gone() {
    let test_server = TestServer::start(CONFIG);
    let (base, _) = add_documents(&test_server, 1);
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = test_server.http().post_json(&path, &json!({ "name": "d" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let document = json!({ "title": "late", "text": "It climbs." });
    let base = json!({ "name": "late" });
    fs_err::remove_file(test_server.folder.join("data/store/catalogue.sqlite")).unwrap();
    assert_eq!(test_server.http().get("/readyz").status, 503);
    for (path, body) in [(path.as_str(), &document), ("/v1/knowledge-bases", &base)] {
        let refused = test_server.http().post_json(path, body);
        assert_eq!(refused.status, 503, "{path}: {}", refused.text());
        assert!(refused.text().contains("UNAVAILABLE"), "{}", refused.text());
    }
}

#[test]
fn check_works_beside_a_running_server() {
    let test_server = TestServer::start(CONFIG);
    let check = |flags: &[&str]| {
        let mut command = dowse("check");
        command.arg("--config").arg(test_server.folder.join("dowse.toml")).args(flags);
        command.output().unwrap()
    };
    let checked = check(&[]);
    succeeds(&checked);
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(printed.contains("a server is running") && printed.contains("ready"), "{printed}");
    fails(&check(&["--repair"]), "stop it before");
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let test_server = TestServer::start(CONFIG);
    add_documents(&test_server, 1);
    let mode = |path: &str| {
        let metadata = std::fs::metadata(test_server.folder.join(path)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("data"), 0o700);
    assert_eq!(mode("data/audit"), 0o700);
    assert_eq!(mode("data/audit/audit.jsonl"), 0o600);
    assert_eq!(mode("data/store/catalogue.sqlite") & 0o077, 0);
    // A backup holds everything, and is made where everybody may look.
    succeeds(&run("backup", &test_server.folder, "everything"));
    assert_eq!(mode("everything"), 0o600);
}

/// What a command wrote was readable and writable for everybody where the data folder did not keep
/// them out.
#[cfg(unix)]
#[test]
fn commands_write_for_nobody_else_either() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse");
    folder
        .write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}[files]\nroots = [\"docs\"]\n"));
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "umask 000; exec \"$0\" index --config \"$1\""]);
    shell.arg(env!("CARGO_BIN_EXE_dowse")).arg(folder.join("dowse.toml"));
    shell.env_clear().env("HOME", folder.path());
    succeeds(&shell.output().unwrap());
    let mut folders = vec![folder.join("data")];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} is {mode:o}", entry.path().display());
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

#[test]
fn readiness_says_how_the_server_is() {
    let test_server = TestServer::start(CONFIG);
    let ready = test_server.http().get("/readyz");
    assert_eq!(ready.status, 200);
    assert_eq!(
        ready.json(),
        json!({ "status": "ready", "reads": true, "writes": true, "lag": 0, "degraded": [] })
    );
}
