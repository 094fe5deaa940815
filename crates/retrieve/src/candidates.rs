//! Candidates by words beside candidates by vector, each with the filter inside.

use std::collections::BTreeMap;

use infer::EmbedderId;
use model::{DocumentId, PassageId, Warning};
use store::{Both, Candidates, Clause, Counts, Filter, Form, Store, WordsQuery};

use crate::question::Question;
use crate::scopes::each_scope;
use crate::words::rarity;
use crate::{Request, Result, Scope};

/// One candidate of one stage.
#[derive(Debug, Clone)]
pub(crate) struct StageHit {
    pub(crate) scope_idx: usize,
    pub(crate) document: DocumentId,
    pub(crate) passage: PassageId,
    pub(crate) score: f64,
    /// What scopes are merged by: the score, where one scale serves all of them.
    merit: f64,
}

/// What one stage found, best first.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) found: Vec<StageHit>,
    /// How much is in each scope's namespace that was looked at, by the place of the scope.
    pub(crate) counts: BTreeMap<usize, Counts>,
    pub(crate) is_partial: bool,
    /// There may be more with a lower score.
    pub(crate) is_full: bool,
    pub(crate) is_prefix_cut: bool,
}

impl List {
    fn take_in(&mut self, scope_idx: usize, candidates: Candidates, limit: usize, reach: f64) {
        self.counts.insert(scope_idx, candidates.counts);
        self.is_partial |= candidates.is_partial;
        self.is_prefix_cut |= candidates.is_prefix_cut;
        self.is_full |= candidates.hits.len() >= limit;
        self.found.extend(candidates.hits.into_iter().map(|candidate| StageHit {
            scope_idx,
            document: candidate.document,
            passage: candidate.passage,
            score: f64::from(candidate.score),
            merit: f64::from(candidate.score) / reach,
        }));
    }

    /// Gives how much is in a scope's namespace; nothing where it was not looked at.
    pub(crate) fn counts_of(&self, scope_idx: usize) -> Counts {
        self.counts.get(&scope_idx).copied().unwrap_or_default()
    }

    /// Brings the scopes into one order; equal scores are in the order of the ids.
    fn finish(&mut self, limit: usize) {
        self.found.sort_by(|one, other| {
            let by_score = other.merit.total_cmp(&one.merit);
            by_score
                .then_with(|| (one.scope_idx, &one.passage).cmp(&(other.scope_idx, &other.passage)))
        });
        // What one scope lacks may be left out for another: no list of theirs was full.
        self.is_full |= self.found.len() > limit;
        self.found.truncate(limit);
    }
}

/// Asks every scope for so many that have words of a question.
pub(crate) fn by_words(
    store: &Store,
    request: &Request<'_>,
    question: &Question,
    limit: usize,
) -> Result<List> {
    let words_in = |scope_idx| &question.in_scope(scope_idx).for_words;
    by_words_in(store, request, words_in, &question.filter, limit)
}

/// Asks every scope for so many by words of its own. `extra` is what the query itself asks of every
/// document.
pub(crate) fn by_words_in<'a>(
    store: &Store,
    request: &Request<'_>,
    words_in: impl Fn(usize) -> &'a WordsQuery + Sync,
    extra: &Filter,
    limit: usize,
) -> Result<List> {
    let mut list = List::default();
    let found = each_scope(store, request.scopes, |scope_idx, scope| -> Result<_> {
        let words = words_in(scope_idx);
        if words.should.is_empty() && words.must.is_empty() {
            let counts = store.counts(&scope.namespace)?;
            return Ok((Candidates { counts, ..Candidates::default() }, 1.0));
        }
        let filter = scope.filter.clone().and(extra.clone());
        let candidates =
            store.by_words(&scope.namespace, words, &filter, limit, request.deadline)?;
        Ok((candidates, reach(store, request.scopes, scope, words)?))
    });
    for (scope_idx, found) in found.into_iter().enumerate() {
        let (candidates, reach) = found?;
        list.take_in(scope_idx, candidates, limit, reach);
    }
    list.finish(limit);
    Ok(list)
}

