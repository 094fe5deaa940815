//! What reading a document gives: its text in pieces, each with its kind and its place.
//!
//! The reader of a format makes blocks, the cutter of passages uses them. A block's text is
//! as it is read, without markup; the whole text of a document is its blocks joined by
//! [`BLOCK_SEPARATOR`], and every span counts characters of that whole text.

use serde::{Deserialize, Serialize};

use crate::Pointer;

/// Is between two blocks in a document's whole text.
pub const BLOCK_SEPARATOR: &str = "\n\n";

/// What a block is, as far as a cutter of passages cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading with its level, 1 for the outermost; belongs to what follows it.
    Heading(u8),
    /// Running text.
    Paragraph,
    /// A table as readable text, one row on each line.
    Table,
    /// Source code or other text whose line breaks mean something.
    Code,
    /// An entry of a list, however it is marked.
    ListItem,
    /// Anything else: a caption, a note, a comment.
    Other,
}

/// A stretch of a document that a reader would see as one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The text, which may hold line breaks.
    pub text: String,
    /// Where it is in its source.
    pub pointer: Pointer,
    /// How a cutter of passages treats it.
    pub kind: BlockKind,
}

impl Block {
    /// Takes a text as it was read: nothing is trimmed or folded.
    pub fn new(text: impl Into<String>, pointer: Pointer, kind: BlockKind) -> Self {
        Block { text: text.into(), pointer, kind }
    }

    /// Joins blocks into the whole text that spans refer to.
    pub fn whole_text(blocks: &[Block]) -> String {
        let n_bytes = blocks.iter().map(|block| block.text.len() + BLOCK_SEPARATOR.len()).sum();
        let mut whole = String::with_capacity(n_bytes);
        for (block_idx, block) in blocks.iter().enumerate() {
            if block_idx > 0 {
                whole.push_str(BLOCK_SEPARATOR);
            }
            whole.push_str(&block.text);
        }
        whole
    }
}
