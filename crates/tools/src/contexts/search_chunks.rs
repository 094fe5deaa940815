//! A search tool that a user made: the chunks of long strings under its path.

use std::sync::Arc;

use contexts::Service;
use contexts::limits::{DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::error;
use crate::paging::{Filled, fill, position};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// What an agent is told about a tool whose user said nothing.
const DESCRIPTION: &str = "Search long texts of a JSON document by words and meaning.";

/// The tool.
pub struct SearchChunks {
    service: Service,
    tool: String,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// what to look for; a whole question works best
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS))]
    query: String,
    #[serde(default = "default_top_k")]
    #[schemars(range(min = 1, max = MAX_TOP_K))]
    top_k: usize,
    /// `next` of the answer before
    cursor: Option<String>,
}

fn default_top_k() -> usize {
    DEFAULT_TOP_K
}

impl SearchChunks {
    /// Searches through a user's tool.
    pub fn new(service: Service, tool: &contexts::Tool) -> Self {
        let spec = Arc::new(spec(&tool.name, &tool.description));
        SearchChunks { service, tool: tool.id.clone(), spec }
    }
}

fn spec(name: &str, description: &str) -> Spec {
    let description = if description.is_empty() { DESCRIPTION } else { description };
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer" });
    Spec::read_only(name, name, description)
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "query": text(),
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "score": { "type": "number" },
                            "rrf_score": { "type": ["number", "null"] },
                            "json_path": text(),
                            "chunk": {
                                "type": "object",
                                "properties": {
                                    "id": text(),
                                    "table_id": text(),
                                    "json_pointer": text(),
                                    "chunk_index": number(),
                                    "total_chunks": number(),
                                    "chunk_text": text(),
                                    "char_start": number(),
                                    "char_end": number(),
                                    "content_hash": text(),
                                    "turbopuffer_namespace": text(),
                                    "turbopuffer_doc_id": text(),
                                },
                                "required": [
                                    "id", "table_id", "json_pointer", "chunk_index",
                                    "total_chunks", "chunk_text", "char_start", "char_end",
                                    "content_hash", "turbopuffer_namespace", "turbopuffer_doc_id",
                                ],
                            },
                        },
                        "required": ["score", "json_path", "chunk"],
                    },
                },
                "next": text(),
                "warnings": { "type": "array", "items": text() },
            },
            "required": ["query", "results"],
        }))
        .with_source_text(&["/results/*/chunk/chunk_text"])
}

impl Tool for SearchChunks {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { query, top_k, cursor } = call.parse()?;
        let begin = position(cursor.as_deref())?;
        let found = self
            .service
            .search(call.caller, &self.tool, &query, top_k, call.deadline)
            .map_err(error)?;
        let results: Vec<Value> = found.results.iter().map(|result| json!(result)).collect();
        let rest: Vec<Value> = results.into_iter().skip(begin).collect();
        let n_results = rest.len();
        let answer = Answer::new(json!({ "query": found.query, "results": [] }));
        let answer = answer.with_warnings(&found.warnings);
        let Filled { mut value, n_kept } = fill(answer.value, "results", rest, &call.budget);
        if n_kept < n_results {
            value["next"] = json!((begin + n_kept).to_string());
        }
        let mut answer = Answer::new(value).with_n_results(n_kept);
        for (idx, hit) in found.results.iter().skip(begin).take(n_kept).enumerate() {
            answer = answer.with_around(hit.around.at(format!("/results/{idx}/chunk/chunk_text")));
        }
        Ok(answer)
    }
}
