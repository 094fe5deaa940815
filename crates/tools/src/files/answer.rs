//! What the tools of the family share: errors, the version in every answer, and who sees them.

use std::sync::Arc;

use files::{Error, MCP_VERSION, Service};
use model::{Caller, with_causes};
use serde_json::{Value, json};

use crate::object_error::object_error;
use crate::{Answer, Code, Spec, ToolError};

/// Writes errors of the family with the common codes, for the argument that named the
/// file or folder.
pub fn error_of(argument: &'static str) -> impl Fn(Error) -> ToolError {
    move |error| coded(error, argument)
}

fn coded(error: Error, argument: &'static str) -> ToolError {
    let message = error.to_string();
    match error {
        Error::Forbidden { path } => about(Code::Forbidden, message, argument, path)
            .with_hint("call `listRoots` to see the allowed folders"),
        Error::NotFound { path } => about(Code::NotFound, message, argument, path)
            .with_hint("call `searchFiles` for files that exist, or `listRoots` for folders"),
        Error::BadPath { path, .. } => about(Code::BadRequest, message, argument, path)
            .with_hint("call `listRoots` for folders, or take a path from `searchFiles`"),
        Error::IsFolder { path } => about(Code::BadRequest, message, argument, path)
            .with_hint("call `listFiles` with that path, or `searchFiles` with it in `roots`"),
        Error::IsFile { path } => about(Code::BadRequest, message, argument, path)
            .with_hint("call `openFile` with that path"),
        Error::BadArgument { argument, received, .. } => {
            let hint = match argument {
                "query" => "say in words what to look for",
                _ => "leave it out to search without this filter",
            };
            about(Code::BadRequest, message, argument, received).with_hint(hint)
        }
        Error::BadPointer(pointer) => {
            about(Code::BadRequest, message, "pointer", pointer.received).with_hint(POINTER_HINT)
        }
        Error::NoPlace { pointer, first, last, .. } => {
            let mut allowed = vec![first, last];
            allowed.dedup();
            about(Code::BadRequest, message, "pointer", pointer)
                .with_detail("allowed", allowed)
                .with_hint(POINTER_HINT)
        }
        Error::NeedsAdmin => ToolError::new(Code::Forbidden, message)
            .with_detail("argument", "full")
            .with_hint("leave `full` out: what changed is indexed without it"),
        Error::StopNeedsAdmin => ToolError::new(Code::Forbidden, message)
            .with_hint("`GET /v1/jobs/{id}` says how far it is"),
        Error::Busy { root, .. } => about(Code::Conflict, message, argument, root)
            .with_hint("call again when that has ended, or with the same `full` to join it"),
        Error::Cancelled { root } => about(Code::Conflict, message, argument, root)
            .with_hint("what was indexed stays; call again to index the rest"),
        Error::Llm(cause) => {
            tracing_cause(&cause);
            ToolError::new(Code::LlmUpstream, message)
                .with_hint("try again later; without `[llm]` the answer is made by rules")
        }
        Error::Object(error) => object_error(error, |_| JOB_HINT),
        Error::BadRoot { .. }
        | Error::BadPattern { .. }
        | Error::JobFailed { .. }
        | Error::Store(_)
        | Error::Retrieve(_) => ToolError::internal(with_causes(&error)),
    }
}

/// Begins an error about what an argument names.
fn about(code: Code, message: String, argument: &str, received: String) -> ToolError {
    ToolError::new(code, message)
        .with_detail("argument", argument)
        .with_detail("received", received)
}

/// What to do about a job that is not there.
const JOB_HINT: &str = "`GET /v1/jobs` lists yours; a job is forgotten some time after its end";

/// What to do about a pointer that leads nowhere.
const POINTER_HINT: &str =
    "take `pointer` from a result of `searchFiles`, or leave it out for the start of the file";

/// A provider's error may quote its own address; it belongs to the log, not to the caller.
fn tracing_cause(cause: &dyn std::error::Error) {
    tracing::warn!(cause = with_causes(cause), "the language model failed");
}

/// Adds the version that is in every answer of the family.
pub(super) fn versioned(mut value: Value) -> Answer {
    if let Value::Object(object) = &mut value {
        object.insert("mcp_version".to_owned(), json!(MCP_VERSION));
    }
    Answer::new(value)
}

pub(super) fn version_schema() -> Value {
    json!({ "type": "string" })
}

/// A tool of this family exists for those who may use at least one root.
pub(super) fn visible(service: &Service, caller: &Caller, spec: &Arc<Spec>) -> Option<Arc<Spec>> {
    (!service.roots(caller).is_empty()).then(|| Arc::clone(spec))
}
