//! Folders through the real binary: from zero configuration, over MCP and at the terminal.

use std::process::Command;

use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use crate::test_server::{TestServer, dowse};

/// A folder of a few documents, and a server that was only told its path.
struct Fixture {
    folder: Folder,
    server: Server,
}

impl Fixture {
    fn start() -> Fixture {
        let folder = Folder::new();
        folder.write("fixture/ferry.md", "# Ferry\n\nThe ferry to the island leaves at noon.\n");
        folder.write("fixture/ticket.txt", "A ferry ticket costs nine coins.\n");
        folder.write("fixture/people.csv", "name,mail\nAnn,ann@example.org\n");
        folder.write("fixture/.hidden/ferry.txt", "a hidden ferry\n");
        folder.write("outside/secret.txt", "the ferry of nobody\n");
        let _ = std::os::unix::fs::symlink(
            folder.join("outside/secret.txt"),
            folder.join("fixture/link.txt"),
        );
        let server = Server::start_command(serve(&folder));
        Fixture { folder, server }
    }

    fn mcp(&self) -> Mcp {
        Mcp::new(self.server.http(), "/mcp")
    }

    fn path(&self, name: &str) -> String {
        let fixture = fs_err::canonicalize(self.folder.join("fixture")).unwrap();
        fixture.join(name).to_str().unwrap().to_owned()
    }

    /// Indexes the folder and gives what that did.
    fn index(&self) -> Value {
        self.mcp().call("indexFolder", &json!({ "root": self.path("") })).success()
    }

    /// Indexes the folder until a run finds all of these files unchanged: a run that was under
    /// way already may have passed by some of them.
    fn settle(&self, n_files: usize) {
        let n_tries = 20;
        let is_settled = |_| self.index()["skipped"] == n_files;
        assert!((0..n_tries).any(is_settled), "{}", self.server.stderr());
    }

    fn search(&self, query: &str) -> Value {
        self.mcp().call("searchFiles", &json!({ "query": query })).success()
    }
}

fn serve(folder: &Folder) -> Command {
    let mut command = dowse("serve");
    command.arg(folder.join("fixture")).args(["--listen", "127.0.0.1:0"]);
    command.current_dir(folder.path()).env("DOWSE_EMBEDDER_PROVIDER", "none");
    command
}

