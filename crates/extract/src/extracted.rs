//! What reading a document gives.

use model::{BLOCK_SEPARATOR, Block, ReadOutcome, Span};
use serde::{Deserialize, Serialize};

use crate::Format;

/// The text of a document in blocks, and what is known about it as a whole.
///
/// The whole text is the blocks joined by [`model::BLOCK_SEPARATOR`]; every span counts
/// characters of it. A block is never blank, starts and ends without white space (code, tables and
/// items of lists keep the indentation of their first line), and holds `\n` as its only line
/// break. Headings begin with `#` for each level and items of lists with their number or `- `.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// What the document is, by its content.
    pub format: Format,
    /// What became of it. `Indexed` exactly when there are blocks.
    pub outcome: ReadOutcome,
    /// Why there is no text, with particulars; absent when there is.
    pub reason: Option<String>,
    /// The title: what the document calls itself, else its first outermost heading.
    pub title: Option<String>,
    /// The language the document says it is in, such as `ja` or `en-US`; never guessed.
    pub language: Option<String>,
    /// The text, in reading order.
    pub blocks: Vec<Block>,
}

impl Extracted {
    /// Makes a document without text, for an outcome other than [`ReadOutcome::Indexed`].
    pub fn without_text(format: Format, outcome: ReadOutcome, reason: impl Into<String>) -> Self {
        debug_assert!(!outcome.has_text(), "a document without text is not indexed");
        Extracted {
            format,
            outcome,
            reason: Some(reason.into()),
            title: None,
            language: None,
            blocks: Vec::new(),
        }
    }

    /// Gives the whole text.
    pub fn text(&self) -> String {
        Block::whole_text(&self.blocks)
    }

    /// Gives where each block is in the whole text, in characters.
    pub fn spans(&self) -> Vec<Span> {
        let separator = BLOCK_SEPARATOR.chars().count();
        let mut start = 0;
        self.blocks
            .iter()
            .map(|block| {
                let end = start + block.text.chars().count();
                let span = Span::new(start, end);
                start = end + separator;
                span
            })
            .collect()
    }
}
