//! Columns of passwords: a line of headings, one of which announces a secret, and cells below.
//!
//! Comma, semicolon, tab and pipe separate cells, as in CSV, in exports and in Markdown tables.

use std::ops::Range;

use super::credentials::{is_placeholder, is_secret_name};
use super::{PrivateKind, PrivatePiece};

/// Signs that separate cells.
const SEPARATORS: [char; 4] = ['\t', '|', ';', ','];

/// The longest line of headings.
const MAX_HEADING_BYTES: usize = 2_048;

/// The longest cell that is taken as a secret.
const MAX_CELL_BYTES: usize = 256;

/// Finds the cells of columns whose heading announces a secret.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut table: Option<Table> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if let Some(headings) = Table::of(content) {
            table = Some(headings);
        } else if let Some(known) = &table {
            let cells = cells(content, known.separator);
            if cells.len() == known.n_cells {
                for cell in known.secrets.iter().filter_map(|at| cells.get(*at)) {
                    push_secret(content, cell.clone(), start, found);
                }
            } else {
                table = None;
            }
        }
        start += line.len();
    }
}

/// A table whose headings were read.
struct Table {
    separator: char,
    n_cells: usize,
    secrets: Vec<usize>,
}

impl Table {
    fn of(line: &str) -> Option<Table> {
        if line.len() > MAX_HEADING_BYTES {
            return None;
        }
        let separator = SEPARATORS.into_iter().find(|separator| line.contains(*separator))?;
        let cells = cells(line, separator);
        // Headings are short names; a sentence with commas is none.
        let is_headings = cells.iter().all(|cell| {
            let heading = unquoted(line.get(cell.clone()).unwrap_or_default());
            heading.chars().count() <= 40 && heading.split_whitespace().count() <= 4
        });
        let secrets: Vec<usize> = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| {
                is_secret_name(unquoted(line.get((*cell).clone()).unwrap_or_default()))
            })
            .map(|(at, _)| at)
            .collect();
        let has_others = cells.len() > secrets.len();
        (is_headings && has_others && !secrets.is_empty()).then_some(Table {
            separator,
            n_cells: cells.len(),
            secrets,
        })
    }
}

/// Cuts a line into cells; a separator between double quotes separates nothing.
fn cells(line: &str, separator: char) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, char) in line.char_indices() {
        if char == '"' {
            is_quoted = !is_quoted;
        } else if char == separator && !is_quoted {
            cells.push(start..at);
            start = at + char.len_utf8();
        }
    }
    cells.push(start..line.len());
    cells
}

fn unquoted(cell: &str) -> &str {
    cell.trim().trim_matches(['"', '\'', '*', '`']).trim()
}

fn push_secret(line: &str, cell: Range<usize>, start: usize, found: &mut Vec<PrivatePiece>) {
    let raw = line.get(cell.clone()).unwrap_or_default();
    let value = unquoted(raw);
    let is_rule = value.chars().all(|char| matches!(char, '-' | ':' | '=' | ' '));
    if value.is_empty() || value.len() > MAX_CELL_BYTES || is_rule || is_placeholder(value) {
        return;
    }
    let Some(offset) = raw.find(value) else { return };
    let from = start + cell.start + offset;
    found.push(PrivatePiece { kind: PrivateKind::Password, bytes: from..from + value.len() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let values: Vec<&str> = found.iter().map(|piece| &text[piece.bytes.clone()]).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn cells_under_a_heading_that_announces_a_secret() {
        check("user,password,age\nann,tiger,5\nbob,\"a, b\",6\n", &["tiger", "a, b"]);
        check("| User | Password |\n|------|----------|\n| ann | tiger |\n", &["tiger"]);
        check("name\tAPI key\nx\tabc\n\ny\tz\n", &["abc"]);
        check("login;parola\nana;vulpe\n", &["vulpe"]);
        check("user,email\nann,tiger\n", &[]);
        check("Forgot the password, again?\nyes, indeed\n", &[]);
        check("name,token_count\nx,5\n", &[]);
    }
}
