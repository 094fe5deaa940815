//! What can go wrong in this family, sorted by who can fix it.

use std::path::PathBuf;

use ingest::{FamilyError, ObjectError};

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// The path is not inside a folder that the caller may use.
    #[error("`{path}` is not inside an allowed root")]
    Forbidden {
        /// What was asked for, as it was given.
        path: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// What was asked for, as it was given.
        path: String,
    },
    /// A path that cannot be the one that is needed.
    #[error("`{path}` {problem}")]
    BadPath {
        /// What was asked for, as it was given.
        path: String,
        /// What is wrong with it, as the end of a sentence.
        problem: &'static str,
    },
    /// A folder where a file is needed.
    #[error("`{path}` is a folder, not a file")]
    IsFolder {
        /// What was asked for, as it was given.
        path: String,
    },
    /// A file where a folder is needed.
    #[error("`{path}` is a file: openFile reads it")]
    IsFile {
        /// What was asked for, as it was given.
        path: String,
    },
    /// An argument that cannot find anything.
    #[error("`{argument}` {problem}, received {}", quoted(.received))]
    BadArgument {
        argument: &'static str,
        /// What was given, shortened.
        received: String,
        /// What is wrong with it, as the end of a sentence.
        problem: String,
    },
    /// A pointer that is none.
    #[error(transparent)]
    BadPointer(#[from] model::BadPointer),
    /// A pointer to a place that the file does not have.
    #[error("`{path}` has no `{pointer}`, its places are {}", places(.first, .last))]
    NoPlace {
        /// The file as it was given.
        path: String,
        /// The pointer that was asked for.
        pointer: String,
        /// The file's first place.
        first: String,
        /// The file's last place.
        last: String,
    },
    /// Only an administrator may have everything indexed anew.
    #[error("`full: true` needs the role `admin`")]
    NeedsAdmin,
    /// Somebody who is no administrator wants to stop a job that others may wait for.
    #[error("jobs on folders are stopped by administrators")]
    StopNeedsAdmin,
    /// A pattern of `[files] ignore` is none.
    #[error("`files.ignore` has a pattern that cannot be read: `{pattern}`: {problem}")]
    BadPattern {
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The root is being indexed in another way.
    #[error("`{root}` is being indexed with `full: {running_full}`")]
    Busy {
        root: String,
        /// How it is being indexed.
        running_full: bool,
    },
    /// Somebody stopped the job that indexed the folder.
    #[error("indexing `{root}` was cancelled")]
    Cancelled {
        /// The folder.
        root: String,
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
    /// What any family with jobs refuses: a job that does not exist for the caller, a queue that
    /// fails.
    #[error(transparent)]
    Object(ObjectError),
}

impl FamilyError for Error {
    fn object(&self) -> Option<&ObjectError> {
        let Error::Object(error) = self else { return None };
        Some(error)
    }

    fn may_pass(&self) -> bool {
        match self {
            Error::Object(error) => error.may_pass(),
            Error::Store(_)
            | Error::Retrieve(_)
            | Error::Llm(_)
            | Error::Busy { .. }
            | Error::Cancelled { .. }
            | Error::JobFailed { .. }
            | Error::NotFound { .. }
            | Error::BadRoot { .. } => true,
            Error::Forbidden { .. }
            | Error::BadPath { .. }
            | Error::IsFolder { .. }
            | Error::IsFile { .. }
            | Error::BadArgument { .. }
            | Error::BadPointer(_)
            | Error::NoPlace { .. }
            | Error::NeedsAdmin
            | Error::StopNeedsAdmin
            | Error::BadPattern { .. } => false,
        }
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        let ObjectError::Unavailable(error) = error else { return Error::Object(error) };
        Error::Store(error)
    }
}

impl From<ingest::Error> for Error {
    fn from(error: ingest::Error) -> Self {
        ObjectError::from(error).into()
    }
}

/// Quotes what was received; what cannot be seen is named.
fn quoted(received: &str) -> String {
    match text::is_blank(received) {
        true => "blank text".to_owned(),
        false => format!("`{received}`"),
    }
}

fn places(first: &str, last: &str) -> String {
    if first == last { format!("`{first}`") } else { format!("`{first}` to `{last}`") }
}

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
