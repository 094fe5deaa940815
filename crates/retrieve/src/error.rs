//! Why a search cannot answer at all. A stage that fails is no error: it is skipped with a
//! warning.

/// A search that found nothing to search with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read.
    #[error("the store cannot be searched")]
    Store(#[from] store::Error),
}

/// What a search gives.
pub type Result<T> = std::result::Result<T, Error>;
