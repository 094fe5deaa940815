//! `search_documents`: the stages of the contract over what the caller may see.

use std::time::Instant;

use ingest::ObjectError;
use model::{
    Around, Caller, Deadline, DocumentId, NamespaceId, Passage, PassageId, Stage, Warning,
};
use retrieve::{FixedOrder, Grouping, Ranked, Response, StageTiming};
use store::TypedObject;
use store::limits::MAX_CANDIDATES;

use crate::access::Right;
use crate::found::{ChunkHit, SearchRequest, SearchResults};
use crate::metadata::Matching;
use crate::objects::{Collection, Document, document_of};
use crate::search_parts::SearchCall;
use crate::{Error, Result, Service};

/// Gives the place of a document, by its id, in an order that never moves; nothing for one that is
/// left out.
pub type DocumentOrder<'a> = dyn Fn(&str) -> Option<u64> + 'a;

/// Gives the place of a chunk, by its id, in an order that never moves; nothing for one that is
/// left out.
pub type ChunkOrder<'a> = dyn Fn(&str) -> Option<u64> + 'a;

/// Chunks that are judged in one go where a threshold may drop most of them.
const N_AT_ONCE_IN_ORDER: usize = 200;

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
        check(request)?;
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

    /// Gives the chunks of a knowledge base that [`Service::search_among`] finds in an order that
    /// never moves, and not best first: those behind what a walk has given by rank. What a
    /// threshold leaves out is passed over until a page is full or the time is over;
    /// [`SearchResults::looked_to`] says how far it came.
    pub fn search_in_order(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        among: Option<&Matching>,
        order: &ChunkOrder<'_>,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let (base, _) = self.base(caller, &request.knowledge_base_id, Right::Read)?;
        check(request)?;
        let begun = Instant::now();
        let collections = self.visible_collections(caller, &base)?;
        let n_at_once = match request.threshold > 0.0 {
            true => request.max_results.max(N_AT_ONCE_IN_ORDER),
            false => request.max_results,
        };
        let mut whole: Option<SearchResults> = None;
        loop {
            let behind = whole.as_ref().and_then(|found| found.looked_to);
            let behind = |place: &u64| behind.is_none_or(|behind| *place > behind);
            let of_chunk = |_: &DocumentId, chunk: &PassageId| order(chunk.as_str()).filter(behind);
            let asked = SearchCall {
                query: &request.query,
                threshold: request.threshold,
                max_results: n_at_once,
                grouping: Grouping::Passages,
                among,
                order: Some(&of_chunk),
            };
            let found = self.search_collections(caller, &collections, asked, begun, deadline)?;
            let whole = match &mut whole {
                Some(whole) => {
                    whole.results.extend(found.results);
                    whole.looked_to = found.looked_to;
                    whole
                }
                None => whole.insert(found),
            };
            let is_full = whole.results.len() >= request.max_results;
            if is_full || whole.looked_to.is_none() || deadline.is_over() {
                // A page without a result is no answer without one.
                let is_of_whole = |code: &str| ["no_results", "below_threshold"].contains(&code);
                whole.warnings.retain(|warning| !is_of_whole(&warning.code));
                return Ok(std::mem::take(whole));
            }
        }
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
        let of_document =
            |document: &DocumentId, _: &PassageId| order(document_of(document).as_str());
        self.search_bases(caller, query, Some(&of_document), max_results, deadline)
    }

    fn search_bases(
        &self,
        caller: &Caller,
        query: &str,
        order: Option<&FixedOrder<'_>>,
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
        let looked_to = response.looked_to;
        let has_unjudged = response.has_unjudged && asked.threshold > 0.0;
        if asked.order.is_some() && !response.total.is_exact && response.total.n >= MAX_CANDIDATES {
            let message = format!(
                "more match than a walk goes through: it ends behind {MAX_CANDIDATES}; narrow the \
                 query for the others"
            );
            warnings.push(Warning::new(retrieve::WALK_TOO_LONG, message));
        }
        // Behind a page in a fixed order the next one begins: nothing of it is left out.
        let max_results = if asked.order.is_some() { usize::MAX } else { asked.max_results };
        let results = self.results(collections, response, max_results)?;
        if results.is_empty() {
            warnings.push(Warning::new("no_results", NO_RESULTS));
        }
        warnings.extend(being_indexed);
        if let Some(best) = best_below.filter(|_| results.is_empty()) {
            let message = format!(
                "{BEST_BELOW} {}{}, below the threshold {}; call `search_documents` again with \
                 `threshold: {}` to get it",
                best.score.rounded(),
                if has_unjudged {
                    format!(" among the {} candidates that were judged", best.n_dropped)
                } else {
                    String::new()
                },
                asked.threshold,
                best.threshold()
            );
            warnings.push(Warning::new("below_threshold", message));
        }
        Ok(SearchResults {
            results,
            warnings,
            timings,
            corrected,
            n_passages,
            looked_to,
            has_unjudged,
        })
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
            let ids: Vec<_> = next.iter().map(|ranked| document_of(&ranked.hit.document)).collect();
            let documents = Document::load_many(&*self.0.catalogue, &ids)?;
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
                chunk_id: ranked.hit.passage.clone(),
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

fn check(request: &SearchRequest) -> Result<()> {
    if !text::is_blank(&request.query) {
        return Ok(());
    }
    let problem = "`query` is blank: say in words what to look for".to_owned();
    Err(Error::Object(ObjectError::BadRequest { problem }))
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
