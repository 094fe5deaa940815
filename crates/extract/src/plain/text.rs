//! Plain prose: a block for each paragraph, pointing at its first line.

use model::BlockKind;

use crate::error::Result;
use crate::output::{Output, is_blank};
use crate::plain::lines::{Gathered, numbered_lines};

/// A paragraph longer than this is cut at the end of a line, so that pointers stay useful.
const BLOCK_BYTES: usize = 4 << 10;

pub(crate) fn read_text(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    push_text(&text, output)
}

pub(crate) fn push_text(text: &str, output: &mut Output) -> Result<()> {
    let mut paragraph = Gathered::default();
    for (number, line) in numbered_lines(text) {
        let is_blank = is_blank(line);
        if !is_blank {
            paragraph.add(number, line);
        }
        if (is_blank || paragraph.len() > BLOCK_BYTES) && !paragraph.is_empty() {
            let (text, pointer) = paragraph.take();
            output.push(BlockKind::Paragraph, &pointer, text)?;
        }
    }
    let (text, pointer) = paragraph.take();
    output.push(BlockKind::Paragraph, &pointer, text)
}
