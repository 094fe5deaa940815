//! The scripted agent and its fixed policies.
//!
//! - After a refused call it reads `details.allowed` or "did you mean", puts the first into the
//!   argument that was refused, and calls once more; a second refusal ends the task.
//! - It follows `next` for at most [`MAX_PAGES`] pages, and opens at most [`MAX_OPENED`] results.
//! - It writes arguments as language models do: numbers as text, one value where a list is
//!   expected, `null` for what it does not need.

use serde_json::{Value, json};
use testkit::{Mcp, StdioSession, ToolResult};

/// Pages of one list that are read.
pub(crate) const MAX_PAGES: usize = 3;

/// Results that are opened to find what was asked for.
pub(crate) const MAX_OPENED: usize = 3;

/// What a task cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) calls: usize,
    pub(crate) refused: usize,
    /// Tokens of all arguments and of all answers, as the model writes and reads them.
    pub(crate) tokens: usize,
}

/// Something that has tools.
pub(crate) trait ToolServer {
    fn call_tool(&mut self, tool: &str, arguments: &Value) -> ToolResult;
    fn tools(&mut self) -> Value;
}

impl ToolServer for Mcp {
    fn call_tool(&mut self, tool: &str, arguments: &Value) -> ToolResult {
        self.call(tool, arguments)
    }

    fn tools(&mut self) -> Value {
        Value::Array(self.list_tools())
    }
}

impl ToolServer for StdioSession {
    fn call_tool(&mut self, tool: &str, arguments: &Value) -> ToolResult {
        self.call(tool, arguments)
    }

    fn tools(&mut self) -> Value {
        self.request("tools/list", &json!({}))["tools"].take()
    }
}

/// An agent with a server, and what it has spent.
pub(crate) struct Agent<'a> {
    pub(crate) server: &'a mut dyn ToolServer,
    pub(crate) tally: Tally,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(server: &'a mut dyn ToolServer) -> Self {
        Agent { server, tally: Tally::default() }
    }

    /// Calls a tool, once more after a refusal that says what is right, and gives the text.
    ///
    /// Fails when the call is refused for good.
    pub(crate) fn text(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<String> {
        let first = self.once(tool, arguments);
        if !first.is_error {
            return Ok(texts(&first).join("\n"));
        }
        self.tally.refused += 1;
        let Some(corrected) = corrected(arguments, &first.text) else {
            anyhow::bail!("`{tool}` refused: {}", first.text);
        };
        let second = self.once(tool, &corrected);
        if second.is_error {
            self.tally.refused += 1;
            anyhow::bail!("`{tool}` refused twice: {}", second.text);
        }
        Ok(texts(&second).join("\n"))
    }

    /// Calls a tool whose answer is JSON.
    pub(crate) fn json(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let text = self.text(tool, arguments)?;
        serde_json::from_str(&text)
            .map_err(|error| anyhow::anyhow!("`{tool}` gave no JSON: {error}"))
    }

    fn once(&mut self, tool: &str, arguments: &Value) -> ToolResult {
        self.tally.calls += 1;
        self.tally.tokens += count(&arguments.to_string());
        let result = self.server.call_tool(tool, arguments);
        self.tally.tokens += texts(&result).into_iter().map(count).sum::<usize>();
        result
    }
}

/// Gives every text of an answer, also those of resources that it brings with it.
fn texts(result: &ToolResult) -> Vec<&str> {
    let contents = result.raw["content"].as_array().into_iter().flatten();
    contents
        .filter_map(|content| content["text"].as_str().or(content["resource"]["text"].as_str()))
        .collect()
}

/// Reads an error and corrects the argument that it names; nothing when it does not say how.
fn corrected(arguments: &Value, error: &str) -> Option<Value> {
    let error: Value = serde_json::from_str(error).ok()?;
    let details = &error["error"]["details"];
    let argument = details["argument"].as_str()?;
    let allowed = match &details["allowed"] {
        Value::Array(allowed) => allowed.first()?.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return None;
        }
    };
    let allowed = allowed.get("id").cloned().unwrap_or(allowed);
    let mut corrected = arguments.clone();
    corrected[argument] = allowed;
    Some(corrected)
}

/// Counts tokens as models of the o200k vocabulary do.
pub(crate) fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Counts what a model reads before it has asked anything: name, description and input schema of
/// every tool.
pub(crate) fn list_tokens(server: &mut dyn ToolServer) -> usize {
    let tools = server.tools();
    tools.as_array().into_iter().flatten().map(tool_tokens).sum()
}

fn tool_tokens(tool: &Value) -> usize {
    let seen = json!({
        "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"],
    });
    count(&seen.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_names_what_is_right_is_corrected() {
        let arguments = json!({ "category": "uats", "query": "Cluj" });
        let error =
            json!({ "error": { "details": { "argument": "category", "allowed": ["uat"] } } });
        let corrected = corrected(&arguments, &error.to_string()).unwrap();
        assert_eq!(corrected, json!({ "category": "uat", "query": "Cluj" }));
        assert_eq!(super::corrected(&arguments, "not JSON"), None);
    }

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
    }
}
