//! Folders through the real binary: from zero configuration, over MCP and at the terminal.

use std::process::Command;

use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use crate::house::{House, dowse};

/// A folder of a few documents, and a server that was only told its path.
struct Shelf {
    folder: Folder,
    server: Server,
}

impl Shelf {
    fn start() -> Shelf {
        let folder = Folder::new();
        folder.write("shelf/ferry.md", "# Ferry\n\nThe ferry to the island leaves at noon.\n");
        folder.write("shelf/ticket.txt", "A ferry ticket costs nine coins.\n");
        folder.write("shelf/people.csv", "name,mail\nAnn,ann@example.org\n");
        folder.write("shelf/.hidden/ferry.txt", "a hidden ferry\n");
        folder.write("outside/secret.txt", "the ferry of nobody\n");
        let _ = std::os::unix::fs::symlink(
            folder.join("outside/secret.txt"),
            folder.join("shelf/link.txt"),
        );
        let server = Server::start_command(serve(&folder));
        Shelf { folder, server }
    }

    fn mcp(&self) -> Mcp {
        Mcp::new(self.server.http(), "/mcp")
    }

    fn path(&self, name: &str) -> String {
        let shelf = fs_err::canonicalize(self.folder.join("shelf")).unwrap();
        shelf.join(name).to_str().unwrap().to_owned()
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
    command.arg(folder.join("shelf")).args(["--listen", "127.0.0.1:0"]);
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
    let shelf = Shelf::start();
    shelf.index();
    let found = shelf.search("ferry");
    assert_eq!(names(&found), ["ferry.md", "ticket.txt"]);
    assert_eq!(found["pagination"]["total_is_exact"], true);
    for item in found["items"].as_array().unwrap() {
        let place = json!({ "path": item["path"], "pointer": item["pointer"] });
        let opened = shelf.mcp().call("openFile", &place).success();
        assert!(opened["preview"].as_str().unwrap().contains("ferry"), "{opened}");
    }
}

#[test]
fn a_place_in_a_file_and_a_result_are_resources() {
    let shelf = Shelf::start();
    shelf.index();
    let mcp = shelf.mcp();
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

    let outside = format!("dowse://files{}", shelf.path("../outside/secret.txt"));
    for uri in [outside.as_str(), "dowse://open/AAAA", "dowse://files/etc/hostname"] {
        let error = mcp.request_error("resources/read", &json!({ "uri": uri }));
        assert!(!error.to_string().contains("nobody"), "{error}");
    }
}

#[test]
fn the_index_follows_the_folder() {
    let shelf = Shelf::start();
    shelf.settle(3);
    fs_err::rename(shelf.path("ferry.md"), shelf.path("boat.md")).unwrap();
    fs_err::remove_file(shelf.path("ticket.txt")).unwrap();
    shelf.folder.write("shelf/deep/er/new.txt", "one more ferry\n");
    shelf.settle(3);
    assert_eq!(names(&shelf.search("ferry")), ["boat.md", "new.txt"]);
}

#[test]
fn a_folder_that_vanishes_keeps_its_index_and_comes_back() {
    let shelf = Shelf::start();
    shelf.index();
    fs_err::rename(shelf.folder.join("shelf"), shelf.folder.join("away")).unwrap();
    shelf.server_notices();
    let found = shelf.search("ferry");
    assert_eq!(names(&found), ["ferry.md", "ticket.txt"]);
    assert!(found["warnings"].to_string().contains("cannot be reached"), "{found}");
    fs_err::rename(shelf.folder.join("away"), shelf.folder.join("shelf")).unwrap();
    let again = shelf.index();
    assert_eq!((&again["indexed"], &again["skipped"]), (&json!(0), &json!(3)), "{again}");
    assert!(!shelf.search("ferry")["warnings"].to_string().contains("reached"));
}

impl Shelf {
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
    let shelf = Shelf::start();
    for n in 0..12 {
        let text = format!("lantern {}\n", "lantern ".repeat(12 - n));
        shelf.folder.write(format!("shelf/lantern-{n:02}.txt"), text);
    }
    shelf.settle(15);
    // Each page follows on what the cursor of the one before says.
    let next = std::cell::RefCell::new(json!(0));
    let page = || {
        let arguments = json!({ "query": "lantern", "k": 4, "offset": *next.borrow() });
        let answer = shelf.mcp().call("searchFiles", &arguments).success();
        *next.borrow_mut() = answer["pagination"]["next"].clone();
        names(&answer)
    };
    let mut seen = page();
    for n in 0..6 {
        shelf.folder.write(format!("shelf/better-{n}.txt"), "lantern ".repeat(200));
    }
    shelf.settle(21);
    while next.borrow().is_string() {
        seen.extend(page());
    }
    let n_seen = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), n_seen, "a file stands on two pages");
    for n in 0..12 {
        assert!(seen.contains(&format!("lantern-{n:02}.txt")), "{n} is missing: {seen:?}");
    }
}

