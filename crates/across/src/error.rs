//! Why a question over everything failed.

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The id names nothing that the caller may see.
    #[error("nothing has the id `{id}`")]
    NotFound {
        /// The id as it was given, shortened.
        id: String,
    },
}

/// What a call gives.
pub type Result<T> = std::result::Result<T, Error>;
