//! A search tool that a user made: the chunks of long strings under its path.

use std::sync::Arc;

use contexts::limits::{DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K};
use contexts::{Service, ToolId};
use model::{Around, Caller, Deadline, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use text::Budget;

use super::answer::error;
use crate::paging::{Behind, Filled, RankedPage, fill_ranked, in_fixed_order, n_needed, take_page};
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

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
        let asked = ChunksAsked { tool: &self.tool, query: &query, top_k, cursor };
        let ChunkPage { value, arounds } =
            page_of_chunks(&self.service, call.caller, asked, &call.budget, call.deadline)?;
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

/// What is asked of a search tool.
pub struct ChunksAsked<'a> {
    /// Its id.
    pub tool: &'a ToolId,
    /// The question.
    pub query: &'a str,
    /// Chunks of one answer.
    pub top_k: usize,
    /// `next` of the answer before.
    pub cursor: Option<String>,
}

/// Makes an answer of the chunks that were not given yet.
///
/// Fails with the sentence for the caller when the cursor is of another search, and as the search
/// does.
pub fn page_of_chunks(
    service: &Service,
    caller: &Caller,
    asked: ChunksAsked<'_>,
    budget: &Budget,
    deadline: &Deadline,
) -> Result<ChunkPage, ToolError> {
    let ChunksAsked { tool, query, top_k, cursor } = asked;
    let walk = Walk::of("search_chunks", &json!([tool, query]));
    let given = walk.read_given(cursor.as_deref())?;
    let n_needed = n_needed(&given, top_k);
    let found = match given.is_closed() {
        false => service.search(caller, tool, query, n_needed, deadline),
        true => {
            let order = |chunk: &str| given.place_behind(chunk);
            service.search_in_order(caller, tool, query, &order, n_needed, deadline)
        }
    };
    let mut found = found.map_err(error)?;
    let behind = Behind { looked_to: found.looked_to, has_unjudged: false };
    let hits = &mut found.results;
    let (rest, looked_to) = take_page(hits, |hit| &hit.walk_name, &given, top_k, behind);
    let results: Vec<Value> = found.results.iter().map(|result| json!(result)).collect();
    let names = found.results.iter().map(|result| vec![result.walk_name.as_str()]).collect();
    let answer = Answer::new(json!({ "query": found.query, "results": [] }));
    let answer = answer.with_warnings(&found.warnings);
    let in_order: Vec<Warning> = in_fixed_order(&given).into_iter().collect();
    let page = RankedPage { walk: &walk, given, names, rest, looked_to };
    let Filled { value, n_kept } = fill_ranked(answer.value, "results", results, page, budget);
    let arounds = found.results.iter().take(n_kept).enumerate();
    let arounds = arounds
        .map(|(idx, hit)| hit.around.at(format!("/results/{idx}/chunk/chunk_text")))
        .collect();
    Ok(ChunkPage { value: Answer::new(value).with_warnings(&in_order).value, arounds })
}
