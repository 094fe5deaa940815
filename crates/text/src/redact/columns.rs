//! Columns of passwords: a line of headings, one of which announces a secret, and cells below.
//!
//! Comma, semicolon, tab and pipe separate cells, as in CSV, in exports and in Markdown tables.
//! Headings hold for the whole table, however long it is: [`SecretTable`] says where its rows
//! are, and [`context_before`] gives whoever shows a part of a text what has to be looked at
//! before it. The same is told of tables that are written as JSON, which [`json_rows`] reads.

use std::ops::Range;

use super::json_rows;
use super::placeholder::is_placeholder;
use super::table_cuts::{EDGE, may_be_cut};
use super::table_rows::{Line, Table, line_at, trimmed, unquoted};
use super::{PrivateKind, PrivatePiece, REDACTION_CONTEXT_CHARS};

/// Lines in a row that are no rows and do not end a table: blank ones between two parts of it,
/// those of a cell with line breaks, a total.
const MAX_GAP_LINES: usize = 8;

/// The same of short lines, which may be rows of one cell: the others of the row are empty.
const MAX_SHORT_LINES: usize = 256;

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
    walk(text, text.len(), &mut |line| match line {
        TableLine::Heading { bytes, is_repeated: false } => {
            let rows = bytes.end..bytes.end;
            tables.push(SecretTable { heading: bytes, rows });
        }
        TableLine::Heading { bytes, is_repeated: true } | TableLine::Row { bytes, .. } => {
            if let Some(table) = tables.last_mut() {
                table.rows.end = bytes.end;
            }
        }
    });
    tables.append(&mut json_rows::tables(text));
    tables.sort_by_key(|table| table.heading.start);
    tables
}

/// Gives what has to be looked at before a piece of a text, of which `head` is everything that
/// comes before the piece: its last [`REDACTION_CONTEXT_CHARS`] characters. Where those begin in
/// a table with a column of secrets they begin with a row, and headings that say which column it
/// is come first.
///
/// ```
/// let head = format!("user,password\n{}", "ann,tiger\n".repeat(5_000));
/// let context = text::PieceContext { before: &text::context_before(&head), ..Default::default() };
/// assert_eq!(text::redact_piece("bob,lion", context).text, "bob,[password]");
/// ```
pub fn context_before(head: &str) -> String {
    let last = head.char_indices().rev().nth(REDACTION_CONTEXT_CHARS - 1);
    let from = last.map_or(0, |(at, _)| at);
    if let Some((opening, row)) = json_rows::context(head, from) {
        return [&opening, head.get(row..).unwrap_or_default()].concat();
    }
    match walk(head, from, &mut |_| {}) {
        None => head.get(from..).unwrap_or_default().to_owned(),
        Some(open) => {
            let rows = head.get(open.row_start..).unwrap_or_default();
            format!("{}\n{rows}", open.table.headings())
        }
    }
}

/// Finds secrets in lines of a table by its line of headings, which is far above them.
///
/// The lines may begin inside a row: its cells are counted from its end, and what may be in the
/// column of secrets is hidden. [`EDGE`] divides passages.
pub(super) fn find_below(heading: &str, lines: &Lines<'_>, found: &mut Vec<PrivatePiece>) {
    if json_rows::is_heading(heading) {
        let rows = lines.text.replace(EDGE, " ");
        json_rows::find_below(heading, &rows, lines.is_begin, found);
    }
    let Some(table) = Table::of(heading) else { return };
    let first_row = if lines.is_begin { 0 } else { table.first_row(lines.text) };
    let end_of_row = trimmed(lines.text, 0..first_row);
    let is_row_end = first_row < lines.text.len() || lines.is_end;
    for cell in table.secrets_at_end(end_of_row, is_row_end) {
        push_secret(end_of_row, cell, 0, found);
    }
    let rows = lines.text.get(first_row..).unwrap_or_default();
    let text = format!("{heading}\n{rows}").replace(EDGE, "\n");
    let mut below = Vec::new();
    find(&text, &mut below);
    let n_before = heading.len() + 1;
    found.extend(below.into_iter().filter_map(|piece| {
        let start = piece.bytes.start.checked_sub(n_before)?;
        let bytes = first_row + start..first_row + piece.bytes.end - n_before;
        Some(PrivatePiece { kind: piece.kind, bytes })
    }));
}

/// Lines of a table whose headings are elsewhere.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    /// Whether they begin with a row.
    pub(super) is_begin: bool,
    /// Whether they end with a row.
    pub(super) is_end: bool,
}

