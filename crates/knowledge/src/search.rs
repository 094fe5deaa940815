//! `search_documents`: the stages of the contract over what the caller may see.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{Caller, Deadline, Explanation, NamespaceId, Score, Stage, Warning};
use retrieve::{Grouping, Pipeline, Request, Response, Scope};
use serde::Serialize;
use store::{Bm25, TypedObject};

use crate::access::{Right, filter};
use crate::atlas::narrow;
use crate::objects::{Collection, Document, KnowledgeBase, document_of};
use crate::{Result, Service};

/// Hits asked for beyond those wanted, since a document may be deleted meanwhile.
const SPARE_HITS: usize = 10;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// The question, in any language.
    pub query: String,
    /// Where to look.
    pub knowledge_base_id: String,
    /// Results with a lower final score are dropped.
    pub threshold: f64,
    /// How many results.
    pub max_results: usize,
}

/// One chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundChunk {
    /// The text, unredacted.
    pub content: String,
    /// Calibrated relevance.
    pub score: Score,
    /// Its id.
    pub chunk_id: String,
    /// The document.
    pub document_id: String,
    /// The document's title.
    pub title: String,
    /// The position in the document, from 0.
    pub chunk_index: u32,
    /// The collection.
    pub collection_id: String,
    /// Where a person finds it.
    pub pointer: String,
    /// What each stage thought.
    pub explanation: Explanation,
}

impl FoundChunk {
    /// Gives the score of a stage, rounded as it is shown; nothing when it did not run.
    pub fn stage(&self, stage: Stage) -> Option<f64> {
        let score = self.explanation.stage(stage)?;
        Some((score * 10_000.0).round() / 10_000.0)
    }
}

/// What a stage took, or why it did not run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTook {
    /// The stage.
    pub stage: &'static str,
    /// Milliseconds.
    pub ms: f64,
    /// Why it was skipped, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Chunks, best first.
    pub results: Vec<FoundChunk>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage took, in order.
    pub timings: Vec<StageTook>,
}

/// The figures of the stages.
pub(crate) fn pipeline() -> Pipeline {
    Pipeline {
        bm25: Bm25::KNOWLEDGE,
        n_by_words: 500,
        n_by_vector: 500,
        rrf_k: 60.0,
        rrf_weights: [0.5, 0.5],
        n_lexical: 100,
        model_rerank: true,
        ..Pipeline::default()
    }
}

impl Service {
    /// Searches a knowledge base. Tenant, department and clearance are conditions inside every
    /// candidate query.
    pub fn search(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        deadline: &Deadline,
    ) -> Result<Found> {
        let (base, _) = self.base(caller, &request.knowledge_base_id, Right::Read)?;
        let mut warnings = vec![];
        let begun = Instant::now();
        let collections = self.visible_collections(caller, &base)?;
        let narrowed = match self.kept_summaries(&base, &collections) {
            Ok(summaries) => narrow(&request.query, &collections, &summaries),
            Err(error) => {
                let message = format!("the choice of collections was skipped: {error}");
                warnings.push(Warning::new("atlas_skipped", message));
                None
            }
        };
        let mut timings = vec![StageTook {
            stage: "atlas",
            ms: millis(begun.elapsed()),
            skipped: narrowed.is_none().then(|| "all collections are searched".to_owned()),
        }];
        let all: Vec<&Collection> = collections.iter().collect();
        let first = narrowed.map(|order| order.iter().map(|idx| &collections[*idx]).collect());
        let response = match first {
            None => self.search_in(caller, &base, &all, request, deadline)?,
            Some(first) => {
                let narrow: Vec<&Collection> = first;
                let response = self.search_in(caller, &base, &narrow, request, deadline)?;
                // Narrowing must never be why nothing, or less than asked for, is found.
                if response.hits.len() >= request.max_results {
                    response
                } else {
                    self.search_in(caller, &base, &all, request, deadline)?
                }
            }
        };
        timings.extend(response.timings.iter().map(|timing| StageTook {
            stage: timing.stage,
            ms: millis(timing.took),
            skipped: timing.skipped.clone(),
        }));
        warnings.extend(response.warnings.iter().cloned());
        let coverage = response.coverage;
        if coverage.n_vectors > 0 && coverage.n_vectors < coverage.n_passages {
            let message = format!(
                "{} of {} chunks can be found by meaning so far",
                coverage.n_vectors, coverage.n_passages
            );
            warnings.push(Warning::new("vectors_incomplete", message));
        }
        let results = self.results(&collections, response, request.max_results)?;
        if results.is_empty() {
            warnings.push(Warning::new("no_results", "No results found"));
        }
        Ok(Found { results, warnings, timings })
    }

    fn search_in(
        &self,
        caller: &Caller,
        base: &KnowledgeBase,
        collections: &[&Collection],
        request: &SearchRequest,
        deadline: &Deadline,
    ) -> Result<Response> {
        let mut by_namespace: BTreeMap<NamespaceId, Vec<&Collection>> = BTreeMap::new();
        for collection in collections.iter().filter(|collection| collection.n_documents > 0) {
            by_namespace.entry(collection.namespace()).or_default().push(collection);
        }
        let mut scopes = vec![];
        for (namespace, collections) in by_namespace {
            // A collection that is being moved may have no passages in its new place yet.
            if self.0.store.namespace(&namespace)?.is_some() {
                scopes.push(Scope { namespace, filter: filter(base, caller, &collections) });
            }
        }
        Ok(self.0.retriever.search(&Request {
            query: &request.query,
            scopes: &scopes,
            limit: request.max_results + SPARE_HITS,
            offset: 0,
            threshold: Some(Score::new(request.threshold)),
            grouping: Grouping::Passages,
            pipeline: &pipeline(),
            deadline,
        })?)
    }

    fn results(
        &self,
        collections: &[Collection],
        response: Response,
        max_results: usize,
    ) -> Result<Vec<FoundChunk>> {
        let mut results = vec![];
        for ranked in response.hits {
            if results.len() >= max_results {
                break;
            }
            let id = document_of(&ranked.hit.document);
            // What was deleted is gone at once, also while its passages are still being erased.
            let Some((document, _)) = Document::load(&*self.0.catalogue, id)? else { continue };
            let is_visible =
                collections.iter().any(|collection| collection.id == document.collection_id);
            if !is_visible || !document.state.is_indexed() {
                continue;
            }
            results.push(FoundChunk {
                chunk_id: ranked.hit.passage.to_string(),
                score: ranked.hit.score,
                chunk_index: ranked.passage.passage.ordinal,
                pointer: ranked.passage.passage.pointer.to_string(),
                content: ranked.passage.passage.text,
                explanation: ranked.hit.explanation,
                document_id: document.id,
                title: document.title,
                collection_id: document.collection_id,
            });
        }
        Ok(results)
    }
}

fn millis(took: Duration) -> f64 {
    (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
