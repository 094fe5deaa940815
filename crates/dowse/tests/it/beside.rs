//! The command line beside a running server of the same data folder: every command that needs the
//! data answers what it answers without the server, and none says that the folder is in use.
//!
//! Proved here: `search`, `open`, `index`, `tools`, `check`, `status`, `doctor`, `kb`, `context`,
//! `audit`, `backup` and `mcp` beside `dowse serve`; beside `dowse mcp`; two `dowse mcp` for one
//! folder; exit codes and JSON of each.

use std::process::{Command, Output};

use serde_json::{Value, json};
use testkit::{Folder, StdioSession};

use crate::test_server::{TestServer, dowse};

const CONFIG: &str = "[embedder]\nprovider = \"none\"\n\
    [files]\nroots = [\"documents\"]\n\
    [[tables]]\nname = \"things\"\nsource = \"things.csv\"\n[tables.fields]\n\
    name = { type = \"string\" }\nn = { type = \"number\" }\n";

/// A server over one document and one table.
fn serving() -> TestServer {
    let folder = Folder::new();
    folder.write("documents/plan.md", "# Plan\n\nThe harbour crane is painted in May.\n");
    folder.write("things.csv", "name,n\na,1\n");
    let server = TestServer::start_in(folder, CONFIG);
    server.wait_until(|| run(&server, &["search", "harbour crane", "--json"]).status.success());
    server
}

/// Runs a command over the configuration of the server.
fn run(server: &TestServer, words: &[&str]) -> Output {
    command(&server.folder, words).output().unwrap()
}

fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = dowse(words[0]);
    command.args(&words[1..]).env("DOWSE_CONFIG", folder.join("dowse.toml"));
    command.env("HOME", folder.path()).current_dir(folder.path());
    command
}

#[track_caller]
fn text(output: &Output, code: i32) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "stdout: {stdout}\nstderr: {stderr}");
    assert!(!stderr.contains("in use"), "{stderr}");
    stdout
}

#[track_caller]
fn value(output: &Output, code: i32) -> Value {
    let text = text(output, code);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn files_are_searched_opened_and_indexed() {
    let server = serving();
    let found = text(&run(&server, &["search", "harbour crane"]), 0);
    assert!(found.contains("plan.md"), "{found}");
    let found = value(&run(&server, &["search", "harbour crane", "--json"]), 0);
    assert!(found["items"][0]["snippet"].as_str().unwrap().contains("crane"), "{found}");
    let nothing = value(&run(&server, &["search", "zeppelin", "--json"]), 1);
    assert_eq!(nothing["items"], json!([]));
    // A path is relative to the folder that the command is typed in, not to the server's.
    let opened = text(&run(&server, &["open", "documents/plan.md"]), 0);
    assert!(opened.contains("painted in May"), "{opened}");
    server.folder.write("documents/second.md", "A second harbour document about pilots.\n");
    let indexed = value(&run(&server, &["index", "--json"]), 0);
    assert_eq!(indexed["vectors"], "off", "{indexed}");
    let found = text(&run(&server, &["search", "pilots"]), 0);
    assert!(found.contains("second.md"), "{found}");
    let other = Folder::new();
    let refused = run(&server, &["index", other.path().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("does not serve") && said.contains("hint:"), "{said}");
}

#[test]
fn what_is_served_is_listed_and_checked() {
    let server = serving();
    let tools = value(&run(&server, &["tools", "--json"]), 0);
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"searchFiles") && names.contains(&"query_table"), "{names:?}");
    // Piped output has whole descriptions.
    let printed = text(&run(&server, &["tools"]), 0);
    let longest = printed.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest > 120, "descriptions are cut when piped: {longest}");
    let checked = text(&run(&server, &["check"]), 0);
    assert!(checked.contains("a server is running"), "{checked}");
    assert!(checked.contains("table `things`: 1 row"), "{checked}");
    let checked = value(&run(&server, &["check", "--json"]), 0);
    assert_eq!((&checked["is_running"], &checked["health"]), (&json!(true), &json!("ready")));
    let repair = run(&server, &["check", "--repair"]);
    assert_eq!(repair.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&repair.stderr).contains("stop it before"));
}

