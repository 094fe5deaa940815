//! Documents that are written together.

use std::time::Instant;

use super::Prepared;
use crate::limits;

/// Documents that wait for their commit.
pub(super) struct Batch {
    /// When the first one came.
    pub(super) begun: Option<Instant>,
    pub(super) documents: Vec<Prepared>,
    n_passages: usize,
    n_bytes: usize,
    max_documents: usize,
}

impl Batch {
    pub(super) fn new(max_documents: usize) -> Self {
        Batch { begun: None, documents: vec![], n_passages: 0, n_bytes: 0, max_documents }
    }

    pub(super) fn push(&mut self, prepared: Prepared) {
        self.begun.get_or_insert_with(Instant::now);
        self.n_passages += prepared.document.passages.len();
        self.n_bytes += prepared.n_text_bytes();
        self.documents.push(prepared);
    }

    pub(super) fn is_full(&self) -> bool {
        self.n_passages >= limits::PASSAGES_PER_COMMIT
            || self.n_bytes >= limits::TEXT_BYTES_PER_COMMIT
            || self.documents.len() >= self.max_documents
    }

    /// Gives the documents and begins anew.
    pub(super) fn take(&mut self) -> Vec<Prepared> {
        std::mem::replace(self, Batch::new(self.max_documents)).documents
    }
}
