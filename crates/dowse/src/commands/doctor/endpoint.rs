//! Speaks MCP to an address, as a client would: that something answers there says little, since
//! the console and any other web server do so, too.

use std::time::Duration;

use model::Deadline;
use net::{Client, Reach, Request, RetryPolicy};
use serde_json::{Value, json};

/// How long a server may take to say who it is.
const WAIT: Duration = Duration::from_secs(5);

/// The newest revision with `initialize`; servers answer with one that they have.
const REVISION: &str = "2025-11-25";

/// The revision without it.
const STATELESS_REVISION: &str = "2026-07-28";

/// The largest answer that is read: it names a server.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// What an address came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// It speaks MCP.
    Mcp {
        /// What the server calls itself.
        name: String,
        version: String,
    },
    /// Something answers that does not speak MCP, or not there.
    Other(String),
    /// It refuses whoever calls without the right key.
    Refused(u16),
    /// Nothing answers.
    Silent(String),
}

/// Asks an address who it is, in both ways that there are.
pub(super) fn ask(url: &str, headers: &[(String, String)]) -> Endpoint {
    let begun = json!({
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": { "name": "dowse doctor", "version": env!("CARGO_PKG_VERSION") },
    });
    let endpoint = call(url, headers, "initialize", &begun, REVISION);
    // A server of the stateless revision alone knows no `initialize`.
    if matches!(endpoint, Endpoint::Other(_)) {
        let client = json!({ "name": "dowse doctor", "version": env!("CARGO_PKG_VERSION") });
        let discovered = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        } });
        let other = call(url, headers, "server/discover", &discovered, STATELESS_REVISION);
        if matches!(other, Endpoint::Mcp { .. }) {
            return other;
        }
    }
    endpoint
}

fn call(
    url: &str,
    headers: &[(String, String)],
    method: &str,
    params: &Value,
    revision: &str,
) -> Endpoint {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = Request::post_json(url, &message).map(|request| {
        let request = request
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", revision)
            .header("mcp-method", method);
        headers.iter().fold(request, |request, (name, value)| request.header(name, value.as_str()))
    });
    let client = Client::new(net::Config {
        connect_timeout: WAIT,
        answer_timeout: WAIT,
        attempt_timeout: WAIT,
        max_response_bytes: MAX_ANSWER_BYTES,
        retry: RetryPolicy::never(),
        reach: Reach::public_and_host_of(url),
        ..net::Config::careful()
    });
    match request.and_then(|request| client.send(&request, &Deadline::after(WAIT))) {
        Ok(response) => said(&response.body),
        Err(net::Error::Status { status: status @ (401 | 403), .. }) => Endpoint::Refused(status),
        Err(net::Error::Status { status, excerpt, .. }) => match error_in(&excerpt) {
            Some(error) => Endpoint::Other(format!("it answers {status}: {error}")),
            None => Endpoint::Other(format!("it answers {status}")),
        },
        Err(error @ (net::Error::TooLarge { .. } | net::Error::Redirect { .. })) => {
            Endpoint::Other(model::with_causes(&error))
        }
        Err(error) => Endpoint::Silent(model::with_causes(&error)),
    }
}

/// Reads an answer: one message of JSON, or the same as an event.
fn said(body: &[u8]) -> Endpoint {
    let text = String::from_utf8_lossy(body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = std::iter::once(text.as_ref()).chain(events);
    let messages = messages.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let Some(message) = messages.into_iter().find(|message| message["jsonrpc"] == "2.0") else {
        return Endpoint::Other("its answer is no message of MCP".to_owned());
    };
    let server = &message["result"]["serverInfo"];
    let discovered = &message["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    let server = if server.is_object() { server } else { discovered };
    let text = |name: &str| server[name].as_str().map(str::to_owned);
    match (text("name"), &message["error"]["message"]) {
        (Some(name), _) => Endpoint::Mcp { name, version: text("version").unwrap_or_default() },
        (None, Value::String(error)) => Endpoint::Other(format!("it answers: {error}")),
        (None, _) => Endpoint::Other("its answer names no server".to_owned()),
    }
}

/// Finds the sentence of an error in the beginning of an answer.
fn error_in(excerpt: &str) -> Option<String> {
    let whole: Value = serde_json::from_str(excerpt).ok()?;
    let error = whole["error"]["message"].as_str().or(whole["error"].as_str())?;
    Some(error.to_owned())
}

/// Gives the address at which a Dowse on the same host answers clients.
pub(super) fn usual_place(url: &str, headers: &[(String, String)]) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let usual = format!("{scheme}://{host}/mcp");
    let is_there = usual != url && matches!(ask(&usual, headers), Endpoint::Mcp { .. });
    is_there.then_some(usual)
}

#[cfg(test)]
mod tests {
    use testkit::loopback::{Loopback, Reply};

    use super::*;

    fn mcp(name: &str) -> Value {
        let info = json!({ "name": name, "version": "1" });
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "serverInfo": info } })
    }

    /// Any page that answered was called well.
    #[test]
    fn an_address_must_speak_mcp() {
        let server = Loopback::start(|request| match request.path.as_str() {
            "/mcp" => Reply::json(&mcp("dowse")),
            "/events" => Reply::ok(format!("event: message\ndata: {}\n\n", mcp("dowse"))),
            "/other" => Reply::json(&mcp("everything")),
            "/stateless" => match request.json()["method"].as_str() {
                Some("server/discover") => Reply::json(&mcp("dowse")),
                _ => Reply::json(&json!({ "jsonrpc": "2.0", "id": 1,
                    "error": { "code": -32601, "message": "method not found" } })),
            },
            "/keyed" => match request.header("authorization") {
                Some("Bearer right") => Reply::json(&mcp("dowse")),
                _ => Reply::status(401, "{}"),
            },
            "/page" => Reply::ok("<!doctype html><p>hello"),
            "/json" => Reply::json(&json!({ "status": "ok" })),
            "/rpc" => Reply::json(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
            _ => Reply::status(404, r#"{"error":{"message":"no page"}}"#),
        });
        let dowse = Endpoint::Mcp { name: "dowse".to_owned(), version: "1".to_owned() };
        for path in ["/mcp", "/events", "/stateless"] {
            assert_eq!(ask(&server.url(path), &[]), dowse, "{path}");
        }
        for path in ["/page", "/json", "/rpc", "/nonsense", "/"] {
            let found = ask(&server.url(path), &[]);
            assert!(matches!(found, Endpoint::Other(_)), "{path}: {found:?}");
        }
        let other = ask(&server.url("/other"), &[]);
        assert!(matches!(other, Endpoint::Mcp { name, .. } if name == "everything"));
        let key = |value: &str| vec![("Authorization".to_owned(), format!("Bearer {value}"))];
        assert_eq!(ask(&server.url("/keyed"), &key("wrong")), Endpoint::Refused(401));
        assert_eq!(ask(&server.url("/keyed"), &key("right")), dowse);
        assert_eq!(usual_place(&server.url("/page"), &[]), Some(server.url("/mcp")));
        assert_eq!(usual_place(&server.url("/mcp"), &[]), None);
        let closed = format!("http://127.0.0.1:{}/mcp", testkit::free_port());
        assert!(matches!(ask(&closed, &[]), Endpoint::Silent(_)));
    }
}
