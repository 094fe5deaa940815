//! The order of the stages, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use infer::{Embedder, ModelState, PassageVectors, Reranker};
use model::{Deadline, DocumentId, NamespaceId, PassageId, Warning};
use store::{Store, StoredPassage};

use crate::breaker::Breaker;
use crate::candidates::{List, QueryVector, by_both, by_vector, by_words};
use crate::count::bounded;
use crate::fuse::fuse;
use crate::judge::{Depth, Gathered, Judged, judge, most_judged};
use crate::page::{beyond, count, finish, n_asked, page_in_order};
use crate::question::{Question, analyse};
use crate::scopes::KnownScopes;
use crate::semantic::{Semantic, by_embedding, ready};
use crate::{
    BestBelow, Coverage, Grouping, Pipeline, Request, Response, Result, Scope, StageTiming, Total,
    spelling,
};

/// Gives the embedder of the moment, or why there is none.
pub type EmbedderSource =
    Arc<dyn Fn() -> std::result::Result<Arc<dyn Embedder>, ModelState> + Send + Sync>;

/// Makes the vectors of passages of a namespace that have none yet, in the order given, by a deadline:
/// those that will be stored.
pub type PassageVectorSource = Arc<
    dyn Fn(
            &dyn Embedder,
            &NamespaceId,
            &[&StoredPassage],
            &Deadline,
        ) -> infer::Result<Vec<PassageVectors>>
        + Send
        + Sync,
>;

/// Told what the stages of every search took.
pub type StageObserver = Arc<dyn Fn(&[StageTiming]) + Send + Sync>;

/// Searches a store.
#[derive(Clone)]
pub struct Retriever {
    pub(crate) store: Arc<Store>,
    pub(crate) embedder: EmbedderSource,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    is_reranking: bool,
    observer: Option<StageObserver>,
    pub(crate) passage_vectors: Option<PassageVectorSource>,
    pub(crate) embedder_breaker: Arc<Breaker>,
    pub(crate) passages_breaker: Arc<Breaker>,
    pub(crate) reranker_breaker: Arc<Breaker>,
}

/// Gives the place of a passage of a document in an order that does not depend on ranks; nothing for
/// what is left out. Where documents are asked for, all passages of one have the same place.
pub type FixedOrder<'a> = dyn Fn(&DocumentId, &PassageId) -> Option<u64> + 'a;

/// What the stages before the last one found, as documents in order: what an evaluation reads.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) vectors: Vec<DocumentId>,
    pub(crate) fused: Vec<DocumentId>,
    pub(crate) judged: Vec<Judged>,
}

impl Retriever {
    /// Makes a retriever over a store and an embedder that may come and go.
    pub fn new(store: Arc<Store>, embedder: EmbedderSource) -> Self {
        Retriever {
            store,
            embedder,
            reranker: None,
            is_reranking: true,
            observer: None,
            passage_vectors: None,
            embedder_breaker: Arc::default(),
            passages_breaker: Arc::default(),
            reranker_breaker: Arc::default(),
        }
    }

    /// Puts a cross-encoder in the place of the builtin re-ranker.
    #[must_use]
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Leaves the model re-ranker out, whatever a pipeline says.
    #[must_use]
    pub fn without_reranker(mut self) -> Self {
        self.is_reranking = false;
        self
    }

    /// Lets a search make the vectors that the first candidates lack, instead of judging them by less
    /// than others.
    #[must_use]
    pub fn with_passage_vectors(mut self, source: PassageVectorSource) -> Self {
        self.passage_vectors = Some(source);
        self
    }

