//! `search_documents`: the stages of the contract over what the caller may see.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{
    Around, Caller, Deadline, DocumentId, Explanation, NamespaceId, Passage, Score, Stage, Warning,
};
use retrieve::{Grouping, Pipeline, Request, Response, Scope};
use serde::Serialize;
use store::{Bm25, Filter, TypedObject};

use crate::access::{Right, filter};
use crate::jobs::ADD_JOB;
use crate::metadata::Matching;
use crate::objects::{Collection, Document, document_of};
use crate::{Error, Result, Service, limits};

/// Hits asked for beyond those wanted, since a document may be deleted meanwhile.
const SPARE_HITS: usize = 10;

/// Collections that are asked whether documents arrive in them.
const MAX_ASKED_COLLECTIONS: usize = 64;

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
pub struct ChunkHit {
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
    /// The knowledge base.
    pub knowledge_base_id: String,
    /// The sentences of the text that fit the question best, unredacted.
    pub snippet: String,
    /// What the document says around the text; it is looked at and never leaves.
    pub around: Around,
    /// The same around the snippet.
    pub around_snippet: Around,
    /// Where a person finds it.
    pub pointer: String,
    /// What each stage thought.
    pub explanation: Explanation,
}

impl ChunkHit {
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
pub struct SearchResults {
    /// Chunks, best first.
    pub results: Vec<ChunkHit>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage took, in order.
    pub timings: Vec<StageTook>,
    /// The words that were searched for in the place of those that were typed, where they were.
    pub corrected: Option<String>,
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

/// What is asked, wherever it is asked.
#[derive(Debug, Clone, Copy)]
struct SearchCall<'a> {
    query: &'a str,
    threshold: f64,
    max_results: usize,
    grouping: Grouping,
    /// The documents to look in; all of them without.
    among: Option<&'a Matching>,
}

/// Documents that one search names; more are searched in parts.
const MAX_NAMED_DOCUMENTS: usize = 1_000;

impl Service {
    /// Searches a knowledge base. Tenant, department and clearance are conditions inside every
    /// candidate query.
    pub fn search(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        self.search_among(caller, request, None, deadline)
    }

    /// Searches the documents of a knowledge base that fit some conditions, which
    /// [`Service::matching`] has found; all of them without.
    pub fn search_among(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        among: Option<&Matching>,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let (base, _) = self.base(caller, &request.knowledge_base_id, Right::Read)?;
        if text::is_blank(&request.query) {
            let problem = "`query` is blank: say in words what to look for".to_owned();
            return Err(Error::BadRequest { problem });
        }
        let begun = Instant::now();
        let collections = self.visible_collections(caller, &base)?;
        let asked = SearchCall {
            query: &request.query,
            threshold: request.threshold,
            max_results: request.max_results,
            grouping: Grouping::Passages,
            among,
        };
        let mut found = self.search_collections(caller, &collections, asked, begun, deadline)?;
        if among.is_none_or(|among| among.n_documents() == 0) || !found.results.is_empty() {
            return Ok(found);
        }
        // What emptied it, the words or the filters? The same words without filters tell.
        let open = SearchCall { among: None, ..asked };
        let open = self.search_collections(caller, &collections, open, begun, deadline)?;
        if let Some(corrected) = open.corrected.as_deref() {
            let mended = SearchCall { query: corrected, ..asked };
            let mut again =
                self.search_collections(caller, &collections, mended, begun, deadline)?;
            let noted = open.warnings.iter().filter(|one| one.code == retrieve::QUERY_CORRECTED);
            again.warnings.splice(0..0, noted.cloned());
            found = again;
        }
        if found.results.is_empty() && !open.results.is_empty() {
            let message =
                "documents that do not pass `filters` have these words, and none that does";
            found.warnings.push(Warning::new("filtered_out", message));
        }
        Ok(found)
    }

    /// Searches every knowledge base that the caller may read, for the best chunk of each
    /// document. Nothing is dropped for its score.
    pub fn search_everywhere(
        &self,
        caller: &Caller,
        query: &str,
        max_results: usize,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let begun = Instant::now();
        let mut collections = vec![];
        for base in self.list_bases(caller)? {
            collections.extend(self.visible_collections(caller, &base)?);
        }
        let asked = SearchCall {
            query,
            threshold: 0.0,
            max_results,
            grouping: Grouping::Documents,
            among: None,
        };
        self.search_collections(caller, &collections, asked, begun, deadline)
    }

