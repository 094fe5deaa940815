//! The truth: one SQLite file with everything that was acknowledged, whichever engine searches it.
//!
//! An engine (the indexes of the embedded store, a turbopuffer namespace) follows the log that is
//! kept here, remembers how far it has read, and can be made anew from the rows.

mod database;
mod lock;

mod backup;
mod batch;
mod log;
mod objects;
pub(crate) mod rows;

mod commit;
mod shelf;

pub(crate) use backup::{backup, refuse_existing};
pub(crate) use batch::{Op, Outcome};
pub(crate) use commit::{SpaceChange, check_documents};
pub(crate) use database::Database;
pub(crate) use lock::FolderLock;
pub(crate) use log::{erase_passages, log_starts_after, removed, truncate_log};

/// The name of the catalogue in a data folder.
pub(crate) const CATALOGUE: &str = "catalogue.sqlite";
