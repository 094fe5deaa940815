//! A cross-encoder from a folder, through the whole pipeline: the model is a real graph whose
//! score for a pair can be worked out by hand.

use std::path::Path;

use serde_json::{Value, json};
use testkit::onnx::{Head, MARKS, TinyOnnx};
use testkit::{Folder, Mcp};

use crate::library::Library;
use crate::test_server::{TestServer, dowse};

/// What words weigh; all others weigh nothing.
const WEIGHTS: [(&str, f32); 3] = [("harbour", 0.5), ("beacon", 3.0), ("marsh", -2.0)];

/// A word that the model fails on.
const UNBEARABLE: &str = "quicksand";

const QUERY: &str = "harbour lights";

/// Says the words of the query most often, and a word that the model dislikes.
const MARSH: &str = "Harbour lights. The harbour lights of the old harbour stand by the marsh.";

/// Says them once, and a word that the model likes.
const BEACON: &str = "Somebody saw the harbour lights near the beacon last winter, walking a dog.";

/// Works out what the model says of a passage.
fn expected(passage: &str) -> f64 {
    let text = format!("{QUERY} {passage}").to_lowercase();
    let words = text.split(|char: char| !char.is_alphanumeric());
    let weight = |word: &str| WEIGHTS.iter().find(|(known, _)| *known == word).map_or(0.0, |w| w.1);
    let logit: f32 = words.map(weight).sum();
    1.0 / (1.0 + (-f64::from(logit)).exp())
}

fn judge(folder: &Path) {
    TinyOnnx::weighing(&WEIGHTS).failing_on(UNBEARABLE).write(folder);
}

fn config(reranker: &str, roots: &str) -> String {
    format!("[embedder]\nprovider = \"none\"\n[files]\nroots = [{roots}]\n[reranker]\n{reranker}\n")
}

fn local(folder: &Path) -> String {
    format!("provider = \"local\"\nmodel = \"{}\"", folder.display())
}

/// Loads both passages into a knowledge base.
fn loaded(library: &Library) -> (String, String) {
    let (base, collection) = library.base(None, &json!({ "name": "Coast" }));
    for (title, text) in [("Marsh", MARSH), ("Beacon", BEACON)] {
        library.add(None, &collection, &json!({ "title": title, "text": text }));
    }
    (base, collection)
}

fn search(library: &Library, base: &str, threshold: f64) -> Value {
    let arguments = json!({
        "query": QUERY, "knowledge_base_id": base, "threshold": threshold, "explain": true,
    });
    library.mcp(None).call("search_documents", &arguments).success()
}

fn titles(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().unwrap().iter();
    results.map(|result| result["metadata"]["title"].as_str().unwrap()).collect()
}

#[test]
fn the_model_decides_the_order_of_a_knowledge_base_and_the_threshold() {
    let model = Folder::new();
    judge(model.path());
    let library = Library(TestServer::start(&config(&local(model.path()), "")));
    let (base, collection) = loaded(&library);
    let found = search(&library, &base, 0.0);
    assert_eq!(titles(&found), ["Beacon", "Marsh"], "{found}");
    for (result, passage) in [(0, BEACON), (1, MARSH)] {
        let result = &found["results"][result];
        let judged = result["metadata"]["cross_encoder_score"].as_f64().unwrap();
        // Answers give three digits.
        assert!((judged - expected(passage)).abs() < 5.1e-4, "{judged} {}", expected(passage));
        // What leaves is the model's verdict, in which the other evidence has a twentieth part.
        let logit = |score: f64| (score / (1.0 - score)).ln();
        let score = result["score"].as_f64().unwrap();
        let other = (logit(score) - 0.95 * logit(expected(passage))) / 0.05;
        assert!(other.abs() < 8.0, "{score} {}", expected(passage));
    }
    // The threshold is between the two scores of the model.
    assert!(expected(BEACON) > 0.6 && expected(MARSH) < 0.6);
    assert_eq!(titles(&search(&library, &base, 0.6)), ["Beacon"]);

    // Now a passage that the model fails on: the order before stands, and the answer says why.
    let text = format!("{UNBEARABLE} swallowed the harbour lights");
    library.add(None, &collection, &json!({ "title": "Sand", "text": text }));
    let found = search(&library, &base, 0.0);
    assert_eq!(found["count"], 3, "{found}");
    let warnings = found["warnings"].to_string();
    assert!(
        warnings.contains("the re-ranker was skipped, the order before it is used"),
        "{warnings}"
    );
    for result in found["results"].as_array().unwrap() {
        assert!(result["metadata"]["cross_encoder_score"].is_null(), "{result}");
    }
    let stages = found["timings"].as_array().unwrap();
    let stage = stages.iter().find(|stage| stage["stage"] == "cross_encoder").unwrap();
    assert!(stage["skipped"].is_string(), "{stage}");
}

