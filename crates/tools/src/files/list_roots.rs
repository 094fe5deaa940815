//! `listRoots`: the folders that may be searched.

use std::sync::Arc;

use files::Service;
use model::Caller;
use schemars::JsonSchema;
use serde_json::json;

use super::answer::{version_schema, versioned, visible};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct ListRoots {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(JsonSchema)]
struct Arguments {}

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
        let roots = self.service.roots(call.caller);
        let n_roots = roots.len();
        Ok(versioned(json!({ "roots": roots })).with_n_results(n_roots))
    }
}