#[test]
fn status_says_what_is_served_and_what_is_missing() {
    let server = serving();
    server.folder.write("documents/empty.md", "");
    text(&run(&server, &["index"]), 0);
    let status = value(&run(&server, &["status", "--json"]), 0);
    let data = &status["data"][0];
    assert!(data["server"]["address"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert_eq!(data["folders"][0]["indexed"], 1, "{status}");
    assert_eq!(data["folders"][0]["missing"], json!({ "empty": 1 }), "{status}");
    assert_eq!(data["tables"], json!(["things"]));
    assert_eq!(data["vectors"]["missing"], 0, "no vectors are wanted: {status}");
    let printed = text(&run(&server, &["status"]), 0);
    assert!(printed.contains("1 indexed, without text: 1 empty"), "{printed}");
    assert!(printed.contains("off: search works on words alone"), "{printed}");
    // Without the server the same is said, and that it does not run.
    let TestServer { server, folder } = server;
    server.stop();
    let printed = text(&command(&folder, &["status"]).output().unwrap(), 0);
    assert!(printed.contains("not running") && printed.contains("1 empty"), "{printed}");
}

#[test]
fn the_doctor_finds_what_is_wrong_and_says_the_remedy() {
    let server = serving();
    let well = text(&run(&server, &["doctor"]), 0);
    assert!(well.contains("ok       index: catalogue and indexes agree"), "{well}");
    assert!(well.contains("ok       table things: can be read"), "{well}");
    // A row that does not fit, a client that starts something that is gone, and a model that is
    // not there.
    let TestServer { server: running, folder } = server;
    running.stop();
    folder.write("things.csv", "name,n\na,1\nb,many\n");
    let server = TestServer::start_in(folder, CONFIG);
    server.folder.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"dowse": {"command": "/nowhere/dowse", "args": ["mcp"]}}}"#,
    );
    let model = CONFIG.replace("provider = \"none\"", "model = \"multilingual-e5-small\"");
    server.rewrite(&model);
    let found = value(
        command(&server.folder, &["doctor", "--json"])
            .env("XDG_DATA_HOME", "/nowhere")
            .output()
            .as_ref()
            .unwrap(),
        1,
    );
    let problems: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["state"] == "problem")
        .inspect(|finding| assert!(finding["remedy"].is_string(), "{finding}"))
        .filter_map(|finding| finding["check"].as_str())
        .collect();
    assert_eq!(problems, ["table things", "client cursor"], "{found}");
    // Words are searched without a model, so that its absence is no problem, as for `status`.
    let model = found["findings"].as_array().unwrap().iter().find(|it| it["check"] == "model");
    assert_eq!(model.unwrap()["state"], "note", "{found}");
    assert!(model.unwrap()["remedy"].as_str().unwrap().contains("dowse models pull"), "{found}");
    // A configuration that cannot be read is a finding, not a failure of the doctor.
    server.rewrite("[server]\nlissten = 1\n");
    let found = value(&run(&server, &["doctor", "--json"]), 1);
    assert!(found["findings"][0]["what"].as_str().unwrap().contains("lissten"), "{found}");
}

/// The entry of a client was called well whatever answered at its address.
#[test]
fn the_doctor_speaks_mcp_to_what_a_client_calls() {
    let server = serving();
    let base = format!("http://{}", server.http().authority());
    for (path, code, expected) in [
        ("/mcp", 0, "where Dowse "),
        ("/", 1, "does not speak MCP"),
        ("/nonsense", 1, "does not speak MCP"),
    ] {
        let url = format!("{base}{path}");
        let entry = serde_json::json!({ "mcpServers": { "dowse": { "url": url } } });
        server.folder.write(".cursor/mcp.json", entry.to_string());
        let said = text(&run(&server, &["doctor"]), code);
        assert!(said.contains(expected), "{path}: {said}");
        assert!(said.contains(&format!("`{base}/mcp`")), "{path}: {said}");
    }
}