#[test]
fn without_the_model_the_order_is_that_of_the_words() {
    let library = Library(TestServer::start(&config("provider = \"none\"", "")));
    let (base, _) = loaded(&library);
    let found = search(&library, &base, 0.0);
    assert_eq!(titles(&found), ["Marsh", "Beacon"], "{found}");
    assert!(found["results"][0]["metadata"]["cross_encoder_score"].is_null(), "{found}");
}

#[test]
fn the_model_decides_the_order_of_files() {
    let (model, documents) = (Folder::new(), Folder::new());
    judge(model.path());
    documents.write("marsh.txt", MARSH);
    documents.write("beacon.txt", BEACON);
    let root = format!("\"{}\"", documents.path().display());
    let test_server = TestServer::start(&config(&local(model.path()), &root));
    let mcp = test_server.mcp();
    let arguments = json!({ "query": QUERY, "explain": true });
    let found = |mcp: &Mcp| mcp.call("searchFiles", &arguments).success();
    test_server.wait_until(|| found(&mcp)["items"].as_array().unwrap().len() == 2);
    let found = found(&mcp);
    for (item, (name, passage)) in [("beacon.txt", BEACON), ("marsh.txt", MARSH)].iter().enumerate()
    {
        let item = &found["items"][item];
        assert!(item["path"].as_str().unwrap().ends_with(name), "{found}");
        let stages = item["explanation"]["stages"].as_array().unwrap();
        let judged = stages.iter().find(|stage| stage["stage"] == "cross_encoder").unwrap();
        let score = judged["score"].as_f64().unwrap();
        assert!((score - expected(passage)).abs() < 1e-3, "{judged} {}", expected(passage));
    }
}

#[test]
fn a_folder_that_cannot_be_used_stops_the_start_and_is_named() {
    let folder = Folder::new();
    let broken = |name: &str, harm: &dyn Fn(&Path)| {
        let model = folder.join(name);
        judge(&model);
        harm(&model);
        folder.write("dowse.toml", format!("data_dir = \"data\"\n{}", config(&local(&model), "")));
        let mut command = dowse("serve");
        command.arg("--config").arg(folder.join("dowse.toml"));
        let ended = command.args(["--listen", "127.0.0.1:0"]).output().unwrap();
        assert!(!ended.status.success());
        String::from_utf8_lossy(&ended.stderr).into_owned()
    };
    let said =
        broken("no-words", &|model| fs_err::remove_file(model.join("tokenizer.json")).unwrap());
    assert!(said.contains("`[reranker]` cannot be used"), "{said}");
    assert!(said.contains("no-words/tokenizer.json") && said.contains("not there"), "{said}");
    let said = broken("no-graph", &|model| fs_err::remove_file(model.join("model.onnx")).unwrap());
    assert!(said.contains("no-graph/model.onnx") && said.contains("not there"), "{said}");
    let said = broken("noise", &|model| fs_err::write(model.join("model.onnx"), "noise").unwrap());
    assert!(said.contains("noise/model.onnx"), "{said}");
    let said = broken("embedder", &|model| {
        let rows = MARKS.iter().map(|_| vec![0.0; 5]).collect();
        TinyOnnx { words: MARKS.to_vec(), rows, head: Head::States }.write(model);
    });
    assert!(said.contains("embedder") && said.contains("shape"), "{said}");
    let said = broken("gone", &|model| fs_err::remove_dir_all(model).unwrap());
    assert!(said.contains("dowse models pull"), "{said}");
}
