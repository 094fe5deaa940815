//! The law of the score, through the tools that an agent calls.
//!
//! - Results are sorted by score.
//! - Neither how many results are asked for nor the threshold changes a score.
//! - Documents of another namespace change nothing; documents of the same one change a score only
//!   through term statistics, so that it is back to the last digit when they are gone.
//!
//! That vectors of other documents change nothing is shown where they can be given one by one, in
//! the tests of the retriever.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply};
use testkit::{Folder, Request};

use crate::library::Library;
use crate::test_server::TestServer;

const WORDS: [&str; 14] = [
    "river", "bridge", "budget", "school", "the", "of", "taxes", "castle", "școală", "drumuri",
    "副業", "許可", "预算", "学校",
];

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % n
    }

    fn words(&mut self, n: usize) -> String {
        (0..n).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

/// Gives each word a direction.
fn vector(text: &str) -> Value {
    let mut vector = vec![0.05; 16];
    for word in text.to_lowercase().split_whitespace() {
        vector[word.bytes().map(usize::from).sum::<usize>() % 16] += 1.0;
    }
    json!(vector)
}

fn embedder() -> Loopback {
    Loopback::start(|request| {
        let texts = request.json()["input"].as_array().cloned().unwrap_or_default();
        let data: Vec<Value> = (0..)
            .zip(&texts)
            .map(|(index, text)| json!({ "index": index, "embedding": vector(text.as_str().unwrap()) }))
            .collect();
        Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
    })
}

struct Fixture {
    library: Library,
    base: String,
    collection: String,
    _folder: Folder,
    _embedder: Loopback,
}

impl Fixture {
    fn start() -> Self {
        let embedder = embedder();
        let folder = Folder::new();
        let mut numbers = Numbers(7);
        let texts: Vec<String> = (0..12).map(|n| numbers.words(6 + n)).collect();
        for (n, text) in texts.iter().enumerate() {
            folder.write(format!("notes/{n}.txt"), text);
        }
        let library = Library(TestServer::start(&format!(
            "[limits]\nrate_per_minute = {{ default = 100000 }}\n[embedder]\nprovider = \"http\"\n\
             api = \"openai\"\nmodel = \"words\"\nbase_url = \"{}\"\n[files]\nroots = [\"{}\"]\n",
            embedder.url(""),
            folder.path().join("notes").display(),
        )));
        let (base, collection) = library.base(None, &json!({ "name": "Rules" }));
        for (n, text) in texts.iter().enumerate() {
            library.add(None, &collection, &json!({ "title": format!("t{n}"), "text": text }));
        }
        let fixture = Fixture { library, base, collection, _folder: folder, _embedder: embedder };
        fixture.library.0.wait_until(|| {
            fixture.call("searchFiles", &json!({ "query": "river", "k": 50 }))["items"]
                .as_array()
                .is_some_and(|items| !items.is_empty())
                && fixture.is_embedded("searchFiles", &json!({ "query": "river" }))
                && fixture.is_embedded("search_documents", &fixture.documents("river", 50, 0.0))
        });
        fixture
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.library.mcp(None).call(tool, arguments).success()
    }

    fn is_embedded(&self, tool: &str, arguments: &Value) -> bool {
        !self.call(tool, arguments)["warnings"].to_string().contains("passages can be found")
    }

    fn documents(&self, query: &str, limit: usize, threshold: f64) -> Value {
        json!({
            "query": query, "knowledge_base_id": self.base, "threshold": threshold,
            "max_results": limit,
        })
    }

    /// Gives what each tool answers, in its order.
    fn answers(&self, query: &str, limit: usize) -> Vec<Vec<(String, f64)>> {
        let read = |answer: &Value, list: &str, id: &str| -> Vec<(String, f64)> {
            let results = answer[list].as_array().unwrap().iter();
            results
                .map(|result| {
                    let id = result.pointer(id).unwrap().as_str().unwrap().to_owned();
                    (id, result["score"].as_f64().unwrap())
                })
                .collect()
        };
        let documents = self.call("search_documents", &self.documents(query, limit, 0.0));
        let files = self.call("searchFiles", &json!({ "query": query, "k": limit }));
        let all = self.call("search", &json!({ "query": query, "limit": limit }));
        vec![
            read(&documents, "results", "/metadata/chunk_id"),
            read(&files, "items", "/path"),
            read(&all, "results", "/id"),
        ]
    }

    fn scores(&self, query: &str) -> Vec<BTreeMap<String, u64>> {
        let answers = self.answers(query, 50).into_iter();
        answers
            .map(|one| one.into_iter().map(|(id, score)| (id, score.to_bits())).collect())
            .collect()
    }

    fn delete(&self, document: &str) {
        let request = Request::new("DELETE", &format!("/v1/documents/{document}"));
        let gone = self.library.send(None, request);
        assert!(gone.status < 300, "{}", gone.text());
    }
}

#[test]
fn limit_and_threshold_change_no_score_and_the_order_follows_it() {
    let fixture = Fixture::start();
    let mut numbers = Numbers(11);
    for round in 0..12 {
        let query = numbers.words(1 + round % 4);
        let whole = fixture.scores(&query);
        for limit in [1, 3, 50] {
            for (answer, whole) in fixture.answers(&query, limit).iter().zip(&whole) {
                assert!(answer.len() <= limit && answer.is_sorted_by(|a, b| a.1 >= b.1), "{query}");
                for (id, score) in answer {
                    assert_eq!(whole.get(id), Some(&score.to_bits()), "{query}: {id}");
                }
            }
        }
        let strict = fixture.call("search_documents", &fixture.documents(&query, 50, 0.3));
        for result in strict["results"].as_array().unwrap() {
            let id = result["metadata"]["chunk_id"].as_str().unwrap();
            let score = result["score"].as_f64().unwrap();
            assert!(score >= 0.3 && whole[0].get(id) == Some(&score.to_bits()), "{query}: {id}");
        }
    }
}

#[test]
fn other_documents_change_a_score_only_through_term_statistics() {
    let fixture = Fixture::start();
    let queries: Vec<String> = {
        let mut numbers = Numbers(23);
        (0..8).map(|round| numbers.words(1 + round % 4)).collect()
    };
    let scores = || queries.iter().map(|query| fixture.scores(query)).collect::<Vec<_>>();
    let before: Vec<_> = scores();

    // Another knowledge base of the tenant shares the term statistics; folders do not.
    let (_, elsewhere) = fixture.library.base(None, &json!({ "name": "Elsewhere" }));
    let text = "river bridge castle budget, all of them in one text";
    let body = json!({ "title": "Elsewhere", "text": text });
    let elsewhere = fixture.library.add(None, &elsewhere, &body);
    for (query, (now, before)) in queries.iter().zip(scores().iter().zip(&before)) {
        assert_eq!(now[1], before[1], "{query}");
    }

    // Documents beside it: the statistics change, and are back when the documents are gone.
    let added: Vec<String> = (0..5)
        .map(|n| {
            let text = format!("river river bridge school of the number {n}");
            let body = json!({ "title": format!("more {n}"), "text": text });
            fixture.library.add(None, &fixture.collection, &body)
        })
        .collect();
    assert_ne!(scores()[0][0], before[0][0]);
    added.iter().chain([&elsewhere]).for_each(|document| fixture.delete(document));
    // A deletion leaves answers at once and the index a little later.
    let own = |all: &[Vec<BTreeMap<String, u64>>]| -> Vec<Vec<BTreeMap<String, u64>>> {
        all.iter().map(|tools| tools[..2].to_vec()).collect()
    };
    fixture.library.0.wait_until(|| own(&scores()) == own(&before));
}
