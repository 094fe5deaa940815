//! Headers that contradict the body or come from elsewhere.

use serde_json::{Value, json};
use testkit::{Request, Response};

use crate::test_server::{TestServer, modern_meta};

fn send(test_server: &TestServer, headers: &[(&str, &str)], body: &Value) -> Response {
    let request = Request::new("POST", "/mcp").json(body);
    let add = |request: Request, (name, value): &(&str, &str)| request.header(name, value);
    test_server.http().send(&headers.iter().fold(request, add))
}

#[expect(clippy::needless_pass_by_value, reason = "cases read better without a borrow")]
fn list(params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params })
}

#[test]
fn a_bare_curl_is_answered_with_json() {
    let test_server = TestServer::start("");
    for headers in [&[][..], &[("Accept", "*/*")], &[("Accept", "application/json")]] {
        let response = send(&test_server, headers, &list(json!({})));
        assert_eq!(response.status, 200, "{headers:?}");
        assert!(response.header("content-type").unwrap().starts_with("application/json"));
        assert!(response.json()["result"]["tools"].is_array());
    }
    assert_eq!(send(&test_server, &[("Accept", "text/html")], &list(json!({}))).status, 406);
}

#[test]
fn unknown_versions_are_refused_or_negotiated() {
    let test_server = TestServer::start("");
    let odd = send(&test_server, &[("MCP-Protocol-Version", "1999-01-01")], &list(json!({})));
    assert_eq!(odd.status, 400);
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let headers = [("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")];
    let future = send(&test_server, &headers, &list(json!({ "_meta": meta })));
    assert_eq!(future.status, 400, "{}", future.text());
    let supported = future.json()["error"]["data"]["supported"].clone();
    assert!(supported.as_array().is_some_and(|versions| versions.len() == 5), "{supported}");
    let handshake =
        test_server.mcp().request("initialize", &json!({ "protocolVersion": "2099-01-01" }));
    assert_eq!(handshake["protocolVersion"], "2025-11-25");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let handshake =
            test_server.mcp().request("initialize", &json!({ "protocolVersion": version }));
        assert_eq!(handshake["protocolVersion"], version);
    }
    test_server.assert_alive();
}

#[test]
fn header_and_body_must_agree() {
    let test_server = TestServer::start("");
    let body = list(json!({ "_meta": modern_meta() }));
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let method = ("Mcp-Method", "tools/list");
    for headers in [
        vec![("MCP-Protocol-Version", "2025-11-25"), method],
        vec![method],
        vec![version],
        vec![version, ("Mcp-Method", "tools/call")],
    ] {
        let response = send(&test_server, &headers, &body);
        assert_eq!(response.status, 400, "{headers:?}: {}", response.text());
    }
    assert_eq!(send(&test_server, &[version, method], &body).status, 200);
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "normalize_ocr_text", "arguments": { "text": "ab" }, "_meta": modern_meta(),
        },
    });
    let named = |name| {
        send(&test_server, &[version, ("Mcp-Method", "tools/call"), ("Mcp-Name", name)], &call)
    };
    assert_eq!(named("another_tool").status, 400);
    assert_eq!(named("normalize_ocr_text").status, 200);
    test_server.assert_alive();
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let config = "[server]\nallowed_hosts = [\"search.example.org\"]\n\
        allowed_origins = [\"https://chat.example.org\"]\n";
    let test_server = TestServer::start(config);
    for (name, value, status) in [
        ("Host", "evil.example", 403),
        ("Host", "localhost.evil.example", 403),
        ("Host", "127.0.0.1.evil.example:80", 403),
        ("Host", "search.example.org", 200),
        ("Host", "localhost:1", 200),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "https://chat.example.org.evil.example", 403),
        ("Origin", "http://chat.example.org", 403),
        ("Origin", "https://chat.example.org", 200),
        ("Origin", "http://localhost:3000", 200),
    ] {
        let response = send(&test_server, &[(name, value)], &list(json!({})));
        assert_eq!(response.status, status, "{name}: {value}");
        if status == 403 {
            assert_eq!(response.json()["error"]["code"], "FORBIDDEN");
        }
    }
    let page = Request::new("GET", "/metrics").header("Origin", "https://evil.example");
    assert_eq!(test_server.http().send(&page).status, 403);
    test_server.assert_alive();
}

/// A head is held before it is known who sends it, for each connection.
#[test]
fn a_head_that_is_too_long_is_refused() {
    let test_server = TestServer::start("");
    let answer = |request: &str| {
        let answer = test_server.http().exchange(request.as_bytes()).unwrap();
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    };
    let with_header = |n_bytes: usize| {
        let value = "x".repeat(n_bytes);
        let close = "Connection: close";
        answer(&format!(
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\n{close}\r\nX: {value}\r\n\r\n"
        ))
    };
    assert_eq!(with_header(32 * 1024), "HTTP/1.1 200 OK");
    assert_eq!(with_header(160 * 1024), "HTTP/1.1 431 Request Header Fields Too Large");
    test_server.assert_alive();
}
