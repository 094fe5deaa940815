//! The first hour: one terminal with a server, others beside it, in whichever folder they are.
//!
//! Proved here: a session of `dowse mcp` outlives the process it spoke through; commands find the
//! demo in its folder and the one server that runs from anywhere; a file is opened by its path
//! alone; an empty folder is looked at without a warning; secrets of callers are the server's;
//! variables that are empty are none.

use std::process::{Command, Output};

use serde_json::json;
use testkit::{Folder, Server, StdioSession};

use crate::test_server::dowse;

/// A machine on which nothing was ever indexed.
struct Machine(Folder);

impl Machine {
    fn new() -> Self {
        Machine(Folder::new())
    }

    /// Prepares what is typed in a folder of it, which is made.
    fn typed(&self, working: &str, words: &[&str]) -> Command {
        let working = self.0.join(working);
        fs_err::create_dir_all(&working).unwrap();
        let mut command = dowse(words[0]);
        command.args(&words[1..]).env("HOME", self.0.path());
        command.env("XDG_DATA_HOME", self.0.join("data")).current_dir(working);
        command
    }

    /// Begins an index beside an engine that does not answer, so that nothing is indexed.
    fn begun(&self, working: &str, folder: &str) -> Output {
        let mut index = self.typed(working, &["index", "--no-model", folder]);
        let away = format!("http://127.0.0.1:{}", testkit::free_port());
        index.env("DOWSE_STORE_ENGINE", "qdrant").env("DOWSE_STORE_QDRANT_URLS", away);
        index.output().unwrap()
    }

    fn run(&self, working: &str, words: &[&str]) -> Output {
        self.typed(working, words).output().unwrap()
    }
}

/// Holds that a command ended with a code, and gives what it printed on stdout and on stderr.
#[track_caller]
fn said(output: &Output, code: i32) -> (String, String) {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "stdout: {stdout}\nstderr: {stderr}");
    (stdout, stderr)
}

#[test]
fn a_session_outlives_the_client_that_it_spoke_through() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    let start = || {
        let words = ["mcp", "--no-model", "../documents"];
        let mut session = StdioSession::start(machine.typed("work", &words));
        session.initialize("2025-11-25");
        session
    };
    let find = |session: &mut StdioSession| {
        let session = std::cell::RefCell::new(session);
        assert!(testkit::wait_until(crate::test_server::PATIENCE, || {
            let arguments = json!({ "query": "crane" });
            let found = session.borrow_mut().call("searchFiles", &arguments).success();
            found.to_string().contains("plan.md")
        }));
    };
    let (mut first, mut second, mut third) = (start(), start(), start());
    find(&mut first);
    find(&mut second);
    assert!(first.close().success());
    find(&mut second);
    find(&mut third);
    // One that is killed says nothing before it goes.
    drop(second);
    find(&mut third);
    let (status, _) = said(&machine.run("work", &["status"]), 0);
    assert!(status.contains("`dowse mcp` has the data open"), "{status}");
    assert!(third.close().success());
}

#[test]
fn commands_find_the_demo_in_its_folder() {
    let machine = Machine::new();
    let demo =
        Server::start_command(machine.typed("work", &["demo", "--no-model", "--listen", "0"]));
    assert!(demo.stderr().contains("in this folder"), "{}", demo.stderr());
    let (status, _) = said(&machine.run("work", &["status"]), 0);
    assert!(status.contains(demo.http().authority()), "{status}");
    let allowance = ["search", "remote work allowance"];
    let (found, _) = said(&machine.run("work", &allowance), 0);
    assert!(found.contains("remote-work.md"), "{found}");
    let (bases, _) = said(&machine.run("work", &["kb", "list"]), 0);
    assert!(bases.contains("Meridian"), "{bases}");
    // From other folders it is not seen, and without the server all of it is still found.
    said(&machine.run("elsewhere", &allowance), 2);
    drop(demo);
    let (status, _) = said(&machine.run("work", &["status", "--no-model"]), 0);
    assert!(status.contains("not running") && status.contains("requests"), "{status}");
    let (found, _) = said(&machine.run("work", &["search", "--no-model", "allowance"]), 0);
    assert!(found.contains("remote-work.md"), "{found}");
}

