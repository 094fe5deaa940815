//! `describe_schema`: what can be asked of a table, and what stands in it.

use std::sync::Arc;

use model::Caller;
use serde_json::Value;
use tables::{Schema, Service, describe_input_schema, describe_output_schema, describe_table_name};

use super::answer::{error, names, schemas};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct DescribeSchema {
    service: Service,
    specs: PerCaller,
}

impl DescribeSchema {
    /// Describes the tables of a service.
    pub fn new(service: Service) -> Self {
        DescribeSchema { service, specs: PerCaller::default() }
    }
}

impl Tool for DescribeSchema {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            describe_schema_spec(&schemas(&self.service, names))
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let arguments = Value::Object(call.arguments.clone());
        let table = describe_table_name(&arguments).map_err(|cause| error(&cause))?;
        let description = self
            .service
            .describe(call.caller, table.as_deref(), call.deadline)
            .map_err(|cause| error(&cause))?;
        Answer::of(&description)
    }
}

/// Describes the tool over the tables of these schemas.
pub fn describe_schema_spec(schemas: &[&Schema]) -> Spec {
    Spec::read_only(
        "describe_schema",
        "Describe schema",
        "List the filter fields of a table with types, operators, allowed values and ranges. \
         Call this before query_table.",
    )
    .with_input(describe_input_schema(schemas))
    .with_output(describe_output_schema())
    .with_source_text(&["/fields/*/top/*/value", "/warnings/*"])
}
