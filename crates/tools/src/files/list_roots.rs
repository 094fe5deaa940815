//! `listRoots`: the folders that may be searched.

use std::sync::Arc;

use files::Service;
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{version_schema, versioned, visible};
use crate::paging::{Filled, fill};
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

/// The tool.
pub struct ListRoots {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// `next` of the answer before
    cursor: Option<String>,
}

impl ListRoots {
    /// Lists the roots of a service.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "listRoots",
            "List roots",
            "List the folders that may be searched and opened.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "roots": { "type": "array", "items": { "type": "string" } },
                "next": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } },
                "mcp_version": version_schema(),
            },
            "required": ["roots", "mcp_version"],
        }));
        ListRoots { service, spec: Arc::new(spec) }
    }
}

impl Tool for ListRoots {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { cursor } = call.parse()?;
        let walk = Walk::of("listRoots", &Value::Null);
        let after = cursor.as_deref().map(|cursor| walk.read(cursor)).transpose()?;
        let roots = self.service.roots(call.caller);
        // The cursor is the last root that was given; one that is gone begins anew.
        let begin = roots.iter().position(|root| Some(root.as_str()) == after);
        let rest: Vec<Value> =
            roots.iter().skip(begin.map_or(0, |at| at + 1)).map(|root| json!(root)).collect();
        let n_rest = rest.len();
        let answer = versioned(json!({ "roots": [] }));
        let last = rest.clone();
        let Filled { mut value, n_kept } = fill(answer.value, "roots", rest, &call.budget);
        if n_kept < n_rest {
            let last = last[n_kept - 1].as_str().unwrap_or_default();
            value["next"] = json!(walk.written(last));
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}
