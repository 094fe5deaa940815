//! `search_documents`: the chunks of a knowledge base that answer a question.

use std::sync::Arc;

use knowledge::limits::{MAX_QUERY_CHARS, MAX_RESULTS};
use knowledge::{ChunkHit, SearchRequest, Service};
use model::{Caller, Stage, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{error_of, has_bases, resolved, with_bases};
use super::metadata_filters::{check_fields, conditions};
use crate::paging::{Behind, Filled, RankedPage, fill_ranked, in_fixed_order, n_needed, take_page};
use crate::timings::timing;
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

/// The tool.
pub struct SearchDocuments {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// what to look for; a whole question works best
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS))]
    query: String,
    /// id or name, from list_knowledge_bases; may be left out when there is one
    #[schemars(length(max = 200))]
    knowledge_base_id: Option<String>,
    /// least relevance (0.6 to 0.8 is usual)
    #[serde(default = "default_threshold")]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: f64,
    #[serde(default = "default_max_results")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    max_results: usize,
    /// by document metadata, such as {"year": {"min": 2024}, "tags": ["hr"]};
    /// get_knowledge_base_summary lists the fields
    #[schemars(with = "Option<Map<String, Value>>", extend("type" = "object"))]
    filters: Option<Map<String, Value>>,
    /// say why each was found and what each stage took
    #[serde(default)]
    explain: bool,
    /// `next` of the answer before
    cursor: Option<String>,
}

fn default_threshold() -> f64 {
    0.6
}

fn default_max_results() -> usize {
    10
}

impl SearchDocuments {
    /// Searches the knowledge bases of a service.
    pub fn new(service: Service) -> Self {
        SearchDocuments { service, spec: Arc::new(spec()) }
    }
}

fn spec() -> Spec {
    let score = || json!({ "type": ["number", "null"] });
    let mut spec = Spec::read_only(
        "search_documents",
        "Search documents",
        "Search a knowledge base for specific information, full-text and semantic, in Japanese, \
         English and other languages. Too few results: lower `threshold` to 0.5; too many: \
         raise it to 0.7 or 0.8.",
    )
    .with_arguments::<Arguments>()
    .with_output(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "knowledge_base_id": { "type": "string" },
            "threshold": { "type": "number" },
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": { "type": "string" },
                        "score": { "type": "number" },
                        "metadata": {
                            "type": "object",
                            "properties": {
                                "chunk_id": { "type": "string" },
                                "document_id": { "type": "string" },
                                "chunk_index": { "type": "integer" },
                                "collection_id": { "type": "string" },
                                "sparse_score": score(),
                                "dense_score": score(),
                                "rrf_score": score(),
                                "bm25_score": score(),
                                "late_interaction_score": score(),
                                "cross_encoder_score": score(),
                            },
                            "required": [
                                "chunk_id", "document_id", "chunk_index", "collection_id",
                                "sparse_score", "dense_score", "rrf_score", "bm25_score",
                                "cross_encoder_score",
                            ],
                        },
                    },
                    "required": ["content", "score", "metadata"],
                },
            },
            "count": { "type": "integer" },
            "next": { "type": "string" },
            "timings": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["query", "knowledge_base_id", "threshold", "results", "count"],
    }))
    .with_source_text(&["/results/*/content", "/results/*/metadata/title"]);
    spec.sentences = vec![
        ("threshold.minimum", "threshold out of range (0.0-1.0)"),
        ("threshold.maximum", "threshold out of range (0.0-1.0)"),
        ("max_results.maximum", "max_results exceeds limit (50)"),
    ];
    spec
}

