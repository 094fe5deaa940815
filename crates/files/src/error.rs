//! What can go wrong in this family, sorted by who can mend it.

use std::path::PathBuf;

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path is not inside a folder that the caller may use.
    #[error("`{path}` is not inside an allowed root")]
    Forbidden {
        /// What was asked for, as it was given.
        path: String,
    },
    /// Nothing stands there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// What was asked for, as it was given.
        path: String,
    },
    /// A path or pointer that cannot be one.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong with it.
        problem: String,
    },
    /// The root is being indexed in another way.
    #[error("`{root}` is being indexed with `full: {running_full}`")]
    Busy {
        /// The root.
        root: String,
        /// How it is being indexed.
        running_full: bool,
    },
    /// The configured folder cannot be used.
    #[error("the root `{}` cannot be used", path.display())]
    BadRoot {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The language model failed.
    #[error("the language model failed")]
    Llm(#[source] infer::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] store::Error),
    /// The search failed.
    #[error("the search failed")]
    Retrieve(#[from] retrieve::Error),
    /// Indexing failed.
    #[error("indexing failed: {reason}")]
    JobFailed {
        /// Why.
        reason: String,
    },
    /// The job queue failed.
    #[error("the job queue failed")]
    Ingest(#[from] ingest::Error),
}

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
