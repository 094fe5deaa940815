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

/// A table far longer than what is looked at around a piece of it. Every password is `hiddenN`.
fn long_table(separator: &str) -> String {
    let row =
        |n: usize| ["user", "hidden", "team"].map(|word| format!("{word}{n}")).join(separator);
    let rows: Vec<String> = (0..3_000).map(row).collect();
    format!("{}\n{}\n", ["login", "password", "group"].join(separator), rows.join("\n"))
}

#[track_caller]
fn assert_no_password(seen: &Value) {
    let text = seen.to_string();
    let at = text.find("hidden").map(|at| &text[at.saturating_sub(80)..(at + 20).min(text.len())]);
    assert!(at.is_none(), "a password is shown: {at:?}");
}

/// Headings were looked for a few thousand characters around a piece: in a long table every
/// password below was shown.
#[test]
fn cells_far_below_their_headings() {
    let folder = testkit::Folder::new();
    folder.write("documents/people.csv", long_table(","));
    folder.write("documents/notes.txt", format!("Some notes.\n\n{}", long_table(";")));
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [limits]\nrate_per_minute = { default = 9999, searchFiles = 9999, openFile = 9999 }\n",
    );
    let server =
        testkit::Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &folder.join("dowse.toml"));
    let test_server = TestServer { server, folder };
    let (mcp, http) = (test_server.mcp(), test_server.http());

    let base = http.post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
    let base = base["id"].as_str().unwrap();
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = http.post_json(&path, &json!({ "name": "c" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let added = http.post_json(&path, &json!({ "title": "t", "text": long_table("\t") })).json();
    let document = added["id"].as_str().unwrap();
    let made = http.post_json("/v1/projects", &json!({ "name": "p" })).json();
    let project = made["id"].as_str().unwrap();
    let path = format!("/v1/projects/{project}/tables?name=t");
    let notes = json!({ "notes": long_table(",") });
    let table = http.send(&Request::new("POST", &path).json(&notes)).json();
    let table = table["id"].as_str().unwrap();

    test_server
        .wait_until(|| http.get(&format!("/v1/documents/{document}")).json()["status"] == "ready");
    let find = |n: usize| json!({ "query": format!("user{n} team{n}") });
    let found = || mcp.call("searchFiles", &find(2_900)).success();
    test_server.wait_until(|| found()["items"].as_array().is_some_and(|items| items.len() > 1));
    for n in [10, 500, 1_234, 2_222, 2_900, 2_999] {
        let found = mcp.call("searchFiles", &find(n)).success();
        assert_no_password(&found);
        for item in found["items"].as_array().unwrap() {
            let arguments = json!({ "path": item["path"], "pointer": item["pointer"] });
            assert_no_password(&mcp.call("openFile", &arguments).success());
        }
        let path = test_server.folder.join("documents/people.csv");
        for after in [5, 30, 700] {
            let arguments = json!({ "path": path, "offset": (n * 22).to_string(), "after": after });
            assert_no_password(&mcp.call("openFile", &arguments).text_json());
        }
        let everywhere = mcp.call("search", &find(n)).success();
        assert_no_password(&everywhere);
        for hit in everywhere["results"].as_array().unwrap() {
            assert_no_password(&mcp.call("fetch", &json!({ "id": hit["id"] })).success());
            let arguments = json!({ "id": hit["id"], "offset": (n * 21).to_string() });
            assert_no_password(&mcp.call("fetch", &arguments).text_json());
        }
        let arguments = json!({ "query": format!("user{n}"), "threshold": 0.0 });
        assert_no_password(&mcp.call("search_documents", &arguments).success());
        let offset = n * 21;
        let path = format!("/v1/tables/{table}/node?pointer=/notes&offset={offset}&max_chars=300");
        assert_no_password(&http.get(&path).json());
    }
    let n_chunks = http.get(&format!("/v1/documents/{document}")).json()["chunk_count"].as_u64();
    for idx in (0..n_chunks.unwrap()).step_by(7) {
        assert_no_password(&http.get(&format!("/v1/chunks/{document}:{idx}")).json());
    }
    assert_no_password(&http.get(&format!("/v1/knowledge-bases/{base}/summary")).json());
}
