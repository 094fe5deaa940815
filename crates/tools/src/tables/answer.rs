//! What both tools of the family share: their errors, and which tables a caller sees.

use model::Caller;
use serde_json::{Value, json};
use tables::{Schema, Service};

use crate::{Code, Spec, ToolError};

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

/// Takes the right name of the only table, which the schema does not show: whoever names it is
/// not wrong.
pub(super) fn taking_its_name(spec: Spec, schemas: &[&Schema]) -> Spec {
    let [schema] = schemas else { return spec };
    let shown = spec.shown_input.clone().unwrap_or_else(|| spec.input.shared());
    let mut input = Value::Object((*spec.input.shared()).clone());
    input["properties"]["table"] = json!({ "type": "string", "enum": [schema.name] });
    spec.with_input(input).with_shown_input(Value::Object((*shown).clone()))
}
