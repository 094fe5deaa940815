//! `describe_schema`: what can be asked of a table, and what is in it.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use tables::{Schema, Service, describe_input_schema, describe_output_schema, describe_table_name};

use super::answer::{error, names, schemas};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct DescribeSchema {
    service: Service,
    specs: PerCaller,
    length: Length,
}

/// How much is said when the call does not ask for more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Brief,
    Full,
}

impl DescribeSchema {
    /// Describes the tables of a service.
    pub fn new(service: Service) -> Self {
        DescribeSchema { service, specs: PerCaller::default(), length: Length::Full }
    }

    /// Describes the tables of a service in few tokens, and in full on request.
    pub fn brief(service: Service) -> Self {
        DescribeSchema { length: Length::Brief, ..DescribeSchema::new(service) }
    }
}

impl Tool for DescribeSchema {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            let mut spec = describe_schema_spec(&schemas(&self.service, names));
            if self.length == Length::Brief {
                let mut input = describe_input_schema(&schemas(&self.service, names));
                input["properties"]["detail"] = json!({
                    "type": "boolean",
                    "description": "also operators, counts of values, examples"
                });
                spec = spec.with_input(input);
            }
            spec
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let mut arguments = call.arguments.clone();
        let is_detailed = arguments.shift_remove("detail").and_then(|detail| detail.as_bool());
        let table =
            describe_table_name(&Value::Object(arguments)).map_err(|cause| error(&cause))?;
        let is_brief = self.length == Length::Brief && is_detailed != Some(true);
        let description = if is_brief {
            self.service.describe_briefly(call.caller, table.as_deref(), call.deadline)
        } else {
            self.service.describe(call.caller, table.as_deref(), call.deadline)
        };
        Answer::of(&description.map_err(|cause| error(&cause))?)
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
    .with_source_text(&[
        "/fields/*/top/*/value",
        "/schema/properties/*/description",
        "/warnings/*",
    ])
}