impl Tool for SearchDocuments {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        Some(with_bases(&self.spec, &self.service, caller))
    }

    fn is_listed(&self, caller: &Caller) -> bool {
        has_bases(&self.service, caller)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments {
            query,
            knowledge_base_id,
            threshold,
            max_results,
            filters,
            explain,
            cursor,
        } = call.parse()?;
        let knowledge_base_id =
            resolved(&self.service, call.caller, knowledge_base_id.as_deref(), "search_documents")?;
        let walk = Walk::of("search_documents", &json!([query, knowledge_base_id, filters]));
        let given = walk.read_given(cursor.as_deref())?;
        let n_needed = n_needed(&given, max_results);
        let request = SearchRequest { query, knowledge_base_id, threshold, max_results: n_needed };
        let refused =
            |error| error_of(error, &self.service, call.caller, &request.knowledge_base_id);
        let conditions = conditions(&filters.unwrap_or_default())?;
        let among = if conditions.is_empty() {
            None
        } else {
            let base = &request.knowledge_base_id;
            let among = self.service.matching(call.caller, base, &conditions).map_err(refused)?;
            check_fields(&conditions, &among.fields)?;
            Some(among)
        };
        let searched = match given.is_closed() {
            false => {
                self.service.search_among(call.caller, &request, among.as_ref(), call.deadline)
            }
            true => {
                let order = |chunk: &str| given.place_behind(chunk);
                let (service, among) = (&self.service, among.as_ref());
                service.search_in_order(call.caller, &request, among, &order, call.deadline)
            }
        };
        let mut found = searched.map_err(refused)?;
        if among.is_some_and(|among| among.n_documents() == 0) {
            let message = "no document passes `filters`";
            found.warnings.push(Warning::new("filtered_out", message));
        }
        let behind = Behind { looked_to: found.looked_to, has_unjudged: found.has_unjudged };
        let hits = &mut found.results;
        let (rest, looked_to) =
            take_page(hits, |hit| hit.chunk_id.as_str(), &given, max_results, behind);
        let results: Vec<Value> = found
            .results
            .iter()
            .map(|chunk| {
                let mut value = chunk_json(chunk);
                if explain {
                    value["explanation"] = json!(chunk.explanation);
                }
                value
            })
            .collect();
        let mut value = json!({
            "query": request.query,
            "knowledge_base_id": request.knowledge_base_id,
            "threshold": request.threshold,
            "results": [],
            "count": 0,
        });
        if explain {
            value["timings"] = found.timings.iter().map(timing).map(Value::Object).collect();
        }
        let names = found.results.iter().map(|chunk| vec![chunk.chunk_id.as_str()]).collect();
        let page = RankedPage { walk: &walk, given: given.clone(), names, rest, looked_to };
        let answer = Answer::new(value).with_warnings(&found.warnings);
        let Filled { mut value, n_kept } =
            fill_ranked(answer.value, "results", results, page, &call.budget);
        value["count"] = json!(n_kept);
        let in_order: Vec<Warning> = in_fixed_order(&given).into_iter().collect();
        let mut answer = Answer::new(value).with_n_results(n_kept).with_warnings(&in_order);
        for (idx, chunk) in found.results.iter().take(n_kept).enumerate() {
            answer = answer.with_around(chunk.around.at(format!("/results/{idx}/content")));
        }
        Ok(answer)
    }
}

/// Writes a chunk that was found in the contract's form.
pub fn chunk_json(chunk: &ChunkHit) -> Value {
    json!({
        "content": chunk.content,
        "score": chunk.score,
        "metadata": {
            "chunk_id": chunk.chunk_id,
            "document_id": chunk.document_id,
            "chunk_index": chunk.chunk_index,
            "collection_id": chunk.collection_id,
            "title": chunk.title,
            "pointer": chunk.pointer,
            "sparse_score": chunk.stage(Stage::Sparse),
            "dense_score": chunk.stage(Stage::Dense),
            "rrf_score": chunk.stage(Stage::Rrf),
            "bm25_score": chunk.stage(Stage::Bm25),
            "late_interaction_score": chunk.stage(Stage::LateInteraction),
            "cross_encoder_score": chunk.stage(Stage::CrossEncoder),
        },
    })
}
