//! The contracts of a catalogue and of an engine, and the types that both are asked with.

mod document;
mod filter;
mod manifest;
mod question;
mod words;

mod answer;

mod catalogue;
mod engine;
mod listing;

pub use answer::{Candidate, Candidates, Counts, Matched, TermCount, TermStatistics, Upserted};
pub use catalogue::{
    Catalogue, DocumentSource, DroppedNamespace, Lease, LogEntry, LogKind, LogPage, NamespaceHead,
    NamespaceState, PassageSource, SourceParts, VersionChange, Written,
};
pub use document::{
    Document, DocumentCount, DocumentInfo, DocumentPage, Fingerprint, Place, StoredPassage,
};
pub use engine::{
    Both, Changes, Engine, EngineHere, EngineInfo, EnginePlace, EngineServer, Erased, Fresh,
    Position, Rebuild, follow_known,
};
pub use filter::Filter;
pub(crate) use filter::prefix_range;
pub use manifest::{Agreement, AnalyserName, Manifest, NamespaceInfo, VectorSpace};
pub(crate) use question::check_limit;
pub use question::{ByVector, ByWords, Search, question_of};
pub use words::{Bm25, Clause, Form, WordsQuery};
