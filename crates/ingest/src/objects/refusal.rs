//! Why a call about an object fails, whatever the family: each turns this into its own words.

use crate::Error;

/// Why a call about an object fails.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Nothing with this id exists for the caller.
    #[error("{what} not found")]
    NotFound {
        /// What was asked for, such as `Job`.
        what: &'static str,
    },
    /// A request that cannot be met as it is.
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
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unavailable(#[source] store::Error),
    /// The job queue failed.
    #[error("the job queue failed")]
    Queue(#[source] Error),
}

impl From<store::Error> for ObjectError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others mean that it is unreachable")]
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Conflict { .. } => ObjectError::Busy,
            store::Error::TooLarge { what, received, allowed } => {
                ObjectError::TooLarge { what, received, allowed }
            }
            other => ObjectError::Unavailable(other),
        }
    }
}

impl From<Error> for ObjectError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are the queue's own")]
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Busy => ObjectError::Busy,
            Error::UnknownJob { .. } => ObjectError::NotFound { what: "Job" },
            other => ObjectError::Queue(other),
        }
    }
}
