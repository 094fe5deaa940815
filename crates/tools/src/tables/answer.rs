//! What both tools of the family share: their errors, and which tables a caller sees.

use model::Caller;
use tables::{Schema, Service};

use crate::{Code, ToolError};

/// Writes an error of the family with the codes of the house.
pub fn error(error: &tables::Error) -> ToolError {
    let code = match error.code() {
        "BAD_REQUEST" => Code::BadRequest,
        "NOT_FOUND" => Code::NotFound,
        "TIMEOUT" => Code::DeadlineExceeded,
        "UNAVAILABLE" => Code::Unavailable,
        _ => Code::InternalError,
    };
    let mut result = ToolError::new(code, error.to_string());
    if let serde_json::Value::Object(details) = error.details() {
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
