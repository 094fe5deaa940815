//! Folders that earlier versions left, killed with an upload that was acknowledged and not taken in
//! yet: the present binary serves all of it, takes the upload in, and leaves one whole file. What
//! agents noted is still good: ids of results, an endpoint with its key, the address of a chart.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use crate::test_server::dowse;

/// How long the upload may take to be found.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder of an earlier version, and a server of this one over it.
struct Fixture {
    folder: Folder,
    server: Server,
    mcp: Mcp,
}

impl Fixture {
    /// Unpacks a folder and serves it.
    fn new(name: &str) -> Self {
        let folder = Folder::new();
        let archive = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../store/tests/fixtures")
            .join(name)
            .join("folder.tar.gz");
        let unpacked =
            Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.unwrap().success());
        let mut command = dowse("serve");
        command.arg("--config").arg(folder.join("dowse.toml")).args(["--listen", "127.0.0.1:0"]);
        let server = Server::start_command(command);
        server.wait_until_ready();
        let mcp = Mcp::new(server.http(), "/mcp");
        Fixture { folder, server, mcp }
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.mcp.call(tool, arguments).success()
    }

    /// Checks what both folders hold.
    fn check_families(&self) {
        let call = |tool: &str, arguments: Value| self.call(tool, &arguments).to_string();
        assert!(call("query_table", json!({})).contains("Lisbon"));
        assert!(
            call("search_filters", json!({ "query": "Cluj", "category": "county" }))
                .contains("Judetul Cluj")
        );
        assert!(call("search", json!({ "query": "night guard key gate" })).contains("rules"));
        assert!(
            call("search", json!({ "query": "lighthouse keeper storm" })).contains("ighthouse")
        );
        // The folder lies elsewhere now, so that its files are read again; and the upload that was
        // acknowledged before the kill is taken in.
        for (tool, query, expected) in [
            ("searchFiles", "castle above the river", "lisbon.md"),
            ("search", "forklift ledger shift", "shift"),
        ] {
            let is_found = testkit::wait_until(PATIENCE, || {
                call(tool, json!({ "query": query })).contains(expected)
            });
            assert!(is_found, "`{expected}` is not found:\n{}", self.server.stderr());
        }
    }

    /// Stops the server, and checks that it leaves one whole file and goes on with the record of
    /// calls.
    fn check_end(self, n_earlier_calls: usize) {
        // An index that is stopped before its end is a problem to `dowse check`.
        let is_done = |job: &Value| job["status"] != "queued" && job["status"] != "running";
        let is_quiet = || {
            let jobs = self.server.http().get("/v1/jobs").json();
            jobs["jobs"].as_array().is_some_and(|jobs| jobs.iter().all(is_done))
        };
        assert!(testkit::wait_until(PATIENCE, is_quiet), "{}", self.server.stderr());
        assert!(self.server.stop().success());
        let store = self.folder.join("data/store");
        let log = fs_err::metadata(store.join("catalogue.sqlite-wal"));
        assert!(log.is_err() || log.unwrap().len() == 0, "a clean stop leaves one whole file");
        let audit = fs_err::read_to_string(self.folder.join("data/audit/audit.jsonl")).unwrap();
        assert!(audit.lines().count() >= n_earlier_calls + 6, "the record of calls goes on");
        let mut check = dowse("check");
        let config = self.folder.join("dowse.toml");
        let checked = check.arg("--repair").arg("--config").arg(&config).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn a_folder_of_an_earlier_version_is_served_as_it_was() {
    let fixture = Fixture::new("folder-1");
    fixture.check_families();
    fixture.check_end(4);
}

/// Gives the id of the result with a title.
fn id_of<'a>(answer: &'a Value, title: &str) -> &'a str {
    let results = answer["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["title"] == title);
    result.and_then(|result| result["id"].as_str()).unwrap_or_else(|| panic!("{title}: {answer}"))
}

#[test]
fn what_agents_noted_of_a_folder_of_format_3_is_still_good() {
    let fixture = Fixture::new("folder-3");
    let read = |name: &str| fs_err::read_to_string(fixture.folder.join(name)).unwrap();
    for (noted, title) in [
        ("search-rules.json", "rules.txt"),
        ("search-storms.json", "book /book/chapters/0"),
        ("search-lisbon.json", "cities: city"),
    ] {
        let noted: Value = serde_json::from_str(&read(noted)).unwrap();
        let id = id_of(&noted, title);
        let fetched = fixture.call("fetch", &json!({ "id": id }));
        assert_eq!((&fetched["id"], &fetched["title"]), (&json!(id), &json!(title)));
    }
    let noted: Value = serde_json::from_str(&read("search-rules.json")).unwrap();
    let rules = fixture.call("search", &json!({ "query": "night guard key gate" }));
    assert_eq!(id_of(&rules, "rules.txt"), id_of(&noted, "rules.txt"));
    let endpoint = read("endpoint.txt");
    let (address, key) = endpoint.trim().split_once('\n').unwrap();
    let path = &address[address.find("/mcp/").unwrap()..];
    let agent = Mcp::new(fixture.server.http(), path);
    let agent = agent.header("Authorization", &format!("Bearer {key}"));
    let storms = agent.call("storms", &json!({ "query": "storm number 7" })).success();
    assert!(!storms["results"].as_array().unwrap().is_empty(), "{storms}");
    let chart: Value = serde_json::from_str(&read("chart.json")).unwrap();
    let path = format!("/charts/{}", chart["chart_id"].as_str().unwrap());
    assert_eq!(fixture.server.http().get(&path).status, 200);
    // A collection of a higher clearance, and the file that a document was made from.
    let safe = fixture.call("search", &json!({ "query": "brass token of the director" }));
    id_of(&safe, "safe.txt");
    fixture.check_families();
    fixture.check_end(8);
}
