//! Text that was given as text: paragraphs with their lines.

use std::io::{BufRead as _, BufReader, Read};

use model::{Block, BlockKind, Pointer};

/// Cuts a text into paragraphs: blank lines end one, and each remembers its line. The text is read a
/// line at a time, so that a long one is held once.
pub(crate) fn paragraphs(text: impl Read) -> std::io::Result<Vec<Block>> {
    let mut text = BufReader::new(text);
    let mut blocks: Vec<Block> = vec![];
    let mut paragraph = String::new();
    let mut first_line = 1;
    let mut bytes = vec![];
    for number in 1_u32.. {
        bytes.clear();
        let is_over = text.read_until(b'\n', &mut bytes)? == 0;
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches('\n');
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                let text = std::mem::take(&mut paragraph);
                blocks.push(Block::new(text, Pointer::Line(first_line), BlockKind::Paragraph));
            }
            if is_over {
                break;
            }
            continue;
        }
        if paragraph.is_empty() {
            first_line = number;
        } else {
            paragraph.push('\n');
        }
        paragraph.push_str(line);
    }
    Ok(blocks)
}
