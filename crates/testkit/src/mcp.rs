//! A plain MCP client over HTTP: the messages as they are, for tests that read whole answers.
//!
//! It speaks as a bare `curl` does (no session, no handshake) unless the test adds headers; the
//! real clients of other projects are tested by `cargo xtask clients`.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::{Http, Request, Response};

/// A client for one MCP address.
#[derive(Debug)]
pub struct Mcp {
    http: Http,
    path: String,
    headers: Vec<(String, String)>,
    last_id: AtomicU64,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// Whether the tool says that the call failed.
    pub is_error: bool,
    /// The structured answer, `null` when there is none.
    pub structured: Value,
    /// The text of the first piece of content.
    pub text: String,
    /// The whole result.
    pub raw: Value,
}

impl Mcp {
    /// Takes a server and the path of the endpoint, such as `/mcp`.
    pub fn new(http: &Http, path: &str) -> Self {
        let headers = vec![("Accept".to_owned(), "*/*".to_owned())];
        Mcp { http: http.clone(), path: path.to_owned(), headers, last_id: AtomicU64::new(0) }
    }

    /// Sends this header with every request, such as `Authorization`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends one request and gives the whole HTTP answer.
    #[track_caller]
    pub fn send(&self, method: &str, params: &Value) -> Response {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// Posts any JSON, also what is not JSON-RPC.
    #[track_caller]
    pub fn post(&self, message: &Value) -> Response {
        let request = Request::new("POST", &self.path).json(message);
        let add = |request: Request, (name, value): &(String, String)| request.header(name, value);
        self.http.send(&self.headers.iter().fold(request, add))
    }

    /// Sends one request and gives its `result`; an error is a panic that shows it.
    #[track_caller]
    pub fn request(&self, method: &str, params: &Value) -> Value {
        let mut answer = self.send(method, params).json();
        assert!(answer.get("error").is_none(), "`{method}` failed: {answer}");
        answer["result"].take()
    }

    /// Sends one request and gives its `error`; a result is a panic that shows it.
    #[track_caller]
    pub fn request_error(&self, method: &str, params: &Value) -> Value {
        let mut answer = self.send(method, params).json();
        assert!(answer.get("error").is_some(), "`{method}` succeeded: {answer}");
        answer["error"].take()
    }

    /// Lists the tools.
    #[track_caller]
    pub fn list_tools(&self) -> Vec<Value> {
        let mut result = self.request("tools/list", &json!({}));
        let Value::Array(tools) = result["tools"].take() else {
            panic!("no list of tools: {result}")
        };
        tools
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> ToolResult {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        ToolResult::new(result)
    }
}

impl ToolResult {
    /// Reads the result of `tools/call`.
    pub fn new(raw: Value) -> Self {
        ToolResult {
            is_error: raw["isError"].as_bool().unwrap_or(false),
            structured: raw["structuredContent"].clone(),
            text: raw["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
            raw,
        }
    }

    /// Gives the text as JSON, as most tools write it.
    #[track_caller]
    pub fn text_json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("the text is not JSON ({error}): {}", self.text))
    }

    /// Gives the structured answer of a call that succeeded.
    #[track_caller]
    pub fn success(self) -> Value {
        assert!(!self.is_error, "the tool failed: {}", self.text);
        self.structured
    }

    /// Gives the error that the text holds, of a call that failed.
    #[track_caller]
    pub fn error(self) -> Value {
        assert!(self.is_error, "the tool succeeded: {}", self.text);
        assert!(self.structured.is_null(), "an error must not have `structuredContent`");
        self.text_json()
    }
}