    fn search_collections(
        &self,
        caller: &Caller,
        collections: &[Collection],
        asked: SearchCall<'_>,
        begun: Instant,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let mut warnings = vec![];
        // Collections that hold nothing can neither be chosen nor take the place of another.
        let is_searched = |collection: &Collection| {
            asked.among.is_none_or(|among| among.by_collection.contains_key(&collection.id))
        };
        let full: Vec<&Collection> = collections
            .iter()
            .filter(|collection| collection.n_documents > 0 && is_searched(collection))
            .collect();
        let ranking = match self.rank_collections(asked.query, &full, deadline) {
            Ok(ranking) => ranking,
            Err(error) => {
                let message = format!("the ranking of collections was skipped: {error}");
                warnings.push(Warning::new("atlas_skipped", message));
                None
            }
        };
        let mut timings = vec![StageTook {
            stage: "atlas",
            ms: millis(begun.elapsed()),
            skipped: ranking.is_none().then(|| "one search opens all collections".to_owned()),
        }];
        let ranked: Vec<&Collection> = match ranking {
            Some(ranking) => ranking.into_iter().map(|idx| full[idx]).collect(),
            None => full,
        };
        let response = self.search_in_parts(caller, &ranked, asked, deadline, &mut warnings)?;
        timings.extend(response.timings.iter().map(|timing| StageTook {
            stage: timing.stage,
            ms: millis(timing.took),
            skipped: timing.skipped.clone(),
        }));
        warnings.extend(response.warnings.iter().cloned());
        let coverage = response.coverage;
        let (n_passages, n_vectors) = (coverage.n_passages, coverage.n_vectors);
        let hits = response.hits.iter().map(|ranked| &ranked.hit);
        warnings.extend(self.0.vectors.notice(n_passages, n_vectors, hits));
        let best_below = response.best_below;
        let corrected = response.corrected.clone();
        let results = self.results(collections, response, asked.max_results)?;
        if results.is_empty() {
            warnings.push(Warning::new("no_results", "No results found"));
            warnings.extend(self.being_indexed(collections)?);
            if let Some(best) = best_below {
                let message = format!(
                    "the best result scores {}, below the threshold {}; call `search_documents` \
                     again with `threshold: {}` to get it",
                    best.score.rounded(),
                    asked.threshold,
                    best.threshold()
                );
                warnings.push(Warning::new("below_threshold", message));
            }
        }
        Ok(SearchResults { results, warnings, timings, corrected })
    }

    /// Says that documents are being indexed, of which one may be what was asked for.
    fn being_indexed(&self, collections: &[Collection]) -> Result<Option<Warning>> {
        for collection in collections.iter().take(MAX_ASKED_COLLECTIONS) {
            let Some(job) = self.0.queue.active(ADD_JOB, &collection.id)? else { continue };
            let (n_done, n_total) = (job.progress.n_done, job.progress.n_total);
            if n_total.is_none_or(|n_total| n_done < n_total) {
                let message = format!(
                    "documents of `{}` are being indexed: more may be found when that is done",
                    collection.name
                );
                return Ok(Some(Warning::new("indexing", message)));
            }
        }
        Ok(None)
    }

    /// Searches collections part by part, the nearest first. A score does not depend on what else
    /// was searched, so the parts are merged by it.
    fn search_in_parts(
        &self,
        caller: &Caller,
        collections: &[&Collection],
        asked: SearchCall<'_>,
        deadline: &Deadline,
        warnings: &mut Vec<Warning>,
    ) -> Result<Response> {
        let size = limits::MAX_SEARCHED_COLLECTIONS;
        let (first, rest) = collections.split_at(collections.len().min(size));
        let mut response = self.search_in(caller, first, asked, deadline)?;
        let mut n_left_out = rest.len();
        for part in rest.chunks(size) {
            if deadline.is_over() {
                break;
            }
            let more = self.search_in(caller, part, asked, deadline)?;
            n_left_out -= part.len();
            add(&mut response, more);
        }
        response.hits.sort_by_key(|ranked| std::cmp::Reverse(ranked.hit.score));
        if n_left_out > 0 {
            let message = format!(
                "{n_left_out} of {} collections were not searched: the time was over; ask for \
                 fewer results or name the knowledge base",
                collections.len()
            );
            warnings.push(Warning::new("collections_left_out", message));
        }
        Ok(response)
    }

