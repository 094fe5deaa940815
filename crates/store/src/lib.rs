//! Everything Dowse keeps: passages go in and stay, whatever happens.
//!
//! A store has two halves. A [`Catalogue`] is the truth: namespaces of documents with passages,
//! vectors and blobs, the families' objects ([`Objects`]), leases, files in pieces, and a log of
//! changes, each change in one transaction. An [`Engine`] is derived from it: it follows the log,
//! remembers the sequence number it has seen, and finds passages by words (BM25) and by vector,
//! with filters applied inside the search. [`Store`] puts the two together and is what the read
//! path, the write path and the families use.
//!
//! [`SqliteCatalogue`] and [`EmbeddedEngine`] need nothing else to run, and [`Store::open`] opens
//! both in one folder. [`TurbopufferEngine`] has words and vectors in turbopuffer. A third engine or
//! a second catalogue costs its own code alone, and keeps the laws of `conformance`.
//!
//! This crate knows no family: what a document is, and who may see it, is decided above.
//!
//! ```
//! use std::time::Duration;
//!
//! use model::{Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp};
//! use store::{Bm25, Config, Document, Filter, Manifest, Store, WordsQuery};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let clock = Clock::fixed(Timestamp(0));
//! let store = Store::open(folder.path(), &Config::for_one_machine(), clock)?;
//!
//! let notes = NamespaceId::new("notes");
//! store.create_namespace(&notes, &Manifest::current(None))?;
//! store.upsert(
//!     &notes,
//!     &[Document {
//!         id: DocumentId::new("lisbon.txt"),
//!         title: "Lisbon".to_owned(),
//!         attributes: [("ext".to_owned(), "txt".into())].into(),
//!         metadata: serde_json::Value::Null,
//!         fingerprint: String::new(),
//!         passages: vec![Passage {
//!             id: PassageId::new("lisbon.txt#0"),
//!             ordinal: 0,
//!             text: "The tram climbs to the castle.".to_owned(),
//!             span: Span::new(0, 30),
//!             pointer: Pointer::Line(1),
//!             headings: vec![],
//!         }],
//!     }],
//! )?;
//!
//! let query = WordsQuery::from_text("castle", Bm25::PASSAGES, 1.0, 0.1);
//! let deadline = Deadline::after(Duration::from_secs(1));
//! let found = store.by_words(&notes, &query, &Filter::equals("ext", "txt"), 10, &deadline)?;
//! assert_eq!(found.hits[0].passage.as_str(), "lisbon.txt#0");
//! # Ok(())
//! # }
//! ```
#![doc(test(attr(deny(warnings))))]

pub mod bench;
pub mod bounds;
mod config;
mod contract;
mod error;
mod health;
pub mod limits;
mod objects;
mod positional;
mod stamp;
mod store;
mod transfer;

mod sqlite;

mod embedded;
pub mod remote;
mod turbopuffer_engine;

mod analysis;
mod bits;
mod lexical;
mod vectors;

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "testing")]
pub mod failpoint;
#[cfg(not(feature = "testing"))]
mod failpoint;

pub use analysis::language_of;
pub use config::{Access, Config};
pub use contract::{
    Agreement, AnalyserName, Bm25, Both, ByVector, ByWords, Candidate, Candidates, Catalogue,
    Changes, Clause, Counts, Document, DocumentCount, DocumentInfo, DocumentPage, DocumentSource,
    DroppedNamespace, Engine, EngineHere, EngineInfo, EnginePlace, EngineServer, Erased, Filter,
    Fingerprint, Form, Fresh, Lease, LogEntry, LogKind, LogPage, Manifest, Matched, NamespaceHead,
    NamespaceInfo, NamespaceState, PassageSource, Place, Position, Rebuild, Search, SourceParts,
    StoredPassage, TermCount, TermStatistics, Upserted, VectorSpace, VersionChange, WordsQuery,
    Written, follow_known, question_of,
};
pub use embedded::EmbeddedEngine;
pub use error::{Error, Result};
pub use health::{Degradation, Health};
pub use objects::{Change, Lookup, Object, ObjectKey, ObjectPage, Objects, TypedObject};
pub use sqlite::{
    FolderLock, SqliteCatalogue, had_store, is_catalogue, refuse_second, restore, restoring_file,
};
pub use stamp::Verify;
pub use store::{Finding, Repair, Store, Surroundings, current_state, state_of};
pub use transfer::{Copied, MOMENT_KINDS, copy, end_move, export, import, move_into};
pub use turbopuffer_engine::{TurbopufferConfig, TurbopufferEngine};

pub use vectors::{cosine_as_stored, normalised};

/// The format of the SQLite catalogue that this program writes.
pub const FORMAT: u32 = 3;
/// The format of the indexes that engines derive, as manifests name it.
pub const INDEX_FORMAT: u32 = 1;
