//! A reading tool that a user made: a node under its path, by pointer.

use std::sync::Arc;

use contexts::limits::{DEFAULT_NODE_CHARS, MAX_NODE_CHARS, MAX_PATH_BYTES};
use contexts::{NodeRequest, Service};
use model::Caller;
use serde::Deserialize;
use serde_json::json;

use super::answer::{error, node_json};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// What an agent is told about a tool whose user said nothing.
const DESCRIPTION: &str = "Read a node of a JSON document by the json_path of a search result, \
    or of a node above it. A long string is read in pieces with `offset`.";

/// The tool.
pub struct GetNode {
    service: Service,
    tool: String,
    spec: Arc<Spec>,
}

#[derive(Deserialize)]
struct Arguments {
    json_path: String,
    #[serde(default)]
    offset: usize,
    #[serde(default = "default_max_chars")]
    max_chars: usize,
}

fn default_max_chars() -> usize {
    DEFAULT_NODE_CHARS
}

impl GetNode {
    /// Reads through a user's tool.
    pub fn new(service: Service, tool: &contexts::Tool) -> Self {
        let spec = Arc::new(spec(&tool.name, &tool.description));
        GetNode { service, tool: tool.id.clone(), spec }
    }
}

fn spec(name: &str, description: &str) -> Spec {
    let description = if description.is_empty() { DESCRIPTION } else { description };
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer" });
    Spec::read_only(name, name, description)
        .with_input(json!({
            "type": "object",
            "properties": {
                "json_path": {
                    "type": "string",
                    "maxLength": MAX_PATH_BYTES,
                    "description": "RFC 6901 pointer as results show it, such as /0/content; \
                                    empty for everything this tool covers",
                },
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "default": 0,
                    "description": "characters of a string to pass over",
                },
                "max_chars": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_NODE_CHARS,
                    "default": DEFAULT_NODE_CHARS,
                },
            },
            "required": ["json_path"],
        }))
        .with_output(json!({
            "type": "object",
            "properties": {
                "table_id": text(),
                "json_path": text(),
                "json_pointer": text(),
                "type": text(),
                "text": text(),
                "char_start": number(),
                "char_end": number(),
                "total_chars": { "type": ["integer", "null"] },
                "truncated": { "type": "boolean" },
                "warnings": { "type": "array", "items": text() },
            },
            "required": ["table_id", "json_path", "json_pointer", "type", "text", "truncated"],
        }))
        .with_source_text(&["/text"])
}

impl Tool for GetNode {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { json_path, offset, max_chars } = call.parse()?;
        let request = NodeRequest { json_path, offset, max_chars };
        let node = self
            .service
            .get_through(call.caller, &self.tool, &request, call.deadline)
            .map_err(error)?;
        Ok(Answer::new(node_json(&node)).with_around(node.around("/text")))
    }
}
