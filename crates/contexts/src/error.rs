//! What can go wrong, sorted by who can fix it.

use ingest::{FamilyError, ObjectError};

use crate::json::pointer::BadPointer;
use crate::json::{JsonError, Position, Problem};

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What any family with objects of its own refuses: an id that does not exist for the caller
    /// (`Project`, `Table`, `Tool`, `Endpoint`, `Key`, `Job`), a bad request, a limit, an object
    /// that others change, a store or a queue that fails.
    #[error(transparent)]
    Object(#[from] ObjectError),

    // The caller can fix these.
    /// The object belongs to the caller's tenant, and they have no right to it.
    #[error("access denied to this project")]
    Denied,
    /// A pointer that is none.
    #[error(transparent)]
    BadPointer(#[from] BadPointer),
    /// The document has no node at a pointer.
    #[error("the document has no node at `{pointer}`")]
    NoNode {
        /// The pointer as it was given.
        pointer: String,
    },
    /// The document is no JSON, or JSON that cannot be kept exactly.
    #[error("{problem} at {position}")]
    BadDocument {
        /// What is wrong.
        problem: Problem,
        /// Where.
        position: Position,
    },
    /// Two tools of an endpoint would have the same name.
    #[error("the endpoint `{endpoint}` has a tool called `{name}` already")]
    NameTaken {
        /// The endpoint's name.
        endpoint: String,
        /// The tool's name.
        name: String,
    },
    /// The time for the call is over.
    #[error("the time for this call is over")]
    TimeOver,

    // The operator can fix these.
    /// The search failed.
    #[error("the search failed")]
    Search(#[from] retrieve::Error),
    /// A document could not be read or kept.
    #[error("the document could not be read or kept")]
    Document(#[source] std::io::Error),
}

impl Error {
    /// Says that nothing with this id exists for the caller.
    pub(crate) fn missing(what: &'static str, id: &(impl std::fmt::Display + ?Sized)) -> Self {
        ObjectError::missing(what, id).into()
    }
}

impl FamilyError for Error {
    fn object(&self) -> Option<&ObjectError> {
        let Error::Object(error) = self else { return None };
        Some(error)
    }

    fn may_pass(&self) -> bool {
        match self {
            Error::Object(error) => error.may_pass(),
            Error::Search(_) | Error::TimeOver | Error::Document(_) => true,
            Error::Denied
            | Error::BadPointer(_)
            | Error::NoNode { .. }
            | Error::BadDocument { .. }
            | Error::NameTaken { .. } => false,
        }
    }
}

ingest::by_object_error!(Error);

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Invalid { problem, position } => Error::BadDocument { problem, position },
            JsonError::Read(error) => Error::Document(error),
        }
    }
}

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