    /// Tells somebody what the stages of every search took.
    #[must_use]
    pub fn with_observer(mut self, observer: StageObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Gives where candidates are looked for.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Answers a search.
    ///
    /// Hits are sorted by score, best first; equal scores are in a fixed order. Fails only
    /// when the store can be searched neither by words nor by vector, or its passages cannot
    /// be read; every other stage that fails is skipped with a warning.
    pub fn search(&self, request: &Request<'_>) -> Result<Response> {
        let response = self.search_with(request, None, None)?;
        if let Some(observer) = &self.observer {
            observer(&response.timings);
        }
        Ok(response)
    }

    /// Gives documents or passages in an order that the caller fixes, and not best first: those
    /// behind what a walk has given by rank. Only those of the page are read and judged, so that a
    /// page costs the same wherever it is. `order` gives nothing for what is left out; what the
    /// threshold drops is not replaced, and [`Response::looked_to`] says where to go on.
    pub fn search_in_order(
        &self,
        request: &Request<'_>,
        order: &FixedOrder<'_>,
    ) -> Result<Response> {
        let response = self.search_with(request, Some(order), None)?;
        if let Some(observer) = &self.observer {
            observer(&response.timings);
        }
        Ok(response)
    }

    pub(crate) fn search_traced(&self, request: &Request<'_>) -> Result<(Response, Trace)> {
        let mut trace = Trace::default();
        let response = self.search_with(request, None, Some(&mut trace))?;
        Ok((response, trace))
    }

    fn search_with(
        &self,
        request: &Request<'_>,
        order: Option<&FixedOrder<'_>>,
        mut trace: Option<&mut Trace>,
    ) -> Result<Response> {
        let whole = Instant::now();
        let without = Pipeline { model_rerank: false, ..request.pipeline.clone() };
        let request = &match self.is_reranking {
            true => request.clone(),
            false => Request { pipeline: &without, ..request.clone() },
        };
        let known = KnownScopes::read(&self.store, request.scopes)?;
        let mut question = analyse(request.query, request.pipeline, known.languages())
            .over(known)
            .with_characters(request.query, request.pipeline, &self.store, request.scopes)?;
        let mut warnings = std::mem::take(&mut question.warnings);
        warnings.extend(behind(self.store.follower_lag()));
        let mut timings = Vec::new();

        // Nothing is judged beyond these where there is no other list to fuse with.
        let n_alone = match order {
            Some(_) => request.pipeline.n_by_words,
            None => most_judged(request.pipeline.n_lexical, n_asked(request))
                .min(request.pipeline.n_by_words),
        };
        let (words, semantic) = self.side_by_side(request, &question, n_alone, &mut timings);
        warnings.extend(self.unseen(request)?);
        let mut words = self.words_or_skip(words, &semantic, &mut warnings)?;
        warnings.extend(semantic.warnings.iter().cloned());
        let mut corrected_query = None;
        if words.found.is_empty() && !words.is_partial && question.relax() {
            let message = "no passage has all that `AND` or `NEAR` joins: what has a part of it is \
                           given";
            warnings.push(Warning::new("operators_relaxed", message));
            words = by_words(&self.store, request, &question, n_alone)?;
        }
        if words.found.is_empty() {
            let has_semantic = !semantic.list.found.is_empty();
            let again = spelling::second_try(&self.store, request, &question, has_semantic)?;
            if let Some((corrected, list)) = again {
                let message = format!(
                    "no passage has the words `{}`; searched for `{}`",
                    question.plain, corrected.plain
                );
                warnings.push(Warning::new(spelling::QUERY_CORRECTED, message));
                corrected_query = Some(corrected.plain.clone());
                (question, words) = (corrected, list);
            }
        }
        if words.is_partial || semantic.list.is_partial {
            let message = "the search was cut short by its deadline; better hits may be missing";
            warnings.push(Warning::new("degraded", message));
        }
        if words.is_prefix_cut {
            let message = "a prefix matches too many words; some of them were left out";
            warnings.push(Warning::new("prefix_cut", message));
        }

        let begun = Instant::now();
        let mut fused = fuse(&words, &semantic.list, request.pipeline);
        if question.is_strict {
            fused.retain(|fused| fused.words.is_some());
        }
        timings.push(StageTiming { stage: "rrf", took: begun.elapsed(), skipped: None });
        let total = Total {
            n: count(&fused, request.grouping),
            is_exact: !words.is_full && !words.is_partial,
        };
        if let Some(trace) = &mut trace {
            trace.vectors = documents(semantic.list.found.iter().map(|found| &found.document));
            trace.fused = documents(fused.iter().map(|fused| &fused.document));
        }
        let mut looked_to = None;
        let depth = match order {
            Some(order) => {
                (fused, looked_to) = page_in_order(fused, order, request);
                Depth::of_page(fused.len())
            }
            None => Depth::by_score(request.pipeline.n_lexical, n_asked(request)),
        };

        let gathered = Gathered { question: &question, semantic: &semantic };
        let verdict = judge(self, request, &gathered, fused, &depth, &mut timings, &mut warnings)?;
        let judged = verdict.judged;
        let covered = covered(request, &words, &semantic);
        let coverage = Coverage::sum(covered.values());
        if let Some(trace) = trace {
            trace.judged.clone_from(&judged);
        }
        let best = judged.first().map(|judged| judged.score);
        let n_judged = judged.len();
        let hits = match order {
            Some(order) => {
                let mut hits = finish(&Request { offset: 0, ..request.clone() }, judged);
                hits.sort_by_cached_key(|ranked| order(&ranked.hit.document, &ranked.hit.passage));
                hits
            }
            None => finish(request, judged),
        };
        if order.is_none() {
            warnings.extend(beyond(&hits, verdict.depth));
            if words.is_full && request.grouping == Grouping::Passages {
                let counted = self.count_passages_by_words(request, coverage.n_passages)?;
                warnings.extend(bounded(counted));
            }
        }
        let best_below = best
            .filter(|best| request.threshold.is_some_and(|least| !best.reaches(least)))
            .map(|score| BestBelow { score, n_dropped: n_judged });
        let took = whole.elapsed();
        let corrected = corrected_query;
        Ok(Response {
            hits,
            total,
            warnings,
            timings,
            took,
            coverage,
            covered,
            best_below,
            corrected,
            looked_to,
            has_unjudged: order.is_none() && (verdict.n_unjudged > 0 || !total.is_exact),
        })
    }

    /// Runs the two candidate searches at the same time; `n_alone` candidates are looked for by words
    /// where there is no search by vector.
    fn side_by_side(
        &self,
        request: &Request<'_>,
        question: &Question,
        n_alone: usize,
        timings: &mut Vec<StageTiming>,
    ) -> (Result<List>, Semantic) {
        if self.store.is_far() {
            return self.together(request, question, timings);
        }
        let store = &self.store;
        let embedder = match ready(self, request, question) {
            Ok(embedder) => embedder,
            Err(semantic) => {
                let begun = Instant::now();
                let words = by_words(store, request, question, n_alone);
                let skipped = words.as_ref().err().map(ToString::to_string);
                timings.push(StageTiming { stage: "sparse", took: begun.elapsed(), skipped });
                let skipped = semantic.skipped.clone();
                timings.push(StageTiming { stage: "dense", took: Duration::ZERO, skipped });
                return (words, *semantic);
            }
        };
        let (words, semantic) = std::thread::scope(|scope| {
            let semantic = scope.spawn(|| {
                let begun = Instant::now();
                let semantic =
                    by_embedding(self, request, question, &embedder, |vector, warnings| {
                        by_vector(&self.store, request, question, vector, warnings)
                    });
                (semantic, begun.elapsed())
            });
            let begun = Instant::now();
            let limit = request.pipeline.n_by_words;
            let words = by_words(store, request, question, limit);
            let words = (words, begun.elapsed());
            let semantic = semantic.join().unwrap_or_else(|_| {
                let message = "search by vector was skipped: it ended unexpectedly";
                let skipped = Semantic::skipped("it ended unexpectedly");
                (skipped.warned(Warning::new("vectors_skipped", message)), begun.elapsed())
            });
            (words, semantic)
        });
        let skipped = words.0.as_ref().err().map(ToString::to_string);
        timings.push(StageTiming { stage: "sparse", took: words.1, skipped });
        let skipped = semantic.0.skipped.clone();
        timings.push(StageTiming { stage: "dense", took: semantic.1, skipped });
        (words.0, semantic.0)
    }

    /// Asks an engine far away for both in one request, once the vector of the query is there; by
    /// words alone where there is none. Where the words are in this process, they are looked for
    /// while the vector is made.
    fn together(
        &self,
        request: &Request<'_>,
        question: &Question,
        timings: &mut Vec<StageTiming>,
    ) -> (Result<List>, Semantic) {
        let begun = Instant::now();
        let store = &*self.store;
        let limit = request.pipeline.n_by_words;
        let for_words = &question.for_words;
        let has_words = !for_words.should.is_empty() || !for_words.must.is_empty();
        let mut words = None;
        let (semantic, words_here) = match ready(self, request, question) {
            Err(skipped) => (*skipped, None),
            Ok(embedder) => std::thread::scope(|scope| {
                let (sender, are_here) = std::sync::mpsc::channel();
                let words_here = scope.spawn(move || {
                    let namespaces = request.scopes.iter().map(|scope| &scope.namespace);
                    let are_here = has_words && store.has_words_here(namespaces);
                    // Nobody waits where the vector cannot be made.
                    let _ = sender.send(are_here);
                    are_here.then(|| (by_words(store, request, question, limit), begun.elapsed()))
                });
                let both = |vector: QueryVector<'_>, warnings: &mut Vec<Warning>| {
                    if !has_words || are_here.recv() == Ok(true) {
                        return by_vector(store, request, question, vector, warnings);
                    }
                    let (found, near) = by_both(store, request, question, vector, warnings);
                    words = Some(found);
                    near
                };
                let semantic = by_embedding(self, request, question, &embedder, both);
                let words_here =
                    words_here.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (semantic, words_here)
            }),
        };
        let (words, took) = words_here
            .or(words.map(|words| (words, begun.elapsed())))
            .unwrap_or_else(|| (by_words(store, request, question, limit), begun.elapsed()));
        let skipped = words.as_ref().err().map(ToString::to_string);
        timings.push(StageTiming { stage: "sparse", took, skipped });
        let skipped = semantic.skipped.clone();
        timings.push(StageTiming { stage: "dense", took: begun.elapsed(), skipped });
        (words, semantic)
    }

