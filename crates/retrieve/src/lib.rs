//! The read path: a query in, ranked passages with reasons out, in any language.
//!
//! A [`Retriever`] runs the stages in the order that `pipeline.rs` shows: analyse, candidates by
//! words beside candidates by vector, fuse, judge, threshold, group, snippet. Each stage returns
//! a subset or a re-ordering and adds its rank and score to the hit. A stage that cannot run is
//! skipped with a warning and the result of the stages before it is used; a model that fails five
//! times in a row is left alone for half a minute.
//!
//! The score that leaves is calibrated relevance between 0 and 1. Given the evidence that was
//! gathered for a passage it is a function of the query, the passage and the term statistics of
//! its namespace: no other candidate, limit or threshold changes it. Hits are sorted by it. Nothing here writes, and nothing here knows a family: who may see what
//! arrives as the filter of a [`Scope`]. How good the order is, [`eval`] measures.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use infer::ModelState;
//! use model::{Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp};
//! use retrieve::{Grouping, Pipeline, Request, Retriever, Scope};
//! use store::{Config, Document, Filter, Manifest, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let clock = Clock::fixed(Timestamp(0));
//! let store = Store::open(folder.path(), &Config::for_one_machine(), clock)?;
//! let notes = NamespaceId::new("notes");
//! store.create_namespace(&notes, &Manifest::current(None))?;
//! # let text = "The tram climbs to the castle.".to_owned();
//! # let passage = Passage {
//! #     id: PassageId::new("lisbon#0"), ordinal: 0, span: Span::new(0, 30), text,
//! #     pointer: Pointer::Line(1), headings: vec![],
//! # };
//! # let lisbon = Document {
//! #     id: DocumentId::new("lisbon"), title: "Lisbon".to_owned(), attributes: [].into(),
//! #     metadata: serde_json::Value::Null, fingerprint: String::new(), passages: vec![passage],
//! # };
//! store.upsert(&notes, &[lisbon])?;
//!
//! // Without a model, search goes on with words.
//! let retriever = Retriever::new(Arc::new(store), Arc::new(|| Err(ModelState::Off)));
//! let response = retriever.search(&Request {
//!     query: "castles",
//!     scopes: &[Scope { namespace: notes, filter: Filter::All }],
//!     limit: 10,
//!     offset: 0,
//!     threshold: None,
//!     grouping: Grouping::Documents,
//!     pipeline: &Pipeline::default(),
//!     deadline: &Deadline::after(Duration::from_secs(1)),
//! })?;
//! assert_eq!(response.hits[0].hit.document.as_str(), "lisbon");
//! assert_eq!(response.hits[0].hit.explanation.folded, ["castles → castl"]);
//! # Ok(())
//! # }
//! ```
#![doc(test(attr(deny(warnings))))]

mod error;
mod request;
mod response;

mod page;
mod pipeline;

mod question;
mod scopes;
mod syntax;

mod operators;

mod background;
mod candidates;
mod focus;
mod semantic;
mod spelling;

mod fuse;

mod features;
mod judge;
mod words;

mod coefficients;
mod score;

mod count;
mod given;
mod snippet;

mod breaker;

pub mod eval;

pub use background::Background;
pub use count::{WALK_TOO_LONG, bounded};
pub use error::{Error, Result};
pub use features::{Evidence, EvidenceKind, WordFigures};
pub use given::{Given, MAX_NAMED};
pub use pipeline::{
    EmbedderSource, FixedOrder, MAX_FOLLOWER_LAG, PassageVectorSource, Retriever, StageObserver,
};
pub use request::{Grouping, Pipeline, Request, Scope};
pub use response::{BestBelow, Coverage, Ranked, Response, Snippet, StageTiming, Total};
pub use score::{relevance_among, relevance_by_words};
pub use spelling::QUERY_CORRECTED;
