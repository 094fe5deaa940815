//! What the tools of the family share: errors, the version in every answer, and who sees them.

use std::sync::Arc;

use files::{Error, MCP_VERSION, Service};
use model::Caller;
use serde_json::{Value, json};

use crate::{Answer, Code, Spec, ToolError};

/// Writes an error of the family with the codes of the house.
pub(super) fn error(error: Error) -> ToolError {
    let message = error.to_string();
    match error {
        Error::Forbidden { .. } => ToolError::new(Code::Forbidden, message)
            .with_hint("call `listRoots` to see the allowed folders"),
        Error::NotFound { .. } => ToolError::new(Code::NotFound, message)
            .with_hint("call `searchFiles` to find files that exist"),
        Error::BadRequest { .. } => ToolError::bad_request(message),
        Error::Busy { .. } => ToolError::new(Code::Conflict, message)
            .with_hint("wait until it has ended, or ask for the same `full`"),
        Error::Llm(cause) => {
            tracing_cause(&cause);
            ToolError::new(Code::LlmUpstream, message)
                .with_hint("try again later; without `[llm]` the answer is made by rules")
        }
        Error::BadRoot { .. }
        | Error::JobFailed { .. }
        | Error::Store(_)
        | Error::Retrieve(_)
        | Error::Ingest(_) => ToolError::internal(chain(&error)),
    }
}

/// A provider's error may quote its own address; it belongs to the log, not to the caller.
fn tracing_cause(cause: &dyn std::error::Error) {
    tracing::warn!(cause = chain(cause), "the language model failed");
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

/// Adds the version that stands in every answer of the family.
pub(super) fn versioned(mut value: Value) -> Answer {
    if let Value::Object(object) = &mut value {
        object.insert("mcp_version".to_owned(), json!(MCP_VERSION));
    }
    Answer::new(value)
}

/// The schema of the version.
pub(super) fn version_schema() -> Value {
    json!({ "type": "string" })
}

/// A tool of this family exists for those who may use at least one root.
pub(super) fn visible(service: &Service, caller: &Caller, spec: &Arc<Spec>) -> Option<Arc<Spec>> {
    (!service.roots(caller).is_empty()).then(|| Arc::clone(spec))
}
