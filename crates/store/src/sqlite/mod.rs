//! The catalogue in one SQLite file, for one process.
//!
//! Readers never wait for the writer and see one moment each; there is one writer at a time, which
//! makes the entries of the log visible in the order of their sequence numbers.

mod database;
mod lock;
mod mark;
mod schema;
mod writer;

mod batch;
mod checksums;
mod log;
mod rows;
mod texts;

mod commit;
mod documents;
mod following;
mod leases;
mod objects;

mod backup;
mod catalogue;

pub use backup::restore;
pub(crate) use backup::{create, open_backup};
pub use catalogue::SqliteCatalogue;
pub use commit::check_documents;
pub use lock::FolderLock;

/// The name of the catalogue in a data folder.
pub(crate) const CATALOGUE: &str = "catalogue.sqlite";
