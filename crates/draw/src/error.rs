//! What can go wrong when a picture is made.

/// A picture that could not be made. The drawing is ours, so each is a mistake of ours.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The renderer does not take the drawing.
    #[error("the drawing of the chart cannot be read")]
    Drawing {
        /// Why.
        #[source]
        cause: resvg::usvg::Error,
    },
    /// The picture has no size, or one that does not fit memory.
    #[error("a picture of {width} × {height} pixels cannot be made")]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// The pixels could not be written as PNG.
    #[error("the pixels cannot be written as PNG: {problem}")]
    Encoding {
        /// Why.
        problem: String,
    },
}

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
