//! Everything Dowse keeps: passages go in and stay, whatever happens.
//!
//! [`PassageStore`] is the contract that the read path and the write path meet at: namespaces of
//! documents with passages, found again by words (BM25) and by vector, with filters applied
//! inside the search. [`Catalogue`] keeps the small objects of the families as typed rows.
//! [`EmbeddedStore`] is the engine that needs nothing else to run: a SQLite file is the truth,
//! a full-text index and a vector file for each namespace are derived from it, and each of them
//! remembers the sequence number it has seen, so that it can catch up after a crash.
//! [`TurbopufferStore`] keeps the same truth, and words and vectors in turbopuffer.
//!
//! The room knows no family: what a document is, and who may see it, is decided above.
//!
//! ```
//! use std::time::Duration;
//!
//! use model::{Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp};
//! use store::{Bm25, Config, Document, EmbeddedStore, Filter, Manifest, PassageStore, WordsQuery};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let clock = Clock::fixed(Timestamp(0));
//! let store = EmbeddedStore::open(folder.path(), &Config::for_one_machine(), clock)?;
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
mod contract;
mod error;
pub mod limits;

mod catalogue;
mod embedded;
mod truth;
mod turbopuffer_store;

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

pub use catalogue::{Catalogue, Change, Lookup, Object, ObjectKey, ObjectPage, TypedObject};
pub use contract::{
    AnalyserName, Bm25, Both, Candidate, Candidates, Clause, Counts, Document, DocumentInfo,
    Fingerprint,    DocumentPage, Filter, Form, Manifest, NamespaceInfo, PassageStore, Place, StoredPassage,
    TermCount, TermStatistics, Upserted, VectorSpace, WordsQuery,
};
pub use embedded::{Config, EmbeddedStore, Finding, Repair};
pub use error::{Error, Result};
pub use turbopuffer_store::{TurbopufferConfig, TurbopufferStore};

/// The format of everything this program writes into a data folder.
pub const FORMAT: u32 = 1;