    fn search_in(
        &self,
        caller: &Caller,
        collections: &[&Collection],
        asked: SearchCall<'_>,
        deadline: &Deadline,
    ) -> Result<Response> {
        let mut by_namespace: BTreeMap<NamespaceId, Vec<&Collection>> = BTreeMap::new();
        for collection in collections {
            by_namespace.entry(collection.namespace()).or_default().push(collection);
        }
        let mut scopes = vec![];
        for (namespace, collections) in by_namespace {
            // A collection that is being moved may have no passages in its new place yet.
            if self.0.store.namespace(&namespace)?.is_some() {
                scopes.push((namespace, collections));
            }
        }
        let retrieve = |scopes: &[Scope]| {
            self.0.retriever.search(&Request {
                query: asked.query,
                scopes,
                limit: asked.max_results + SPARE_HITS,
                offset: 0,
                threshold: Some(Score::new(asked.threshold)),
                grouping: asked.grouping,
                pipeline: &pipeline(),
                deadline,
            })
        };
        let Some(among) = asked.among else {
            let scopes: Vec<Scope> = scopes
                .into_iter()
                .map(|(namespace, collections)| Scope {
                    namespace,
                    filter: filter(caller, &collections),
                })
                .collect();
            return Ok(retrieve(&scopes)?);
        };
        let mut whole: Option<Response> = None;
        for (namespace, collections) in scopes {
            let ids: Vec<DocumentId> = collections
                .iter()
                .filter_map(|collection| among.by_collection.get(&collection.id))
                .flatten()
                .cloned()
                .collect();
            for part in ids.chunks(MAX_NAMED_DOCUMENTS) {
                let rights = filter(caller, &collections);
                let filter = Filter::And(vec![rights, Filter::Documents(part.to_vec())]);
                let scope = Scope { namespace: namespace.clone(), filter };
                let response = retrieve(&[scope])?;
                match &mut whole {
                    Some(whole) => add(whole, response),
                    None => whole = Some(response),
                }
            }
        }
        let mut whole = match whole {
            Some(whole) => whole,
            None => retrieve(&[])?,
        };
        whole.hits.sort_by_key(|ranked| std::cmp::Reverse(ranked.hit.score));
        Ok(whole)
    }

    /// Gives what a document says around a passage, so that what is private and reaches over an
    /// edge of it is known.
    pub(crate) fn around(&self, namespace: &NamespaceId, passage: &Passage) -> Result<Around> {
        Ok(self.0.store.surroundings(namespace, passage)?.into())
    }

    fn results(
        &self,
        collections: &[Collection],
        response: Response,
        max_results: usize,
    ) -> Result<Vec<ChunkHit>> {
        let mut results = vec![];
        let skipped: Vec<&str> = response
            .timings
            .iter()
            .filter(|timing| timing.skipped.is_some())
            .map(|timing| timing.stage)
            .collect();
        for mut ranked in response.hits {
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
            // A stage that did not run has no score, whatever it left behind.
            let stages = &mut ranked.hit.explanation.stages;
            stages.retain(|entry| !skipped.contains(&name_of(entry.stage)));
            let passage = &ranked.passage.passage;
            let around = self.around(&ranked.hit.namespace, passage)?;
            let snippet = &ranked.snippet.span;
            let around_snippet = around.of_part(&passage.text, snippet.start, snippet.end);
            results.push(ChunkHit {
                around,
                around_snippet,
                chunk_id: ranked.hit.passage.to_string(),
                score: ranked.hit.score,
                chunk_index: ranked.passage.passage.ordinal,
                pointer: ranked.passage.passage.pointer.to_string(),
                content: ranked.passage.passage.text,
                snippet: ranked.snippet.text,
                explanation: ranked.hit.explanation,
                document_id: document.id,
                title: document.title,
                collection_id: document.collection_id,
                knowledge_base_id: document.knowledge_base_id,
            });
        }
        Ok(results)
    }
}

/// Adds the answer of another part: scores do not depend on what else was searched.
fn add(response: &mut Response, more: Response) {
    response.hits.extend(more.hits);
    response.total.n += more.total.n;
    response.total.is_exact &= more.total.is_exact;
    response.coverage.n_passages += more.coverage.n_passages;
    response.coverage.n_vectors += more.coverage.n_vectors;
    for warning in more.warnings {
        if !response.warnings.contains(&warning) {
            response.warnings.push(warning);
        }
    }
    if response.timings.is_empty() {
        response.timings = more.timings;
    }
    let best = |below: &retrieve::BestBelow| below.score;
    response.corrected = response.corrected.take().or(more.corrected);
    response.best_below =
        response.best_below.take().into_iter().chain(more.best_below).max_by_key(best);
}

/// The name of a stage in timings.
fn name_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Atlas => "atlas",
        Stage::Sparse => "sparse",
        Stage::Dense => "dense",
        Stage::Rrf => "rrf",
        Stage::Bm25 => "bm25",
        Stage::LateInteraction => "late_interaction",
        Stage::CrossEncoder => "cross_encoder",
    }
}

fn millis(took: Duration) -> f64 {
    (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