#[test]
fn commands_find_the_one_server_from_anywhere() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    let serve = ["serve", "--no-model", "--listen", "0", "../documents"];
    let server = Server::start_command(machine.typed("work", &serve));
    let find = || machine.run("elsewhere", &["search", "crane"]).status.success();
    assert!(testkit::wait_until(crate::test_server::PATIENCE, find));
    said(&machine.run("work", &["kb", "create", "Handbook", "--public"]), 0);
    let (bases, stderr) = said(&machine.run("elsewhere", &["kb", "list"]), 0);
    assert!(bases.contains("Handbook") && stderr.contains("documents"), "{bases} {stderr}");
    let (tools, _) = said(&machine.run("elsewhere", &["tools"]), 0);
    assert!(tools.contains("searchFiles"), "{tools}");
    let (checked, _) = said(&machine.run("elsewhere", &["check"]), 0);
    assert!(checked.contains("a server is running"), "{checked}");
    said(&machine.run("elsewhere", &["backup", "copy.zip"]), 0);
    // The path says which folder is meant, also from where another one was indexed.
    machine.0.write("other/note.md", "Pilots come at noon.\n");
    said(&machine.run("elsewhere", &["index", "--no-model", "../other"]), 0);
    let (opened, stderr) = said(&machine.run("elsewhere", &["open", "../documents/plan.md"]), 0);
    assert!(opened.contains("painted in May") && !stderr.contains(".."), "{opened} {stderr}");
    // A second set from one folder: which one to index has to be said.
    said(&machine.run("elsewhere", &["index", "--no-model", "../other", "../documents"]), 0);
    let (_, stderr) = said(&machine.run("elsewhere", &["index", "--no-model"]), 2);
    assert!(stderr.contains("several sets"), "{stderr}");
    let (_, stderr) = said(&machine.run("elsewhere", &["search", "--no-model", "crane"]), 0);
    assert!(stderr.contains("1 of 1 results"), "{stderr}");
    // What makes something makes it here, and says that the server will not know of it.
    let (_, stderr) = said(&machine.run("third", &["kb", "create", "Mine"]), 0);
    assert!(stderr.contains("`--data-dir ") && stderr.contains("documents"), "{stderr}");
    assert!(machine.0.join("third/.dowse").is_dir());
    drop(server);
}

/// A store in a folder that was gone could not be closed, which every first look warned of; and
/// `dowse tools` left a data folder behind.
#[test]
fn an_empty_folder_is_looked_at_without_a_word_or_a_trace() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    for words in [
        &["check"][..],
        &["tools"],
        &["tools", "--root", "../documents"],
        &["kb", "list"],
        &["context", "project", "list"],
        &["audit"],
    ] {
        let (_, stderr) = said(&machine.run("work", words), 0);
        assert_eq!(stderr, "", "{words:?}");
    }
    assert!(!machine.0.join("data").exists() && !machine.0.join("work/.dowse").exists());
}

/// A search of a folder that had just been indexed said to index it.
#[cfg(unix)]
#[test]
fn a_folder_of_links_and_an_empty_one_are_said_to_hold_nothing() {
    let machine = Machine::new();
    machine.0.write("elsewhere/plan.md", "The harbour crane is painted in May.\n");
    machine.0.write("work/links/.hidden", "");
    std::os::unix::fs::symlink("../../elsewhere", machine.0.join("work/links/to")).unwrap();
    fs_err::create_dir_all(machine.0.join("work/empty")).unwrap();
    for folder in ["empty", "links"] {
        let search = ["search", "--no-model", "--root", folder, "crane"];
        let (_, stderr) = said(&machine.run("work", &search), 2);
        assert!(stderr.contains("no index here"), "{stderr}");
        let (_, stderr) = said(&machine.run("work", &["index", "--no-model", folder]), 0);
        assert!(stderr.contains("holds no file that is read"), "{stderr}");
        let (_, stderr) = said(&machine.run("work", &search), 1);
        assert!(stderr.contains("symbolic links") && !stderr.contains("dowse index"), "{stderr}");
    }
}

/// One set that was begun and never indexed made every search without a name fail.
#[test]
fn a_search_answers_from_the_sets_that_are_indexed_and_names_the_others() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    machine.0.write("other/note.md", "Pilots come at noon.\n");
    // It begins, and never comes to its end, however slow the machine is.
    said(&machine.begun("work", "../other"), 2);
    // With nothing else there is nothing to answer from.
    let search = |words: &[&str], code| {
        said(&machine.run("work", &[&["search", "--no-model"], words].concat()), code)
    };
    let is_begun = search(&["crane"], 2).1.contains("no index here");
    assert!(is_begun);
    said(&machine.run("work", &["index", "--no-model", "../documents"]), 0);
    let (stdout, stderr) = search(&["crane"], 0);
    assert!(stdout.contains("plan.md"), "{stdout}");
    assert!(stderr.contains("no index here") && stderr.contains("other"), "{stderr}");
    assert!(stderr.contains("dowse index"), "{stderr}");
    let (stdout, _) = search(&["--json", "crane"], 0);
    let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["items"].as_array().unwrap().len(), 1, "{answer}");
    assert!(answer["warnings"].to_string().contains("no index here"), "{answer}");
}

