//! `dowse mcp`: nothing but the protocol on stdout.

use serde_json::json;
use testkit::{Folder, StdioSession};

use crate::test_server::dowse;

#[test]
fn stdout_holds_only_the_protocol() {
    let folder = Folder::new();
    let mut command = dowse("mcp");
    command.args(["--data-dir", "data"]).current_dir(folder.path()).env("DOWSE_LOG", "trace");
    let mut session = StdioSession::start(command);
    let handshake = session.initialize("2025-11-25");
    assert_eq!(handshake["serverInfo"]["name"], "dowse");
    let listed = session.request("tools/list", &json!({}));
    assert!(listed["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
    let answer = session.call("normalize_ocr_text", &json!({ "text": "ab" })).success();
    assert_eq!(answer["status"], "success");
    let error = session.call("normalize_ocr_text", &json!({ "text": { "a": 5 } })).error();
    assert_eq!(error["error"]["code"], "BAD_REQUEST");
    assert!(session.close().success());
}

#[test]
fn noise_on_stdin_ends_nothing() {
    let folder = Folder::new();
    let mut command = dowse("mcp");
    command.args(["--data-dir", "data"]).current_dir(folder.path());
    let mut session = StdioSession::start(command);
    session.initialize("2025-06-18");
    session.send_line("this is not JSON");
    session.send_line("{\"jsonrpc\":\"2.0\",\"id\":");
    session.send_line("[1, 2, 3]");
    let answer = session.call("normalize_ocr_text", &json!({ "text": "ab" })).success();
    assert_eq!(answer["normalized_text"], "ab");
    assert!(session.close().success());
}
