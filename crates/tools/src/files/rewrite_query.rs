//! `rewriteQuery`: natural language as filters and a query string.

use std::sync::Arc;

use files::Service;
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::{error_of, version_schema, versioned, visible};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct RewriteQuery {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = 2_000))]
    query: String,
}

impl RewriteQuery {
    /// Rewrites with the model of a service, or by rules.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "rewriteQuery",
            "Rewrite query",
            "Turn a natural-language question into a full-text query and filters (exts, years).",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "fts": { "type": "string" },
                "filters": {
                    "type": "object",
                    "properties": {
                        "exts": { "type": "array", "items": { "type": "string" } },
                        "years": { "type": "array", "items": { "type": "string" } },
                    },
                    "required": ["exts", "years"],
                },
                "notes": { "type": "string" },
                "engine": { "type": "string" },
                "mcp_version": version_schema(),
            },
            "required": ["fts", "filters", "notes", "engine", "mcp_version"],
        }));
        RewriteQuery { service, spec: Arc::new(spec) }
    }
}

impl Tool for RewriteQuery {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { query } = call.parse()?;
        let rewritten = self.service.rewrite(&query, call.deadline).map_err(error_of("query"))?;
        Ok(versioned(json!(rewritten)))
    }
}