/// `0 indexed, nothing missing`, and exit code 0, though nothing was indexed at all.
#[test]
fn a_folder_that_was_never_indexed_to_its_end_is_a_problem() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    said(&machine.begun("work", "../documents"), 2);
    let (status, _) = said(&machine.run("work", &["status", "--no-model"]), 1);
    assert!(status.contains("0 indexed, not indexed to its end yet"), "{status}");
    assert!(status.contains("hint: run `dowse index "), "{status}");
    let mut doctor = machine.typed("work", &["doctor", "--no-model"]);
    let (found, _) = said(&doctor.env("DOWSE_SERVER_LISTEN", "127.0.0.1:0").output().unwrap(), 1);
    assert!(found.contains("PROBLEM  index: nothing of `"), "{found}");
    said(&machine.run("work", &["index", "--no-model", "../documents"]), 0);
    let (status, _) = said(&machine.run("work", &["status", "--no-model"]), 0);
    assert!(status.contains("1 indexed, nothing missing"), "{status}");
}

/// A server whose port was taken was remembered as one that serves, with an empty index.
#[test]
fn a_start_that_fails_on_its_port_leaves_nothing() {
    let machine = Machine::new();
    machine.0.write("documents/plan.md", "The harbour crane is painted in May.\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = ["serve", "--no-model", "--listen", &port, "../documents"];
    let (_, stderr) = said(&machine.run("work", &serve), 2);
    assert!(stderr.contains("cannot listen"), "{stderr}");
    assert!(!machine.0.join("data").exists());
    let (status, _) = said(&machine.run("work", &["status"]), 1);
    assert!(status.contains("nothing is indexed here"), "{status}");
}

/// A server without the model that its configuration names started without a word of it.
#[test]
fn a_server_says_which_model_and_which_key_is_not_there() {
    let machine = Machine::new();
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    machine.0.write(
        "work/dowse.toml",
        "models_dir = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [llm]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\"\n\
         api_key_env = \"DOWSE_KEY_NOWHERE\"\n",
    );
    let mut serve = machine.typed("work", &["serve", "--listen", "0"]);
    serve.env("DOWSE_SERVER_LISTN", "1");
    let server = Server::start_command(serve);
    let said_at_start = server.stderr();
    for words in [
        "is not there; search goes on with words alone; hint: run `dowse models pull",
        "`llm.api_key_env` names the variable `DOWSE_KEY_NOWHERE`, which is not set",
        "`DOWSE_SERVER_LISTN` sets nothing; did you mean `DOWSE_SERVER_LISTEN`?",
    ] {
        assert!(said_at_start.contains(words), "{said_at_start}");
    }
    // What the server lacks is a problem for whoever looks at it, and without it as well.
    let are_named = || {
        for command in ["check", "status", "doctor"] {
            let (found, _) = said(&machine.run("work", &[command]), 1);
            assert!(found.contains("DOWSE_KEY_NOWHERE"), "{command}: {found}");
            assert!(found.contains("`http://127.0.0.1:9` does not answer"), "{command}: {found}");
            assert_eq!(found.matches("variable `DOWSE_KEY_NOWHERE`").count(), 1, "{found}");
        }
    };
    are_named();
    assert!(server.stop().success());
    are_named();
}

/// A knowledge base that was made in a folder hid everything that was indexed elsewhere: `no folders
/// are configured`, with exit code 2.
#[test]
fn a_knowledge_base_here_hides_no_folders_that_are_indexed_elsewhere() {
    let machine = Machine::new();
    said(&machine.run("third", &["kb", "create", "Handbook"]), 0);
    // With nothing else there is nothing to look at, and no folder to name.
    let (_, stderr) = said(&machine.run("third", &["search", "--no-model", "crane"]), 2);
    assert!(stderr.contains("none was indexed before"), "{stderr}");
    assert!(stderr.contains("`dowse kb search"), "{stderr}");
    let (_, stderr) = said(&machine.run("third", &["open", "--no-model", "plan.md"]), 2);
    assert!(stderr.contains("`dowse kb search"), "{stderr}");
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    said(&machine.run("work", &["index", "--no-model", "documents"]), 0);
    let (found, stderr) = said(&machine.run("third", &["search", "--no-model", "crane"]), 0);
    assert!(found.contains("plan.md") && stderr.contains("work/documents"), "{found} {stderr}");
    assert!(stderr.contains("what is kept here was not searched: `dowse kb search"), "{stderr}");
    let (_, stderr) = said(&machine.run("third", &["open", "--no-model", "plan.md"]), 2);
    assert!(stderr.contains("is in no folder that was indexed"), "{stderr}");
    let opened = machine.run("third", &["open", "--no-model", "../work/documents/plan.md"]);
    assert!(said(&opened, 0).0.contains("painted in May"));
    // So it is while a server has the knowledge base.
    let serve = ["serve", "--no-model", "--listen", "0", "--data-dir", ".dowse"];
    let server = Server::start_command(machine.typed("third", &serve));
    let (found, _) = said(&machine.run("third", &["search", "--no-model", "crane"]), 0);
    assert!(found.contains("plan.md"), "{found}");
    drop(server);
}

/// Under a service manager there is no `HOME`: what was indexed into the working folder was found by
/// no command that named nothing.
#[cfg(unix)]
#[test]
fn what_is_indexed_without_a_home_is_found() {
    let machine = Machine::new();
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    let run = |words: &[&str]| {
        let mut command = machine.typed("work", words);
        command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().unwrap()
    };
    said(&run(&["index", "--no-model", "documents"]), 0);
    let (status, _) = said(&run(&["status", "--no-model"]), 0);
    assert!(status.contains("documents: 1 indexed, nothing missing"), "{status}");
    let (found, _) = said(&run(&["search", "--no-model", "crane"]), 0);
    assert!(found.contains("plan.md"), "{found}");
    said(&run(&["doctor", "--no-model"]), 0);
}

/// Which of the data folders it was could only be guessed.
#[test]
fn a_command_says_whose_data_it_took() {
    let machine = Machine::new();
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    said(&machine.run("work", &["index", "--no-model", "documents"]), 0);
    for words in [&["kb", "list"][..], &["context", "project", "list"], &["audit"], &["tools"]] {
        let (_, stderr) = said(&machine.run("work/below", words), 0);
        let is_said = stderr.contains("work/documents with its data in `");
        assert!(is_said, "{words:?}: {stderr}");
        let quiet = [words, &["-q"]].concat();
        assert_eq!(said(&machine.run("work/below", &quiet), 0).1, "", "{words:?}");
    }
}

/// Beside two servers, `kb list` and `backup` elsewhere looked at an empty folder without a word.
#[test]
fn of_several_servers_one_has_to_be_chosen() {
    let machine = Machine::new();
    for name in ["one", "two"] {
        machine.0.write(format!("{name}/plan.md"), "The harbour crane is painted in May.\n");
    }
    let serve = |name: &str| {
        let server = ["serve", "--no-model", "--listen", "0", "."];
        Server::start_command(machine.typed(name, &server))
    };
    let (one, two) = (serve("one"), serve("two"));
    let commands = [&["kb", "list"][..], &["tools"], &["audit"], &["check"], &["backup", "x.zip"]];
    for words in commands {
        let (stdout, stderr) = said(&machine.run("elsewhere", words), 2);
        assert!(stdout.is_empty() && stderr.contains("several servers run"), "{words:?} {stderr}");
        assert!(stderr.contains("/one with") && stderr.contains("/two with"), "{stderr}");
    }
    let (_, stderr) = said(&machine.run("elsewhere", &["kb", "create", "Mine"]), 0);
    assert!(stderr.contains("not by one of the servers"), "{stderr}");
    drop((one, two));
    // Without servers nothing is chosen, and what there is elsewhere is named.
    let (_, stderr) = said(&machine.run("third", &["kb", "list"]), 0);
    assert!(stderr.contains("elsewhere there is") && stderr.contains("/two with"), "{stderr}");
    // Each set of folders is told apart, and the machine once.
    let (status, _) = said(&machine.run("third", &["status"]), 0);
    assert!(status.contains("\n\ndata "), "{status}");
    let mut doctor = machine.typed("third", &["doctor", "--no-model"]);
    let (found, _) = said(&doctor.env("DOWSE_SERVER_LISTEN", "127.0.0.1:0").output().unwrap(), 0);
    assert_eq!(
        (found.matches("disk:").count(), found.matches("\nof /").count()),
        (1, 2),
        "{found}"
    );
}

/// For a folder inside of an indexed one there was only the way to index it once more.
#[test]
fn who_searches_inside_of_an_indexed_folder_is_told_so() {
    let machine = Machine::new();
    machine.0.write("documents/near/plan.md", "The harbour crane is painted in May.\n");
    said(&machine.run("work", &["index", "--no-model", "../documents"]), 0);
    let search = |root| machine.run("work", &["search", "--no-model", "--root", root, "crane"]);
    let (_, stderr) = said(&search("../documents/near"), 2);
    assert!(stderr.contains("which is indexed: `--root /"), "{stderr}");
    let (found, stderr) = said(&search("../documents"), 0);
    assert!(found.contains("near/plan.md"), "{found}");
    assert!(stderr.contains("words alone were searched: `--no-model`"), "{stderr}");
}

/// A folder that is not there kept those behind it from being indexed.
#[test]
fn a_folder_that_cannot_be_indexed_is_a_failure_and_the_others_are_indexed() {
    let machine = Machine::new();
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    let roots = "[files]\nroots = [\"nowhere\", \"documents\"]\n";
    machine.0.write("work/dowse.toml", roots);
    let (stdout, stderr) = said(&machine.run("work", &["index", "--no-model"]), 2);
    assert!(stdout.contains("documents: 1 indexed") && !stdout.contains("nowhere"), "{stdout}");
    assert!(stderr.contains("nowhere` does not exist") && stderr.contains("hint: "), "{stderr}");
    let (stdout, _) = said(&machine.run("work", &["index", "--no-model", "--json"]), 2);
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(report["roots"][0]["unreachable"].is_string(), "{report}");
    assert!(report["roots"][1]["unreachable"].is_null(), "{report}");
}

#[test]
fn secrets_of_callers_are_not_needed_to_look_and_to_index() {
    let machine = Machine::new();
    machine.0.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    machine.0.write(
        "work/dowse.toml",
        "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [[auth.keys]]\nname = \"ci\"\nkey_env = \"DOWSE_KEY_NOWHERE\"\n",
    );
    said(&machine.run("work", &["index"]), 0);
    let (status, _) = said(&machine.run("work", &["status"]), 0);
    assert!(status.contains("1 indexed"), "{status}");
    let (found, _) = said(&machine.run("work", &["doctor"]), 1);
    assert!(found.contains("DOWSE_KEY_NOWHERE"), "{found}");
    // A server would not know who calls.
    let (_, stderr) = said(&machine.run("work", &["serve", "--listen", "0"]), 2);
    assert!(stderr.contains("DOWSE_KEY_NOWHERE"), "{stderr}");
}

/// An empty `DOWSE_DATA_DIR` made the folder of the configuration the data folder.
#[test]
fn variables_that_are_empty_are_none_and_misspelt_ones_are_named() {
    let machine = Machine::new();
    machine.0.write("work/dowse.toml", "[embedder]\nprovider = \"none\"\n");
    let mut check = machine.typed("work", &["check", "--json"]);
    check.env("DOWSE_DATA_DIR", "").env("DOWSE_CONFIG", "");
    let (checked, _) = said(&check.output().unwrap(), 0);
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(
        (&checked["data_dir"], &checked["configuration"]),
        (&json!(".dowse"), &json!("dowse.toml"),)
    );
    let mut doctor = machine.typed("work", &["doctor"]);
    doctor.env("DOWSE_SERVER_LISTN", "127.0.0.1:1").env("DOWSE_KEY_CI", "x");
    let (found, _) = said(&doctor.output().unwrap(), 1);
    assert!(found.contains("`DOWSE_SERVER_LISTN`"), "{found}");
    assert!(found.contains("`DOWSE_SERVER_LISTEN`"), "{found}");
    // A key that another configuration may name is no problem.
    let mut problems = found.lines().filter(|line| line.starts_with("PROBLEM"));
    assert!(!problems.any(|line| line.contains("DOWSE_KEY_CI")), "{found}");
}

/// A folder that was only named on the command line left the index with the next start of a server
/// whose file names others.
#[test]
fn a_folder_named_on_the_command_line_stays_beside_a_configuration() {
    let machine = Machine::new();
    for folder in ["work/docs", "work/gone", "work/other"] {
        machine.0.write(format!("{folder}/a.txt"), "an ibis in the river");
    }
    let configure = |roots: &str| {
        machine.0.write("work/dowse.toml", format!("[files]\nroots = {roots}\n"));
        let mut serve = machine.typed("work", &["serve", "--no-model", "--listen", "127.0.0.1:0"]);
        serve.args(["--config", "dowse.toml"]);
        let server = Server::start_command(serve);
        server.wait_until_ready();
        assert!(server.stop().success());
    };
    machine.0.write("work/dowse.toml", "[files]\nroots = [\"docs\", \"gone\"]\n");
    let index = ["index", "--no-model", "--json", "other"];
    said(&machine.run("work", &index), 0);
    configure("[\"docs\", \"gone\"]");
    configure("[\"docs\"]");
    let (stdout, _) = said(&machine.run("work", &index), 0);
    assert!(stdout.contains("\"indexed\":0") || stdout.contains("\"indexed\": 0"), "{stdout}");
    let (stdout, _) = said(&machine.run("work", &["index", "--no-model", "--json", "gone"]), 0);
    assert!(stdout.contains("\"indexed\":1") || stdout.contains("\"indexed\": 1"), "{stdout}");
}

/// Taking a folder out of the file asks for the end of its index, for whoever never runs a server
/// too; its text stayed on the disk. One that was only named on the command line stays.
#[test]
fn an_index_erases_what_was_taken_out_of_the_file() {
    let machine = Machine::new();
    machine.0.write("work/docs/a.txt", "an ibis in the river");
    machine.0.write("work/gone/a.txt", "a quorvelty in the harbour");
    machine.0.write("work/other/a.txt", "a blarfinch in the yard");
    machine.0.write("work/dowse.toml", "[files]\nroots = [\"docs\", \"gone\"]\n");
    said(&machine.run("work", &["index", "--no-model"]), 0);
    said(&machine.run("work", &["index", "--no-model", "other"]), 0);
    let is_kept = |word: &str| {
        let store = machine.0.join("work/.dowse/store");
        let bytes = |name: &str| fs_err::read(store.join(name)).unwrap_or_default();
        ["catalogue.sqlite", "catalogue.sqlite-wal"]
            .iter()
            .any(|name| bytes(name).windows(word.len()).any(|window| window == word.as_bytes()))
    };
    assert!(is_kept("quorvelty") && is_kept("blarfinch"));
    machine.0.write("work/dowse.toml", "[files]\nroots = [\"docs\"]\n");
    // Who names a folder asks for that one alone.
    said(&machine.run("work", &["index", "--no-model", "docs"]), 0);
    assert!(is_kept("quorvelty"));
    let (_, stderr) = said(&machine.run("work", &["index", "--no-model"]), 0);
    assert!(stderr.contains("gone` was removed from the configuration"), "{stderr}");
    assert!(!is_kept("quorvelty") && is_kept("blarfinch"));
    let (_, stderr) = said(&machine.run("work", &["index", "--no-model"]), 0);
    assert!(!stderr.contains("removed from the configuration"), "{stderr}");
}

/// A `.dowse` that an earlier version made does not say which folders it is of, and is named.
#[test]
fn a_search_says_where_it_looks() {
    let machine = Machine::new();
    machine.0.write("work/docs/a.txt", "an ibis in the river");
    let index = ["index", "--no-model", "--data-dir", ".dowse", "docs"];
    said(&machine.run("work", &index), 0);
    for place in ["work", "work/deep/er"] {
        let (_, stderr) = said(&machine.run(place, &["search", "--no-model", "ibis"]), 0);
        let data = machine.0.join("work/.dowse");
        assert!(stderr.contains(&format!("in what `{}` holds", data.display())), "{stderr}");
    }
}

/// The results of a folder that is gone looked like any others.
#[test]
fn a_search_says_which_folder_is_away() {
    let folder = Folder::new();
    folder.write("notes/a.txt", "A jackal.");
    let run = |arguments: &[&str]| {
        let mut command = dowse(arguments[0]);
        command.current_dir(folder.path()).args(&arguments[1..]).arg("--data-dir").arg("data");
        command.args(["--no-model"]);
        command.output().unwrap()
    };
    assert!(run(&["index", "notes"]).status.success());
    let said = || String::from_utf8_lossy(&run(&["search", "jackal"]).stderr).into_owned();
    assert!(!said().contains("cannot be reached"), "{}", said());
    fs_err::rename(folder.join("notes"), folder.join("gone")).unwrap();
    assert!(said().contains("notes` cannot be reached now"), "{}", said());
}
