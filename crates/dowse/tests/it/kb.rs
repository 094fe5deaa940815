//! `dowse kb`: everything that REST can do, on this machine and without a server.

use std::process::Command;

use serde_json::{Value, json};
use testkit::Folder;
use testkit::loopback::{Loopback, Reply};

use crate::test_server::dowse;

/// A data folder and the commands on it.
struct Fixture(Folder);

impl Fixture {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("dowse.toml", "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n");
        Fixture(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = dowse("kb");
        command.arg("--config").arg(self.0.join("dowse.toml")).args(arguments);
        command
    }

    /// Lets a provider make vectors from now on, in which what is about leave is near to each other.
    fn with_embedder(&self) -> Loopback {
        let embedder = Loopback::start(|request| {
            let texts = request.json()["input"].as_array().cloned().unwrap_or_default();
            let is_near = |text: &str| text.contains("leave") || text.contains("holiday");
            let vector = |text: &Value| match text.as_str().is_some_and(is_near) {
                true => json!([1.0, 0.2, 0.1]),
                false => json!([0.1, 0.2, 1.0]),
            };
            let data: Vec<Value> = (0..)
                .zip(&texts)
                .map(|(index, text)| json!({ "index": index, "embedding": vector(text) }))
                .collect();
            Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
        });
        self.0.write(
            "dowse.toml",
            format!(
                "data_dir = \"data\"\n[embedder]\nprovider = \"http\"\napi = \"openai\"\n\
                 model = \"leave\"\nbase_url = \"{}\"\n",
                embedder.url("")
            ),
        );
        embedder
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

/// `dowse status` spoke of folders alone: an upload without text was named nowhere.
#[test]
fn status_counts_documents_and_names_those_without_text() {
    let fixture = Fixture::new();
    fixture.run(&["create", "Rules"]);
    fixture.run(&["collection", "create", "Rules", "Work"]);
    fixture.0.write("leave.md", "Annual leave is twenty days for everyone.");
    fs_err::write(fixture.0.join("noise.bin"), [0_u8, 1, 2, 255, 0, 7]).unwrap();
    for name in ["leave.md", "noise.bin"] {
        let file = fixture.0.join(name);
        // That one of them has no text is said, and no success.
        let added = ["add", "Rules", file.to_str().unwrap(), "--collection", "Work"];
        fixture.command(&added).output().unwrap();
    }
    let mut status = dowse("status");
    status.arg("--config").arg(fixture.0.join("dowse.toml")).arg("--missing");
    let said = status.output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("1 knowledge base: 1 indexed, without text: 1 failed"), "{said}");
    assert!(said.contains("failed: Rules / Work / noise.bin: "), "{said}");
}

#[test]
fn objects_live_and_die_on_the_command_line() {
    let fixture = Fixture::new();
    let base = fixture.run(&["create", "Rules", "--description", "house rules"]);
    let collection =
        fixture.run(&["collection", "create", "Rules", "Work", "--clearance", "confidential"]);
    fixture.0.write("leave.md", "# Leave\n\nAnnual leave is twenty days for everyone.");
    let file = fixture.0.join("leave.md");
    let file = file.to_str().unwrap();
    let added = fixture.run(&["add", "Rules", file, "--collection", "Work"]);
    let document = added.split_whitespace().next().unwrap();
    fixture.run(&["add", "Rules", "--text", "Remote work: three days.", "--title", "Remote"]);

    let listed = fixture.run(&["collection", "list", &base]);
    assert!(listed.contains("confidential") && listed.contains("documents"), "{listed}");
    let found = fixture.run(&["search", "Rules", "annual leave", "--threshold", "0"]);
    assert!(found.contains("twenty days"), "{found}");
    let summary = fixture.run(&["summary", "Rules"]);
    assert!(summary.contains("2 documents, 2 collections"), "{summary}");
    assert!(summary.contains("Annual leave is twenty days"), "{summary}");

    fixture.0.write("leave.md", "# Leave\n\nAnnual leave is thirty days now.");
    fixture.run(&["replace", document, file]);
    let found = fixture.run(&["search", "Rules", "annual leave", "--threshold", "0"]);
    assert!(found.contains("thirty days") && !found.contains("twenty"), "{found}");
    let versions = fixture.run(&["summary", "Rules", "--versions"]);
    assert!(versions.contains("version 2") && versions.contains("version 1"), "{versions}");
    let documents = fixture.run(&["documents", &collection]);
    assert!(documents.contains(document) && documents.contains("ready"), "{documents}");
    let jobs = fixture.run(&["jobs"]);
    assert!(jobs.contains("knowledge.add") && jobs.contains("done"), "{jobs}");

    fixture.run(&["update", "Rules", "--name", "Laws", "--public"]);
    let bases = fixture.run(&["list"]);
    assert!(bases.contains("Laws") && bases.contains("public"), "{bases}");
    fixture.run(&["collection", "update", &collection, "--clearance", "internal"]);
    let listed = fixture.run(&["collection", "list", "Laws"]);
    assert!(!listed.contains("confidential"), "{listed}");
    fixture.run(&["remove", document]);
    assert!(!fixture.run(&["documents", &collection]).contains(document));
    fixture.run(&["collection", "delete", &collection]);
    fixture.run(&["delete", "Laws"]);
    assert!(!fixture.run(&["list"]).contains("Laws"));

    let unknown = fixture.command(&["summary", "Laws"]).output().unwrap();
    assert!(!unknown.status.success());
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(told.contains("no knowledge base is called `Laws`"), "{told}");
}

/// A model that came after the documents was of no use without a server: nobody made their vectors.
/// Its id was taken for the name of another collection.
#[test]
fn documents_are_added_to_a_collection_by_its_id() {
    let fixture = Fixture::new();
    fixture.run(&["create", "Rules"]);
    let id = fixture.run(&["collection", "create", "Rules", "Work"]);
    fixture.run(&["add", "Rules", "--text", "A visit: an hour.", "--collection", &id]);
    let listed = fixture.run(&["collection", "list", "Rules", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["documents"], 1, "{listed}");
}

/// Every kept answer of the tenant went with it.
#[test]
fn a_document_that_is_removed_takes_the_answers_that_may_hold_it() {
    let fixture = Fixture::new();
    fixture.run(&["create", "Rules"]);
    let added = fixture.run(&["add", "Rules", "--text", "Leave is twenty days.", "--title", "A"]);
    let document = added.split_whitespace().next().unwrap();
    let day = 47_482_i64;
    let line = |tool: &str, answer: Value| {
        let line = json!({
            "at": day * 86_400_000, "request": tool, "tool": tool, "tenant": "local",
            "caller": "ann", "rights": { "clearance": "internal" }, "arguments": {},
            "answer": answer, "ids": [], "hash": "h",
        });
        format!("{line}\n")
    };
    let found = json!({ "results": [{ "content": "twenty", "metadata": { "id": document } }] });
    let lines = line("search_documents", found)
        + &line("query_table", json!({ "rows": [{ "id": "1" }] }))
        + &line("searchFiles", json!({ "items": [] }));
    let kept = format!("data/answers/answers-{day}.jsonl");
    fixture.0.write(&kept, lines);
    fixture.run(&["remove", document]);
    let left = fs_err::read_to_string(fixture.0.join(&kept)).unwrap();
    assert!(!left.contains("search_documents"), "{left}");
    assert!(left.contains("query_table") && left.contains("searchFiles"), "{left}");
}

#[test]
fn a_search_without_a_server_makes_the_vectors_of_what_it_found() {
    let fixture = Fixture::new();
    fixture.run(&["create", "Rules"]);
    for text in ["Annual leave is twenty days.", "Remote work: three days."] {
        fixture.run(&["add", "Rules", "--text", text, "--title", text]);
    }
    let _embedder = fixture.with_embedder();
    let search = || {
        let search = ["search", "Rules", "days of leave", "--threshold", "0"];
        let output = fixture.command(&search).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(search().contains("0 of 2 passages can be found by vector so far"));
    let said = search();
    assert!(!said.contains("can be found by vector"), "{said}");
}

/// Nobody made the vectors of what was made on the command line until a server ran: a question
/// without a word of the text found nothing.
#[test]
fn what_is_made_without_a_server_has_its_vectors_when_the_command_ends() {
    let fixture = Fixture::new();
    let _embedder = fixture.with_embedder();
    let n_missing = || {
        let mut status = dowse("status");
        status.arg("--config").arg(fixture.0.join("dowse.toml")).arg("--json");
        let status: Value = serde_json::from_slice(&status.output().unwrap().stdout).unwrap();
        let vectors = &status["data"][0]["vectors"];
        (vectors["passages"].as_u64().unwrap(), vectors["missing"].as_u64().unwrap())
    };
    fixture.run(&["create", "Rules"]);
    let text = "Annual leave is twenty days.";
    let added = fixture.run(&["add", "Rules", "--text", text, "--title", "A"]);
    assert_eq!(n_missing(), (1, 0), "{added}");
    fixture.0.write("new.md", "Annual leave is thirty days.");
    let (document, new) = (added.split_whitespace().next().unwrap(), fixture.0.join("new.md"));
    fixture.run(&["replace", document, new.to_str().unwrap()]);
    assert_eq!(n_missing(), (1, 0));
    let found = fixture.run(&["search", "Rules", "holiday", "--threshold", "0"]);
    assert!(found.contains("thirty days"), "{found}");

    let context = |arguments: &[&str]| {
        let mut command = dowse("context");
        command.arg("--config").arg(fixture.0.join("dowse.toml")).args(arguments);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        (String::from_utf8(output.stdout).unwrap(), errors)
    };
    fixture.0.write(
        "faq.json",
        r#"[{"q": "Who pays?", "a": "The firm."}, {"q": "Days of leave?", "a": "30."}]"#,
    );
    let faq = fixture.0.join("faq.json");
    context(&["project", "create", "help"]);
    context(&["table", "create", "help", faq.to_str().unwrap()]);
    context(&["tool", "create", "faq", "search_faq", "--description", "Answers"]);
    assert_eq!(n_missing(), (3, 0));
    let (found, said) = context(&["search", "search_faq", "holiday"]);
    assert!(found.contains("Days of leave?"), "{found}");
    assert!(!said.contains("can be found by vector"), "{said}");
}

/// `dowse check` called a configuration valid and ready whose folders could feed nothing.
#[test]
fn check_names_folders_that_cannot_feed_their_collection() {
    let fixture = Fixture::new();
    fixture.run(&["create", "Rules"]);
    let collection = fixture.run(&["collection", "create", "Rules", "Work"]);
    fixture.0.write("handbook/a.md", "Annual leave.");
    let feeds = |path: &str, collection: &str| {
        fixture.0.write(
            "dowse.toml",
            format!(
                "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
                 [[knowledge.folders]]\npath = \"{path}\"\ncollection = \"{collection}\"\n"
            ),
        );
        ["check", "status"].map(|name| {
            let mut command = dowse(name);
            command.arg("--config").arg(fixture.0.join("dowse.toml"));
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        })
    };
    for printed in feeds("handbook", &collection) {
        assert!(!printed.contains("collection folder"), "{printed}");
    }
    for printed in feeds("elsewhere", &collection) {
        assert!(printed.contains("elsewhere`: it does not exist"), "{printed}");
    }
    for printed in feeds("handbook", "work") {
        assert!(printed.contains("handbook`: Collection not found: `work`"), "{printed}");
    }
}
