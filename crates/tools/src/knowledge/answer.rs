//! Errors of the family with the codes of the house.

use knowledge::{Error, Service};
use model::Caller;

use crate::{Code, ToolError};

/// Writes an error of the family with the codes of the house. Where the contract gives a
/// sentence, it is the message, word for word.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
pub fn error(error: Error) -> ToolError {
    if let Some(full) = crate::disk_full(&error) {
        return full;
    }
    let message = error.to_string();
    match error {
        Error::BaseNotFound => ToolError::new(Code::NotFound, message)
            .with_hint("`GET /v1/knowledge-bases` lists those you may read"),
        Error::NotFound { .. } => ToolError::new(Code::NotFound, message),
        Error::Denied => ToolError::new(Code::Forbidden, message)
            .with_hint("ask its owner or an administrator of your tenant"),
        Error::BadRequest { .. } => ToolError::bad_request(message),
        Error::TooLarge { what, received, allowed } => ToolError::new(Code::TooLarge, message)
            .with_detail("what", what)
            .with_detail("received", received)
            .with_detail("allowed", allowed),
        Error::TextTooLong => ToolError::bad_request(message).with_detail("argument", "text"),
        Error::Busy => ToolError::new(Code::Conflict, message).with_hint("try again"),
        Error::Queue(ingest::Error::QueueFull { .. }) => {
            ToolError::new(Code::Unavailable, "too many jobs wait already")
                .with_hint("try again when some are done")
        }
        Error::Unavailable(_) | Error::Search(_) => {
            tracing::error!(cause = chain(&error), "the store failed");
            ToolError::new(Code::Unavailable, message).with_hint("try again later")
        }
        Error::LlmUnavailable(_) => {
            // A provider's error may quote its own address; it belongs to the log.
            tracing::warn!(cause = chain(&error), "the language model failed");
            ToolError::new(Code::LlmUpstream, message)
                .with_hint("try again later; without `[llm]` the answer is made by rules")
        }
        Error::Queue(_) | Error::Upload(_) => ToolError::internal(chain(&error)),
    }
}

/// Writes an error of a tool that was given the id of a knowledge base. The caller is told the
/// ids that would have been right: over MCP nothing else lists them.
pub(super) fn error_of(error: Error, service: &Service, caller: &Caller, base: &str) -> ToolError {
    let is_about_the_base = matches!(error, Error::BaseNotFound | Error::Denied);
    let coded = self::error(error);
    if !is_about_the_base {
        return coded;
    }
    let bases = service.list_bases(caller).unwrap_or_default();
    let n_bases = bases.len();
    let ids: Vec<String> = bases.into_iter().take(MAX_SHOWN_BASES).map(|base| base.id).collect();
    let hint = match (ids.len(), n_bases) {
        (0, _) => "there is no knowledge base that you may read; ask its owner".to_owned(),
        (n_ids, n_bases) if n_ids < n_bases => format!(
            "pass one of `allowed`, the first {n_ids} of {n_bases}; `get_knowledge_base_summary` \
             says what one is about"
        ),
        _ => {
            "pass one of `allowed`; `get_knowledge_base_summary` says what one is about".to_owned()
        }
    };
    coded
        .with_detail("argument", "knowledge_base_id")
        .with_detail("received", base)
        .with_detail("allowed", ids)
        .with_hint(hint)
}

/// How many ids an error lists.
const MAX_SHOWN_BASES: usize = 20;

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
