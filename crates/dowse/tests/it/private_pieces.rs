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
