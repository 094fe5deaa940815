//! Columns of passwords in tables that blanks align, as commands print them and as
//! reStructuredText writes simple ones: a cell begins below its heading.

use std::ops::Range;

use super::placeholder::is_placeholder;
use super::{PrivateKind, PrivatePiece};

/// Lines of a table that are looked at.
const MAX_LINES: usize = 1_024;

/// The longest line of headings.
const MAX_HEADING_BYTES: usize = 1_024;

/// The shortest cell that is hidden.
const MIN_CELL_CHARS: usize = 3;

/// Finds the cells below a name that is a heading: two blanks or an edge of the line are on both
/// sides of it, and the line has another heading.
pub(super) fn find_below(text: &str, name: Range<usize>, found: &mut Vec<PrivatePiece>) {
    let (Some(head), Some(tail)) = (text.get(..name.start), text.get(name.end..)) else { return };
    let is_apart = tail.is_empty() || tail.starts_with("  ") || tail.starts_with(['\n', '\r']);
    if !is_apart {
        return;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let n_part = head.bytes().rev().take_while(|byte| is_part(*byte)).count();
    let head = head.get(..head.len() - n_part).unwrap_or_default();
    let near = super::before(head, head.len(), MAX_HEADING_BYTES);
    let left = near.rsplit('\n').next().unwrap_or_default();
    let right = tail.split('\n').next().unwrap_or_default();
    let is_heading = (left.is_empty() || left.ends_with("  "))
        && !(left.trim().is_empty() && right.trim().is_empty())
        && right.len() <= MAX_HEADING_BYTES
        && !left.contains(['|', '\t', ',', ';'])
        && !right.contains(['|', '\t', ',', ';'])
        && is_short_names(left)
        && is_short_names(right);
    if !is_heading {
        return;
    }
    let column = left.chars().count();
    let width = text.get(head.len()..name.end).map_or(0, |name| name.chars().count());
    let next = right.trim_start();
    let next_column =
        (!next.is_empty()).then(|| column + width + right.chars().count() - next.chars().count());
    let mut at = name.end + right.len() + 1;
    let mut n_blank = 0;
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n').take(MAX_LINES) {
        let content = line.trim_end();
        if content.is_empty() {
            n_blank += 1;
            if n_blank > 1 {
                return;
            }
        } else if !content.chars().all(|char| matches!(char, '-' | '=' | ' ' | '+')) {
            let Some(cell) = cell_at(content, column, next_column) else { return };
            // The headings again: what is below them is found from there.
            if content.get(cell.clone()).map(str::trim) == text.get(head.len()..name.end) {
                return;
            }
            push(content, at, cell, found);
        }
        at += line.len();
    }
}

/// Headings are a few words each, with blanks between them.
fn is_short_names(part: &str) -> bool {
    part.trim().split("  ").all(|name| name.split_whitespace().count() <= 3)
}

/// Gives the cell that begins at a column (in characters); nothing where the line is not aligned.
fn cell_at(line: &str, column: usize, next_column: Option<usize>) -> Option<Range<usize>> {
    let place = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let start = place(column);
    let head = line.get(..start)?;
    // A row whose cells before are longer, or a line of prose, has a letter there.
    if !head.is_empty() && start < line.len() && !head.ends_with(' ') {
        return None;
    }
    let end = next_column.map_or(line.len(), place);
    let is_cut = line.get(..end)?.ends_with(' ') || end == line.len();
    let cell = line.get(start..)?;
    // A cell that is wider than its column ends at two blanks.
    let end = if is_cut { end } else { start + cell.find("  ").unwrap_or(cell.len()) };
    Some(start..end)
}

fn push(line: &str, at: usize, cell: Range<usize>, found: &mut Vec<PrivatePiece>) {
    let raw = line.get(cell.clone()).unwrap_or_default();
    let value = raw.trim();
    let is_hidden = value.chars().count() >= MIN_CELL_CHARS
        && !is_placeholder(value)
        // Prose below a word that happens to be apart.
        && value.split_whitespace().count() <= 3;
    if !is_hidden {
        return;
    }
    let start = at + cell.start + raw.len() - raw.trim_start().len();
    found.push(PrivatePiece { kind: PrivateKind::Password, bytes: start..start + value.len() });
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text).text, expected);
    }

    #[test]
    fn cells_begin_below_their_heading() {
        check(
            "user      password       x\nbob       kiwi           1\neve       Hunter2Zebra   2\n",
            "user      password       x\nbob       [password]           1\neve       [password]   2\n",
        );
        check(
            "====  ========\nuser  password\n====  ========\nbob   kiwi\n====  ========\n",
            "====  ========\nuser  password\n====  ========\nbob   [password]\n====  ========\n",
        );
        check("Name  Age\nbob   5\n", "Name  Age\nbob   5\n");
        let prose = "  Forgotten your password\n  Write to the office, which knows.\n";
        check(prose, prose);
    }
}
