//! `search` and `fetch` of the real binary over folders, knowledge bases, tables and names.

use serde_json::{Value, json};
use testkit::Folder;

use crate::library::{Library, token};
use crate::test_server::{TestServer, dowse};

const CONFIG: &str = r#"
[limits]
rate_per_minute = { default = 100000 }
[embedder]
provider = "none"
[files]
roots = ["notes"]
[[tables]]
name = "flights"
source = "flights.csv"
description = "Departures, one row each"
[tables.fields]
carrier = { type = "string" }
contact = { type = "string" }
[[dimensions]]
category = "carrier"
source = "carriers.csv"
value = "id"
filter_key = "carrier_ids"
name = "name"
"#;

const RULE: &str = "Zeppelin crews rest for eleven hours between two flights, and the captain \
    writes down when each of them went to bed.";

/// A configuration with sources in a folder of its own, beside the server's.
fn sources() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("notes/crew.txt", RULE);
    folder.write("flights.csv", "carrier,contact\nZeppelin Air,ann@example.org\nBlue Jet,x\n");
    folder.write("carriers.csv", "id,name\n7,Zeppelin Air\n8,Blue Jet\n");
    let root = folder.path().display().to_string();
    let config = CONFIG
        .replace("\"notes\"", &format!("\"{root}/notes\""))
        .replace("\"flights.csv\"", &format!("\"{root}/flights.csv\""))
        .replace("\"carriers.csv\"", &format!("\"{root}/carriers.csv\""));
    (folder, config)
}

fn sources_of(found: &Value) -> Vec<&str> {
    found["results"].as_array().unwrap().iter().filter_map(|hit| hit["source"].as_str()).collect()
}

#[test]
fn one_question_finds_everything_that_the_caller_may_see() {
    let (_folder, config) = sources();
    let library = Library(TestServer::start(&config));
    let (_, collection) = library.base(None, &json!({ "name": "Rules" }));
    library.add(None, &collection, &json!({ "title": "Crew", "text": RULE }));
    let more = "Zeppelin hangars are opened at dawn by the ground staff, in any weather at all.";
    library.add(None, &collection, &json!({ "title": "Hangars", "text": more }));
    let mcp = library.mcp(None);
    let search =
        |query: &str| mcp.call("search", &json!({ "query": query, "explain": true })).success();
    // The same text is in both: one of them is the result, and names the other.
    library.0.wait_until(|| {
        let found = search("zeppelin crews rest");
        let results = found["results"].as_array().unwrap().iter();
        results.clone().any(|hit| hit["duplicates"].as_array().is_some_and(|it| !it.is_empty()))
    });

    let found = search("zeppelin");
    let mut seen = sources_of(&found);
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.contains(&"tables") && seen.contains(&"filters"), "{found}");
    assert!(seen.contains(&"knowledge") || seen.contains(&"files"), "{found}");
    let scores: Vec<f64> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");

    // The rule is in a file and in a knowledge base: it is one result that names both.
    let found = search("how long do zeppelin crews rest");
    let of_rule: Vec<&Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit["text"].as_str().unwrap().contains("eleven hours"))
        .collect();
    assert_eq!(of_rule.len(), 1, "{found}");
    assert_eq!(of_rule[0]["duplicates"].as_array().unwrap().len(), 1, "{found}");
    for hit in found["results"].as_array().unwrap() {
        for name in ["id", "title", "url", "text", "score", "source"] {
            assert!(!hit[name].is_null(), "{name}: {hit}");
        }
        assert!(hit["explanation"]["details"].is_object(), "{hit}");
        let whole = mcp.call("fetch", &json!({ "id": hit["id"] })).success();
        for name in ["id", "title", "text", "url", "metadata"] {
            assert!(!whole[name].is_null(), "{name}: {whole}");
        }
        assert!(!whole["text"].as_str().unwrap().contains("ann@example.org"), "{whole}");
        let page = library.get(None, &format!("/open/{}", hit["id"].as_str().unwrap()));
        assert_eq!(page.status, 200);
    }
    let error = mcp.call("fetch", &json!({ "id": "nonsense" })).error();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
    let off_topic = search("quantum chromodynamics lecture");
    let best = off_topic["results"][0]["score"].as_f64().unwrap_or(0.0);
    assert!(best < 0.3, "{off_topic}");
}

#[test]
fn what_others_own_is_neither_found_nor_fetched() {
    let library = Library::with_tokens();
    let ann = token("ann", "acme", &json!({}));
    let eve = token("eve", "other", &json!({ "roles": ["admin"] }));
    let bob = token("bob", "acme", &json!({}));
    let (_, collection) = library.base(Some(&ann), &json!({ "name": "Private" }));
    library.add(Some(&ann), &collection, &json!({ "text": "The vault opens at nine." }));
    let search = |token: &str| {
        library.mcp(Some(token)).call("search", &json!({ "query": "vault" })).success()
    };
    let found = search(&ann);
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    let id = json!({ "id": found["results"][0]["id"] });
    assert!(library.mcp(Some(&ann)).call("fetch", &id).success()["text"].is_string());
    for stranger in [&eve, &bob] {
        assert_eq!(search(stranger)["results"], json!([]));
        let mine = library.mcp(Some(stranger)).call("fetch", &id).error();
        let none = library.mcp(Some(stranger)).call("fetch", &json!({ "id": "AAAA" })).error();
        assert_eq!(mine["error"]["code"], none["error"]["code"]);
    }
    let config = library.0.folder.join("dowse.toml");
    let output = dowse("audit").args(["--json", "--config"]).arg(config).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("opens at nine"));
}
