//! What scripts read: with `--json` every command of `kb` and `context` prints one JSON value and
//! nothing else on stdout, those that change and delete included.
//!
//! A command that is added and not run here fails the test: its name is in the help.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::Folder;

use crate::test_server::dowse;

/// A data folder, and the commands that were run on it, by their names.
struct Scripts {
    folder: Folder,
    run: RefCell<BTreeSet<String>>,
}

impl Scripts {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("dowse.toml", "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n");
        Scripts { folder, run: RefCell::default() }
    }

    /// Runs a command, whose name has so many words, and gives the one value that it prints.
    #[track_caller]
    fn json(&self, name: &str, words: &[&str]) -> Value {
        let name_words: Vec<&str> = name.split(' ').collect();
        let output = dowse(name_words[0])
            .args(&name_words[1..])
            .args(words)
            .arg("--json")
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {words:?}: {errors}");
        self.run.borrow_mut().insert(name.to_owned());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{name} {words:?}: {error} in `{}`", String::from_utf8_lossy(&output.stdout))
        })
    }

    /// Holds that every command below these was run.
    #[track_caller]
    fn ensure_all(&self, of: &[&str]) {
        let run = self.run.borrow();
        for name in of {
            let mut words = name.split(' ');
            let output = dowse(words.next().unwrap()).args(words).arg("--help").output().unwrap();
            let help = String::from_utf8(output.stdout).unwrap();
            let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
            let commands = listed.lines().filter_map(|line| line.split_whitespace().next());
            for command in commands.filter(|command| *command != "help") {
                let whole = format!("{name} {command}");
                let is_run =
                    run.iter().any(|one| *one == whole || one.starts_with(&format!("{whole} ")));
                assert!(is_run, "`{whole} --json` is not run");
            }
        }
    }
}

#[test]
fn every_command_of_knowledge_bases_answers_in_json() {
    let scripts = Scripts::new();
    let json = |name: &str, words: &[&str]| scripts.json(name, words);
    let base = json("kb create", &["Rules"]);
    assert_eq!(json("kb update", &["Rules", "--description", "of work"]), base);
    json("kb list", &[]);
    let collection = json("kb collection create", &["Rules", "work"]);
    let collection_id = collection["id"].as_str().unwrap();
    assert_eq!(json("kb collection update", &[collection_id, "--name", "leave"]), collection);
    json("kb collection list", &["Rules"]);
    scripts.folder.write("leave.md", "Annual leave is twenty days.");
    let added = json("kb add", &["Rules", "leave.md", "--collection", "leave"]);
    let document = json!({ "id": added[0]["id"] });
    let document_id = document["id"].as_str().unwrap();
    json("kb documents", &["leave"]);
    scripts.folder.write("leave.md", "Annual leave is thirty days.");
    json("kb replace", &[document_id, "leave.md"]);
    assert_eq!(json("kb set", &[document_id, "--title", "Leave"]), document);
    json("kb search", &["Rules", "annual leave", "--threshold", "0"]);
    json("kb summary", &["Rules"]);
    json("kb summary", &["Rules", "--versions"]);
    json("kb jobs", &[]);
    assert_eq!(json("kb remove", &[document_id]), document);
    assert_eq!(json("kb collection delete", &[collection_id]), collection);
    assert_eq!(json("kb delete", &["Rules"]), base);
    scripts.ensure_all(&["kb", "kb collection"]);
}

#[test]
fn every_command_of_contexts_answers_in_json() {
    let scripts = Scripts::new();
    let json = |name: &str, words: &[&str]| scripts.json(name, words);
    let project = json("context project create", &["manuals"]);
    json("context project list", &[]);
    assert_eq!(json("context project share", &["manuals", "ann"]), project);
    assert_eq!(json("context project unshare", &["manuals", "ann"]), project);
    scripts.folder.write("crane.json", r#"{"crane": "Grease the slewing ring."}"#);
    let table = json("context table create", &["manuals", "crane.json"]);
    json("context table list", &["manuals"]);
    let tool = ["crane", "search_crane", "--path", "/crane", "--description", "The crane."];
    let tool = json("context tool create", &tool);
    json("context tool list", &["manuals"]);
    let described = ["search_crane", "--description", "How to keep the crane."];
    assert_eq!(json("context tool update", &described), tool);
    assert_eq!(json("context tool reindex", &["search_crane"])["id"], tool["id"]);
    scripts.folder.write("crane.json", r#"{"crane": "Grease the slewing ring and the hook."}"#);
    let updated = json("context table update", &["crane", "crane.json"]);
    assert_eq!(updated["id"], table["id"]);
    assert!(updated["index"]["added"].as_u64().unwrap() > 0, "{updated}");
    json("context search", &["search_crane", "slewing ring"]);
    json("context get", &["crane", "/crane"]);
    let endpoint = json("context endpoint create", &["agent", "--tool", "search_crane"]);
    let endpoint_id = json!({ "id": endpoint["id"] });
    assert_eq!(json("context endpoint bind", &["agent", "--tool", "search_crane"]), endpoint_id);
    json("context endpoint add-key", &["agent"]);
    let listed = json("context endpoint list", &["manuals"]);
    let key = listed[0]["keys"][1].as_str().unwrap().split(' ').next().unwrap();
    assert_eq!(json("context endpoint revoke-key", &["agent", key]), endpoint_id);
    assert_eq!(json("context endpoint delete", &["agent"]), endpoint_id);
    assert_eq!(json("context tool delete", &["search_crane"]), tool);
    assert_eq!(json("context table delete", &["crane"]), table);
    assert_eq!(json("context project delete", &["manuals"]), project);
    let families = ["project", "table", "tool", "endpoint"].map(|it| format!("context {it}"));
    let families: Vec<&str> = families.iter().map(String::as_str).collect();
    scripts.ensure_all(&[&["context"][..], &families].concat());
}
