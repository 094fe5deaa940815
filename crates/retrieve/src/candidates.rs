//! Candidates by words beside candidates by vector, each with the filter inside.

use model::{PassageId, Warning};
use store::{Candidates, PassageStore};

use crate::question::Question;
use crate::{Coverage, Request, Result};

/// One candidate of one stage.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) scope_idx: usize,
    pub(crate) passage: PassageId,
    pub(crate) score: f64,
}

/// What both stages found.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) by_words: Vec<Found>,
    pub(crate) by_vector: Vec<Found>,
    pub(crate) n_passages: usize,
    pub(crate) n_vectors: usize,
    pub(crate) is_partial: bool,
}

impl Gathered {
    pub(crate) fn coverage(&self) -> Coverage {
        Coverage { n_passages: self.n_passages, n_vectors: self.n_vectors }
    }
}

/// Asks every scope by words.
pub(crate) fn by_words(
    store: &dyn PassageStore,
    request: &Request<'_>,
    question: &Question,
    gathered: &mut Gathered,
) -> Result<()> {
    if question.for_words.should.is_empty() && question.for_words.must.is_empty() {
        return Ok(());
    }
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let candidates = store.by_words(
            &scope.namespace,
            &question.for_words,
            &scope.filter,
            request.pipeline.n_by_words,
            request.deadline,
        )?;
        gathered.n_passages += candidates.counts.n_passages;
        gathered.n_vectors += candidates.counts.n_vectors;
        gathered.is_partial |= candidates.is_partial;
        gathered.by_words.extend(found(scope_idx, candidates));
    }
    gathered.by_words.sort_by(|one, other| other.score.total_cmp(&one.score));
    gathered.by_words.truncate(request.pipeline.n_by_words);
    Ok(())
}

/// Asks every scope by vector; a scope without vectors is passed over.
pub(crate) fn by_vector(
    store: &dyn PassageStore,
    request: &Request<'_>,
    vector: &[f32],
    gathered: &mut Gathered,
    warnings: &mut Vec<Warning>,
) {
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let candidates = store.by_vector(
            &scope.namespace,
            vector,
            &scope.filter,
            request.pipeline.n_by_vector,
            request.deadline,
        );
        match candidates {
            Ok(candidates) => gathered.by_vector.extend(found(scope_idx, candidates)),
            Err(store::Error::NoVectorSpace { .. }) => {}
            Err(error) => {
                warnings.push(Warning::new(
                    "vectors_skipped",
                    format!("search by meaning was skipped: {error}"),
                ));
            }
        }
    }
    gathered.by_vector.sort_by(|one, other| other.score.total_cmp(&one.score));
    gathered.by_vector.truncate(request.pipeline.n_by_vector);
}

fn found(scope_idx: usize, candidates: Candidates) -> impl Iterator<Item = Found> {
    candidates.hits.into_iter().map(move |candidate| Found {
        scope_idx,
        passage: candidate.passage,
        score: f64::from(candidate.score),
    })
}
