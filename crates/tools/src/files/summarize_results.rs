//! `summarizeResults`: what the given snippets say about a question.

use std::sync::Arc;

use files::{DEFAULT_MAX_TOKENS, Service, SummaryRequest};
use model::Caller;
use schemars::JsonSchema;
use serde_json::json;

use super::answer::{error_of, version_schema, versioned, visible};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The longest query, in characters.
const MAX_QUERY_CHARS: usize = 2_000;

/// The most snippets in one call.
const MAX_SNIPPETS: usize = 50;

/// The longest snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 4_000;

/// The tool.
pub struct SummarizeResults {
    service: Service,
    spec: Arc<Spec>,
}

/// The schema of [`SummaryRequest`], which the arguments are read into.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read as the request of the service")]
struct Arguments {
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS))]
    query: String,
    #[schemars(length(min = 1, max = MAX_SNIPPETS))]
    results: Vec<Snippet>,
    #[schemars(with = "Option<String>", extend("enum" = ["bullets", "paragraph", "table"], "default" = "bullets"))]
    style: Option<String>,
    #[schemars(range(min = 16, max = 4_000), extend("default" = 400))]
    max_tokens: Option<usize>,
}

/// One result of a search; what else a result holds is taken and not read.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(dead_code, reason = "read as the request of the service")]
struct Snippet {
    path: String,
    #[schemars(length(max = MAX_SNIPPET_CHARS))]
    snippet: String,
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
        .with_arguments::<Arguments>()
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
                "warnings": { "type": "array", "items": { "type": "string" } },
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
        let mut request: SummaryRequest = call.parse()?;
        // The summary and what is around it must fit one answer.
        let most = u32::try_from(call.budget.tokens / 2).unwrap_or(u32::MAX);
        request.max_tokens = Some(request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS).min(most));
        let summary =
            self.service.summarise(&request, call.deadline).map_err(error_of("results"))?;
        Ok(versioned(json!({
            "summary": summary.summary,
            "tokens_used": {
                "prompt": summary.prompt_tokens,
                "completion": summary.completion_tokens,
            },
            "engine": summary.engine,
        }))
        .with_warnings(&summary.warnings))
    }
}
