//! Why a call about an object fails, whatever the family: each turns this into its own words.

use std::fmt::Display;

use model::with_causes;

use crate::{Error, JobFailure};

/// Why a call about an object fails.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Nothing with this id exists for the caller.
    #[error("{what} not found: `{id}`")]
    NotFound {
        /// What was asked for, such as `Job`.
        what: &'static str,
        /// The id as it was given, shortened.
        id: String,
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

/// Characters of an id that an error gives back; ids of ours are shorter.
const MAX_SHOWN_ID_CHARS: usize = 80;

/// Shortens an id that a caller gave, for an error.
pub fn shown_id(id: &str) -> String {
    id.chars().take(MAX_SHOWN_ID_CHARS).collect()
}

impl ObjectError {
    /// Says that nothing with this id exists for the caller.
    pub fn missing(what: &'static str, id: &(impl Display + ?Sized)) -> Self {
        ObjectError::NotFound { what, id: shown_id(&id.to_string()) }
    }

    /// Tells whether a job was told to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, ObjectError::Queue(Error::Cancelled))
    }

    /// Tells whether trying again may help.
    pub fn may_pass(&self) -> bool {
        match self {
            ObjectError::Busy | ObjectError::Unavailable(_) | ObjectError::Queue(_) => true,
            ObjectError::NotFound { .. }
            | ObjectError::BadRequest { .. }
            | ObjectError::TooLarge { .. } => false,
        }
    }
}

/// An error of a family with objects of its own, as the queue of jobs sees it.
pub trait FamilyError: std::error::Error {
    /// Gives the refusal that any family may give, where it is one.
    fn object(&self) -> Option<&ObjectError>;

    /// Tells whether trying again may help.
    fn may_pass(&self) -> bool;
}

/// Gives why a job of a family did not end well: what may pass is tried again.
#[expect(clippy::needless_pass_by_value, reason = "it is called by `map_err`")]
pub fn job_failure(error: impl FamilyError) -> JobFailure {
    if error.object().is_some_and(ObjectError::is_cancelled) {
        return JobFailure::Cancelled;
    }
    let reason = with_causes(&error);
    if error.may_pass() { JobFailure::Passing(reason) } else { JobFailure::Final(reason) }
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
            Error::UnknownJob { id } => ObjectError::missing("Job", &id),
            other => ObjectError::Queue(other),
        }
    }
}

/// Lets the errors of the store and of the queue become those of a family, which is made of an
/// [`ObjectError`]; the family depends on `store`.
#[macro_export]
macro_rules! by_object_error {
    ($error:ty) => {
        impl From<::store::Error> for $error {
            fn from(error: ::store::Error) -> Self {
                $crate::ObjectError::from(error).into()
            }
        }

        impl From<$crate::Error> for $error {
            fn from(error: $crate::Error) -> Self {
                $crate::ObjectError::from(error).into()
            }
        }
    };
}
