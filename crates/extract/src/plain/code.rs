//! Source code and configuration: blocks of lines cut where a blank line is before
//! something that is not indented, so that a function stays in one piece.

use model::BlockKind;

use crate::error::Result;
use crate::output::{Output, is_blank};
use crate::plain::lines::{Gathered, numbered_lines};

/// Small neighbours are kept together up to this size.
const SMALL_BLOCK_BYTES: usize = 400;

/// A longer block is cut at any blank line, and at any line at twice this size.
const BLOCK_BYTES: usize = 3 << 10;

/// More blank lines than these end a block. Fewer are kept, so that its lines can be counted.
const MAX_BLANK_LINES: usize = 3;

pub(crate) fn read_code(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    push_code(&text, output)
}

pub(super) fn push_code(text: &str, output: &mut Output) -> Result<()> {
    let mut block = Gathered::default();
    let mut n_blank = 0;
    for (number, line) in numbered_lines(text) {
        if is_blank(line) {
            n_blank += 1;
            continue;
        }
        let starts_anew = n_blank > 0
            && !line.starts_with([' ', '\t', '}', ')', ']'])
            && block.len() > SMALL_BLOCK_BYTES;
        let is_long = (n_blank > 0 && block.len() > BLOCK_BYTES)
            || block.len() > 2 * BLOCK_BYTES
            || n_blank > MAX_BLANK_LINES;
        if (starts_anew || is_long) && !block.is_empty() {
            let (text, pointer) = block.take();
            output.push(BlockKind::Code, &pointer, text)?;
        }
        if !block.is_empty() {
            for _ in 0..n_blank {
                block.add(number, "");
            }
        }
        n_blank = 0;
        block.add(number, line);
    }
    let (text, pointer) = block.take();
    output.push(BlockKind::Code, &pointer, text)
}
