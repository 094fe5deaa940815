//! What can go wrong outside a lookup; a lookup itself cannot fail.

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of measured data cannot be read.
    #[error("cannot read the data to measure on")]
    Read(#[source] std::io::Error),
}

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
