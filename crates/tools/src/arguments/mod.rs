//! Arguments of a call: made plain, then held against the tool's input schema.
//!
//! [`accept`] is the one place where arguments are judged. It first takes what language models
//! send without harm ([`forgive`]), then asks a JSON Schema validator, and turns the first
//! finding into an error written for an agent ([`sentences`]). Tools read what comes out into
//! their own structs, which have derived the schema ([`InputSchema`]).

mod forgive;
mod orders;
mod schema;
mod sentences;

use serde_json::{Map, Value};

use crate::{Spec, ToolError};

pub use schema::InputSchema;

/// Arguments that a tool may read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Accepted {
    /// The arguments, of exactly the types that the schema names.
    pub arguments: Map<String, Value>,
    /// What was understood differently than it was written, in sentences for the answer.
    pub notes: Vec<String>,
}

/// Takes the arguments of a call, or says what is wrong with them and what to do next.
///
/// Fails with [`crate::Code::BadRequest`] for the first finding: unknown names before missing
/// ones, missing ones before wrong values.
pub fn accept(spec: &Spec, arguments: Map<String, Value>) -> Result<Accepted, ToolError> {
    let mut notes = Vec::new();
    let arguments = forgive::object(&spec.input, arguments, "", &mut notes);
    let value = Value::Object(arguments);
    sentences::check(spec, &value)?;
    let Value::Object(arguments) = value else { return Ok(Accepted::default()) };
    Ok(Accepted { arguments, notes })
}

#[cfg(test)]
mod tests;