/// Gives what a search by words could reach in a scope, up to a factor that all scopes share. A
/// word is worth more in a large namespace, so that without this the half matches of a large one
/// would crowd out the whole matches of a small one. One scope needs no common scale.
fn reach(store: &Store, scopes: &[Scope], scope: &Scope, words: &WordsQuery) -> Result<f64> {
    if scopes.len() < 2 {
        return Ok(1.0);
    }
    let wanted: Vec<(&Vec<String>, f64)> = words
        .should
        .iter()
        .filter_map(|clause| match clause {
            Clause::Word { form: Form::Folded, terms, boost } => Some((terms, f64::from(*boost))),
            Clause::Word { .. } | Clause::Phrase { .. } | Clause::Prefix { .. } => None,
        })
        .collect();
    let terms: Vec<(Form, String)> = wanted
        .iter()
        .flat_map(|(terms, _)| terms.iter().map(|term| (Form::Folded, term.clone())))
        .collect();
    let statistics = store.term_statistics(&scope.namespace, &terms)?;
    let n_passages = statistics.n_passages as f64;
    let mut counts = statistics.terms.iter().map(|term| term.n_passages as f64);
    let sum: f64 = wanted
        .iter()
        .map(|(terms, boost)| {
            let n_with = counts.by_ref().take(terms.len()).fold(0.0, f64::max);
            boost * rarity(n_passages, n_with)
        })
        .sum();
    Ok(if sum > 0.0 { sum } else { 1.0 })
}

/// A vector with the model that made it.
#[derive(Clone, Copy)]
pub(crate) struct QueryVector<'a> {
    pub(crate) embedder: &'a EmbedderId,
    pub(crate) vector: &'a [f32],
}

impl QueryVector<'_> {
    /// Tells whether the vectors of a scope are of the same model.
    pub(crate) fn fits(&self, question: &Question, scope_idx: usize) -> bool {
        question.known.has_vectors_of(scope_idx, self.embedder)
    }
}

/// Asks every scope by words and by vector in one request each: what an engine far away is asked.
pub(crate) fn by_both(
    store: &Store,
    request: &Request<'_>,
    question: &Question,
    query: QueryVector<'_>,
    warnings: &mut Vec<Warning>,
) -> (Result<List>, List) {
    let (n_by_words, n_by_vector) = (request.pipeline.n_by_words, request.pipeline.n_by_vector);
    let (mut by_words, mut near) = (Ok(List::default()), List::default());
    let found = each_scope(store, request.scopes, |scope_idx, scope| {
        let filter = scope.filter.clone().and(question.filter.clone());
        let words = &question.in_scope(scope_idx).for_words;
        let (found, found_near) = match query.fits(question, scope_idx) {
            true => {
                let vector = query.vector;
                let both = Both { query: words, vector, filter: &filter, n_by_words, n_by_vector };
                let (found, near) = store.by_both(&scope.namespace, &both, request.deadline);
                (found, Some(near))
            }
            false => {
                let (namespace, deadline) = (&scope.namespace, request.deadline);
                (store.by_words(namespace, words, &filter, n_by_words, deadline), None)
            }
        };
        let found = found.map_err(crate::Error::from).and_then(|found| {
            let reach = reach(store, request.scopes, scope, words)?;
            Ok((found, reach))
        });
        (found, found_near)
    });
    for (scope_idx, (found, found_near)) in found.into_iter().enumerate() {
        by_words = by_words.and_then(|mut list: List| {
            let (found, reach) = found?;
            list.take_in(scope_idx, found, n_by_words, reach);
            Ok(list)
        });
        if let Some(found_near) = found_near {
            take_in_near(&mut near, scope_idx, found_near, n_by_vector, warnings);
        }
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
    question: &Question,
    query: QueryVector<'_>,
    warnings: &mut Vec<Warning>,
) -> List {
    let limit = request.pipeline.n_by_vector;
    let mut list = List::default();
    let found = each_scope(store, request.scopes, |scope_idx, scope| {
        let filter = scope.filter.clone().and(question.filter.clone());
        let (namespace, deadline) = (&scope.namespace, request.deadline);
        let find = || store.by_vector(namespace, query.vector, &filter, limit, deadline);
        query.fits(question, scope_idx).then(find)
    });
    for (scope_idx, found) in found.into_iter().enumerate() {
        if let Some(found) = found {
            take_in_near(&mut list, scope_idx, found, limit, warnings);
        }
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
        // Cosines have the same scale everywhere.
        Ok(candidates) => list.take_in(scope_idx, candidates, limit, 1.0),
        Err(store::Error::NoVectorSpace { .. }) => {}
        Err(error) => {
            let message = format!("search by vector was skipped: {error}");
            warnings.push(Warning::new("vectors_skipped", message));
        }
    }
}
