//! A search tool that a user made: the chunks of long strings under its path.

use std::sync::Arc;

use across::Given;
use contexts::limits::{DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K, MAX_WALKED};
use contexts::{SearchResults, Service};
use model::{Around, Caller, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use text::Budget;

use super::answer::error;
use crate::paging::{FilledPage, RankedPage, fill_ranked, given};
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
        let given = given(cursor.as_deref())?;
        // One more than is wanted tells whether there is more.
        let n_ranked = given.n_named() + top_k + 1;
        let found = self
            .service
            .search(call.caller, &self.tool, &query, n_ranked, call.deadline)
            .map_err(error)?;
        let ChunkPage { value, arounds } = page_of_chunks(found, given, top_k, &call.budget);
        let mut answer = Answer::new(value).with_n_results(arounds.len());
        for around in arounds {
            answer = answer.with_around(around);
        }
        Ok(answer)
    }
}

/// One answer of a walk through chunks.
pub struct ChunkPage {
    /// The answer.
    pub value: Value,
    /// What is around the text of each chunk.
    pub arounds: Vec<Around>,
}

/// Makes an answer of what was found: the best chunks that were not given yet. One more than
/// those and `top_k` must have been asked for.
pub fn page_of_chunks(
    mut found: SearchResults,
    given: Given,
    top_k: usize,
    budget: &Budget,
) -> ChunkPage {
    found.results.retain(|result| !given.holds(&result.chunk.id));
    let has_more = found.results.len() > top_k;
    found.results.truncate(top_k);
    let results: Vec<Value> = found.results.iter().map(|result| json!(result)).collect();
    let names = found.results.iter().map(|result| vec![result.chunk.id.as_str()]).collect();
    let answer = Answer::new(json!({ "query": found.query, "results": [] }));
    let answer = answer.with_warnings(&found.warnings);
    let page = RankedPage { given, names, has_more, max_walked: MAX_WALKED };
    let FilledPage { value, n_kept, ended_at } =
        fill_ranked(answer.value, "results", results, page, budget);
    let ended = ended_at.map(|n_given| {
        let message = format!("{n_given} chunks were given and more match: narrow the query");
        Warning::new("walk_too_long", message)
    });
    let ended: Vec<Warning> = ended.into_iter().collect();
    let arounds = found.results.iter().take(n_kept).enumerate();
    let arounds = arounds
        .map(|(idx, hit)| hit.around.at(format!("/results/{idx}/chunk/chunk_text")))
        .collect();
    ChunkPage { value: Answer::new(value).with_warnings(&ended).value, arounds }
}
