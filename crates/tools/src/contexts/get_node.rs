//! A reading tool that a user made: a node under its path, by pointer.

use std::sync::Arc;

use contexts::limits::{DEFAULT_NODE_CHARS, MAX_NODE_CHARS, MAX_PATH_BYTES};
use contexts::{NodeRequest, Service, ToolId};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::{error, read_node};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// What an agent is told about a tool whose user said nothing.
const DESCRIPTION: &str = "Read a node of a JSON document by the json_path of a search result, \
    or of a node above it. Long strings, lists and objects are read in pieces with `offset`.";

/// The tool.
pub struct GetNode {
    service: Service,
    tool: ToolId,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// RFC 6901 pointer as results show it, such as /0/content; empty for everything this tool covers
    #[schemars(length(max = MAX_PATH_BYTES))]
    json_path: String,
    /// characters of a string, or members of a list or object, to pass over; `next` of the piece before
    #[serde(default)]
    offset: usize,
    #[serde(default = "default_max_chars")]
    #[schemars(range(min = 1, max = MAX_NODE_CHARS))]
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
        .with_arguments::<Arguments>()
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
                "next": text(),
                "prev": text(),
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
        let (value, around) = read_node(request, &call.budget, |request| {
            self.service.get_through(call.caller, &self.tool, request, call.deadline)
        })
        .map_err(error)?;
        Ok(Answer::new(value).with_around(around))
    }
}
