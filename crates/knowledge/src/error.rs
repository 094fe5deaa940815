//! What can go wrong in this family. Where the contract gives a sentence, it stands here word
//! for word.

/// Why a call of this family failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // The caller can mend these.
    /// There is no such knowledge base for this caller's tenant.
    #[error("Knowledge base not found")]
    BaseNotFound,
    /// There is no such collection, document, chunk or job for this caller's tenant.
    #[error("{what} not found")]
    NotFound {
        /// What was asked for: `Collection`, `Document`, `Chunk`, `Job`.
        what: &'static str,
    },
    /// The object belongs to the caller's tenant, and they have no right to it.
    #[error("Access denied to this knowledge base")]
    Denied,
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

impl From<store::Error> for Error {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others mean that it is unreachable")]
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Conflict { .. } => Error::Busy,
            store::Error::TooLarge { what, received, allowed } => {
                Error::TooLarge { what, received, allowed }
            }
            other => Error::Unavailable(other),
        }
    }
}

impl From<ingest::Error> for Error {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are the queue's own")]
    fn from(error: ingest::Error) -> Self {
        match error {
            ingest::Error::Store(error) => error.into(),
            ingest::Error::UnknownJob { .. } => Error::NotFound { what: "Job" },
            other => Error::Queue(other),
        }
    }
}

/// What a call of this family gives.
pub type Result<T> = std::result::Result<T, Error>;
