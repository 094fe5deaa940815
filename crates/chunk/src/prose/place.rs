//! One place of a document (a page, a sheet, the lines of a text) as one text, with what is known of
//! its blocks.
//!
//! The blocks are used up: their text is in memory once, as that of the place, which goes when its
//! passages are made.

use std::ops::Range;

use model::{BLOCK_SEPARATOR, Block, BlockKind, Pointer};

use super::gather::same_place;

/// The text of a place.
pub(super) struct Place {
    /// Its blocks, joined.
    pub(super) whole: String,
    /// The blocks in order.
    pub(super) parts: Vec<Part>,
}

/// A block of a place.
pub(super) struct Part {
    /// Where its text is in that of the place, in bytes.
    pub(super) range: Range<usize>,
    pub(super) pointer: Pointer,
    pub(super) kind: BlockKind,
}

impl Place {
    /// Joins blocks whose text has so many bytes.
    fn of(blocks: impl Iterator<Item = Block>, n_bytes: usize) -> Self {
        let mut place = Place { whole: String::with_capacity(n_bytes), parts: vec![] };
        for Block { text, pointer, kind } in blocks {
            if !place.parts.is_empty() {
                place.whole.push_str(BLOCK_SEPARATOR);
            }
            let start = place.whole.len();
            place.whole.push_str(&text);
            place.parts.push(Part { range: start..place.whole.len(), pointer, kind });
        }
        place
    }

    /// Gives the text of a block.
    pub(super) fn text(&self, part: &Part) -> &str {
        self.whole.get(part.range.clone()).unwrap_or_default()
    }
}

/// Gives the places of a document one after the other.
pub(super) fn places(blocks: Vec<Block>) -> impl Iterator<Item = Place> {
    let sizes = sizes(&blocks);
    let mut blocks = blocks.into_iter();
    sizes
        .into_iter()
        .map(move |(n_blocks, n_bytes)| Place::of(blocks.by_ref().take(n_blocks), n_bytes))
}

/// Counts the blocks of each place, and the bytes of its text. A place ends where no passage may go
/// on; a blank block is none.
fn sizes(blocks: &[Block]) -> Vec<(usize, usize)> {
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    let mut last: Option<&Pointer> = None;
    for block in blocks {
        let is_blank = block.text.trim().is_empty();
        let is_other = !is_blank && last.is_some_and(|last| !same_place(last, &block.pointer));
        if sizes.is_empty() || is_other {
            sizes.push((0, 0));
        }
        if let Some((n_blocks, n_bytes)) = sizes.last_mut() {
            *n_blocks += 1;
            *n_bytes += block.text.len() + BLOCK_SEPARATOR.len();
        }
        if !is_blank {
            last = Some(&block.pointer);
        }
    }
    sizes
}
