//! Evidence by vector: how much nearer a candidate is than unrelated text.
//!
//! A candidate that the search by vector did not list is asked about once more, so that its
//! figure is its own and not that of the last one listed. One without a vector has no figure.

use std::collections::HashMap;

use model::{PassageId, Warning};
use store::Filter;

use super::{Gathered, Judged};
use crate::background::CentredQuery;
use crate::candidates::QueryVector;
use crate::fuse::Fused;
use crate::scopes::each_scope;
use crate::semantic::Semantic;
use crate::{Request, Retriever};

/// What was asked about the candidates that the search by vector did not list.
#[derive(Default)]
pub(super) struct Unlisted {
    cosines: HashMap<(usize, PassageId), f64>,
    warnings: Vec<Warning>,
}

/// Asks how near the candidates are that the search by vector did not list. Needs nothing but their
/// ids, so that it can be done while they are read.
pub(super) fn ask(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    fused: &[Fused],
) -> Unlisted {
    let (question, semantic) = (gathered.question, gathered.semantic);
    let mut unlisted = Unlisted::default();
    let (Some(query), Some(embedder)) = (&semantic.query, &semantic.embedder) else {
        return unlisted;
    };
    // A list that is not full has named every passage with a vector.
    if !semantic.list.is_full {
        return unlisted;
    }
    let query_vector = QueryVector { embedder: embedder.id(), vector: &query.vector };
    let mut missing: Vec<Vec<PassageId>> = vec![vec![]; request.scopes.len()];
    for fused in fused.iter().filter(|fused| fused.vector.is_none()) {
        missing[fused.scope_idx].push(fused.passage.clone());
    }
    let store = &retriever.store;
    let near = each_scope(store, request.scopes, |scope_idx, scope| {
        let ids = &missing[scope_idx];
        if ids.is_empty() || !query_vector.fits(question, scope_idx) {
            return None;
        }
        let (namespace, filter) = (&scope.namespace, Filter::Passages(ids.clone()));
        Some(store.by_vector(namespace, &query.vector, &filter, ids.len(), request.deadline))
    });
    for (scope_idx, near) in near.into_iter().enumerate() {
        let Some(near) = near else { continue };
        match near {
            Ok(near) => unlisted.cosines.extend(
                near.hits.into_iter().map(|hit| ((scope_idx, hit.passage), f64::from(hit.score))),
            ),
            Err(store::Error::NoVectorSpace { .. }) => {}
            Err(error) => {
                let message = format!("some results were judged by their words alone: {error}");
                unlisted.warnings.push(Warning::new("vectors_skipped", message));
            }
        }
    }
    unlisted
}

/// Fills in the figure of every candidate that has a vector.
pub(super) fn judge(
    semantic: &Semantic,
    unlisted: Unlisted,
    judged: &mut [Judged],
    warnings: &mut Vec<Warning>,
) {
    let Some(query) = &semantic.query else { return };
    warnings.extend(unlisted.warnings);
    for judged in judged.iter_mut() {
        let place = (judged.fused.scope_idx, judged.fused.passage.clone());
        let listed = judged.fused.vector.as_ref().map(|seen| seen.score);
        if let Some(cosine) = listed.or_else(|| unlisted.cosines.get(&place).copied()) {
            fill_in(judged, query, cosine);
        }
    }
}

/// Fills in what the vectors of the query and of a candidate say.
pub(super) fn fill_in(judged: &mut Judged, query: &CentredQuery, cosine: f64) {
    let language = judged.passage.language;
    judged.evidence.vector = Some(query.nearness(language, cosine));
    judged.evidence.is_foreign |= query.is_foreign_to(language);
    // `tous` over English documents is a function word, which neither its letters nor the documents
    // show and the model tells; as far as the passage has the words, they are its own language's.
    let words = &mut judged.evidence.words;
    let uncovered = 1.0 - words.coverage.clamp(0.0, 1.0);
    words.function_share = words.function_share.max(query.function_share * uncovered);
}
