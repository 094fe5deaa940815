//! Candidates by words beside candidates by vector, each with the filter inside.

use model::{DocumentId, PassageId, Warning};
use store::{Both, Candidates, Filter, Store, WordsQuery};

use crate::{Request, Result};

/// One candidate of one stage.
#[derive(Debug, Clone)]
pub(crate) struct StageHit {
    pub(crate) scope_idx: usize,
    pub(crate) document: DocumentId,
    pub(crate) passage: PassageId,
    pub(crate) score: f64,
}

/// What one stage found, best first.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) found: Vec<StageHit>,
    pub(crate) n_passages: usize,
    pub(crate) n_vectors: usize,
    pub(crate) is_partial: bool,
    /// There may be more with a lower score.
    pub(crate) is_full: bool,
    pub(crate) is_prefix_cut: bool,
}

impl List {
    fn take_in(&mut self, scope_idx: usize, candidates: Candidates, limit: usize) {
        self.n_passages += candidates.counts.n_passages;
        self.n_vectors += candidates.counts.n_vectors;
        self.is_partial |= candidates.is_partial;
        self.is_prefix_cut |= candidates.is_prefix_cut;
        self.is_full |= candidates.hits.len() >= limit;
        self.found.extend(candidates.hits.into_iter().map(|candidate| StageHit {
            scope_idx,
            document: candidate.document,
            passage: candidate.passage,
            score: f64::from(candidate.score),
        }));
    }

    /// Brings the scopes into one order; equal scores are in the order of the ids.
    fn finish(&mut self, limit: usize) {
        self.found.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score
                .then_with(|| (one.scope_idx, &one.passage).cmp(&(other.scope_idx, &other.passage)))
        });
        self.found.truncate(limit);
    }
}

/// Asks every scope by words. `extra` is what the query itself asks of every document.
pub(crate) fn by_words(
    store: &Store,
    request: &Request<'_>,
    words: &WordsQuery,
    extra: &Filter,
) -> Result<List> {
    let limit = request.pipeline.n_by_words;
    let mut list = List::default();
    let is_empty = words.should.is_empty() && words.must.is_empty();
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        if is_empty {
            let counts = store.counts(&scope.namespace)?;
            list.n_passages += counts.n_passages;
            list.n_vectors += counts.n_vectors;
            continue;
        }
        let filter = scope.filter.clone().and(extra.clone());
        let candidates =
            store.by_words(&scope.namespace, words, &filter, limit, request.deadline)?;
        list.take_in(scope_idx, candidates, limit);
    }
    list.finish(limit);
    Ok(list)
}

/// Asks every scope by words and by vector in one request each: what an engine far away is asked.
pub(crate) fn by_both(
    store: &Store,
    request: &Request<'_>,
    words: &WordsQuery,
    vector: &[f32],
    extra: &Filter,
    warnings: &mut Vec<Warning>,
) -> (Result<List>, List) {
    let (n_by_words, n_by_vector) = (request.pipeline.n_by_words, request.pipeline.n_by_vector);
    let (mut by_words, mut near) = (Ok(List::default()), List::default());
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let filter = scope.filter.clone().and(extra.clone());
        let both = Both { query: words, vector, filter: &filter, n_by_words, n_by_vector };
        let (found, found_near) = store.by_both(&scope.namespace, &both, request.deadline);
        by_words = by_words.and_then(|mut list: List| {
            list.take_in(scope_idx, found?, n_by_words);
            Ok(list)
        });
        take_in_near(&mut near, scope_idx, found_near, n_by_vector, warnings);
    }
    if let Ok(list) = &mut by_words {
        list.finish(n_by_words);
    }
    near.finish(n_by_vector);
    (by_words, near)
}

/// Asks every scope by vector; a scope without vectors is passed over.
pub(crate) fn by_vector(
    store: &Store,
    request: &Request<'_>,
    vector: &[f32],
    extra: &Filter,
    warnings: &mut Vec<Warning>,
) -> List {
    let limit = request.pipeline.n_by_vector;
    let mut list = List::default();
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let filter = scope.filter.clone().and(extra.clone());
        let found = store.by_vector(&scope.namespace, vector, &filter, limit, request.deadline);
        take_in_near(&mut list, scope_idx, found, limit, warnings);
    }
    list.finish(limit);
    list
}

fn take_in_near(
    list: &mut List,
    scope_idx: usize,
    found: store::Result<Candidates>,
    limit: usize,
    warnings: &mut Vec<Warning>,
) {
    match found {
        Ok(candidates) => list.take_in(scope_idx, candidates, limit),
        Err(store::Error::NoVectorSpace { .. }) => {}
        Err(error) => {
            let message = format!("search by vector was skipped: {error}");
            warnings.push(Warning::new("vectors_skipped", message));
        }
    }
}
