//! Answers while a folder is indexed for the first time, and pages far down: what is missing is
//! said, nothing is called exact that is not, and every file can be reached.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::Folder;

use crate::test_server::TestServer;

const N_FILES: usize = 1_500;

const CONFIG: &str = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\nwatch = false\n\
    [limits]\nresult_chars = 12000\nresult_tokens = 4000\n\
    rate_per_minute = { default = 1000000, searchFiles = 1000000, indexFolder = 1000000 }\n";

fn folder() -> Folder {
    let folder = Folder::new();
    for n in 0..N_FILES {
        let beacon = if n % 300 == 7 { "beacon" } else { "" };
        let text = format!("lighthouse number {n} is alone {beacon}\n");
        folder.write(format!("docs/part {}/note-{n:04}.txt", n % 11), text);
    }
    folder
}

fn warnings(answer: &Value) -> String {
    answer["warnings"].to_string()
}

#[test]
fn while_a_folder_is_indexed_for_the_first_time_answers_say_so() {
    let server = TestServer::start_in(folder(), CONFIG);
    let mcp = server.mcp();
    let arguments = json!({ "query": "beacon", "k": 1 });
    // A server that has just begun cannot be done with so many files.
    let found = mcp.call("searchFiles", &arguments).success();
    assert!(warnings(&found).contains("for the first time: "), "{found}");
    assert_eq!(found["pagination"]["total_is_exact"], false, "{found}");
    let everywhere = mcp.call("search", &json!({ "query": "lighthouse" })).success();
    assert!(warnings(&everywhere).contains("for the first time: "), "{everywhere}");
    let root = fs_err::canonicalize(server.folder.join("docs")).unwrap();
    let listed = mcp.call("listFiles", &json!({ "path": root })).success();
    assert!(warnings(&listed).contains("for the first time: "), "{listed}");
    // Every answer is either exact or says how far the index is.
    server.wait_until(|| {
        let found = mcp.call("searchFiles", &arguments).success();
        let is_exact = found["pagination"]["total_is_exact"] == true;
        let is_said = warnings(&found).contains(" files so far; more may be found");
        let is_begun = !warnings(&found).contains("it has not begun");
        assert!(is_exact != is_said || !is_begun, "{found}");
        is_exact
    });
    let found = mcp.call("searchFiles", &arguments).success();
    assert_eq!(found["pagination"]["total_estimate"], 5, "{found}");
    let by_words = json!(["0 passages can be found by vector: there is no embedding model"]);
    assert_eq!(found["warnings"], by_words, "{found}");
    // More than are counted: the number is said to be no more than an estimate.
    let many = mcp.call("searchFiles", &json!({ "query": "lighthouse", "k": 1 })).success();
    assert_eq!(many["pagination"]["total_is_exact"], false, "{many}");
    // For one word it is as good as a count.
    assert_eq!(many["pagination"]["total_estimate"], N_FILES, "{many}");
}

#[test]
fn every_file_of_a_long_walk_is_reached_and_deep_offsets_work() {
    let server = TestServer::start_in(folder(), CONFIG);
    let mcp = server.mcp();
    let root = server.folder.join("docs");
    let done = mcp.call("indexFolder", &json!({ "root": root })).success();
    server.wait_until(|| {
        done["status"] == "done"
            || mcp.call("indexFolder", &json!({ "root": root })).success()["status"] == "done"
    });
    let mut arguments = json!({ "query": "lighthouse", "k": 100 });
    let mut seen: Vec<String> = Vec::new();
    let mut is_beyond_rank = false;
    for _ in 0..N_FILES {
        let page = mcp.call("searchFiles", &arguments).success();
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["path"].as_str().unwrap().to_owned()));
        is_beyond_rank |= warnings(&page).contains("in a fixed order");
        match page["pagination"].get("next") {
            Some(next) => arguments["offset"] = next.clone(),
            None => break,
        }
    }
    let distinct: BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (N_FILES, N_FILES));
    assert!(is_beyond_rank, "the walk was too short for this test");
    let deep = json!({ "query": "lighthouse", "k": 5, "offset": N_FILES - 3 });
    let deep = mcp.call("searchFiles", &deep).success();
    assert_eq!(deep["items"].as_array().unwrap().len(), 3, "{deep}");
    let estimate = deep["pagination"]["total_estimate"].as_u64().unwrap();
    assert_eq!(estimate, N_FILES as u64, "{deep}");
    let behind = json!({ "query": "lighthouse", "offset": 10_001 });
    let error = mcp.call("searchFiles", &behind).error().to_string();
    assert!(error.contains("10000") && error.contains("give `next` of each page"), "{error}");
}
