//! Word documents before 2007: the text lies in pieces that a table puts in order.

use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::{Error, Result};
use crate::grid::TextTable;
use crate::ole::bytes::{u16_at, u32_at, usize_at, utf16};
use crate::ole::{open, stream};
use crate::output::Output;

/// Where the file's header keeps things.
const FLAGS_AT: usize = 0x0a;
const FIRST_CHARACTER_AT: usize = 0x18;
const LENGTHS_AT: usize = 0x4c;
const PIECES_AT: usize = 0x1a2;

const ENCRYPTED: u16 = 0x0100;
const SECOND_TABLE: u16 = 0x0200;

/// Files of Word 97 and later.
const MARK: u16 = 0xa5ec;
/// Word 6 and 95, whose version is below this.
const FIRST_VERSION_WITH_PIECES: u16 = 0x00c1;

pub(crate) fn read_doc(bytes: &[u8], output: &mut Output) -> Result<()> {
    let broken = |detail: &str| Error::broken(Format::Doc, detail);
    let mut file = open(bytes).map_err(|error| Error::broken(Format::Doc, error))?;
    let Some(document) = stream(&mut file, "/WordDocument", output)? else {
        return Err(broken("the stream `WordDocument` is missing"));
    };
    let flags = u16_at(&document, FLAGS_AT).ok_or_else(|| broken("its header is cut"))?;
    if flags & ENCRYPTED != 0 {
        return Err(Error::Encrypted { format: Format::Doc });
    }
    let version = u16_at(&document, 2).unwrap_or_default();
    let is_old = u16_at(&document, 0) != Some(MARK) || version < FIRST_VERSION_WITH_PIECES;
    if is_old {
        return read_old(&document, output);
    }
    let first = if flags & SECOND_TABLE != 0 { "/1Table" } else { "/0Table" };
    let other = if flags & SECOND_TABLE != 0 { "/0Table" } else { "/1Table" };
    let table = match stream(&mut file, first, output)? {
        Some(table) => table,
        None => stream(&mut file, other, output)?
            .ok_or_else(|| broken("the stream with its table of pieces is missing"))?,
    };
    let text = pieced_text(&document, &table)
        .ok_or_else(|| broken("its table of pieces cannot be read"))?;
    let lengths: Vec<usize> =
        (0..8).map(|at| usize_at(&document, LENGTHS_AT + at * 4).unwrap_or_default()).collect();
    push_stories(&text, &lengths, output)
}

/// Reads the one stretch of text that Word 6 and 95 write.
fn read_old(document: &[u8], output: &mut Output) -> Result<()> {
    let start = usize_at(document, FIRST_CHARACTER_AT).unwrap_or_default();
    let end = usize_at(document, FIRST_CHARACTER_AT + 4).unwrap_or_default();
    let text = document
        .get(start..end.min(document.len()))
        .ok_or_else(|| Error::broken(Format::Doc, "its text lies outside the file"))?;
    let text = crate::encoding::decode(text, None).text;
    push_story(&text.replace('\n', "\r"), BlockKind::Paragraph, output)
}

/// Puts the pieces in order: characters in UTF-16, or in one byte each.
fn pieced_text(document: &[u8], table: &[u8]) -> Option<Vec<char>> {
    let at = usize_at(document, PIECES_AT)?;
    let length = usize_at(document, PIECES_AT + 4)?;
    let end = at.saturating_add(length).min(table.len());
    let mut list = table.get(at..end)?;
    // Stretches of formatting are before the table of pieces.
    while list.first() == Some(&1) {
        let length = usize::from(u16_at(list, 1)?);
        list = list.get(3 + length..)?;
    }
    if list.first() != Some(&2) {
        return None;
    }
    let length = usize_at(list, 1)?;
    let pieces = list.get(5..)?;
    let pieces = pieces.get(..length).unwrap_or(pieces);
    let n_pieces = pieces.len().checked_sub(4)? / 12;
    let mut text = Vec::new();
    for piece_idx in 0..n_pieces {
        let from = usize_at(pieces, piece_idx * 4)?;
        let to = usize_at(pieces, piece_idx * 4 + 4)?;
        let n_chars = to.saturating_sub(from);
        let entry = u32_at(pieces, (n_pieces + 1) * 4 + piece_idx * 8 + 2)?;
        let is_narrow = entry & 0x4000_0000 != 0;
        let place = usize::try_from(entry & 0x3fff_ffff).ok()?;
        let start = if is_narrow { place / 2 } else { place };
        let n_bytes = if is_narrow { n_chars } else { n_chars.saturating_mul(2) };
        let end = start.saturating_add(n_bytes).min(document.len());
        let bytes = document.get(start..end).unwrap_or_default();
        if is_narrow {
            let (decoded, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes);
            text.extend(decoded.chars());
        } else {
            text.extend(utf16(bytes).chars());
        }
        // What is missing at the end of a cut file still counts for what follows.
        let n_missing = n_chars.saturating_sub(bytes.len() / if is_narrow { 1 } else { 2 });
        if n_missing > 0 {
            break;
        }
    }
    Some(text)
}

/// Pushes the body, then notes, headers, comments and text boxes.
fn push_stories(text: &[char], lengths: &[usize], output: &mut Output) -> Result<()> {
    let mut rest = text;
    for (story_idx, length) in lengths.iter().enumerate() {
        let (story, after) = rest.split_at(rest.len().min(*length));
        rest = after;
        let story: String = story.iter().collect();
        let kind = if story_idx == 0 { BlockKind::Paragraph } else { BlockKind::Other };
        push_story(&story, kind, output)?;
    }
    if lengths.iter().all(|length| *length == 0) {
        let story: String = text.iter().collect();
        return push_story(&story, BlockKind::Paragraph, output);
    }
    Ok(())
}

fn push_story(text: &str, kind: BlockKind, output: &mut Output) -> Result<()> {
    let pointer = Pointer::Whole;
    let mut paragraph = String::new();
    let mut table = TextTable::default();
    let mut in_table = false;
    let mut after_cell = false;
    let mut field_depth = 0_usize;
    let mut hidden_depth = 0_usize;
    for char in text.chars() {
        match char {
            // A field is its instruction, then its result: only the result is read.
            '\u{13}' => {
                field_depth += 1;
                hidden_depth += 1;
            }
            '\u{14}' => hidden_depth = hidden_depth.saturating_sub(1),
            '\u{15}' => {
                field_depth = field_depth.saturating_sub(1);
                hidden_depth = hidden_depth.min(field_depth);
            }
            _ if hidden_depth > 0 => {}
            '\u{7}' => {
                if after_cell && paragraph.trim().is_empty() {
                    table.end_row(&pointer, output)?;
                    after_cell = false;
                } else {
                    table.cell(&paragraph);
                    after_cell = true;
                }
                in_table = true;
                paragraph.clear();
            }
            '\r' | '\u{c}' => {
                if in_table && after_cell {
                    // Inside a cell a paragraph is only a line.
                    paragraph.push('\n');
                } else {
                    if in_table {
                        table.end(&pointer, output)?;
                        in_table = false;
                    }
                    output.push(kind, &pointer, &paragraph)?;
                    paragraph.clear();
                }
            }
            '\u{b}' => paragraph.push('\n'),
            '\u{1e}' => paragraph.push('-'),
            '\u{1}' | '\u{2}' | '\u{3}' | '\u{4}' | '\u{5}' | '\u{8}' | '\u{1f}' => {}
            _ => paragraph.push(char),
        }
    }
    table.end(&pointer, output)?;
    output.push(kind, &pointer, &paragraph)
}