#[test]
fn a_port_that_is_taken_is_found() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new();
    folder.write("documents/a.md", "text");
    let listen = taken.local_addr().unwrap();
    folder.write(
        "dowse.toml",
        format!("data_dir = \"data\"\n{CONFIG}\n[server]\nlisten = \"{listen}\"\n"),
    );
    folder.write("things.csv", "name,n\na,1\n");
    let found = value(&command(&folder, &["doctor", "--json"]).output().unwrap(), 1);
    let of = |check: &str| {
        let mut all = found["findings"].as_array().unwrap().iter();
        all.find(|finding| finding["check"] == check).unwrap().clone()
    };
    assert_eq!(of("port")["state"], "problem", "{found}");
    assert!(of("port")["remedy"].as_str().unwrap().contains("--listen"), "{found}");
    assert_eq!(of("index")["state"], "problem", "{found}");
}

#[test]
fn knowledge_bases_are_made_filled_and_searched() {
    let server = serving();
    let id = value(&run(&server, &["kb", "create", "rules", "--json"]), 0)["id"].clone();
    server.folder.write("rule.md", "Visitors wear a yellow helmet in the foundry.\n");
    let added = text(&run(&server, &["kb", "add", "rules", "rule.md"]), 0);
    assert!(added.contains("1 chunk  rule.md"), "{added}");
    let listed = value(&run(&server, &["kb", "list", "--json"]), 0);
    assert_eq!((&listed[0]["id"], &listed[0]["documents"]), (&id, &json!(1)));
    let search = ["kb", "search", "rules", "yellow helmet", "--threshold", "0", "--json"];
    let found = value(&run(&server, &search), 0);
    assert!(found["results"][0]["text"].as_str().unwrap().contains("foundry"), "{found}");
    let unknown = run(&server, &["kb", "search", "nothing", "x"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said.starts_with("error: no knowledge base is called `nothing`"), "{said}");
    text(&run(&server, &["kb", "delete", "rules"]), 0);
    assert_eq!(value(&run(&server, &["kb", "list", "--json"]), 0), json!([]));
}

#[test]
fn projects_are_made_and_searched() {
    let server = serving();
    text(&run(&server, &["context", "project", "create", "manuals"]), 0);
    let long = "Torque is measured twice. ".repeat(500);
    server.folder.write("manual.json", json!({ "text": long }).to_string());
    text(&run(&server, &["context", "table", "create", "manuals", "manual.json"]), 0);
    text(&run(&server, &["context", "tool", "create", "manual", "find_torque"]), 0);
    let found = value(&run(&server, &["context", "search", "find_torque", "torque", "--json"]), 0);
    assert_eq!(found["results"][0]["json_path"], "/text", "{found}");
    let endpoint = value(
        &run(&server, &["context", "endpoint", "create", "e", "--tool", "find_torque", "--json"]),
        0,
    );
    // The address is the one of the running server, so that it can be used at once.
    let address = endpoint["address"].as_str().unwrap();
    assert!(address.starts_with(&server.http().url("/mcp/")), "{address}");
}

#[test]
fn the_audit_is_printed_and_a_backup_made() {
    let server = serving();
    server.assert_alive();
    let audit = text(&run(&server, &["audit"]), 0);
    assert!(audit.contains("normalize_ocr_text"), "{audit}");
    let year = audit.lines().nth(1).unwrap().split('-').next().unwrap();
    assert_eq!(year.len(), 4, "times are written as dates: {audit}");
    assert!(audit.lines().nth(1).unwrap().contains(" UTC "), "{audit}");
    // Piped output has whole queries.
    let query = "where is the harbour crane that ".repeat(4);
    let mcp = testkit::Mcp::new(server.http(), "/mcp");
    mcp.call("searchFiles", &json!({ "query": query })).success();
    let audit = text(&run(&server, &["audit"]), 0);
    assert!(audit.contains(query.trim_end()), "{audit}");
    let backup = value(&run(&server, &["backup", "copy.zip", "--json"]), 0);
    assert!(backup["bytes"].as_u64().unwrap() > 0, "{backup}");
    assert!(server.folder.join("copy.zip").is_file());
}

#[test]
fn two_clients_may_start_it_for_the_same_folder() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    folder.write("things.csv", "name,n\na,1\n");
    folder.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    let mut first = StdioSession::start(command(&folder, &["mcp"]));
    first.initialize("2025-11-25");
    let listed = first.request("tools/list", &json!({}));
    assert!(listed.to_string().contains("searchFiles"), "{listed}");
    let mut second = StdioSession::start(command(&folder, &["mcp"]));
    second.initialize("2025-11-25");
    assert_eq!(second.request("tools/list", &json!({})), listed);
    let answer = second.call("normalize_ocr_text", &json!({ "text": "ab" })).success();
    assert_eq!(answer["normalized_text"], "ab");
    // Commands reach the data through the first one, too.
    text(&command(&folder, &["kb", "list"]).output().unwrap(), 0);
    // It listens nowhere; an address that nobody answers at was printed.
    let status = text(&command(&folder, &["status"]).output().unwrap(), 0);
    assert!(status.contains("none listens: `dowse mcp` has the data open"), "{status}");
    assert!(second.close().success());
    assert!(first.close().success());
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    folder.write("things.csv", "name,n\na,1\n");
    folder.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    text(&command(&folder, &["index"]).output().unwrap(), 0);
    let running: Vec<_> = (0..4)
        .map(|_| {
            let mut command = command(&folder, &["search", "harbour", "--json"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in running {
        let found = value(&child.wait_with_output().unwrap(), 0);
        assert_eq!(found["items"].as_array().unwrap().len(), 1);
    }
}

/// Beside an index that was just ending, a command was cut off after its work was done ("run the
/// command again"), or found the store closed.
#[test]
fn commands_beside_an_index_that_ends_are_done_once() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    folder.write("things.csv", "name,n\na,1\n");
    folder.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    text(&command(&folder, &["index"]).output().unwrap(), 0);
    text(&command(&folder, &["kb", "create", "rules"]).output().unwrap(), 0);
    let n_rounds = 4;
    for round in 0..n_rounds {
        let (rule, plan) = (format!("rule-{round}.md"), format!("documents/{round}.md"));
        folder.write(&rule, format!("Rule {round}: visitors wear a yellow helmet.\n"));
        folder.write(&plan, "The harbour crane is oiled in June.\n");
        let add = ["kb", "add", "rules", &rule];
        let typed = [&["index"][..], &["index"], &add, &["search", "harbour"], &["index"]];
        let running: Vec<_> = typed
            .iter()
            .map(|words| {
                let mut command = command(&folder, words);
                command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for child in running {
            text(&child.wait_with_output().unwrap(), 0);
        }
    }
    let listed = value(&command(&folder, &["kb", "list", "--json"]).output().unwrap(), 0);
    assert_eq!(listed[0]["documents"], n_rounds, "{listed}");
}

#[test]
fn a_second_server_says_that_one_runs() {
    let server = serving();
    let output = command(&server.folder, &["serve", "--listen", "0"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("already") && said.contains("dowse status"), "{said}");
}

#[test]
fn no_index_is_said_and_no_folder_is_made() {
    let folder = Folder::new();
    let mut search = dowse("search");
    search.arg("x").env("HOME", folder.path()).env_remove("XDG_DATA_HOME");
    let output = search.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("no index here") && said.contains("dowse index"), "{said}");
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    // A configured folder that was never indexed is no empty result either.
    folder.write("documents/plan.md", "text");
    folder.write("dowse.toml", "data_dir = \"data\"\n[files]\nroots = [\"documents\"]\n");
    let output = command(&folder, &["search", "text"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("no index here") && said.contains("documents"), "{said}");
}

/// `dowse status` advised to name a folder although the configuration names one, and did not say
/// that it is not there.
#[test]
fn a_configured_folder_that_is_not_there_is_named_before_anything_is_indexed() {
    let folder = Folder::new();
    let missing = "docs` does not exist, may not be read or does not answer";
    let run = |words: &[&str], code: i32| text(&command(&folder, words).output().unwrap(), code);
    for engine in
        ["", "[store]\nengine = \"qdrant\"\n[store.qdrant]\nurls = [\"http://127.0.0.1:9\"]\n"]
    {
        let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\n";
        folder.write("dowse.toml", format!("data_dir = \"data\"\n{config}{engine}"));
        let said = run(&["doctor"], 1);
        assert_eq!(said.matches(missing).count(), 1, "{said}");
        let said = run(&["status"], 1);
        assert_eq!(said.matches(missing).count(), 1, "{said}");
        assert!(said.contains("nothing is indexed here"), "{said}");
        assert!(said.contains("hint: run `dowse index --config"), "{said}");
        assert!(said.contains("or `dowse serve --config") && !said.contains("FOLDER"), "{said}");
        let status = value(&command(&folder, &["status", "--json"]).output().unwrap(), 1);
        assert_eq!(status["data"], json!([]), "{status}");
        assert!(status["problems"][0]["problem"].as_str().unwrap().contains(missing), "{status}");
    }
    assert!(!folder.join("data").exists());
    folder.write("docs/a.md", "text");
    let said = run(&["status"], 1);
    assert!(!said.contains("does not exist") && said.contains("dowse index"), "{said}");
}

/// A catalogue that servers share and that is away was "no index here", although nobody had looked.
#[test]
fn a_catalogue_that_is_away_is_not_an_empty_one() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "text");
    let nobody = "url = \"postgres://nobody@127.0.0.1:1/none\"";
    folder.write(
        "dowse.toml",
        format!(
            "data_dir = \"data\"\n[files]\nroots = [\"documents\"]\n\
             [store]\ncatalogue = \"postgres\"\n[store.postgres]\n{nobody}\n"
        ),
    );
    for words in [&["search", "text"][..], &["open", "documents/plan.md"], &["status"], &["doctor"]]
    {
        let output = command(&folder, words).output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_ne!(output.status.code(), Some(0), "{words:?}: {said}");
        let advice = if words[0] == "doctor" { "remedy:" } else { "hint:" };
        assert!(said.contains("cannot be reached") && said.contains(advice), "{words:?}: {said}");
        assert!(!said.contains("no index") && !said.contains("nothing is"), "{words:?}: {said}");
    }
}

#[test]
fn quiet_prints_results_alone() {
    let server = serving();
    let output = run(&server, &["search", "harbour", "-q"]);
    assert!(text(&output, 0).contains("plan.md"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let loud = run(&server, &["search", "harbour"]);
    assert!(String::from_utf8_lossy(&loud.stderr).contains("1 of 1 results"));
}

/// A server of a folder without a configuration is reached by every command, not by searches alone.
#[test]
fn commands_reach_the_server_of_a_folder_without_a_configuration() {
    let folder = Folder::new();
    folder.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    let typed = |words: &[&str]| {
        let mut command = dowse(words[0]);
        command.args(&words[1..]).env("HOME", folder.path());
        command.env("XDG_DATA_HOME", folder.join("data")).current_dir(folder.join("work"));
        command
    };
    let serve = typed(&["serve", "--no-model", "--listen", "0", "documents"]);
    let server = testkit::Server::start_command(serve);
    let printed = server.stderr();
    assert!(printed.contains("claude mcp add --transport http dowse http://127"), "{printed}");
    let run = |words: &[&str]| typed(words).output().unwrap();
    let tools = text(&run(&["tools"]), 0);
    assert!(tools.contains("searchFiles"), "{tools}");
    text(&run(&["kb", "create", "Handbook"]), 0);
    let mcp = testkit::Mcp::new(server.http(), "/mcp");
    let bases = mcp.call("list_knowledge_bases", &json!({})).text_json();
    assert!(bases.to_string().contains("Handbook"), "{bases}");
    let audit = text(&run(&["audit"]), 0);
    assert!(audit.contains("list_knowledge_bases"), "{audit}");
    let backup = value(&run(&["backup", "copy.zip", "--json"]), 0);
    let kept_in = backup["data_dir"].as_str().unwrap();
    assert!(kept_in.starts_with(folder.join("data").to_str().unwrap()), "{backup}");
    let checked = text(&run(&["check"]), 0);
    assert!(checked.contains(kept_in), "{checked}");
    assert!(!folder.join("work/.dowse").exists(), "a second data folder was made");
    // With a second set from the same folder a command asks which one is meant, unless one of them
    // is served.
    folder.write("work/other/note.md", "Pilots come at noon.\n");
    text(&run(&["index", "--no-model", "other"]), 0);
    text(&run(&["kb", "list"]), 0);
    drop(server);
    let unclear = run(&["kb", "list"]);
    let said = String::from_utf8_lossy(&unclear.stderr).into_owned();
    assert_eq!(unclear.status.code(), Some(2), "{said}");
    assert!(said.contains("several sets") && said.contains("`--data-dir "), "{said}");
    // The flag that it names is taken by every command that is about one set.
    let kept_in = ["--data-dir", kept_in];
    let listed = text(&run(&[&["kb", "list"], &kept_in[..]].concat()), 0);
    assert!(listed.contains("Handbook"), "{listed}");
    for words in [&["check"][..], &["context", "project", "list"], &["audit"], &["tools"]] {
        text(&run(&[words, &kept_in].concat()), 0);
    }
    let found = text(&run(&[&["search", "pilots"], &kept_in[..]].concat()), 1);
    assert!(!found.contains("note.md"), "{found}");
    let status = text(&run(&[&["status"], &kept_in[..]].concat()), 0);
    assert!(status.contains("documents") && !status.contains("other"), "{status}");
}

/// A data folder was made in the working folder, and hid from then on what had been indexed.
#[test]
fn a_server_that_names_nothing_serves_what_was_indexed_from_here_and_makes_nothing() {
    let folder = Folder::new();
    folder.write("work/documents/plan.md", "The harbour crane is painted in May.\n");
    let typed = |words: &[&str]| {
        let mut command = dowse(words[0]);
        command.args(&words[1..]).env("HOME", folder.path());
        command.env("XDG_DATA_HOME", folder.join("data")).current_dir(folder.join("work"));
        command
    };
    for words in [&["serve", "--listen", "0"][..], &["mcp"]] {
        let output = typed(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("nothing to serve") && said.contains("dowse init"), "{said}");
        assert!(!folder.join("work/.dowse").exists(), "{words:?}");
    }
    text(&typed(&["index", "--no-model", "documents"]).output().unwrap(), 0);
    let mut session = StdioSession::start(typed(&["mcp", "--no-model"]));
    session.initialize("2025-11-25");
    let found = session.call("searchFiles", &json!({ "query": "crane" })).success();
    assert!(found.to_string().contains("plan.md"), "{found}");
    assert!(session.close().success());
    assert!(!folder.join("work/.dowse").exists());
}

/// The running server embedded the query, although the command said that no model may be used.
#[test]
fn no_model_holds_for_a_command_that_a_server_does() {
    use testkit::loopback::{Loopback, Reply};
    let embedder = Loopback::start(|request| {
        let texts = request.json()["input"].as_array().map_or(1, Vec::len);
        let data: Vec<Value> =
            (0..texts).map(|index| json!({ "index": index, "embedding": [1.0, 0.0] })).collect();
        Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
    });
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    let server = TestServer::start_in(
        folder,
        &format!(
            "[embedder]\nprovider = \"http\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
             [files]\nroots = [\"documents\"]\n",
            embedder.url("")
        ),
    );
    text(&run(&server, &["index"]), 0);
    text(&run(&server, &["search", "crane"]), 0);
    text(&run(&server, &["kb", "create", "rules"]), 0);
    let asked = |query: &str| {
        let requests = embedder.requests();
        requests.iter().any(|request| String::from_utf8_lossy(&request.body).contains(query))
    };
    assert!(asked("crane"));
    for words in [
        &["search", "--no-model", "zebra"][..],
        &["search", "--root", "documents", "zebra", "--no-model"],
        &["kb", "search", "rules", "zebra", "--no-model"],
    ] {
        let output = run(&server, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() != Some(2), "{words:?}: {said}");
        assert!(!asked("zebra"), "{words:?} asked the embedder");
    }
    // Looking how it is asks it for the vector of one word.
    for word in ["status", "check", "doctor"] {
        text(&run(&server, &[word, "--no-model"]), 0);
        assert!(!asked(r#"["dowse"]"#), "{word} asked the embedder");
    }
    text(&run(&server, &["status"]), 0);
    assert!(asked(r#"["dowse"]"#));
}

/// Both waited three minutes for a Qdrant that refuses connections, since they first wanted it to
/// have what the embedded engine had.
#[test]
fn an_engine_that_refuses_is_said_at_once() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    let config = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
                  [files]\nroots = [\"documents\"]\n";
    folder.write("dowse.toml", config);
    text(&command(&folder, &["index"]).output().unwrap(), 0);
    let nobody = testkit::free_port();
    let qdrant =
        format!("engine = \"qdrant\"\n[store.qdrant]\nurls = [\"http://127.0.0.1:{nobody}\"]");
    folder.write("dowse.toml", format!("{config}[store]\n{qdrant}\n"));
    for word in ["check", "doctor"] {
        let begun = std::time::Instant::now();
        let said = text(&command(&folder, &[word]).output().unwrap(), 1);
        assert!(said.contains("does not answer"), "{word}: {said}");
        assert!(begun.elapsed().as_secs() < 30, "{word} took {:?}", begun.elapsed());
    }
}

/// The embedder was called ready without being asked, and a search beside it ended with 0.
#[test]
fn an_embedder_that_fails_is_a_problem_and_searches_go_on_by_words() {
    use testkit::loopback::{Loopback, Reply};
    let embedder = Loopback::start(|_| Reply::status(401, "no such key"));
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    folder.write(
        "dowse.toml",
        format!(
            "data_dir = \"data\"\n[files]\nroots = [\"documents\"]\n[embedder]\n\
             provider = \"http\"\nmodel = \"m\"\ndimensions = 2\nbase_url = \"{}\"\n",
            embedder.url("")
        ),
    );
    text(&command(&folder, &["index"]).output().unwrap(), 1);
    for word in ["status", "check", "doctor"] {
        let said = text(&command(&folder, &[word]).output().unwrap(), 1);
        assert!(said.contains("embedder"), "{word}: {said}");
    }
    let status = text(&command(&folder, &["status"]).output().unwrap(), 1);
    assert!(!status.contains("m, ready"), "{status}");
    // What words find is printed, and the exit code is that of an error, as with `grep`.
    let search = |words: &[&str]| {
        let output = command(&folder, &[&["search"], words].concat()).output().unwrap();
        (output.status.code(), output)
    };
    let (code, found) = search(&["crane"]);
    assert!(text(&found, 2).contains("plan.md"), "{code:?}");
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(said.lines().any(|line| line.starts_with("error: ")), "{said}");
    let (_, found) = search(&["crane", "--json"]);
    let found = value(&found, 2);
    assert_eq!(found["failures"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(found["items"][0]["path"].as_str().unwrap().ends_with("plan.md"), "{found}");
    // Whoever wants no model misses nothing.
    let (_, found) = search(&["crane", "--no-model"]);
    assert!(text(&found, 0).contains("plan.md"));
    text(&command(&folder, &["kb", "create", "rules", "--no-model"]).output().unwrap(), 0);
    let add = ["kb", "add", "rules", "documents/plan.md", "--no-model"];
    text(&command(&folder, &add).output().unwrap(), 0);
    let of_base = ["kb", "search", "rules", "crane", "--threshold", "0"];
    let found = text(&command(&folder, &of_base).output().unwrap(), 2);
    assert!(found.contains("plan.md"), "{found}");
    // The same beside a server that has the data open.
    let mut serve = command(&folder, &["serve", "--listen", "0"]);
    serve.env("DOWSE_LOG", "error");
    let server = testkit::Server::start_command(serve);
    let (_, found) = search(&["crane"]);
    assert!(text(&found, 2).contains("plan.md"));
    let found = text(&command(&folder, &of_base).output().unwrap(), 2);
    assert!(found.contains("plan.md"), "{found}");
    // What the server's embedder is like is nothing to whoever wants no model.
    let by_words = [&of_base[..], &["--no-model"]].concat();
    for words in [&["search", "crane", "--no-model"][..], &by_words] {
        let output = command(&folder, words).output().unwrap();
        assert!(text(&output, 0).contains("plan.md"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("words alone were searched") && !said.contains("so far"), "{said}");
    }
    drop(server);
}

/// A full disk left a result cut short, with exit code 0.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    for words in [&["tools", "--json"][..], &["completions", "bash"], &["man"], &["help"]] {
        let full = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command(&folder, words);
        command.env_remove("DOWSE_CONFIG").stdout(full.into_file());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("could not be written"), "{words:?}: {said}");
    }
}
