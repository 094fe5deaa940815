//! Errors and nodes of the family in the forms that all families share.

use contexts::{Error, Node, NodeRequest};
use model::{Around, with_causes};
use serde_json::{Value, json};
use text::Budget;

use crate::object_error::{object_error, store_failed};
use crate::{Code, ToolError};

/// How much of a pointer an error gives back.
const MAX_SHOWN_CHARS: usize = 200;

/// Writes an error of the family with the codes of the one table.
pub fn error(error: Error) -> ToolError {
    if let Some(full) = crate::disk_full(&error) {
        return full;
    }
    let message = error.to_string();
    match error {
        Error::Object(error) => object_error(error, hint_of),
        Error::NoNode { pointer } => {
            // A pointer may be as long as a page; the caller knows what they wrote.
            let shown: String = pointer.chars().take(MAX_SHOWN_CHARS).collect();
            ToolError::new(Code::NotFound, format!("no node at `{shown}`"))
                .with_detail("argument", "json_path")
                .with_detail("received", shown)
                .with_hint("take `json_path` from a search, or read the node above it first")
        }
        Error::Denied => ToolError::new(Code::Forbidden, message)
            .with_hint("ask its owner or an administrator of your tenant"),
        Error::BadPointer(_) => ToolError::bad_request(message)
            .with_detail("argument", "json_path")
            .with_hint("write it as `/articles/0/content`"),
        Error::BadDocument { position, .. } => ToolError::bad_request(message)
            .with_detail("byte", position.byte)
            .with_detail("line", position.line)
            .with_detail("column", position.column),
        Error::NameTaken { .. } => ToolError::new(Code::Conflict, message)
            .with_hint("give one of the two tools another name"),
        Error::TimeOver => ToolError::new(Code::DeadlineExceeded, message)
            .with_hint("raise `limits.call_seconds` for documents of this size"),
        Error::Search(_) => store_failed(&error),
        Error::Document(_) => ToolError::internal(with_causes(&error)),
    }
}

/// Says where an object that was not found would be listed.
fn hint_of(what: &str) -> &'static str {
    match what {
        "Project" => "`GET /v1/projects` lists those you may read",
        "Table" => "`GET /v1/projects/{id}/tables` lists those of a project",
        "Tool" => {
            "it was deleted or was never there: `GET /v1/projects/{id}/tools` lists those of a \
             project, `tools/list` those of an endpoint"
        }
        "Endpoint" => "`GET /v1/projects/{id}/endpoints` lists those of a project",
        "Key" => "`GET /v1/endpoints/{id}` lists the keys of an endpoint",
        "Job" => "`GET /v1/jobs` lists yours; a job is forgotten some time after its end",
        _ => "it was deleted or was never there",
    }
}

/// Characters of a node that are always given.
const MIN_NODE_CHARS: usize = 100;

/// Reads as much of a node as a budget holds, and writes it with where to go on; gives what is
/// around its text as well.
///
/// Fails when reading does.
pub fn read_node(
    mut request: NodeRequest,
    budget: &Budget,
    read: impl Fn(&NodeRequest) -> contexts::Result<Node>,
) -> contexts::Result<(Value, Around)> {
    loop {
        let node = read(&request)?;
        let mut value = node_json(&node);
        if let Some(behind) = behind_the_end(&node, request.offset) {
            value["warnings"] = json!([behind]);
        }
        if let Some(next) = node.next {
            value["next"] = json!(next.to_string());
        }
        if node.char_start > 0 {
            // The last part of a string may be short: the one before it is not for that.
            let is_last = node.next.is_none();
            let n_shown = node.char_end - node.char_start;
            let n_chars = if is_last { n_shown.max(request.max_chars / 4) } else { n_shown }.max(1);
            value["prev"] = json!(node.char_start.saturating_sub(n_chars).to_string());
        }
        match budget.allowed_chars(&value.to_string()) {
            Some(allowed) if request.max_chars > MIN_NODE_CHARS => {
                let fewer = (allowed * 3 / 4).min(request.max_chars * 3 / 4);
                request.max_chars = fewer.max(MIN_NODE_CHARS);
            }
            _ => return Ok((value, node.around("/text"))),
        }
    }
}

/// Says that an offset is behind the last character or member of a node.
fn behind_the_end(node: &Node, offset: usize) -> Option<String> {
    let end = match (node.total_chars, node.text.as_str()) {
        (Some(total), "") => format!("the string ends at character {total}"),
        (None, "[]" | "{}") => format!("the {} ends before member {offset}", node.kind),
        _ => return None,
    };
    let message =
        format!("nothing is there: {end}; give a smaller `offset`, or leave it out to begin again");
    (offset > 0).then_some(message)
}

fn node_json(node: &Node) -> Value {
    let mut value = json!(node);
    if node.warnings.is_empty()
        && let Value::Object(members) = &mut value
    {
        members.remove("warnings");
    }
    value
}
