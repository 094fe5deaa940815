//! A stretch of text, counted in characters.

use serde::{Deserialize, Serialize};

/// A half-open range of Unicode scalar values (not bytes) in an unredacted source text.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Span {
    /// The first character.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

impl Span {
    /// Makes a span.
    ///
    /// Invariant: `start <= end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "a span cannot end before it starts");
        Span { start, end }
    }

    /// Counts the characters inside.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Tells whether nothing is inside.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
