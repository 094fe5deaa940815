//! Reading in pieces reveals nothing: nodes and files, six characters at a time.

use serde_json::{Value, json};
use testkit::Request;

use crate::test_server::TestServer;

const TEXT: &str = "Contact ana.popescu@example.org or pay with 4111 1111 1111 1111 today.\n\
    export PGPASSWORD=tiger-of-the-hills\nuser,password\nann,leopard-of-the-plains\n";

const SECRETS: [&str; 6] = ["popesc", "example.org", "4111 11", "tiger", "leopar", "plains"];

fn assert_hidden(seen: &str) {
    for secret in SECRETS {
        assert!(!seen.contains(secret), "`{secret}` in {seen}");
    }
    assert!(seen.contains("Contact") && seen.contains("today"), "{seen}");
}

#[test]
fn a_node_read_in_pieces() {
    let test_server = TestServer::start("[embedder]\nprovider = \"none\"\n");
    let made = test_server.http().post_json("/v1/projects", &json!({ "name": "p" })).json();
    let path = format!("/v1/projects/{}/tables?name=t", made["id"].as_str().unwrap());
    let document = json!({ "notes": TEXT, "admin_password": "lynx", "other": { "x": 1 } });
    let table = test_server.http().send(&Request::new("POST", &path).json(&document));
    assert_eq!(table.status, 201, "{}", table.text());
    let table = table.json()["id"].as_str().unwrap().to_owned();
    let read = |pointer: &str, offset: usize, max_chars: usize| -> Value {
        let path = format!(
            "/v1/tables/{table}/node?pointer={pointer}&offset={offset}&max_chars={max_chars}"
        );
        test_server.http().get(&path).json()
    };
    for n_chars in [1, 6, 13, 64] {
        let seen: String = (0..TEXT.chars().count())
            .step_by(n_chars)
            .map(|offset| read("/notes", offset, n_chars)["text"].as_str().unwrap().to_owned())
            .collect();
        assert_hidden(&seen.replace("[email]", "").replace("[card]", "").replace("[password]", ""));
    }
    let whole = read("/notes", 0, 10_000);
    assert_eq!(whole["redacted"], 4, "{whole}");
    assert_eq!(read("/admin_password", 0, 100)["text"], "[password]");
}

/// Sentences of a length such that edges of chunks fall at every place of what is private.
fn text_with_secrets_at_edges() -> String {
    let mut text = String::new();
    for n in 0..40 {
        let words = "word ".repeat(83 + n % 17);
        text.push_str(&format!("{words}mail-{n} ana.popescu.of.the.hills.{n}@example.org "));
    }
    text
}

fn assert_no_address(seen: &str) {
    assert!(!seen.contains("popesc") && !seen.contains("example.org"), "{seen}");
    assert!(!seen.contains("the.hills"), "{seen}");
}

#[test]
fn chunks_and_their_search_show_nothing_that_the_whole_does_not() {
    let test_server = TestServer::start("[embedder]\nprovider = \"none\"\n");
    let http = test_server.http();
    let base = http.post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
    let base = base["id"].as_str().unwrap();
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = http.post_json(&path, &json!({ "name": "c" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let text = text_with_secrets_at_edges();
    let added = http.post_json(&path, &json!({ "title": "t", "text": text })).json();
    let id = added["id"].as_str().unwrap();
    let document = || http.get(&format!("/v1/documents/{id}")).json();
    test_server.wait_until(|| document()["status"] == "ready");
    let n_chunks = document()["chunk_count"].as_u64().unwrap();
    assert!(n_chunks > 30, "{n_chunks}");
    for idx in 0..n_chunks {
        let chunk = http.get(&format!("/v1/chunks/{id}:{idx}")).json();
        assert_no_address(chunk["content"].as_str().unwrap());
    }
    let arguments = json!({
        "knowledge_base_id": base, "query": "word mail", "threshold": 0.0, "max_results": 50,
    });
    let found = test_server.mcp().call("search_documents", &arguments).success();
    let results = found["results"].as_array().unwrap();
    assert!(results.len() > 20, "{}", results.len());
    for result in results {
        assert_no_address(result["content"].as_str().unwrap());
    }
    let found = test_server.mcp().call("search", &json!({ "query": "word mail" })).success();
    let hit = &found["results"][0];
    assert_no_address(hit["text"].as_str().unwrap());
    for offset in (0..400).step_by(7) {
        let arguments = json!({ "id": hit["id"], "offset": offset.to_string() });
        let part = test_server.mcp().call("fetch", &arguments).success();
        assert_no_address(part["text"].as_str().unwrap());
    }
}

#[test]
fn a_file_opened_in_pieces() {
    let folder = testkit::Folder::new();
    let filler = "Plain words of a report that goes on.\n".repeat(30);
    folder.write("documents/notes.txt", format!("{filler}{TEXT}{filler}"));
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    let server =
        testkit::Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &folder.join("dowse.toml"));
    let test_server = TestServer { server, folder };
    let mcp = test_server.mcp();
    let found = || mcp.call("searchFiles", &json!({ "query": "Contact pay today" })).success();
    test_server.wait_until(|| found()["items"].as_array().is_some_and(|items| !items.is_empty()));
    let hit = found()["items"][0].clone();
    assert_hidden(&hit["snippet"].as_str().unwrap().replace("[email]", ""));
    for (before, after) in [(0, 0), (0, 6), (7, 3), (40, 60), (100, 200)] {
        let arguments = json!({
            "path": hit["path"], "pointer": hit["pointer"], "before": before, "after": after,
        });
        let preview = mcp.call("openFile", &arguments);
        let text = preview.text_json()["preview"].as_str().unwrap_or_default().to_owned();
        for secret in SECRETS {
            assert!(!text.contains(secret), "`{secret}` in {text}");
        }
    }
}
