//! The unit that is indexed, ranked and returned.

use serde::{Deserialize, Serialize};

use crate::{PassageId, Pointer, Span};

/// A stretch of a document with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Unique in its namespace.
    pub id: PassageId,
    /// The position among the passages of its document, from 0.
    pub ordinal: u32,
    /// The text, unredacted; equals the source text at `span`.
    pub text: String,
    /// Where the text is in the document's whole text.
    pub span: Span,
    /// Where a person finds it.
    pub pointer: Pointer,
    /// Headings above the passage, outermost first; searched, never shown as the text.
    pub headings: Vec<String>,
}
