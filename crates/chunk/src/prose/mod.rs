//! The cutter for documents: whole sentences, headings with what follows, places kept.
//!
//! [`place`] joins the blocks of one place; [`units`] takes them apart into the smallest stretches
//! that stay in one piece; [`gather`] puts neighbours together until a passage is full.

mod place;

mod units;

mod gather;

#[cfg(test)]
mod tests;

use model::{Block, Pointer, Span};

/// How documents are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseConfig {
    /// The size that a passage aims at, in characters.
    pub target_chars: usize,
    /// The most that two neighbours share, in characters.
    pub overlap_chars: usize,
    /// The most that a passage may reach to keep a table, a piece of code, or a heading and the
    /// sentence after it together.
    pub max_chars: usize,
}

impl ProseConfig {
    /// Gives the contract's figures: about 500 characters, overlap 75; up to 750 to keep a thing
    /// whole.
    pub fn standard() -> Self {
        ProseConfig { target_chars: 500, overlap_chars: 75, max_chars: 750 }
    }
}

/// A passage of a document, before it is given an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text at the span; starts and ends with something that is not blank.
    pub text: String,
    /// Where it is in the document's whole text, in characters.
    pub span: Span,
    /// Where its first character is in the source.
    pub pointer: Pointer,
    /// The headings above it, outermost first, without those inside its text; a passage of a
    /// torn table ends the list with the table's first row.
    pub headings: Vec<String>,
}

/// Cuts a document into passages; spans count characters of [`Block::whole_text`]. The blocks are
/// used up, so that a large document is not in memory a second time.
///
/// A passage never joins two places (pages, slides, sheets, messages); only lines of one text
/// are joined, and the passage then points to its first line.
pub fn cut_prose(blocks: Vec<Block>, config: &ProseConfig) -> Vec<Piece> {
    let mut gathering = gather::Gathering::new(config);
    for place in place::places(blocks) {
        gathering.take_place(&place);
    }
    gathering.into_pieces()
}
