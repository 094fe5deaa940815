//! `dowse kb`: everything that REST can do, on this machine and without a server.

use std::process::Command;

use testkit::Folder;

use crate::house::dowse;

/// A data folder and the commands on it.
struct Shelf(Folder);

impl Shelf {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("dowse.toml", "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n");
        Shelf(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = dowse("kb");
        command.arg("--config").arg(self.0.join("dowse.toml")).args(arguments);
        command
    }

    /// Runs a command that must succeed and gives what it printed.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

#[test]
fn objects_live_and_die_on_the_command_line() {
    let shelf = Shelf::new();
    let base = shelf.run(&["create", "Rules", "--description", "house rules"]);
    let collection =
        shelf.run(&["collection", "create", "Rules", "Work", "--clearance", "confidential"]);
    shelf.0.write("leave.md", "# Leave\n\nAnnual leave is twenty days for everyone.");
    let file = shelf.0.join("leave.md");
    let file = file.to_str().unwrap();
    let added = shelf.run(&["add", "Rules", file, "--collection", "Work"]);
    let document = added.split_whitespace().next().unwrap();
    shelf.run(&["add", "Rules", "--text", "Remote work: three days.", "--title", "Remote"]);

    let listed = shelf.run(&["collection", "list", &base]);
    assert!(listed.contains("confidential") && listed.contains("documents"), "{listed}");
    let found = shelf.run(&["search", "Rules", "annual leave", "--threshold", "0"]);
    assert!(found.contains("twenty days"), "{found}");
    let summary = shelf.run(&["summary", "Rules"]);
    assert!(summary.contains("2 documents, 2 collections"), "{summary}");
    assert!(summary.contains("Annual leave is twenty days"), "{summary}");

    shelf.0.write("leave.md", "# Leave\n\nAnnual leave is thirty days now.");
    shelf.run(&["replace", document, file]);
    let found = shelf.run(&["search", "Rules", "annual leave", "--threshold", "0"]);
    assert!(found.contains("thirty days") && !found.contains("twenty"), "{found}");
    let versions = shelf.run(&["summary", "Rules", "--versions"]);
    assert!(versions.contains("version 2") && versions.contains("version 1"), "{versions}");
    let documents = shelf.run(&["documents", &collection]);
    assert!(documents.contains(document) && documents.contains("ready"), "{documents}");
    let jobs = shelf.run(&["jobs"]);
    assert!(jobs.contains("knowledge.add") && jobs.contains("done"), "{jobs}");

    shelf.run(&["update", "Rules", "--name", "Laws", "--public"]);
    let bases = shelf.run(&["list"]);
    assert!(bases.contains("Laws") && bases.contains("public"), "{bases}");
    shelf.run(&["collection", "update", &collection, "--clearance", "internal"]);
    let listed = shelf.run(&["collection", "list", "Laws"]);
    assert!(!listed.contains("confidential"), "{listed}");
    shelf.run(&["remove", document]);
    assert!(!shelf.run(&["documents", &collection]).contains(document));
    shelf.run(&["collection", "delete", &collection]);
    shelf.run(&["delete", "Laws"]);
    assert!(!shelf.run(&["list"]).contains("Laws"));

    let unknown = shelf.command(&["summary", "Laws"]).output().unwrap();
    assert!(!unknown.status.success());
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(told.contains("no knowledge base is called `Laws`"), "{told}");
}
