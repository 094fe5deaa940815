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
    /// A family failed.
    #[error("`{source_name}` failed")]
    Failed {
        /// The family.
        source_name: &'static str,
        /// Why.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a call gives.
pub type Result<T> = std::result::Result<T, Error>;
