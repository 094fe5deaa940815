//! The one place where the store cuts text into index terms.
//!
//! Everything about what counts as the same word is decided in the room `text`; this file only
//! asks it, and names the analyser for the manifest.

use crate::AnalyserName;

/// The longest index term in bytes; longer words (encoded data, mostly) are not searchable.
const MAX_TERM_BYTES: usize = 256;

/// One word of a text in the two forms that are indexed.
pub(crate) struct Token<'a> {
    /// As it is written, lower case.
    pub(crate) exact: &'a str,
    /// Folded and stemmed.
    pub(crate) folded: &'a str,
    /// Words before it.
    pub(crate) position: u32,
}

/// Names the analyser whose terms are in an index.
pub(crate) fn name() -> AnalyserName {
    AnalyserName { id: "plain".to_owned(), version: 1 }
}

/// Calls `each` with every word of the text in reading order.
pub(crate) fn tokens(text: &str, mut each: impl FnMut(Token<'_>)) {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    for (position, word) in (0..).zip(words) {
        if word.len() <= MAX_TERM_BYTES {
            each(Token { exact: word, folded: word, position });
        }
    }
}