/// Tells whether a line is one of headings with a column of secrets.
pub fn is_secret_heading(line: &str) -> bool {
    Table::of(line).is_some() || json_rows::is_heading(line)
}

/// Finds the cells of columns whose heading announces a secret, however the table is written.
pub(super) fn find_tables(text: &str, found: &mut Vec<PrivatePiece>) {
    find(text, found);
    json_rows::find(text, found);
}

/// Finds the same in lines of cells.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    walk(text, text.len(), &mut |line| {
        let TableLine::Row { bytes, secrets } = line else { return };
        let content = text.get(bytes.clone()).unwrap_or_default();
        for cell in secrets {
            push_secret(content, cell.clone(), bytes.start, found);
        }
    });
}

/// A line of a table with a column of secrets.
enum TableLine<'a> {
    /// Its headings; repeated where a table of the same form goes on.
    Heading { bytes: Range<usize>, is_repeated: bool },
    /// A row, and where its cells with secrets are in it.
    Row { bytes: Range<usize>, secrets: &'a [Range<usize>] },
}

/// The table that a place is in.
struct OpenTable {
    table: Table,
    /// Where the row begins that the place is in; the place itself where a row ends there.
    row_start: usize,
}

/// What came between the last row and a line.
#[derive(Default)]
struct Gap {
    n_lines: usize,
    n_short: usize,
    has_blank: bool,
}

