//! What can go wrong while cutting: only limits.

/// A text that exceeds what one node may hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is longer than the limit.
    #[error("the text has `{n_chars}` characters, at most `{max_chars}` are allowed")]
    TooLong {
        /// The length that was found.
        n_chars: usize,
        /// The length that is allowed.
        max_chars: usize,
    },
    /// The text gives more chunks than the limit.
    #[error("the text gives more than `{max_chunks}` chunks, `{max_chunks}` are allowed")]
    TooManyChunks {
        /// How many chunks are allowed.
        max_chunks: usize,
    },
}

/// The result of cutting.
pub type Result<T> = std::result::Result<T, Error>;
