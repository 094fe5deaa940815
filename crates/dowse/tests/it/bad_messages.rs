//! Bodies that no client should send.

use serde_json::{Value, json};
use testkit::{Request, Response};

use crate::test_server::{TestServer, modern_meta};

fn post(test_server: &TestServer, body: impl Into<Vec<u8>>) -> Response {
    let request = Request::new("POST", "/mcp").header("Content-Type", "application/json");
    test_server.http().send(&request.body(body))
}

#[track_caller]
fn check(test_server: &TestServer, body: impl Into<Vec<u8>>, status: u16, code: i64) {
    let response = post(test_server, body);
    let message = response.json();
    assert_eq!(
        (response.status, message["error"]["code"].as_i64()),
        (status, Some(code)),
        "{message}"
    );
    test_server.assert_alive();
}

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

#[test]
fn what_is_no_message_is_refused_with_its_reason() {
    let test_server = TestServer::start("");
    let good = request("tools/list", &json!({}));
    for cut in [1, 10, good.len() / 2, good.len() - 1] {
        check(&test_server, &good.as_bytes()[..cut], 400, -32700);
    }
    check(&test_server, "", 400, -32700);
    check(&test_server, "null", 400, -32600);
    check(&test_server, [0xff, 0xfe, 0x00].as_slice(), 400, -32700);
    check(&test_server, format!("[{good},{good}]"), 400, -32600);
    check(&test_server, "[]", 400, -32600);
    check(&test_server, format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), 400, -32700);
    check(&test_server, format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000)), 400, -32700);
    // More values than a message may hold are refused before they are read.
    check(&test_server, format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), 413, -32600);
}

#[test]
fn wrong_types_are_refused_wherever_they_stand() {
    let test_server = TestServer::start("");
    for (body, code) in [
        (json!({ "jsonrpc": 2, "id": 1, "method": "tools/list" }), -32600),
        (json!({ "jsonrpc": "1.0", "id": 1, "method": "tools/list" }), -32600),
        (json!({ "jsonrpc": "2.0", "id": [1], "method": "tools/list" }), -32600),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "tools/list" }), -32600),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": {} }), -32600),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": "x" }), -32602),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": null }), -32602),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": 5 } }),
            -32602,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 5 } }),
            -32602,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": 5 } }),
            -32602,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": { "ref": 1 } }),
            -32602,
        ),
    ] {
        let response = post(&test_server, body.to_string());
        let answer = response.json();
        assert_eq!(answer["error"]["code"].as_i64(), Some(code), "{body}: {answer}");
    }
    test_server.assert_alive();
}

#[test]
fn wrong_arguments_are_errors_of_the_tool() {
    let test_server = TestServer::start("");
    let mut nested = json!("x");
    for _ in 0..100 {
        nested = json!([nested]);
    }
    for arguments in [
        json!({}),
        json!({ "text": { "a": 5 } }),
        json!({ "text": null }),
        json!({ "text": nested }),
        json!({ "text": "a", "texts": "b" }),
        json!({ "text": "長".repeat(10_001) }),
    ] {
        let error = test_server.mcp().call("normalize_ocr_text", &arguments).error();
        assert_eq!(error["error"]["code"], "BAD_REQUEST", "{error}");
    }
    let unknown =
        test_server.mcp().request_error("tools/call", &json!({ "name": "normalise_ocr_text" }));
    assert_eq!(unknown["code"], -32602);
    assert!(unknown["message"].as_str().unwrap().contains("normalize_ocr_text"), "{unknown}");
    test_server.assert_alive();
}

#[test]
fn a_body_of_five_megabytes_is_too_large() {
    let test_server = TestServer::start("");
    let large = request(
        "tools/call",
        &json!({
            "name": "normalize_ocr_text", "arguments": { "text": "x".repeat(5 * 1024 * 1024) },
        }),
    );
    check(&test_server, large, 413, -32600);
}

#[test]
fn unknown_methods_are_not_found() {
    let test_server = TestServer::start("");
    for method in ["nonsense", "prompts/list", "prompts/get", "logging/setLevel"] {
        let response =
            post(&test_server, request(method, &json!({ "name": "x", "level": "info" })));
        let code = response.json()["error"]["code"].as_i64();
        assert_eq!((response.status, code), (200, Some(-32601)), "{method}");
    }
    let modern = |method: &str| {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": modern_meta() },
        });
        let request = Request::new("POST", "/mcp")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method)
            .json(&body);
        test_server.http().send(&request)
    };
    for method in ["nonsense", "prompts/list", "ping", "subscriptions/listen"] {
        let response = modern(method);
        let code = response.json()["error"]["code"].as_i64();
        assert_eq!((response.status, code), (404, Some(-32601)), "{method}: {}", response.text());
    }
    assert_eq!(modern("tools/list").status, 200);
    test_server.assert_alive();
}

#[test]
fn a_notification_is_accepted_and_a_get_is_not() {
    let test_server = TestServer::start("");
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(post(&test_server, note).status, 202);
    let get = test_server.http().get("/mcp");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    assert_eq!(test_server.http().get("/nothing/here").status, 404);
    test_server.assert_alive();
}
