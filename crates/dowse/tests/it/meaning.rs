//! Names that letters do not find are found by what they mean, through the embedder that the
//! configuration names.

use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply};

use crate::test_server::TestServer;

/// Vectors of two directions: `crimson` and `roșu` are one direction, everything else another.
fn vector(text: &str) -> Value {
    if text.contains("crimson") || text.contains("roșu") {
        json!([1.0, 0.0])
    } else {
        json!([0.0, 1.0])
    }
}

#[test]
fn search_filters_reaches_a_name_by_its_meaning() {
    let embedder = Loopback::start(|request| {
        let texts = request.json()["input"].as_array().cloned().unwrap_or_default();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| json!({ "index": index, "embedding": vector(text.as_str().unwrap()) }))
            .collect();
        Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
    });
    let rows: String =
        (0..30).map(|at| format!("{{\"id\":\"g{at}\",\"name\":\"verde {at}\"}}\n")).collect();
    let folder = testkit::Folder::new();
    let source =
        folder.write("colours.jsonl", format!("{{\"id\":\"r\",\"name\":\"roșu\"}}\n{rows}"));
    let test_server = TestServer::start(&format!(
        "[embedder]\nprovider = \"http\"\napi = \"openai\"\nmodel = \"colours\"\nbase_url = \"{}\"\n\
         [[dimensions]]\ncategory = \"colour\"\nsource = \"{}\"\nvalue = \"id\"\n\
         filter_key = \"colour_ids\"\nname = \"name\"\n",
        embedder.url(""),
        source.display(),
    ));
    let search = |query: &str| {
        let arguments = json!({ "category": "colour", "query": query, "explain": true });
        test_server.mcp().call("search_filters", &arguments).success()
    };
    // Vectors follow in the background; until they are there, the answer says so.
    test_server.wait_until(|| {
        let answer = search("crimson");
        let is_found = answer["results"][0]["filterValue"] == "r";
        let is_said = answer["warnings"][0]
            .as_str()
            .is_some_and(|said| said.starts_with("looked up by letters alone: "));
        assert!(is_found || is_said, "{answer}");
        is_found
    });
    let found = search("crimson");
    assert_eq!(found["results"][0]["explanation"]["how"], "meaning");
    assert_eq!(found.get("warnings"), None);
    assert_eq!(search("roșu")["results"][0]["explanation"]["how"], "exact");
}

#[test]
fn a_model_that_is_not_there_is_said_and_letters_go_on() {
    let folder = testkit::Folder::new();
    let source = folder.write("colours.csv", "id,name\nr,roșu\ng,verde\n");
    let test_server = TestServer::start(&format!(
        "models_dir = \"no-models\"\n\
         [[dimensions]]\ncategory = \"colour\"\nsource = \"{}\"\nvalue = \"id\"\n\
         filter_key = \"colour_ids\"\nname = \"name\"\n",
        source.display(),
    ));
    let search = |query: &str| {
        let arguments = json!({ "category": "colour", "query": query });
        test_server.mcp().call("search_filters", &arguments).success()
    };
    let said = "looked up by letters alone: model `multilingual-e5-small` is not there";
    test_server.wait_until(|| {
        let answer = search("crimson");
        answer["warnings"][0].as_str().is_some_and(|warning| warning.starts_with(said))
    });
    let found = search("rosu");
    assert_eq!(found["bestMatch"]["filterValue"], "r");
    assert_eq!(found.get("warnings"), None);
}
