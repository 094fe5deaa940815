//! The fixture tools as `tools/list` shows them.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Value, json};

/// Tools without arguments.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Gives a text"),
    ("test_image_content", "Gives an image"),
    ("test_audio_content", "Gives a sound"),
    ("test_embedded_resource", "Gives a resource inside the answer"),
    ("test_multiple_content_types", "Gives a text, an image and a resource"),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_logging", "Sends log messages"),
    ("test_tool_with_progress", "Reports progress"),
    ("test_logging_tool", "Sends a log message when the request asks for a level"),
    ("test_elicitation_sep1034_defaults", "Asks for values that have defaults"),
    ("test_elicitation_sep1330_enums", "Asks for values out of enumerations"),
    ("test_reconnection", "Takes a moment, so that a client can reconnect"),
    ("test_trigger_tool_change", "Tells listeners that the tools changed"),
    ("test_trigger_prompt_change", "Tells listeners that the prompts changed"),
    ("test_missing_capability", "Needs a client that samples"),
    ("test_streaming_elicitation", "Needs an input before it can answer"),
    ("test_input_required_result_elicitation", "Needs a name"),
    ("test_input_required_result_sampling", "Needs a sampled text"),
    ("test_input_required_result_list_roots", "Needs the client's roots"),
    ("test_input_required_result_request_state", "Needs its state back"),
    ("test_input_required_result_multiple_inputs", "Needs three inputs at once"),
    ("test_input_required_result_multi_round", "Needs inputs in two rounds"),
    ("test_input_required_result_tampered_state", "Refuses a state that was changed"),
    ("test_input_required_result_capabilities", "Asks only for what the client can give"),
];

/// Gives every fixture tool.
pub(super) fn tools() -> Vec<Tool> {
    let plain = PLAIN
        .iter()
        .map(|(name, description)| tool(name, description, json!({ "type": "object" })));
    plain.chain([sampling(), elicitation(), header(), schema()]).collect()
}

pub(super) fn find(name: &str) -> Option<Tool> {
    tools().into_iter().find(|tool| tool.name == name)
}

fn sampling() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "prompt": { "type": "string" } },
        "required": ["prompt"],
    });
    tool("test_sampling", "Asks the client's model", schema)
}

fn elicitation() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "message": { "type": "string" } },
        "required": ["message"],
    });
    tool("test_elicitation", "Asks the person at the client", schema)
}

fn header() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
        "required": ["value"],
    });
    tool("test_custom_header", "Takes an argument that a header repeats", schema)
}

/// A schema with the keywords that a server must pass on untouched.
fn schema() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
        },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
        "if": { "required": ["address"] },
        "then": { "properties": { "address": { "required": ["street"] } } },
        "else": { "required": ["name"] },
        "additionalProperties": false,
    });
    tool("json_schema_2020_12_tool", "Has a schema with many keywords", schema)
}

fn tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let Value::Object(mut schema) = schema else {
        unreachable!("the schemas above are objects");
    };
    schema.entry("properties").or_insert_with(|| json!({}));
    Tool::new(name, description, Arc::new(schema))
}
