//! What a store answers.

use model::{DocumentId, PassageId};
use serde::{Deserialize, Serialize};

use crate::Form;

/// One passage that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Whose passage it is.
    pub document: DocumentId,
    /// What [`crate::Catalogue::passages`] finds it by.
    pub passage: PassageId,
    /// BM25, or the cosine of the two vectors.
    pub score: f32,
}

/// What a search found, best first; equal scores are in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Candidates {
    /// The passages.
    pub hits: Vec<Candidate>,
    /// The deadline came before every passage was looked at: better ones may be missing.
    pub is_partial: bool,
    /// A prefix stood for more index terms than the limit: passages may be missing.
    pub is_prefix_cut: bool,
    /// What is in the namespace, so that an answer can say what part has vectors.
    pub counts: Counts,
}

/// How many passages a search by words finds, and how many documents they are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matched {
    /// A document counts once, however many of its passages match.
    pub n_documents: usize,
    /// Those that match.
    pub n_passages: usize,
    /// Nothing was left out or estimated.
    pub is_exact: bool,
}

/// How much is in a namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Those of the catalogue.
    pub n_documents: usize,
    /// Passages; every one is searchable by words.
    pub n_passages: usize,
    /// Passages that are searchable by vector too.
    pub n_vectors: usize,
}

impl Counts {
    /// Gives the part of the passages that have vectors, 1 for an empty namespace.
    pub fn vector_coverage(self) -> f64 {
        if self.n_passages == 0 { 1.0 } else { self.n_vectors as f64 / self.n_passages as f64 }
    }
}

/// What a write did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Upserted {
    /// Documents that were not there before.
    pub n_new: usize,
    /// Documents that replaced an earlier version.
    pub n_replaced: usize,
    /// Passages written.
    pub n_passages: usize,
    /// Passages that kept the vector of the earlier version, since nothing in them changed.
    pub n_vectors_kept: usize,
}

/// How often one index term occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermCount {
    /// Which form of the word.
    pub form: Form,
    /// The index term.
    pub term: String,
    /// Passages that hold it in their text, or those under titles that hold it where these are more:
    /// a word that is common in names is not rare because no text has it.
    pub n_passages: u64,
}

/// What BM25 needs to know about a namespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TermStatistics {
    /// Passages that can be found.
    pub n_passages: u64,
    /// The mean number of words in a passage's text.
    pub mean_length: f64,
    /// The terms that were asked for, in their order.
    pub terms: Vec<TermCount>,
}
