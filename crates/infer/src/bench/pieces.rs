//! The vocabulary of the default model, for other tokenizers that are measured beside ours.

use std::path::Path;

use crate::Result;
use crate::local::container::Container;

/// The pieces of a container's vocabulary.
#[derive(Debug)]
pub struct Pieces {
    /// Each with its score, in the order of their ids.
    pub scored: Vec<(String, f64)>,
    /// The id of what is in no piece.
    pub unknown: usize,
}

/// Reads the vocabulary of a container.
///
/// Fails when the file cannot be read, or anything in it is out of place.
pub fn pieces(container: &Path) -> Result<Pieces> {
    let vocabulary = Container::open(container)?.vocabulary;
    let bounds = vocabulary.offsets.windows(2);
    let scored = bounds
        .zip(&vocabulary.scores)
        .map(|(bounds, score)| {
            let piece = &vocabulary.blob[bounds[0] as usize..bounds[1] as usize];
            (String::from_utf8_lossy(piece).into_owned(), f64::from(*score))
        })
        .collect();
    Ok(Pieces { scored, unknown: vocabulary.unknown as usize })
}
