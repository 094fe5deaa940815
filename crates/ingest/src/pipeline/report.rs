//! What a run did.

use model::Warning;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// Items that the source gave.
    pub n_seen: usize,
    /// Documents written.
    pub n_written: usize,
    /// Those of them that have no text.
    pub n_without_text: usize,
    /// Documents whose fingerprint had not changed.
    pub n_unchanged: usize,
    /// Items that could not be read at all, or were left out.
    pub n_failed: usize,
    /// Documents that the source has no more.
    pub n_removed: usize,
    /// Passages written.
    pub n_passages: usize,
    /// Passages of documents that had not changed.
    pub n_passages_unchanged: usize,
    /// Passages of documents that were removed or replaced.
    pub n_passages_removed: usize,
    /// Passages that were written again and kept their vector.
    pub n_vectors_kept: usize,
    /// Whether the source gave everything that it has; if not, nothing was removed.
    pub is_complete: bool,
    /// The warnings that were kept.
    pub warnings: Vec<Warning>,
    /// How many warnings there were.
    pub n_warnings: usize,
}