    /// A search by words that failed is skipped as long as the other one answered.
    fn words_or_skip(
        &self,
        words: Result<List>,
        semantic: &Semantic,
        warnings: &mut Vec<Warning>,
    ) -> Result<List> {
        match words {
            Ok(list) => Ok(list),
            Err(_) if semantic.skipped.is_none() && !semantic.list.found.is_empty() => {
                let message = "search by words was skipped: the store failed";
                warnings.push(Warning::new("words_skipped", message));
                Ok(List::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Says that something stored is missing from indexes that may not be written.
    fn unseen(&self, request: &Request<'_>) -> Result<Option<Warning>> {
        let namespaces = request.scopes.iter().map(|scope| &scope.namespace);
        let n_unseen = self.store.unseen_changes(namespaces)?;
        Ok((n_unseen > 0).then(|| {
            let message = format!(
                "the last {n_unseen} changes are stored and not in the index, which may not be \
                 written here: a command or a server of its owner takes them in"
            );
            Warning::new("index_behind", message)
        }))
    }
}

/// Gives what part of each namespace can be found by vector.
fn covered(
    request: &Request<'_>,
    words: &List,
    semantic: &Semantic,
) -> BTreeMap<NamespaceId, Coverage> {
    let of_scope = |(scope_idx, scope): (usize, &Scope)| {
        let (by_words, near) = (words.counts_of(scope_idx), semantic.list.counts_of(scope_idx));
        let coverage = Coverage {
            n_passages: by_words.n_passages.max(near.n_passages),
            // Vectors of another model do not count where the search by vector has looked.
            n_vectors: match semantic.query {
                Some(_) => near.n_vectors,
                None => by_words.n_vectors,
            },
        };
        (scope.namespace.clone(), coverage)
    };
    request.scopes.iter().enumerate().map(of_scope).collect()
}

/// Gives each document once, at its best place.
fn documents<'a>(ids: impl Iterator<Item = &'a DocumentId>) -> Vec<DocumentId> {
    let mut seen = std::collections::HashSet::new();
    ids.filter(|id| seen.insert(*id)).cloned().collect()
}

/// Beyond this, answers say that what other servers stored may be missing.
pub const MAX_FOLLOWER_LAG: Duration = Duration::from_secs(10);

/// Says that what other servers wrote may be missing, where it has been for longer than the bound.
fn behind(lag: Option<Duration>) -> Option<Warning> {
    let lag = lag.filter(|lag| *lag > MAX_FOLLOWER_LAG)?;
    let message = format!(
        "what other servers stored in the last {} s may be missing: this one could not follow",
        lag.as_secs()
    );
    Some(Warning::new("index_behind", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_say_that_others_are_not_followed_beyond_the_bound() {
        assert_eq!(behind(None), None);
        assert_eq!(behind(Some(MAX_FOLLOWER_LAG)), None);
        let warning = behind(Some(Duration::from_secs(12))).unwrap();
        assert_eq!(warning.code, "index_behind");
        assert!(warning.message.contains("in the last 12 s"), "{}", warning.message);
    }
}
