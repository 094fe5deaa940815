//! `search_documents`: the stages of the contract over what the caller may see.

use std::collections::BTreeMap;
use std::time::Instant;

use ingest::ObjectError;
use model::{Around, Caller, Deadline, DocumentId, NamespaceId, Passage, Score, Stage, Warning};
use retrieve::{Grouping, Pipeline, Ranked, Request, Response, Scope, StageTiming};
use store::limits::MAX_CANDIDATES;
use store::{Bm25, Filter, TypedObject};

use crate::access::{Right, filter};
use crate::found::{ChunkHit, SearchRequest, SearchResults};
use crate::metadata::Matching;
use crate::objects::{Collection, Document, document_of};
use crate::{Error, Result, Service, limits};

/// Hits asked for beyond those wanted, since a document may be deleted meanwhile.
const SPARE_HITS: usize = 10;

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

/// Gives the place of a document, by its id, in an order that never moves; nothing for one that is
/// left out.
pub type DocumentOrder<'a> = dyn Fn(&str) -> Option<u64> + 'a;

/// Candidates by vector of a page in a fixed order: the same for all pages of a walk.
const N_BY_VECTOR_IN_ORDER: usize = 2_000;

/// What is asked, wherever it is asked.
#[derive(Clone, Copy)]
struct SearchCall<'a> {
    query: &'a str,
    threshold: f64,
    max_results: usize,
    grouping: Grouping,
    /// The documents to look in; all of them without.
    among: Option<&'a Matching>,
    /// The order of the documents; best first without.
    order: Option<&'a DocumentOrder<'a>>,
}

impl SearchCall<'_> {
    fn sort(&self, hits: &mut [Ranked]) {
        match self.order {
            Some(order) => {
                hits.sort_by_cached_key(|ranked| order(document_of(&ranked.hit.document)));
            }
            None => hits.sort_by_key(|ranked| std::cmp::Reverse(ranked.hit.score)),
        }
    }
}

/// Documents that one search names; more are searched in parts.
const MAX_NAMED_DOCUMENTS: usize = 1_000;

/// What an answer without results says, in the contract's words.
const NO_RESULTS: &str = "No results found";

/// Begins what it says of a result that a threshold left out.
const BEST_BELOW: &str = "the best result scores";

