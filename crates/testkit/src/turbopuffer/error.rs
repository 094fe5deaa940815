//! Errors as the API gives them.

use serde_json::{Map, Value, json};

use crate::loopback::Reply;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    status: u16,
    message: String,
}

pub(super) type Outcome<T> = std::result::Result<T, Refusal>;

impl Refusal {
    /// The request is well formed and asks for something that cannot be.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Refusal { status: 400, message: message.into() }
    }

    /// The body does not have the documented shape.
    pub(super) fn unprocessable(message: impl Into<String>) -> Self {
        Refusal { status: 422, message: message.into() }
    }

    /// There is no such namespace or page.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Refusal { status: 404, message: message.into() }
    }

    /// The key is missing or wrong.
    pub(super) fn unauthorized() -> Self {
        Refusal { status: 401, message: "invalid API key".to_owned() }
    }

    /// This server does not do it, though the API does.
    pub(super) fn unsupported(what: &str) -> Self {
        Refusal::bad_request(format!("{what} is not supported by this loopback server"))
    }

    pub(super) fn reply(&self) -> Reply {
        let body = json!({"status": "error", "error": self.message});
        Reply::status(self.status, body.to_string()).with_header("content-type", "application/json")
    }
}

/// Reads an object that may have only the given fields.
pub(super) fn object<'a>(
    value: &'a Value,
    what: &str,
    fields: &[&str],
) -> Outcome<&'a Map<String, Value>> {
    let object = value.as_object().ok_or_else(|| {
        Refusal::unprocessable(format!("invalid type: {}, expected struct {what}", kind(value)))
    })?;
    for name in object.keys() {
        if !fields.contains(&name.as_str()) {
            return Err(Refusal::unprocessable(format!(
                "unknown field `{name}`, expected one of {}",
                fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
            )));
        }
    }
    Ok(object)
}

/// Reads an array.
pub(super) fn array<'a>(value: &'a Value, what: &str) -> Outcome<&'a Vec<Value>> {
    value.as_array().ok_or_else(|| {
        Refusal::unprocessable(format!(
            "{what}: invalid type: {}, expected a sequence",
            kind(value)
        ))
    })
}

/// Reads a boolean.
pub(super) fn boolean(value: &Value, what: &str) -> Outcome<bool> {
    value.as_bool().ok_or_else(|| {
        Refusal::unprocessable(format!("{what}: invalid type: {}, expected a boolean", kind(value)))
    })
}

/// Names what a value is, as the API's parser does.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("boolean `{flag}`"),
        Value::Number(number) => format!("number `{number}`"),
        Value::String(text) => format!("string {text:?}"),
        Value::Array(_) => "sequence".to_owned(),
        Value::Object(_) => "map".to_owned(),
    }
}
