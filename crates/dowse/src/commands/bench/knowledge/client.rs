//! One connection to the server: REST for objects, MCP for tools.

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::commands::bench::process::{Connection, Process};

/// A client with a connection of its own.
pub(super) struct Client(Connection);

impl Client {
    pub(super) fn connect(server: &Process) -> anyhow::Result<Self> {
        Ok(Client(server.connect()?))
    }

    pub(super) fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(serde_json::from_str(&self.0.ask(&request)?)?)
    }

    pub(super) fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        let answer = self.0.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))?;
        let answer: Value = serde_json::from_str(&answer)?;
        if answer["error"].is_object() {
            bail!("`{path}` answered {answer}");
        }
        Ok(answer)
    }

    /// Calls a tool and gives its structured answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let mut answer = self.post(
            "/mcp",
            &json!({
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": { "name": tool, "arguments": arguments },
            }),
        )?;
        let result = answer["result"].take();
        if result["isError"] == true || result["structuredContent"].is_null() {
            bail!("`{tool}` answered {result}{answer}");
        }
        Ok(result["structuredContent"].clone())
    }
}

/// Reads the id of something that was made.
pub(super) fn id_of(made: &Value) -> anyhow::Result<String> {
    let id = made["id"].as_str();
    Ok(id.with_context(|| format!("the answer has no id: {made}"))?.to_owned())
}
