//! Folders that agents can search safely.
//!
//! [`Service`] answers the tools of the family: which roots there are, index one, search, open a
//! preview, summarise, rewrite a query. [`Roots`] decides what may be touched at all: a path is
//! resolved and compared component by component with the resolved roots, and every read opens
//! the file beneath its root, so that a swap between the check and the read leaks nothing.
//! [`Indexer`] walks a root and takes what changed into the store.
//!
//! Raw files never leave: what leaves is text from the index, cut to size. Redaction is the
//! guard's, transport and schemas are those of the crates above.
#![doc(test(attr(deny(warnings))))]

mod config;
mod error;
mod name;
mod own;
mod platform;

mod reach;
mod recent;
mod right_of_way;
mod roots;
mod walk;
mod watch_gate;
mod years;

mod again;
mod browse;
mod by_name;
mod deep;
mod filters;
mod first_index;
mod hooks;
mod index;
mod indexed;
mod lines;
mod listing;
mod outcomes;
mod page;
mod place;
mod pointers;
mod preview;
mod same;
mod search;
mod searched_roots;
mod whole_text;
mod without_text;

mod citations;
mod rewrite;
mod summary;

mod jobs;
mod notice;
mod service;
mod watch;

#[cfg(test)]
mod tests;

pub use browse::{FileEntry, FilePage, FolderEntry, FolderPage, FolderRequest, MAX_LISTED};
pub use config::{FilesConfig, RootConfig};
pub use deep::MAX_BY_RANK;
pub use error::{Error, Result};
pub use index::{Indexer, IndexerConfig, Left, Strangers, forget_roots, indexed_roots};
pub use indexed::Indexed;
pub use jobs::{INDEX_JOB, JOBS, VECTORS_JOB};
pub use listing::{FolderContent, ListedFile, list_files, list_folders, volume_of};
pub use notice::{CHANGES, may_concern};
pub use outcomes::{FileOutcome, RootChanges, RootOutcomes};
pub use platform::{FolderIdentity, identity as folder_identity, is_on_network};
pub use preview::{FileText, MAX_PREVIEW_CHARS, Preview, PreviewRequest, Window};
pub use rewrite::{Rewritten, RewrittenFilters};
pub use roots::{Root, Roots, open_beneath};
pub use search::{FileHit, MAX_RESULTS, MAX_WALKED, Pagination, SearchRequest, SearchResults};
pub use service::{IndexAnswer, Service, ServiceConfig, stop_jobs};
pub use summary::{DEFAULT_MAX_TOKENS, SnippetOf, Style, Summary, SummaryRequest};
pub use watch::Watcher;
pub use without_text::{FileState, WithoutText};

/// Holds the service of the moment for the job queue.
pub type ServiceSlot = ingest::ServiceSlot<Service>;

/// The version of the family's tools, in every answer.
pub const MCP_VERSION: &str = "v1.0.0";
