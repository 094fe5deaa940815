//! `summarizeResults`: what the given snippets say about a question.

use std::sync::Arc;

use files::{Service, SummaryRequest};
use model::Caller;
use serde_json::json;

use super::answer::{error_of, version_schema, versioned, visible};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The most snippets in one call.
const MAX_SNIPPETS: usize = 50;

/// The longest snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 4_000;

/// The tool.
pub struct SummarizeResults {
    service: Service,
    spec: Arc<Spec>,
}

impl SummarizeResults {
    /// Summarises with the model of a service, or without one.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "summarizeResults",
            "Summarize results",
            "Summarise snippets from searchFiles, with their file names as citations. Uses only \
             the given snippets.",
        )
        .with_input(json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "maxLength": 2_000 },
                "results": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_SNIPPETS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": { "type": "string" },
                            "snippet": { "type": "string", "maxLength": MAX_SNIPPET_CHARS },
                        },
                        "required": ["path", "snippet"],
                    },
                },
                "style": { "type": "string", "enum": ["bullets", "paragraph", "table"], "default": "bullets" },
                "max_tokens": { "type": "integer", "minimum": 16, "maximum": 4_000, "default": 400 },
            },
            "required": ["query", "results"],
        }))
        .with_output(json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string" },
                "tokens_used": {
                    "type": "object",
                    "properties": {
                        "prompt": { "type": "integer" },
                        "completion": { "type": "integer" },
                    },
                    "required": ["prompt", "completion"],
                },
                "engine": { "type": "string", "description": "`extractive`, or the model" },
                "mcp_version": version_schema(),
            },
            "required": ["summary", "tokens_used", "engine", "mcp_version"],
        }))
        .with_source_text(&["/summary"]);
        SummarizeResults { service, spec: Arc::new(spec) }
    }
}

impl Tool for SummarizeResults {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let request: SummaryRequest = call.parse()?;
        let summary =
            self.service.summarise(&request, call.deadline).map_err(error_of("results"))?;
        Ok(versioned(json!({
            "summary": summary.summary,
            "tokens_used": {
                "prompt": summary.prompt_tokens,
                "completion": summary.completion_tokens,
            },
            "engine": summary.engine,
        })))
    }
}
