//! Vectors for the first candidates that have none yet, made while the query waits.
//!
//! While vectors are being made, candidates with one would be compared with candidates without, and
//! the two are not judged by the same evidence. So the candidates that matter get theirs now: those
//! that come first by their words, then those that come first in the order that this gives. Which
//! they are depends on their rank within fixed depths, never on the limit or the threshold. The
//! vectors are the ones that will be stored, so that a score is the same before and after.

use std::time::{Duration, Instant};

use infer::PassageVectors;
use model::{PassageId, Warning};
use store::StoredPassage;

use super::vectors::fill_in;
use super::{Gathered, Judged};
use crate::breaker::Outcome;
use crate::features::Evidence;
use crate::score::relevance;
use crate::{Request, Retriever, StageTiming};

/// Vectors that one query makes at most.
pub(super) const MAX_MADE: usize = 16;

/// The first candidates of an order that all have vectors, as far as [`MAX_MADE`] allows.
const N_FIRST: usize = 10;

/// The part of a search's time that this may take.
const TIME_SHARE: f64 = 0.3;

/// The longest that it may take.
const MAX_TIME: Duration = Duration::from_secs(1);

/// The name of the stage.
const STAGE: &str = "embed_candidates";

/// Makes the vectors of at most `n_left` candidates and judges these anew; nothing where the first
/// ones have theirs, or nobody makes vectors.
pub(super) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    judged: &mut [Judged],
    mut n_left: usize,
    warnings: &mut Vec<Warning>,
) -> Option<StageTiming> {
    retriever.passage_vectors.as_ref()?;
    // Without the query's vector the search by vector has said why.
    gathered.semantic.query.as_ref()?;
    let by_words = |judged: &Judged| {
        relevance(&Evidence { vector: None, late: None, ..judged.evidence }).get()
    };
    let by_all = |judged: &Judged| relevance(&judged.evidence).get();
    let begun = Instant::now();
    let mut wanted = without_vector(judged, by_words, n_left);
    if wanted.is_empty() {
        wanted = without_vector(judged, by_all, n_left);
    }
    if wanted.is_empty() {
        return None;
    }
    let mut skipped = None;
    while !wanted.is_empty() {
        n_left -= wanted.len();
        if let Err(why) = make(retriever, request, gathered, judged, &wanted) {
            let message = format!(
                "some of the first results have no vector yet and were judged by words alone: {why}"
            );
            warnings.push(Warning::new("degraded", message));
            skipped = Some(why);
            break;
        }
        wanted = without_vector(judged, by_all, n_left);
    }
    Some(StageTiming { stage: STAGE, took: begun.elapsed(), skipped })
}

/// Names the candidates without a vector among the first by some score.
fn without_vector(judged: &[Judged], score: impl Fn(&Judged) -> f64, limit: usize) -> Vec<usize> {
    let scored: Vec<(f64, usize, &PassageId)> = judged
        .iter()
        .map(|judged| (score(judged), judged.fused.scope_idx, &judged.fused.passage))
        .collect();
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_by(|one, other| {
        let (one, other) = (&scored[*one], &scored[*other]);
        other.0.total_cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
    });
    order.truncate(N_FIRST);
    order.retain(|idx| judged[*idx].evidence.vector.is_none());
    order.truncate(limit);
    order
}

/// Makes the vectors of some candidates and fills in what they say; gives why not.
fn make(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    judged: &mut [Judged],
    wanted: &[usize],
) -> Result<(), String> {
    let semantic = gathered.semantic;
    let (Some(source), Some(embedder), Some(query)) =
        (&retriever.passage_vectors, &semantic.embedder, &semantic.query)
    else {
        return Err("there is no model".to_owned());
    };
    if !retriever.passages_breaker.may_try(Instant::now()) {
        return Err("the model failed repeatedly and is left alone for a while".to_owned());
    }
    let deadline = &request.deadline.part(TIME_SHARE, MAX_TIME);
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let own: Vec<usize> = wanted
            .iter()
            .copied()
            .filter(|idx| judged[*idx].fused.scope_idx == scope_idx)
            .collect();
        if own.is_empty() {
            continue;
        }
        let passages: Vec<&StoredPassage> = own.iter().map(|idx| &judged[*idx].passage).collect();
        let made = source(&**embedder, &scope.namespace, &passages, deadline);
        let outcome = if made.is_ok() { Outcome::Worked } else { Outcome::Failed };
        retriever.passages_breaker.record(outcome, Instant::now());
        for (idx, made) in own.into_iter().zip(made.map_err(|error| error.to_string())?) {
            let PassageVectors { vector, blob } = made;
            let language = judged[idx].passage.language;
            let Some(cosine) = store::cosine_as_stored(&query.vector, &vector) else { continue };
            fill_in(&mut judged[idx], query, f64::from(cosine));
            let evidence = &mut judged[idx].evidence;
            let Some((matcher, background)) = &semantic.late else { continue };
            if let (Some(late), Some(n_tokens)) =
                (matcher.score(&blob), infer::n_packed_tokens(&blob))
            {
                evidence.late = Some(background.nearness(language, late));
                evidence.n_tokens = n_tokens;
            }
        }
    }
    Ok(())
}