/// Walks over the lines of all tables with a column of secrets that begin before a place; gives the
/// table that the place is in.
fn walk(text: &str, until: usize, each: &mut dyn FnMut(TableLine<'_>)) -> Option<OpenTable> {
    let mut table: Option<Table> = None;
    let mut gap = Gap::default();
    // Whether the line above may be the headings of another table: it follows a blank one.
    let mut is_below_blank = false;
    let (mut start, mut row_start) = (0, 0);
    // Where long lines begin that may be the first part of headings.
    let mut cut_from: Option<usize> = None;
    // The text may end in a cell between quotes whose lines look like anything.
    let mut open_quote: Option<OpenTable> = None;
    while let Some(line) = line_at(text, start).filter(|line| line.start < until) {
        let was_below_blank = std::mem::replace(&mut is_below_blank, gap.has_blank);
        let read = match &table {
            None => Line::Other,
            Some(table) => table.line_at(text, start, gap.n_lines > 0),
        };
        let is_other = match &read {
            Line::Rule => was_below_blank,
            Line::OtherHeadings => gap.has_blank,
            Line::Row(_) | Line::Other => false,
        };
        if is_other {
            table = None;
        }
        let row = match read {
            Line::Row(row) => Some(row),
            Line::Rule | Line::OtherHeadings | Line::Other => None,
        };
        let bytes = row.as_ref().map_or(line, |row| row.bytes.clone());
        if let Some(known) = &table
            && row.as_ref().is_some_and(|row| row.is_unfinished)
        {
            open_quote.get_or_insert(OpenTable { table: known.clone(), row_start: start });
        }
        let content = trimmed(text, bytes.clone());
        let content_bytes = start..start + content.len();
        row_start = if content_bytes.end >= until { start } else { bytes.end };
        start = bytes.end;
        if let Some(known) = &mut table
            && let Some(row) = row
        {
            if row.is_sure {
                gap = Gap::default();
            }
            // A row may hold the word `secret` without being one of headings: those name a
            // secret in the same column, as where they are repeated on every page.
            let again = Table::of(content).filter(|again| again.shares_secret(known));
            let is_repeated = again.is_some() && known.is_repeated_in(content);
            if let Some(again) = again {
                known.add(&again);
            }
            each(match is_repeated {
                true => TableLine::Heading { bytes: content_bytes, is_repeated },
                false => TableLine::Row { bytes: content_bytes, secrets: &row.secrets },
            });
        } else if let Some((headings, bytes)) = Table::at(text, cut_from, content_bytes.clone()) {
            table = Some(headings);
            gap = Gap::default();
            is_below_blank = false;
            open_quote = None;
            cut_from = None;
            start = line_at(text, bytes.end).map_or(text.len(), |rest| start.max(rest.end));
            row_start = if bytes.end >= until { content_bytes.start } else { start };
            each(TableLine::Heading { bytes, is_repeated: false });
        } else if table.is_none() {
            cut_from = match may_be_cut(content) {
                true => cut_from.or(Some(content_bytes.start)),
                false => cut_from.filter(|_| content.is_empty()),
            };
        } else if let Some(known) = &table {
            if content.trim().is_empty() {
                gap.has_blank = true;
                gap.n_lines += 1;
            } else if known.may_be_short_row(content) {
                gap.n_short += 1;
            } else {
                gap.n_lines += 1;
            }
            if gap.n_lines > MAX_GAP_LINES || gap.n_short > MAX_SHORT_LINES {
                table = None;
            }
        }
    }
    open_quote.or(table.map(|table| OpenTable { table, row_start }))
}

fn push_secret(line: &str, cell: Range<usize>, start: usize, found: &mut Vec<PrivatePiece>) {
    let raw = line.get(cell.clone()).unwrap_or_default();
    let value = unquoted(raw);
    // Numbers of pins, and others that keep nothing out.
    let is_tiny = value.len() < 3 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_rule = value.chars().all(|char| matches!(char, '-' | ':' | '=' | ' '));
    if value.is_empty() || is_tiny || is_rule || is_placeholder(value) {
        return;
    }
    let Some(offset) = raw.find(value) else { return };
    let from = start + cell.start + offset;
    found.push(PrivatePiece { kind: PrivateKind::Password, bytes: from..from + value.len() });
}

#[cfg(test)]
mod tests {
    use super::super::tests::values_of;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(values_of(find, text), expected, "{text}");
    }

    #[test]
    fn cells_under_a_heading_that_announces_a_secret() {
        check("user,password,age\nann,tiger,5\nbob,\"a, b\",6\n", &["tiger", "a, b"]);
        check("| User | Password |\n|------|----------|\n| ann | tiger |\n", &["tiger"]);
        check("login;parola\nana;vulpe\n", &["vulpe"]);
        check("user,email\nann,tiger\n", &[]);
        check("Forgot the password, again?\nyes, indeed\n", &[]);
        check("name,token_count\nx,5\n", &[]);
        check("user,card_pin,cvv\nann,4711,123\n", &["4711", "123"]);
        check("Pin,Name\n1,VCC\n12,GND\n", &[]);
        check("city,pin_code,pinned\nDelhi,110001,yes\n", &[]);
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

    #[test]
    fn tables_of_wikis_and_latex() {
        check("||user||password||\n|bob|tiger|\n|eve|lion|", &["tiger", "lion"]);
        check(
            "{|\n! user !! password\n|-\n| bob || tiger\n|-\n| eve || lion\n|}",
            &["tiger", "lion"],
        );
        check(
            "user & password \\\\\n\\hline\nbob & tiger \\\\\neve & lion \\\\\n",
            &["tiger", "lion"],
        );
        check("Name & password\nann & tiger\n", &[]);
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

    /// A password that ends in the name of a secret made its row one of headings, and was shown.
    #[test]
    fn passwords_that_are_called_so_are_hidden() {
        for password in ["AcmePassword", "SuperSecret", "sommerPW", "my-secret", "ApiKey"] {
            for (open, sign, close) in [("", ",", ""), ("", "\t", ""), ("| ", " | ", " |")] {
                let line = |cells: [&str; 3]| format!("{open}{}{close}\n", cells.join(sign));
                let head = line(["user", "Password", "city"]);
                let text =
                    [&head, &line(["ann", password, "Cluj"]), &line(["bob", "tiger", "Iași"])];
                let text = text.map(String::as_str).concat();
                check(&text, &[password, "tiger"]);
                let again = [&text, &head, &line(["eve", "lion", "Cluj"])];
                check(&again.map(String::as_str).concat(), &[password, "tiger", "lion"]);
            }
        }
        let head = format!("user,Kennwort,n\n{}", "ann,tiger,1\n".repeat(5_000));
        assert!(context_before(&head).starts_with("-,kennwort,-\n"));
    }

    #[test]
    fn headings_are_known_far_below() {
        let rows: String = (0..2_000).map(|n| format!("user{n},word{n},{n}\n")).collect();
        let text = format!("Some prose.\nuser,password,age\n{rows}\nThe end of it.\n");
        let last = text.find("user1999").unwrap();
        let before = context_before(&text[..last + 3]);
        assert!(before.starts_with("-,password,-\nuser"), "{}", &before[..40]);
        assert_eq!(context_before(&text[..5]), &text[..5]);
        let tables = secret_tables(&text);
        assert_eq!(tables.len(), 1);
        assert!(tables[0].rows.contains(&last) && tables[0].rows.end < text.len() - 10);
        assert!(secret_tables("user,age\nann,5\n").is_empty());
    }
}
