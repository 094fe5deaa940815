//! Reciprocal rank fusion, divided by its theoretical maximum.

use std::collections::HashMap;

use model::{DocumentId, PassageId, Stage, StageScore};

use crate::Pipeline;
use crate::candidates::{List, StageHit};

/// A candidate with what the stages so far thought of it.
#[derive(Debug, Clone)]
pub(crate) struct Fused {
    pub(crate) scope_idx: usize,
    pub(crate) document: DocumentId,
    pub(crate) passage: PassageId,
    pub(crate) words: Option<StageScore>,
    pub(crate) vector: Option<StageScore>,
    pub(crate) rrf: f64,
}

/// Fuses the two lists. The order of equal scores is that of the ids, so it never depends on
/// which list came first.
pub(crate) fn fuse(by_words: &List, by_vector: &List, pipeline: &Pipeline) -> Vec<Fused> {
    let mut fused: HashMap<(usize, PassageId), Fused> = HashMap::new();
    let lists = [
        (by_words, Stage::Sparse, pipeline.rrf_weights[0]),
        (by_vector, Stage::Dense, pipeline.rrf_weights[1]),
    ];
    let maximum: f64 = lists.iter().map(|(_, _, weight)| weight / (pipeline.rrf_k + 1.0)).sum();
    for (list, stage, weight) in lists {
        for (rank, found) in (1_u32..).zip(&list.found) {
            let entry = fused
                .entry((found.scope_idx, found.passage.clone()))
                .or_insert_with(|| empty(found));
            let seen = StageScore { stage, rank, score: found.score, raw: None };
            entry.rrf += weight / (pipeline.rrf_k + f64::from(rank)) / maximum;
            if stage == Stage::Sparse {
                entry.words = Some(seen);
            } else {
                entry.vector = Some(seen);
            }
        }
    }
    let mut fused: Vec<Fused> = fused.into_values().collect();
    fused.sort_by(|one, other| {
        other
            .rrf
            .total_cmp(&one.rrf)
            .then_with(|| (one.scope_idx, &one.passage).cmp(&(other.scope_idx, &other.passage)))
    });
    fused
}

fn empty(found: &StageHit) -> Fused {
    Fused {
        scope_idx: found.scope_idx,
        document: found.document.clone(),
        passage: found.passage.clone(),
        words: None,
        vector: None,
        rrf: 0.0,
    }
}