fn names(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap();
    let name = |item: &Value| item["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let mut names: Vec<String> = items.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_searched_without_any_configuration() {
    let fixture = Fixture::start();
    fixture.index();
    let found = fixture.search("ferry");
    assert_eq!(names(&found), ["ferry.md", "ticket.txt"]);
    assert_eq!(found["pagination"]["total_is_exact"], true);
    for item in found["items"].as_array().unwrap() {
        let place = json!({ "path": item["path"], "pointer": item["pointer"] });
        let opened = fixture.mcp().call("openFile", &place).success();
        assert!(opened["preview"].as_str().unwrap().contains("ferry"), "{opened}");
    }
}

#[test]
fn a_place_in_a_file_and_a_result_are_resources() {
    let fixture = Fixture::start();
    fixture.index();
    let mcp = fixture.mcp();
    let read = |uri: &Value| mcp.request("resources/read", &json!({ "uri": uri }));
    let result = mcp.call("searchFiles", &json!({ "query": "ticket" }));
    let link = &result.raw["content"][1];
    assert_eq!((&link["type"], &link["name"]), (&json!("resource_link"), &json!("ticket.txt")));
    let text = read(&link["uri"])["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("nine coins"), "{text}");

    let found = mcp.call("search", &json!({ "query": "ann" })).success();
    let uri = json!(format!("dowse://open/{}", found["results"][0]["id"].as_str().unwrap()));
    let text = read(&uri)["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("Ann") && !text.contains("ann@example.org"), "{text}");

    // One of which there is nothing to see was an empty text.
    let empty = fixture.folder.write("fixture/noise.bin", [0_u8, 159, 146, 150, 0, 1, 2, 3]);
    let uri = json!(format!("dowse://files{}", empty.display()));
    let text = read(&uri)["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("not indexed yet"), "{text}");

    let outside = format!("dowse://files{}", fixture.path("../outside/secret.txt"));
    for uri in [outside.as_str(), "dowse://open/AAAA", "dowse://files/etc/hostname"] {
        let error = mcp.request_error("resources/read", &json!({ "uri": uri }));
        assert!(!error.to_string().contains("nobody"), "{error}");
    }
}

#[test]
fn the_index_follows_the_folder() {
    let fixture = Fixture::start();
    fixture.settle(3);
    fs_err::rename(fixture.path("ferry.md"), fixture.path("boat.md")).unwrap();
    fs_err::remove_file(fixture.path("ticket.txt")).unwrap();
    fixture.folder.write("fixture/deep/er/new.txt", "one more ferry\n");
    fixture.settle(3);
    assert_eq!(names(&fixture.search("ferry")), ["boat.md", "new.txt"]);
}

#[test]
fn a_folder_that_vanishes_keeps_its_index_and_comes_back() {
    let fixture = Fixture::start();
    fixture.index();
    fs_err::rename(fixture.folder.join("fixture"), fixture.folder.join("away")).unwrap();
    fixture.server_notices();
    let found = fixture.search("ferry");
    assert_eq!(names(&found), ["ferry.md", "ticket.txt"]);
    assert!(found["warnings"].to_string().contains("cannot be reached"), "{found}");
    fs_err::rename(fixture.folder.join("away"), fixture.folder.join("fixture")).unwrap();
    let again = fixture.index();
    assert_eq!((&again["indexed"], &again["skipped"]), (&json!(0), &json!(3)), "{again}");
    assert!(!fixture.search("ferry")["warnings"].to_string().contains("reached"));
}

impl Fixture {
    /// Waits until the server has looked at the folder again.
    fn server_notices(&self) {
        let begun = std::time::Instant::now();
        while !self.search("ferry")["warnings"].to_string().contains("cannot be reached") {
            assert!(begun.elapsed().as_secs() < 60, "{}", self.server.stderr());
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
    }
}

#[test]
fn pages_neither_repeat_nor_leave_out_while_files_come_and_go() {
    let fixture = Fixture::start();
    for n in 0..12 {
        let text = format!("lantern {}\n", "lantern ".repeat(12 - n));
        fixture.folder.write(format!("fixture/lantern-{n:02}.txt"), text);
    }
    fixture.settle(15);
    // Each page follows on what the cursor of the one before says.
    let next = std::cell::RefCell::new(json!(0));
    let page = || {
        let arguments = json!({ "query": "lantern", "k": 4, "offset": *next.borrow() });
        let answer = fixture.mcp().call("searchFiles", &arguments).success();
        *next.borrow_mut() = answer["pagination"]["next"].clone();
        names(&answer)
    };
    let mut seen = page();
    for n in 0..6 {
        fixture.folder.write(format!("fixture/better-{n}.txt"), "lantern ".repeat(200));
    }
    fixture.settle(21);
    while next.borrow().is_string() {
        seen.extend(page());
    }
    let n_seen = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), n_seen, "a file is on two pages");
    for n in 0..12 {
        assert!(seen.contains(&format!("lantern-{n:02}.txt")), "{n} is missing: {seen:?}");
    }
}

#[test]
fn nothing_outside_the_root_is_opened_or_said_to_exist() {
    let fixture = Fixture::start();
    fixture.index();
    let mcp = fixture.mcp();
    let secret = fixture.folder.join("outside/secret.txt");
    for path in [
        secret.to_str().unwrap().to_owned(),
        fixture.path("../outside/secret.txt"),
        fixture.path("../outside/none.txt"),
        fixture.path("link.txt"),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
    ] {
        let error = mcp.call("openFile", &json!({ "path": path })).error();
        assert_eq!(error["error"]["code"], "FORBIDDEN", "{path}: {error}");
    }
    assert_eq!(names(&fixture.search("nobody")), Vec::<String>::new());
    let error = mcp.call("openFile", &json!({ "path": fixture.path("none.txt") })).error();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
}

#[test]
fn the_terminal_does_the_same() {
    let folder = Folder::new();
    folder.write(
        "fixture/ferry.md",
        "# Ferry\n\nThe ferry leaves at noon. Write to ann@example.org.",
    );
    folder.write("fixture/other.txt", "Nothing of the kind.");
    let run = |subcommand: &str, arguments: &[&str]| {
        let mut command = dowse(subcommand);
        command.args(arguments).current_dir(folder.path());
        command.env("DOWSE_EMBEDDER_PROVIDER", "none");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let indexed = run("index", &["fixture"]);
    assert!(indexed.contains("2 indexed, 0 skipped, 0 removed"), "{indexed}");
    let indexed = run("index", &["fixture"]);
    assert!(indexed.contains("0 indexed, 2 skipped, 0 removed"), "{indexed}");
    let found = run("search", &["--root", "fixture", "ferry", "noon"]);
    assert!(found.contains("ferry.md") && !found.contains("other.txt"), "{found}");
    assert!(!found.contains("ann@example.org"), "{found}");
    let opened = run("open", &["--root", "fixture", "fixture/ferry.md"]);
    assert!(opened.contains("noon") && !opened.contains("ann@example.org"), "{opened}");
}

/// `dowse open` printed nothing and ended well, whatever was the matter with the file.
#[test]
fn a_file_without_text_is_opened_with_the_reason_with_and_without_a_server() {
    let folder = Folder::new();
    folder.write("fixture/ferry.md", "The ferry leaves at noon.");
    folder.write("fixture/broken.docx", "PK\x03\x04 and nothing more");
    folder.write("fixture/.gitignore", "drafts/\n");
    folder.write("fixture/drafts/a.md", "A draft of a timetable.");
    folder.write("fixture/.old/b.md", "The timetable of last year.");
    folder.write(
        "dowse.toml",
        "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"fixture\"]\nwatch = false\n",
    );
    let run = |words: &[&str]| {
        let mut command = dowse(words[0]);
        command.args(&words[1..]).current_dir(folder.path()).output().unwrap()
    };
    assert!(run(&["index"]).status.success());
    let files = [
        ("broken.docx", "broken (the zip document is damaged"),
        ("drafts/a.md", "an ignore rule leaves it out"),
        (".old/b.md", "it is hidden"),
        ("new.md", "not indexed yet; `dowse index` takes it in"),
    ];
    let check = |files: &[(&str, &str)]| {
        for (name, said) in files {
            let path = format!("fixture/{name}");
            let output = run(&["open", &path]);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
            assert!(output.stdout.is_empty() && stderr.contains(said), "{name}: {stderr}");
            let output = run(&["open", &path, "--json"]);
            assert_eq!(output.status.code(), Some(1), "{name}");
            let opened: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(opened["text"], "", "{opened}");
            assert!(opened["warnings"][0].as_str().unwrap().contains(said), "{opened}");
        }
        assert_eq!(run(&["open", "fixture/ferry.md"]).status.code(), Some(0));
    };
    folder.write("fixture/new.md", "The ferry of tomorrow.");
    check(&files);
    let mut command = dowse("serve");
    command.args(["--listen", "127.0.0.1:0"]).current_dir(folder.path());
    let _server = Server::start_command(command);
    check(&files[..3]);
}

#[test]
fn a_folder_that_does_not_exist_is_refused_at_the_terminal() {
    let folder = Folder::new();
    let output = dowse("index").arg("nowhere").current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("is not a folder"), "{said}");
}

#[test]
fn files_of_a_root_that_is_no_longer_configured_leave_the_index() {
    let config = |roots: &str| {
        format!(
            "[limits]\nrate_per_minute = {{ default = 1000000, searchFiles = 1000000 }}\n\
             [embedder]\nprovider = \"none\"\n[files]\nroots = {roots}\nwatch = false\n"
        )
    };
    let test_server = TestServer::start(&config("[\"one\"]"));
    test_server.folder.write("one/a.txt", "a ferry in one");
    test_server.folder.write("two/b.txt", "a ferry in two");
    let serves = |roots: &str, n_roots: usize| {
        test_server.rewrite(&config(roots));
        test_server.wait_until(|| {
            let answer = test_server.mcp().call("listRoots", &json!({}));
            answer.structured["roots"].as_array().is_some_and(|roots| roots.len() == n_roots)
        });
    };
    let found = |expected: &[&str]| {
        test_server.wait_until(|| {
            let answer = test_server.mcp().call("searchFiles", &json!({ "query": "ferry" }));
            names(&answer.success()) == expected
        });
    };
    serves("[\"one\", \"two\"]", 2);
    found(&["a.txt", "b.txt"]);
    serves("[\"one\"]", 1);
    found(&["a.txt"]);
    // The folder is away when it is configured again: what was indexed of it would be found.
    fs_err::rename(test_server.folder.join("two"), test_server.folder.join("away")).unwrap();
    serves("[\"one\", \"two\"]", 2);
    found(&["a.txt"]);
}
