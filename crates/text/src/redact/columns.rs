//! Columns of passwords: a line of headings, one of which announces a secret, and cells below.
//!
//! Comma, semicolon, tab and pipe separate cells, as in CSV, in exports and in Markdown tables.
//! Headings hold for the whole table, however long it is: [`SecretTable`] says which line that is
//! for whoever shows a part of a text far below it.

use std::ops::Range;

use super::credentials::{is_placeholder, is_secret_name};
use super::{PrivateKind, PrivatePiece};

/// Signs that separate cells.
const SEPARATORS: [char; 4] = ['\t', '|', ';', ','];

/// The longest line of headings.
const MAX_HEADING_BYTES: usize = 2_048;

/// The longest cell that is taken as a secret.
const MAX_CELL_BYTES: usize = 256;

/// Lines in a row that are no rows and do not end a table: blank ones between two parts of it,
/// those of a cell with line breaks, a total.
const MAX_GAP_LINES: usize = 8;

/// A row of at least so many cells may be broken into lines: it is wide.
const MIN_BROKEN_CELLS: usize = 4;

/// Into so many lines at most.
const MAX_BROKEN_LINES: usize = 4;

/// A table of a text with a column of secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretTable {
    /// Where its line of headings is, in bytes, without the line break.
    pub heading: Range<usize>,
    /// Where its rows are: from the line after the headings to the end of the last row.
    pub rows: Range<usize>,
}

/// Lists the tables of a text that have a column of secrets, in order.
///
/// ```
/// let text = "user,password\nann,tiger\nbob,lion\n";
/// let tables = text::secret_tables(text);
/// assert_eq!(&text[tables[0].heading.clone()], "user,password");
/// ```
pub fn secret_tables(text: &str) -> Vec<SecretTable> {
    let mut tables: Vec<SecretTable> = Vec::new();
    walk(text, &mut |line| match line {
        Line::Heading { bytes, is_repeated: false } => {
            let rows = bytes.end..bytes.end;
            tables.push(SecretTable { heading: bytes, rows });
        }
        Line::Heading { bytes, is_repeated: true } | Line::Row { bytes, .. } => {
            if let Some(table) = tables.last_mut() {
                table.rows.end = bytes.end;
            }
        }
    });
    tables
}

/// Gives the headings of the table that a text ends in, where one of its columns holds secrets:
/// what follows the text may be more rows of it.
///
/// ```
/// assert_eq!(text::open_secret_heading("user,password\nann,tig"), Some("user,password"));
/// assert_eq!(text::open_secret_heading("user,age\nann,5\n"), None);
/// ```
pub fn open_secret_heading(text: &str) -> Option<&str> {
    let mut heading = None;
    let is_open = walk(text, &mut |line| {
        if let Line::Heading { bytes, .. } = line {
            heading = Some(bytes);
        }
    });
    text.get(heading.filter(|_| is_open)?)
}

/// Tells whether a line is one of headings with a column of secrets.
pub fn is_secret_heading(line: &str) -> bool {
    Table::of(line).is_some()
}

/// Finds the cells of columns whose heading announces a secret.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    walk(text, &mut |line| {
        let Line::Row { bytes, secrets } = line else { return };
        let content = text.get(bytes.clone()).unwrap_or_default();
        for cell in secrets {
            push_secret(content, cell.clone(), bytes.start, found);
        }
    });
}

/// A line of a table with a column of secrets.
enum Line<'a> {
    /// Its headings; repeated where a table of the same form goes on.
    Heading { bytes: Range<usize>, is_repeated: bool },
    /// A row, and where its cells with secrets are in it.
    Row { bytes: Range<usize>, secrets: &'a [Range<usize>] },
}

/// Walks over the lines of all tables with a column of secrets; tells whether the text ends in
/// one.
fn walk(text: &str, each: &mut dyn FnMut(Line<'_>)) -> bool {
    let mut table: Option<Table> = None;
    let mut n_gap = 0;
    let mut start = 0;
    while let Some(line) = line_at(text, start) {
        let row = table.as_ref().and_then(|table| table.row_at(text, start, n_gap > 0));
        let bytes = row.as_ref().map_or(line, |row| row.bytes.clone());
        let content = trimmed(text, bytes.clone());
        let content_bytes = start..start + content.len();
        start = bytes.end;
        if let Some(known) = &mut table
            && let Some(row) = row
        {
            n_gap = 0;
            // A row may hold the word `secret` without being one of headings: those name a
            // secret in the same column, as where they are repeated on every page.
            match Table::of(content).filter(|again| again.shares_secret(known)) {
                Some(again) => {
                    known.add(&again);
                    each(Line::Heading { bytes: content_bytes, is_repeated: true });
                }
                None => {
                    let secrets: Vec<Range<usize>> =
                        known.secrets.iter().filter_map(|at| row.cells.get(*at).cloned()).collect();
                    each(Line::Row { bytes: content_bytes, secrets: &secrets });
                }
            }
        } else if let Some(headings) = Table::of(content) {
            table = Some(headings);
            n_gap = 0;
            each(Line::Heading { bytes: content_bytes, is_repeated: false });
        } else if table.is_some() {
            n_gap += 1;
            if n_gap > MAX_GAP_LINES {
                table = None;
            }
        }
    }
    table.is_some()
}

/// Gives the line that begins at a place, with its line break; nothing at the end of the text.
fn line_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
    Some(start..rest.find('\n').map_or(text.len(), |at| start + at + 1))
}

