//! Takes blocks apart into units: sentences, rows, headings, whole small tables.

use std::ops::Range;

use model::{BLOCK_SEPARATOR, BlockKind};

use super::ProseConfig;
use super::place::Place;
use crate::cursor::Cursor;

/// A stretch of the whole text that stays in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// Where it starts; never blank there.
    pub(super) start: Cursor,
    /// Where it ends; never blank just before.
    pub(super) end: Cursor,
    /// The block it belongs to.
    pub(super) block_idx: usize,
    /// The byte where that block begins.
    pub(super) block_start: usize,
    /// Line breaks of the block before it, for pointers to lines.
    pub(super) n_lines_before: u32,
    /// Whether it is the last of its block.
    pub(super) ends_block: bool,
}

/// Lists the units of a block in order; blank ones are left out. Gives where the next block begins.
pub(super) fn take_apart(
    place: &Place,
    block_idx: usize,
    block_start: Cursor,
    config: &ProseConfig,
) -> (Vec<Unit>, Cursor) {
    let mut units = Vec::new();
    let Some(part) = place.parts.get(block_idx) else { return (units, block_start) };
    let mut walk = Walk {
        whole: &place.whole,
        config,
        block_idx,
        block_start: block_start.byte,
        at: block_start,
        n_lines: 0,
        units: &mut units,
    };
    walk.block(part.kind, place.text(part), part.range.clone());
    let end = walk.at.advance_to(&place.whole, part.range.end);
    if let Some(last) = units.last_mut() {
        last.ends_block = true;
    }
    let next = match block_idx + 1 == place.parts.len() {
        true => end,
        false => end.forward(&place.whole, BLOCK_SEPARATOR.chars().count()),
    };
    (units, next)
}

/// A walk over one block that counts characters and lines as it goes.
struct Walk<'a> {
    whole: &'a str,
    config: &'a ProseConfig,
    block_idx: usize,
    block_start: usize,
    at: Cursor,
    n_lines: u32,
    units: &'a mut Vec<Unit>,
}

impl Walk<'_> {
    fn block(&mut self, kind: BlockKind, text: &str, range: Range<usize>) {
        match kind {
            BlockKind::Paragraph | BlockKind::ListItem | BlockKind::Other => {
                for sentence in text::sentences(text) {
                    let sentence = range.start + sentence.start..range.start + sentence.end;
                    self.push(sentence, self.config.target_chars);
                }
            }
            // A heading is short; one that is not is no heading, and is cut like a sentence.
            BlockKind::Heading(_) => self.push(range, self.config.target_chars),
            BlockKind::Table | BlockKind::Code => {
                let fits = text.chars().nth(self.config.max_chars).is_none();
                if fits {
                    self.push(range, self.config.max_chars);
                    return;
                }
                let mut start = range.start;
                for line in text.split_inclusive('\n') {
                    // A row is cut only where no passage could hold it.
                    self.push(start..start + line.len(), self.config.max_chars);
                    start += line.len();
                }
            }
        }
    }

    /// Adds a unit without the blank around it; one that is too long is cut at words.
    fn push(&mut self, range: Range<usize>, max_chars: usize) {
        let source = self.whole.get(range.clone()).unwrap_or_default();
        let trimmed_start = range.start + (source.len() - source.trim_start().len());
        let trimmed_end = range.start + source.trim_end().len();
        if trimmed_start >= trimmed_end {
            return;
        }
        let mut start = self.move_to(trimmed_start);
        loop {
            let mut end = start.forward(self.whole, max_chars.max(1));
            let is_last = end.byte >= trimmed_end;
            if is_last {
                end = start.advance_to(self.whole, trimmed_end);
            } else {
                end = word_end(self.whole, start, end);
            }
            let n_lines_before = self.n_lines;
            let text_end = trim_end(self.whole, start, end);
            self.units.push(Unit {
                start,
                end: text_end,
                block_idx: self.block_idx,
                block_start: self.block_start,
                n_lines_before,
                ends_block: false,
            });
            self.move_to(end.byte);
            if is_last {
                return;
            }
            let rest = self.whole.get(end.byte..trimmed_end).unwrap_or_default();
            start = self.move_to(trimmed_end - rest.trim_start().len());
        }
    }

    fn move_to(&mut self, byte: usize) -> Cursor {
        let walked = self.whole.get(self.at.byte..byte).unwrap_or_default();
        let n_breaks = walked.bytes().filter(|byte| *byte == b'\n').count();
        self.n_lines = self.n_lines.saturating_add(u32::try_from(n_breaks).unwrap_or(u32::MAX));
        self.at = self.at.advance_to(self.whole, byte);
        self.at
    }
}

/// Moves an end back to the last blank or comma of the second half of a stretch.
fn word_end(whole: &str, start: Cursor, end: Cursor) -> Cursor {
    let window = whole.get(start.byte..end.byte).unwrap_or_default();
    let is_break = |char: char| char.is_whitespace() || matches!(char, '、' | '，' | '；' | '。');
    let found = window.rfind(is_break).and_then(|at| {
        let sign = window.get(at..)?.chars().next()?;
        Some(at + sign.len_utf8())
    });
    match found {
        Some(at) if at * 2 > window.len() => end.retreat_to(whole, start.byte + at),
        _ => end.off_cluster(whole, start),
    }
}

fn trim_end(whole: &str, start: Cursor, end: Cursor) -> Cursor {
    let source = whole.get(start.byte..end.byte).unwrap_or_default();
    end.retreat_to(whole, start.byte + source.trim_end().len())
}
