//! Errors and nodes of the family in the forms of the house.

use contexts::{Error, Node, NodeRequest};
use model::{Around, with_causes};
use serde_json::{Value, json};
use text::Budget;

use crate::{Code, STORE_RETRY_SECONDS, ToolError};

/// How much of a pointer an error gives back.
const MAX_SHOWN_CHARS: usize = 200;

/// Writes an error of the family with the codes of the house.
pub fn error(error: Error) -> ToolError {
    if let Some(full) = crate::disk_full(&error) {
        return full;
    }
    let message = error.to_string();
    match error {
        Error::NotFound { what, id } => {
            let hint = match what {
                "Project" => "`GET /v1/projects` lists those you may read",
                "Table" => "`GET /v1/projects/{id}/tables` lists those of a project",
                "Tool" => {
                    "it was deleted or was never there: `GET /v1/projects/{id}/tools` lists \
                     those of a project, `tools/list` those of an endpoint"
                }
                "Endpoint" => "`GET /v1/projects/{id}/endpoints` lists those of a project",
                "Key" => "`GET /v1/endpoints/{id}` lists the keys of an endpoint",
                "Job" => "`GET /v1/jobs` lists yours; a job is forgotten some time after its end",
                _ => "it was deleted or was never there",
            };
            ToolError::new(Code::NotFound, message).with_detail("received", id).with_hint(hint)
        }
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
        Error::BadRequest { .. } => ToolError::bad_request(message),
        Error::BadPointer(_) => ToolError::bad_request(message)
            .with_detail("argument", "json_path")
            .with_hint("write it as `/articles/0/content`"),
        Error::BadDocument { position, .. } => ToolError::bad_request(message)
            .with_detail("byte", position.byte)
            .with_detail("line", position.line)
            .with_detail("column", position.column),
        Error::TooLarge { what, received, allowed } => ToolError::new(Code::TooLarge, message)
            .with_detail("what", what)
            .with_detail("received", received)
            .with_detail("allowed", allowed),
        Error::NameTaken { .. } => ToolError::new(Code::Conflict, message)
            .with_hint("give one of the two tools another name"),
        Error::Busy => ToolError::new(Code::Conflict, message).with_hint("try again"),
        Error::TimeOver => ToolError::new(Code::DeadlineExceeded, message)
            .with_hint("raise `limits.call_seconds` for documents of this size"),
        Error::Queue(ingest::Error::QueueFull { .. }) => {
            ToolError::new(Code::Unavailable, "too many jobs wait already")
                .with_hint("try again when some are done")
        }
        Error::Unavailable(_) | Error::Search(_) => {
            tracing::error!(cause = with_causes(&error), "the store failed");
            ToolError::new(Code::Unavailable, message)
                .with_detail("retry_after_seconds", STORE_RETRY_SECONDS)
                .with_hint("try again later")
        }
        Error::Queue(_) | Error::Document(_) => ToolError::internal(with_causes(&error)),
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
        if let Some(next) = node.next {
            value["next"] = json!(next.to_string());
        }
        if node.char_start > 0 {
            let n_chars = (node.char_end - node.char_start).max(1);
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

fn node_json(node: &Node) -> Value {
    let mut value = json!(node);
    if node.warnings.is_empty()
        && let Value::Object(members) = &mut value
    {
        members.remove("warnings");
    }
    value
}