fn trimmed(text: &str, line: Range<usize>) -> &str {
    text.get(line).unwrap_or_default().trim_end_matches(['\n', '\r'])
}

/// A row: the place of its lines, and of its cells within them.
struct Row {
    bytes: Range<usize>,
    cells: Vec<Range<usize>>,
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

    /// Gives the row that begins at a place: one line, or several where a cell between quotes
    /// holds line breaks, or where a wide row was broken.
    fn row_at(&self, text: &str, start: usize, is_after_gap: bool) -> Option<Row> {
        let mut end = line_at(text, start)?.end;
        for n_lines in 1..=MAX_GAP_LINES {
            let content = trimmed(text, start..end);
            let cells = cells(content, self.separator);
            let is_open = content.bytes().filter(|byte| *byte == b'"').count() % 2 == 1;
            if cells.len() == self.n_cells && (!is_open || n_lines == 1) {
                let is_row = !is_after_gap || !self.may_be_prose(content, &cells);
                return is_row.then_some(Row { bytes: start..end, cells });
            }
            let is_broken = self.n_cells >= MIN_BROKEN_CELLS
                && (2..self.n_cells).contains(&cells.len())
                && n_lines < MAX_BROKEN_LINES;
            if !is_open && !is_broken {
                return None;
            }
            end = line_at(text, end)
                .filter(|line| !trimmed(text, line.clone()).is_empty() || is_open)?
                .end;
        }
        None
    }

    /// After lines that were no rows, a line of prose may have as many commas.
    fn may_be_prose(&self, line: &str, cells: &[Range<usize>]) -> bool {
        let has_space = |cell: &Range<usize>| {
            unquoted(line.get(cell.clone()).unwrap_or_default()).contains(char::is_whitespace)
        };
        matches!(self.separator, ',' | ';')
            && self.secrets.iter().filter_map(|at| cells.get(*at)).any(has_space)
    }

    fn shares_secret(&self, other: &Table) -> bool {
        self.separator == other.separator
            && self.n_cells == other.n_cells
            && self.secrets.iter().any(|at| other.secrets.contains(at))
    }

    fn add(&mut self, other: &Table) {
        self.secrets.extend(&other.secrets);
        self.secrets.sort_unstable();
        self.secrets.dedup();
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
        check("login;parola\nana;vulpe\n", &["vulpe"]);
        check("user,email\nann,tiger\n", &[]);
        check("Forgot the password, again?\nyes, indeed\n", &[]);
        check("name,token_count\nx,5\n", &[]);
    }

    /// Extraction writes a long table in blocks with a blank line between them: every cell from
    /// the second block on was shown.
    #[test]
    fn a_table_goes_on_after_a_gap() {
        check("name\tAPI key\nann\ttiger\n\nbob\tlion\n", &["tiger", "lion"]);
        check("a | b | password\n1 | 2 | tiger\n\n3 | 4 | lion\n", &["tiger", "lion"]);
        check("id,password,note\n1,tiger,\"two\nlines\"\n2,lion,\n", &["tiger", "lion"]);
        check("id,note,password\n1,\"two\n\nlines\",tiger\n2,,lion\n", &["tiger", "lion"]);
        let far =
            format!("id,password\n1,tiger\n{}2,lion\n", "words without any sign\n".repeat(20));
        check(&far, &["tiger"]);
        check("user,password\nann,tiger\n\nDear Ann, thank you.\n", &["tiger"]);
    }

    /// Whoever reads passages of a wide table gets its rows with a line break at each edge.
    #[test]
    fn a_wide_row_may_be_broken() {
        let heading = "a | b | c | password | d";
        check(
            &format!("{heading}\n1 | 2\n| 3 | tiger | 4\n5 | 6 | 7 | lion | 8\n"),
            &["tiger", "lion"],
        );
        check(&format!("{heading}\n1 | 2\n\n5 | 6 | 7 | lion | 8\n"), &["lion"]);
    }

    /// A row with the word `secret` in another column became the headings of what followed.
    #[test]
    fn a_row_does_not_become_the_headings() {
        check("user,password,level\na,tiger,secret\nb,lion,public\n", &["tiger", "lion"]);
        check("user,password\ntoken,tiger\nb,lion\n", &["tiger", "lion"]);
        check("user,password\na,tiger\nuser,password\nb,lion\n", &["tiger", "lion"]);
        check(
            "a,password,b\n1,tiger,2\nc,password,token\n3,lion,lynx\n",
            &["tiger", "lion", "lynx"],
        );
    }

    #[test]
    fn headings_are_known_far_below() {
        let rows: String = (0..2_000).map(|n| format!("user{n},word{n},{n}\n")).collect();
        let text = format!("Some prose.\nuser,password,age\n{rows}\nThe end of it.\n");
        let last = text.find("user1999").unwrap();
        assert_eq!(open_secret_heading(&text[..last + 3]), Some("user,password,age"));
        assert_eq!(open_secret_heading(&text[..5]), None);
        let tables = secret_tables(&text);
        assert_eq!(tables.len(), 1);
        assert!(tables[0].rows.contains(&last) && tables[0].rows.end < text.len() - 10);
        assert!(secret_tables("user,age\nann,5\n").is_empty());
    }
}
