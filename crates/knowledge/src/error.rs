//! What can go wrong in this family. Where the contract gives a sentence, it is here word
//! for word.

use ingest::ObjectError;

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // The caller can mend these.
    /// There is no such knowledge base for this caller's tenant.
    #[error("Knowledge base not found")]
    BaseNotFound {
        /// The id as it was given, shortened. The contract's sentence has no place for it.
        id: String,
    },
    /// There is no such collection, document, chunk or job for this caller's tenant.
    #[error("{what} not found: `{id}`")]
    NotFound {
        /// What was asked for: `Collection`, `Document`, `Chunk`, `Job`.
        what: &'static str,
        /// The id as it was given, shortened.
        id: String,
    },
    /// The object belongs to the caller's tenant, and they have no right to it.
    #[error("Access denied to this knowledge base")]
    Denied,
    /// The caller may see the document and not the file it was made from.
    #[error("the original may be downloaded with {}", roles_in_words(.roles))]
    OriginalDenied {
        /// The roles, one of which is needed.
        roles: Vec<String>,
    },
    /// A request that cannot be one.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong with it.
        problem: String,
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
    /// Someone else changes the same object.
    #[error("the object is being changed by someone else")]
    Busy,
    /// An OCR text over the limit.
    #[error("Text too long (max 10000 chars)")]
    TextTooLong,

    // The operator can mend these.
    /// The store cannot be reached.
    #[error("Failed to connect to api-admin service")]
    Unavailable(#[source] store::Error),
    /// The search failed.
    #[error("Failed to connect to api-admin service")]
    Search(#[from] retrieve::Error),
    /// The language model is down.
    #[error("LLM service unavailable")]
    LlmUnavailable(#[source] infer::Error),
    /// The job queue failed.
    #[error("the job queue failed")]
    Queue(#[source] ingest::Error),
    /// An upload could not be kept until its job runs.
    #[error("the upload could not be kept")]
    Upload(#[source] std::io::Error),
}

impl Error {
    /// Says that nothing with this id exists for the caller.
    pub(crate) fn missing(what: &'static str, id: &str) -> Self {
        Error::NotFound { what, id: ingest::shown_id(id) }
    }

    /// Says that there is no such knowledge base for the caller.
    pub(crate) fn no_base(id: &str) -> Self {
        Error::BaseNotFound { id: ingest::shown_id(id) }
    }

    /// Tells whether trying again may help.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Error::Unavailable(_)
            | Error::Search(_)
            | Error::Busy
            | Error::Queue(_)
            | Error::Upload(_)
            | Error::LlmUnavailable(_) => true,
            Error::BaseNotFound { .. }
            | Error::NotFound { .. }
            | Error::Denied
            | Error::OriginalDenied { .. }
            | Error::BadRequest { .. }
            | Error::TooLarge { .. }
            | Error::TextTooLong => false,
        }
    }
}

fn roles_in_words(roles: &[String]) -> String {
    match roles {
        [] => "no role: `knowledge.originals.roles` names none".to_owned(),
        roles => {
            let names: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
            format!("one of the roles {}", names.join(", "))
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

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
