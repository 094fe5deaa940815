//! Rows → blocks: which rows belong to one paragraph, and how they join.

use crate::flow::is_unspaced;

use super::page::Piece;

/// Rows further apart than this many times the page's usual distance start a new block.
const PARAGRAPH_GAP: f64 = 1.22;

/// Sizes that differ more than this do not share a block.
const SIZE_DIFFERENCE: f64 = 0.12;

/// A paragraph of a page.
#[derive(Debug)]
pub(super) struct PageBlock {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) n_rows: usize,
}

struct Row {
    text: String,
    angle: i32,
    base: f64,
    size: f64,
    start: f64,
    end: f64,
    first_word: f64,
}

pub(super) fn blocks_of(pieces: &[Piece]) -> Vec<PageBlock> {
    let rows = rows_of(pieces);
    let usual = usual_distance(&rows);
    let mut blocks = Vec::new();
    let mut block: Vec<&Row> = Vec::new();
    for row in &rows {
        if block.last().is_some_and(|before| !is_one_block(&block, before, row, usual)) {
            blocks.push(joined(&block));
            block.clear();
        }
        block.push(row);
    }
    if !block.is_empty() {
        blocks.push(joined(&block));
    }
    blocks
}

/// Puts cells that follow each other on one baseline into one row.
fn rows_of(pieces: &[Piece]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for piece in pieces {
        let text = piece.text();
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(row) = rows.last_mut()
            && row.angle == piece.angle
            && (row.base - piece.base).abs() < 0.3 * row.size.max(piece.size)
            && piece.start >= row.end
        {
            row.text.push('\t');
            row.text.push_str(text);
            row.end = piece.end;
            continue;
        }
        rows.push(Row {
            text: text.to_owned(),
            angle: piece.angle,
            base: piece.base,
            size: piece.size,
            start: piece.start,
            end: piece.end,
            first_word: piece.first_word_length(),
        });
    }
    rows
}

/// Gives the distance of rows in units of their size that most rows of the page have.
fn usual_distance(rows: &[Row]) -> f64 {
    let mut distances: Vec<f64> = rows
        .windows(2)
        .filter_map(|pair| {
            let [before, after] = pair else { return None };
            let distance = (before.base - after.base) / before.size.max(after.size);
            let is_below = before.angle == after.angle
                && before.start < after.end
                && after.start < before.end
                && (0.8..2.6).contains(&distance);
            is_below.then_some(distance)
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(1.25)
}

fn is_one_block(block: &[&Row], before: &Row, row: &Row, usual: f64) -> bool {
    let size = before.size.max(row.size);
    let distance = (before.base - row.base) / size;
    let overlaps = before.start < row.end + size && row.start < before.end + size;
    let same_size = (before.size - row.size).abs() <= SIZE_DIFFERENCE * size;
    let is_near = distance > 0.3 && distance <= (usual * PARAGRAPH_GAP).max(1.2);
    let left = block.iter().map(|row| row.start).fold(f64::INFINITY, f64::min);
    // An indented row after a row that was not full starts a paragraph.
    let right = block.iter().map(|row| row.end).fold(f64::NEG_INFINITY, f64::max);
    let is_indented = row.start > left + 0.9 * size && row.start < left + 6.0 * size;
    let was_full = before.end + row.first_word + 0.25 * size > right;
    let starts_paragraph =
        is_indented && before.start < left + 0.5 * size && (block.len() > 1 && !was_full);
    before.angle == row.angle && is_near && overlaps && same_size && !starts_paragraph
}

fn joined(rows: &[&Row]) -> PageBlock {
    let right = rows.iter().map(|row| row.end).fold(f64::NEG_INFINITY, f64::max);
    let mut text = String::new();
    let mut before: Option<&Row> = None;
    for row in rows {
        if let Some(before) = before {
            let had_room = before.end + row.first_word + 0.2 * row.size < right;
            join_row(&mut text, &row.text, had_room);
        } else {
            text.push_str(&row.text);
        }
        before = Some(row);
    }
    let size = rows.iter().map(|row| row.size).fold(0.0, f64::max);
    PageBlock { text, size, n_rows: rows.len() }
}

/// Joins a row to the text before it. A row that ended although the next word had room ended on
/// purpose.
fn join_row(text: &mut String, row: &str, had_room: bool) {
    let last = text.chars().next_back().unwrap_or(' ');
    let first = row.chars().next().unwrap_or(' ');
    if matches!(last, '-' | '\u{2010}' | '\u{ad}') {
        let stem = text.trim_end_matches(['-', '\u{2010}', '\u{ad}']);
        let is_broken_word = stem.chars().next_back().is_some_and(char::is_alphabetic)
            && first.is_lowercase()
            && text.len() - stem.len() == last.len_utf8();
        if is_broken_word {
            text.truncate(stem.len());
        } else if had_room {
            text.push('\n');
        } else if !stem.chars().next_back().is_some_and(char::is_alphanumeric) {
            text.push(' ');
        }
    } else if had_room {
        text.push('\n');
    } else if !(is_unspaced(last) && is_unspaced(first)) {
        text.push(' ');
    }
    text.push_str(row);
}
