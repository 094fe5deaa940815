//! The catalogue in one SQLite file, for one process.
//!
//! Readers never wait for the writer and see one moment each; there is one writer at a time, which
//! makes the entries of the log visible in the order of their sequence numbers.

mod database;
mod lock;
mod mark;
mod readers;
mod reserve;
mod schema;
mod traces;
mod writer;

mod batch;
mod checksums;
mod log;
mod rows;
mod texts;

mod commit;
mod counted;
mod documents;
mod following;
mod leases;
mod objects;

mod backup;
mod catalogue;

pub(crate) use backup::{create, open_backup};
pub use backup::{is_catalogue, refuse_second, restore, restoring_file};
pub use catalogue::SqliteCatalogue;
pub use lock::FolderLock;
pub use traces::had_store;

/// The name of the catalogue in a data folder.
pub(crate) const CATALOGUE: &str = "catalogue.sqlite";
