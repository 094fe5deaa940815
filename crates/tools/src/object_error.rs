//! Refusals that every family with objects of its own may give, with the codes of the one table.

use std::error::Error as StdError;

use ingest::ObjectError;
use model::with_causes;

use crate::{Code, STORE_RETRY_SECONDS, ToolError};

/// Writes a refusal; `hint_of` says where an object that was not found would be listed.
pub(crate) fn object_error(error: ObjectError, hint_of: fn(&str) -> &'static str) -> ToolError {
    let message = error.to_string();
    match error {
        ObjectError::NotFound { what, id } => ToolError::new(Code::NotFound, message)
            .with_detail("received", id)
            .with_hint(hint_of(what)),
        ObjectError::BadRequest { .. } => ToolError::bad_request(message),
        ObjectError::TooLarge { what, received, allowed } => {
            ToolError::new(Code::TooLarge, message)
                .with_detail("what", what)
                .with_detail("received", received)
                .with_detail("allowed", allowed)
        }
        ObjectError::Busy => ToolError::new(Code::Conflict, message).with_hint("try again"),
        ObjectError::Queue(ingest::Error::QueueFull { .. }) => {
            ToolError::new(Code::Unavailable, "too many jobs wait already")
                .with_hint("try again when some are done")
        }
        ObjectError::Unavailable(_) => store_failed(&error),
        ObjectError::Queue(_) => ToolError::internal(with_causes(&error)),
    }
}

/// Says that the store cannot be reached; why is for the log.
pub(crate) fn store_failed(error: &dyn StdError) -> ToolError {
    tracing::error!(cause = with_causes(error), "the store failed");
    ToolError::new(Code::Unavailable, error.to_string())
        .with_detail("retry_after_seconds", STORE_RETRY_SECONDS)
        .with_hint("try again later")
}