/// Tells whether a warning speaks of an answer without results, and means nothing next to results
/// of other bases.
pub fn is_about_emptiness(warning: &str) -> bool {
    warning == NO_RESULTS || warning.starts_with(BEST_BELOW)
}

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
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        let begun = Instant::now();
        let collections = self.visible_collections(caller, &base)?;
        let asked = SearchCall {
            query: &request.query,
            threshold: request.threshold,
            max_results: request.max_results,
            grouping: Grouping::Passages,
            among,
            order: None,
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
        self.search_bases(caller, query, None, max_results, deadline)
    }

    /// Gives the documents that [`Service::search_everywhere`] finds in an order that never moves,
    /// and not best first: those behind what a walk has given by rank.
    pub fn search_everywhere_in_order(
        &self,
        caller: &Caller,
        query: &str,
        order: &DocumentOrder<'_>,
        max_results: usize,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        self.search_bases(caller, query, Some(order), max_results, deadline)
    }

    fn search_bases(
        &self,
        caller: &Caller,
        query: &str,
        order: Option<&DocumentOrder<'_>>,
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
            order,
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
        // Asked first: what is being taken in now may be missing even if it is done by the end.
        let being_indexed = self.being_indexed(collections)?;
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
        let mut timings = vec![StageTiming {
            skipped: ranking.is_none().then(|| "one search opens all collections".to_owned()),
            ..StageTiming::since("atlas", begun)
        }];
        let ranked: Vec<&Collection> = match ranking {
            Some(ranking) => ranking.into_iter().map(|idx| full[idx]).collect(),
            None => full,
        };
        let response = self.search_in_parts(caller, &ranked, asked, deadline, &mut warnings)?;
        timings.extend(response.timings.iter().cloned());
        warnings.extend(response.warnings.iter().cloned());
        let coverage = response.coverage;
        let (n_passages, n_vectors) = (coverage.n_passages, coverage.n_vectors);
        let hits = response.hits.iter().map(|ranked| &ranked.hit);
        let namespaces = ranked.iter().map(|collection| collection.namespace());
        warnings.extend(self.0.vectors.notice(n_passages, n_vectors, namespaces, hits));
        let best_below = response.best_below;
        let corrected = response.corrected.clone();
        let results = self.results(collections, response, asked.max_results)?;
        if results.is_empty() {
            warnings.push(Warning::new("no_results", NO_RESULTS));
        }
        warnings.extend(being_indexed);
        if let Some(best) = best_below.filter(|_| results.is_empty()) {
            let message = format!(
                "{BEST_BELOW} {}, below the threshold {}; call `search_documents` again with \
                 `threshold: {}` to get it",
                best.score.rounded(),
                asked.threshold,
                best.threshold()
            );
            warnings.push(Warning::new("below_threshold", message));
        }
        Ok(SearchResults { results, warnings, timings, corrected, n_passages })
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
        asked.sort(&mut response.hits);
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
        let mut pipeline = pipeline();
        if asked.order.is_some() {
            // Everything is put in order, and only the documents of the page are judged.
            pipeline.n_by_words = MAX_CANDIDATES;
            pipeline.n_by_vector = N_BY_VECTOR_IN_ORDER;
        }
        let retrieve = |scopes: &[Scope]| {
            let request = Request {
                query: asked.query,
                scopes,
                limit: asked.max_results + SPARE_HITS,
                offset: 0,
                threshold: Some(Score::new(asked.threshold)),
                grouping: asked.grouping,
                pipeline: &pipeline,
                deadline,
            };
            match asked.order {
                Some(order) => self
                    .0
                    .retriever
                    .search_in_order(&request, &|document| order(document_of(document))),
                None => self.0.retriever.search(&request),
            }
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
        asked.sort(&mut whole.hits);
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
        let mut visible: Vec<(Ranked, Document)> = vec![];
        let mut hits = response.hits.into_iter();
        while visible.len() < max_results && hits.len() > 0 {
            // One query in the usual case: more only where hits are of documents that are gone.
            let next: Vec<Ranked> = hits.by_ref().take(max_results - visible.len()).collect();
            let ids = next.iter().map(|ranked| document_of(&ranked.hit.document));
            let documents = Document::load_many(&*self.0.catalogue, ids)?;
            for (ranked, document) in next.into_iter().zip(documents) {
                // What was deleted is gone at once, also while its passages are still being erased.
                let Some((document, _)) = document else { continue };
                let is_visible =
                    collections.iter().any(|collection| collection.id == document.collection_id);
                if is_visible && document.state.is_indexed() {
                    visible.push((ranked, document));
                }
            }
        }
        let passages: Vec<_> = visible
            .iter()
            .map(|(ranked, _)| (&ranked.hit.namespace, &ranked.passage.passage))
            .collect();
        let surroundings = self.0.store.surroundings_of(&passages)?;
        for ((mut ranked, document), surroundings) in visible.into_iter().zip(surroundings) {
            // A stage that did not run has no score, whatever it left behind.
            let stages = &mut ranked.hit.explanation.stages;
            stages.retain(|entry| !skipped.contains(&name_of(entry.stage)));
            let passage = &ranked.passage.passage;
            let around = Around::from(surroundings);
            let snippet = ranked.snippet();
            let (start, end) = (snippet.span.start, snippet.span.end);
            let around_snippet = around.of_part(&passage.text, start, end);
            results.push(ChunkHit {
                around,
                around_snippet,
                chunk_id: ranked.hit.passage.to_string(),
                score: ranked.hit.score,
                chunk_index: ranked.passage.passage.ordinal,
                pointer: ranked.passage.passage.pointer.to_string(),
                content: ranked.passage.passage.text,
                snippet: snippet.text,
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
