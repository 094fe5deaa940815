//! The write path: a source's documents through extraction and cutting into the store, and the
//! vectors after them, as jobs that can be watched, cancelled, tried again and resumed.
//!
//! Words are searchable as soon as a batch is written; vectors follow in the background, and
//! the store's counts say how far they are. Memory stays bounded whatever the size of the
//! source: every queue between two stages has a named limit.
//!
//! This crate knows no family. A family gives a [`Source`] that yields documents, [`Hooks`] for
//! what is special about them, and a [`Runner`] for its jobs; what its documents mean is its own
//! business.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ingest::{Cut, Item, ItemContent, ListSource, Pipeline, Progress};
//! use model::{Clock, DocumentId, NamespaceId, Timestamp};
//! use store::{Config, Manifest, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let clock = Clock::fixed(Timestamp(0));
//! let store = Arc::new(Store::open(folder.path(), &Config::for_one_machine(), clock)?);
//! let notes = NamespaceId::new("notes");
//! store.create_namespace(&notes, &Manifest::current(None))?;
//!
//! let item = Item::new(DocumentId::new("a.md"), "A note");
//! let text = ItemContent::bytes("# Tram\n\nIt climbs to the castle.", "a.md");
//! let mut source = ListSource::new(vec![(item, text)]);
//!
//! let pipeline = Pipeline::in_process(store.clone(), notes.clone(), Cut::prose());
//! let report = pipeline.run(&mut source, &Progress::silent())?;
//! assert_eq!(report.n_written, 1);
//! assert_eq!(store.counts(&notes)?.n_documents, 1);
//! # Ok(())
//! # }
//! ```
#![doc(test(attr(deny(warnings))))]

mod error;
pub mod limits;

mod batch_wait;
mod source;
mod watch;

mod pipeline;

mod embedding;
mod fresh;
mod vectors;

mod objects;

mod exclusive;
mod jobs;
mod progress;
mod remaining;
mod terminal;

pub use batch_wait::BatchWait;
pub use embedding::{Embedded, Embedding};
pub use error::{Error, Result};
pub use exclusive::{exclusively, in_turn};
pub use infer::pack_tokens;
pub use jobs::{
    Crashes, Job, JobContext, JobFailure, JobId, JobProgress, JobQueue, JobState, JoinableJobs,
    NewJob, OpenJob, Priority, QueueConfig, QueueSpace, Runner, Workers,
};
pub use objects::{
    FamilyError, FamilyJobs, JobRight, JobService, ObjectError, ServiceSlot, Subject, arguments_of,
    bounded, change_object, job_failure, named, new_id, room_for, shown_id,
};
pub use pipeline::{
    Changes, Cut, Gone, Hooks, IngestReport, Outcome, Pipeline, Prepared, Scope, Target, Unchanged,
};
pub use progress::{Progress, Stage};
pub use source::{Counter, Item, ItemContent, ListSource, OpenFile, Source};
pub use terminal::{ByteBar, TerminalBar, beside_bar, end_bars};
pub use vectors::{VECTORS_INCOMPLETE, VECTORS_OFF, VectorDebt, VectorWorker, Vectors};
pub use watch::{Changed, FolderWatch, Noticed};
