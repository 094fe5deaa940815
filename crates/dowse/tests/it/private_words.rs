//! What an answer hides, a search does not tell: neither by what it finds, nor by scores, nor by the
//! words that it puts in the place of misspelt ones.

use serde_json::{Value, json};

use crate::test_server::TestServer;

const TEXT: &str = "Travel expenses of March. The card 4539 5787 6362 1486 was used in the hotel. \
    Write to anna.miller@example.org about it. The password: Tr0ub4dor&3xyz opens the booking page.";

/// A knowledge base with one document.
struct Base {
    server: TestServer,
    id: String,
}

impl Base {
    fn start() -> Base {
        let server = TestServer::start("[embedder]\nprovider = \"none\"\n");
        let http = server.http();
        let base = http.post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
        let id = base["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/knowledge-bases/{id}/collections");
        let collection = http.post_json(&path, &json!({ "name": "c" })).json();
        let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
        let documents = json!({ "documents": [{ "title": "March", "text": TEXT }] });
        let added = http.post_json(&path, &documents).json();
        // A list of one is answered with a list.
        let document = added["ids"][0].as_str().unwrap().to_owned();
        let status = || http.get(&format!("/v1/documents/{document}")).json()["status"].clone();
        server.wait_until(|| status() == "ready");
        Base { server, id }
    }

    fn search(&self, query: &str) -> Value {
        let arguments = json!({ "knowledge_base_id": self.id, "query": query, "threshold": 0.0, "explain": true });
        self.server.mcp().call("search_documents", &arguments).success()
    }
}

fn n_found(answer: &Value) -> usize {
    answer["results"].as_array().unwrap().len()
}

/// The password was written out in a warning, and `453*` told the card digit by digit.
#[test]
fn a_search_does_not_tell_what_answers_hide() {
    let base = Base::start();
    for part in [
        "4539",
        "453*",
        "5787 6362",
        "4539 5787 6362 1",
        "4537",
        "miller",
        "mill*",
        "miler",
        "anna.miller",
        "Tr0ub4dor",
        "Tr0ub*",
        "Tr0ub4dir",
        "3xyz",
    ] {
        let answer = base.search(part);
        assert_eq!(n_found(&answer), 0, "`{part}`: {answer}");
        let told = answer.to_string().to_lowercase().replace(&part.to_lowercase(), "");
        for secret in ["tr0ub4dor", "4539", "5787", "miller"] {
            assert!(!told.contains(secret), "`{part}` tells `{secret}`: {told}");
        }
    }
    let score = |query: &str| base.search(query)["results"][0]["score"].clone();
    assert!(score("card").is_number());
    for (right, wrong) in [("card 4539", "card 4540"), ("booking Tr0ub4dor", "booking Tr0ub4dar")] {
        assert_eq!(score(right), score(wrong), "{right}");
    }
    for whole in ["4539 5787 6362 1486", "4539578763621486", "anna.miller@example.org", "card"] {
        assert_eq!(n_found(&base.search(whole)), 1, "{whole}");
    }
}
