//! The contract of a passage store: the words it is spoken to in, and the trait itself.

mod document;
mod filter;
mod manifest;
mod words;

mod answer;
mod passage_store;

pub use answer::{Candidate, Candidates, Counts, TermCount, TermStatistics, Upserted};
pub use document::{Document, DocumentInfo, DocumentPage, Fingerprint, Place, StoredPassage};
pub use filter::Filter;
pub(crate) use filter::prefix_range;
pub use manifest::{AnalyserName, Manifest, NamespaceInfo, VectorSpace};
pub use passage_store::{Both, PassageStore};
pub use words::{Bm25, Clause, Form, WordsQuery};
