//! What can go wrong, sorted by who can mend it.

use ingest::ObjectError;

use crate::json::pointer::BadPointer;
use crate::json::{JsonError, Position, Problem};

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // The caller can mend these.
    /// Nothing with this id exists for the caller.
    #[error("{what} not found: `{id}`")]
    NotFound {
        /// What was asked for: `Project`, `Table`, `Tool`, `Endpoint`, `Key`, `Job`.
        what: &'static str,
        /// The id as it was given, shortened.
        id: String,
    },
    /// The object belongs to the caller's tenant, and they have no right to it.
    #[error("access denied to this project")]
    Denied,
    /// A request that cannot be one.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong with it.
        problem: String,
    },
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
    /// Something is larger than allowed.
    #[error("{what} is `{received}`, the limit is `{allowed}`")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        received: usize,
        /// How large it may be.
        allowed: usize,
    },
    /// Two tools of an endpoint would have the same name.
    #[error("the endpoint `{endpoint}` has a tool called `{name}` already")]
    NameTaken {
        /// The endpoint's name.
        endpoint: String,
        /// The tool's name.
        name: String,
    },
    /// Someone else changes the same object.
    #[error("the object is being changed by someone else")]
    Busy,
    /// The time for the call is over.
    #[error("the time for this call is over")]
    TimeOver,

    // The operator can mend these.
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] store::Error),
    /// The search failed.
    #[error("the search failed")]
    Search(#[from] retrieve::Error),
    /// The job queue failed.
    #[error("the job queue failed")]
    Queue(#[source] ingest::Error),
    /// A document could not be read or kept.
    #[error("the document could not be read or kept")]
    Document(#[source] std::io::Error),
}

impl Error {
    /// Says that nothing with this id exists for the caller.
    pub(crate) fn missing(what: &'static str, id: &str) -> Self {
        Error::NotFound { what, id: ingest::shown_id(id) }
    }

    /// Tells whether trying again may help.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Error::Unavailable(_)
            | Error::Search(_)
            | Error::Busy
            | Error::TimeOver
            | Error::Queue(_)
            | Error::Document(_) => true,
            Error::NotFound { .. }
            | Error::Denied
            | Error::BadRequest { .. }
            | Error::BadPointer(_)
            | Error::NoNode { .. }
            | Error::BadDocument { .. }
            | Error::NameTaken { .. }
            | Error::TooLarge { .. } => false,
        }
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::NotFound { what, id } => Error::NotFound { what, id },
            ObjectError::BadRequest { problem } => Error::BadRequest { problem },
            ObjectError::TooLarge { what, received, allowed } => {
                Error::TooLarge { what, received, allowed }
            }
            ObjectError::Busy => Error::Busy,
            ObjectError::Unavailable(error) => Error::Unavailable(error),
            ObjectError::Queue(error) => Error::Queue(error),
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        ObjectError::from(error).into()
    }
}

impl From<ingest::Error> for Error {
    fn from(error: ingest::Error) -> Self {
        ObjectError::from(error).into()
    }
}

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