#[test]
fn nothing_outside_the_root_is_opened_or_said_to_exist() {
    let shelf = Shelf::start();
    shelf.index();
    let mcp = shelf.mcp();
    let secret = shelf.folder.join("outside/secret.txt");
    for path in [
        secret.to_str().unwrap().to_owned(),
        shelf.path("../outside/secret.txt"),
        shelf.path("../outside/none.txt"),
        shelf.path("link.txt"),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
    ] {
        let error = mcp.call("openFile", &json!({ "path": path })).error();
        assert_eq!(error["error"]["code"], "FORBIDDEN", "{path}: {error}");
    }
    assert_eq!(names(&shelf.search("nobody")), Vec::<String>::new());
    let error = mcp.call("openFile", &json!({ "path": shelf.path("none.txt") })).error();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
}

#[test]
fn the_terminal_does_the_same() {
    let folder = Folder::new();
    folder
        .write("shelf/ferry.md", "# Ferry\n\nThe ferry leaves at noon. Write to ann@example.org.");
    folder.write("shelf/other.txt", "Nothing of the kind.");
    let run = |subcommand: &str, arguments: &[&str]| {
        let mut command = dowse(subcommand);
        command.args(arguments).current_dir(folder.path());
        command.env("DOWSE_EMBEDDER_PROVIDER", "none");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let indexed = run("index", &["shelf"]);
    assert!(indexed.contains("2 indexed, 0 skipped, 0 removed"), "{indexed}");
    let indexed = run("index", &["shelf"]);
    assert!(indexed.contains("0 indexed, 2 skipped, 0 removed"), "{indexed}");
    let found = run("search", &["--root", "shelf", "ferry", "noon"]);
    assert!(found.contains("ferry.md") && !found.contains("other.txt"), "{found}");
    assert!(!found.contains("ann@example.org"), "{found}");
    let opened = run("open", &["--root", "shelf", "shelf/ferry.md"]);
    assert!(opened.contains("noon") && !opened.contains("ann@example.org"), "{opened}");
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
    let house = House::start(&config("[\"one\"]"));
    house.folder.write("one/a.txt", "a ferry in one");
    house.folder.write("two/b.txt", "a ferry in two");
    let serves = |roots: &str, n_roots: usize| {
        house.rewrite(&config(roots));
        house.wait_until(|| {
            let answer = house.mcp().call("listRoots", &json!({}));
            answer.structured["roots"].as_array().is_some_and(|roots| roots.len() == n_roots)
        });
    };
    let found = |expected: &[&str]| {
        house.wait_until(|| {
            let answer = house.mcp().call("searchFiles", &json!({ "query": "ferry" }));
            names(&answer.success()) == expected
        });
    };
    serves("[\"one\", \"two\"]", 2);
    found(&["a.txt", "b.txt"]);
    serves("[\"one\"]", 1);
    found(&["a.txt"]);
    // The folder is away when it is configured again: what was indexed of it would be found.
    fs_err::rename(house.folder.join("two"), house.folder.join("away")).unwrap();
    serves("[\"one\", \"two\"]", 2);
    found(&["a.txt"]);
}
