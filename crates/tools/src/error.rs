//! The one table of everything that can go wrong in a call: code, meaning, HTTP status.

use serde_json::{Map, Value, json};

use crate::ErrorShape;

/// Seconds after which a call that the store could not answer is worth trying again: connections
/// are tried anew all the time, and a database that restarts takes a few seconds.
pub const STORE_RETRY_SECONDS: u64 = 5;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $status:literal;)*) => {
        /// Why a call failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// Gives the name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// Gives the HTTP status of a REST answer with this code.
            pub fn http_status(self) -> u16 {
                match self { $(Code::$variant => $status,)* }
            }
        }
    };
}

codes! {
    /// The arguments or the body are wrong; the caller can correct them.
    BadRequest = "BAD_REQUEST", 400;
    /// The call has no credentials, or none that are valid here.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The caller is known and may not do this.
    Forbidden = "FORBIDDEN", 403;
    /// It does not exist, or not for this caller.
    NotFound = "NOT_FOUND", 404;
    /// It cannot be done now, since something else is being done to the same object.
    Conflict = "CONFLICT", 409;
    /// The request is larger than the server accepts.
    TooLarge = "TOO_LARGE", 413;
    /// The caller has called too often; `details.retry_after_seconds` says when to come back.
    RateLimited = "RATE_LIMITED", 429;
    /// A mistake of ours; `details.id` finds the cause in the log.
    InternalError = "INTERNAL_ERROR", 500;
    /// The configured language model failed or did not answer in time.
    LlmUpstream = "LLM_UPSTREAM", 502;
    /// Something the server depends on cannot be reached.
    Unavailable = "UNAVAILABLE", 503;
    /// The call took longer than its deadline.
    DeadlineExceeded = "DEADLINE_EXCEEDED", 504;
}

/// A failed call, with what the caller needs to do better.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What kind of failure.
    pub code: Code,
    /// The sentence.
    pub message: String,
    /// More, for programs: `argument`, `received`, `allowed`, `hint`, …
    pub details: Map<String, Value>,
}

impl ToolError {
    /// Makes an error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        ToolError { code, message: message.into(), details: Map::new() }
    }

    /// Makes an error that the caller can correct.
    pub fn bad_request(message: impl Into<String>) -> Self {
        ToolError::new(Code::BadRequest, message)
    }

    /// Makes an error of ours. The sentence goes to the log, never to the caller.
    pub fn internal(message: impl Into<String>) -> Self {
        ToolError::new(Code::InternalError, message)
    }

    /// Adds a detail.
    pub fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds what to do next.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint: String = hint.into();
        self.with_detail("hint", hint)
    }

    /// Writes the error in a family's shape. What a caller sent is in it once more: it is bounded
    /// here, whoever made the sentence.
    pub fn to_json(&self, shape: ErrorShape) -> Value {
        let mut error = self.clone();
        error.message = bounded(&error.message);
        error.details.values_mut().for_each(bound);
        error.written(shape)
    }

    fn written(&self, shape: ErrorShape) -> Value {
        match shape {
            ErrorShape::Coded => json!({
                "error": {
                    "code": self.code.as_str(),
                    "message": self.message,
                    "details": self.details,
                }
            }),
            ErrorShape::OkFalse => {
                // The internal sentence is fixed by the contract; hints join the others, since
                // this shape has no room beside the sentence.
                let sentence = if self.code == Code::InternalError {
                    "internal_error".to_owned()
                } else {
                    match self.details.get("hint").and_then(Value::as_str) {
                        Some(hint) => format!("{}; hint: {hint}", self.message),
                        None => self.message.clone(),
                    }
                };
                json!({ "ok": false, "error": sentence })
            }
        }
    }
}

/// The longest sentence or detail of an error, in characters; far more than any of ours has.
const MAX_ERROR_CHARS: usize = 4_000;

/// Gives a text of an error as it may leave: one that is too long is cut, and says so.
pub fn bounded(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(MAX_ERROR_CHARS) else { return text.to_owned() };
    let (shown, rest) = text.split_at(cut);
    format!("{shown}… ({} more characters)", rest.chars().count())
}

fn bound(detail: &mut Value) {
    match detail {
        Value::String(text) if text.len() > MAX_ERROR_CHARS => *text = bounded(text),
        Value::Array(elements) => elements.iter_mut().for_each(bound),
        Value::Object(members) => members.values_mut().for_each(bound),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pointer of a million characters came back twice, in an answer of two megabytes.
    #[test]
    fn what_was_received_comes_back_bounded() {
        let long = "x".repeat(1_000_000);
        let error = ToolError::bad_request(format!("no `{long}`"))
            .with_detail("received", long.clone())
            .with_detail("all", json!({ "some": [long] }));
        for shape in [ErrorShape::Coded, ErrorShape::OkFalse] {
            let text = error.to_json(shape).to_string();
            assert!(text.len() < 16_000 && text.contains("more characters"), "{}", text.len());
        }
        assert_eq!(bounded("short"), "short");
    }

    #[test]
    fn names_and_statuses_are_unique_and_legal() {
        let names: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!((400..600).contains(&code.http_status()), "{}", code.as_str());
        }
    }

    #[test]
    fn both_shapes() {
        let error = ToolError::bad_request("category is required").with_hint("give `category`");
        assert_eq!(
            error.to_json(ErrorShape::Coded).to_string(),
            r#"{"error":{"code":"BAD_REQUEST","message":"category is required","details":{"hint":"give `category`"}}}"#
        );
        assert_eq!(
            error.to_json(ErrorShape::OkFalse).to_string(),
            r#"{"ok":false,"error":"category is required; hint: give `category`"}"#
        );
    }
}
