//! What both tools of the family share: their errors, and which tables a caller sees.

use model::Caller;
use serde_json::{Value, json};
use tables::{Error, Schema, Service};

use crate::{Code, ToolError};

/// Writes an error of the family with the codes that every family has.
pub fn error(error: &tables::Error) -> ToolError {
    let code = match error.code() {
        "BAD_REQUEST" => Code::BadRequest,
        "NOT_FOUND" => Code::NotFound,
        "TIMEOUT" => Code::DeadlineExceeded,
        "UNAVAILABLE" => Code::Unavailable,
        _ => Code::InternalError,
    };
    let mut result = ToolError::new(code, error.to_string());
    if let Value::Object(details) = details(error) {
        result.details = details;
    }
    if code == Code::BadRequest || code == Code::NotFound {
        result = result.with_hint(ADVICE);
    }
    if code == Code::Unavailable {
        result = result.with_hint("the source is tried again by itself; call again in a moment");
    }
    result
}

/// Gives the parts of the message that a program can use.
fn details(error: &Error) -> Value {
    match error {
        Error::UnknownName { what, received, allowed, did_you_mean } => {
            json!({ "what": what, "received": received, "allowed": allowed, "did_you_mean": did_you_mean })
        }
        Error::NotAllowed { field, received, allowed, did_you_mean } => {
            json!({ "field": field, "received": received, "allowed": allowed, "did_you_mean": did_you_mean })
        }
        Error::WrongType { field, expected, received }
        | Error::OutOfBounds { field, expected, received } => {
            json!({ "field": field, "received": received, "expected": expected })
        }
        Error::EmptyRange { field, start, end } => {
            json!({ "field": field, "start": start, "end": end })
        }
        Error::TableRequired { allowed } => json!({ "allowed": allowed }),
        Error::MissingParameter { name, expected } => {
            json!({ "field": name, "expected": expected })
        }
        Error::UnknownTable { received, allowed, did_you_mean } => {
            json!({ "received": received, "allowed": allowed, "did_you_mean": did_you_mean })
        }
        Error::BadCursor
        | Error::BadArguments { .. }
        | Error::BadAggregate { .. }
        | Error::BadQuery { .. }
        | Error::TimedOut
        | Error::BadSchema { .. }
        | Error::BadView { .. }
        | Error::DuplicateTable { .. }
        | Error::Links(_)
        | Error::Source { .. }
        | Error::GetData { .. } => json!({}),
    }
}

/// What to do after a wrong call.
pub(super) const ADVICE: &str = "call `describe_schema` to see fields and allowed values";

/// Names the tables that a caller may use.
pub(super) fn names(service: &Service, caller: &Caller) -> Vec<String> {
    service.schemas(caller).iter().map(|schema| schema.name.clone()).collect()
}

/// Gives the schemas behind names.
pub(super) fn schemas<'a>(service: &'a Service, names: &[String]) -> Vec<&'a Schema> {
    let mut schemas = service.schemas(&Caller::local_admin());
    schemas.retain(|schema| names.contains(&schema.name));
    schemas
}

/// Gives the schema of the table that a call names, or of the only one.
pub(super) fn schema_of<'a>(
    service: &'a Service,
    caller: &Caller,
    table: Option<&str>,
) -> Option<&'a Schema> {
    let schemas = service.schemas(caller);
    schemas.into_iter().find(|schema| table.is_none_or(|name| name == schema.name))
}
