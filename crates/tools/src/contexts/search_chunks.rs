//! A search tool that a user made: the chunks of long strings under its path.

use std::sync::Arc;

use across::Given;
use contexts::limits::{DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K, MAX_WALKED};
use contexts::{SearchResults, Service, ToolId};
use model::{Around, Caller, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use text::Budget;

use super::answer::error;
use crate::paging::{
    Filled, RankedPage, ended, fill_ranked, given, in_fixed_order, n_ranked, take_page,
};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// What an agent is told about a tool whose user said nothing.
const DESCRIPTION: &str = "Full-text and semantic search of long texts of a JSON document.";

/// The tool.
pub struct SearchChunks {
    service: Service,
    tool: ToolId,
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
        let n_ranked = n_ranked_chunks(&given, top_k);
        let found = self
            .service
            .search(call.caller, self.tool.as_str(), &query, n_ranked, call.deadline)
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

/// Says how many chunks must be asked for to make a page of them.
pub fn n_ranked_chunks(given: &Given, top_k: usize) -> usize {
    n_ranked(given, top_k, MAX_WALKED)
}

/// Makes an answer of what was found: the chunks that were not given yet. So many must have been
/// asked for as [`n_ranked_chunks`] says.
pub fn page_of_chunks(
    mut found: SearchResults,
    given: Given,
    top_k: usize,
    budget: &Budget,
) -> ChunkPage {
    let n_found = found.results.len();
    let rest = take_page(&mut found.results, |result| &result.chunk.id, &given, top_k);
    let results: Vec<Value> = found.results.iter().map(|result| json!(result)).collect();
    let names = found.results.iter().map(|result| vec![result.chunk.id.as_str()]).collect();
    let answer = Answer::new(json!({ "query": found.query, "results": [] }));
    let answer = answer.with_warnings(&found.warnings);
    let walked = given.clone();
    let page = RankedPage { given, names, rest };
    let Filled { value, n_kept } = fill_ranked(answer.value, "results", results, page, budget);
    let ended = ended(&walked, &value, n_found, MAX_WALKED);
    let ended: Vec<Warning> = in_fixed_order(&walked).into_iter().chain(ended).collect();
    let arounds = found.results.iter().take(n_kept).enumerate();
    let arounds = arounds
        .map(|(idx, hit)| hit.around.at(format!("/results/{idx}/chunk/chunk_text")))
        .collect();
    ChunkPage { value: Answer::new(value).with_warnings(&ended).value, arounds }
}
