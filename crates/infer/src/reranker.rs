//! Pair to relevance: the contract of every cross-encoder, local or remote.

use model::Deadline;

use crate::{EmbedderId, Result};

/// Judges how well each passage answers a query, reading both together.
///
/// Blocking and safe to share between threads.
pub trait Reranker: Send + Sync {
    /// Gives the name and version of the model.
    fn id(&self) -> &EmbedderId;

    /// Scores passages, in the order given: higher is better, each between 0 and 1.
    ///
    /// Scores of one model are comparable between queries; scores of two models are not. On the
    /// deadline it fails with [`crate::Error::OutOfTime`], and the order before stands.
    fn score(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>>;
}
