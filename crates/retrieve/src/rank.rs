//! The final order and the score that leaves.

use model::Score;

use crate::fuse::Fused;

/// Scores a fused candidate.
pub(crate) fn score(fused: &Fused) -> Score {
    Score::new(fused.rrf)
}
