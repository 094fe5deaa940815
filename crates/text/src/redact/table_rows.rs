//! How a line is read as a row of a table whose headings are known.
//!
//! Rows are rarely as regular as headings: empty cells at the end are left out, a cell holds a
//! quote, a line break or the separator itself, a wide row is broken. Where a line can be read in
//! two ways, what is secret in either is secret: a cell too many is hidden rather than one shown.

use std::ops::Range;

use super::credentials::is_secret_name;

/// Signs that separate cells. Pipes and tabs are rarely in prose, the others often.
const SEPARATORS: [char; 4] = ['\t', '|', ';', ','];

/// The longest line of headings.
pub(super) const MAX_HEADING_BYTES: usize = 8_192;

/// The longest heading, in characters and words, of a table whose separator is in prose too.
const MAX_HEADING: (usize, usize) = (40, 4);

/// The same for other tables.
const MAX_LONG_HEADING: (usize, usize) = (120, 16);

/// How far a cell between quotes may go on, in lines and bytes.
const MAX_QUOTED: (usize, usize) = (64, 16_384);

/// How many closing quotes are looked at for the one that ends the row.
const MAX_CLOSINGS: usize = 8;

/// The longest line without separators that may be a row of one cell, in bytes and words.
const MAX_SHORT_LINE: (usize, usize) = (120, 6);

/// A table whose headings were read.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) separator: char,
    pub(super) n_cells: usize,
    pub(super) secrets: Vec<usize>,
    /// What the columns of secrets are called, in lower case.
    pub(super) names: Vec<String>,
}

/// What a line below headings is.
#[derive(Debug)]
pub(super) enum Line {
    /// A row, perhaps together with lines that follow.
    Row(Row),
    /// Dashes in every cell, as below the headings of a Markdown table.
    Rule,
    /// The headings of another table.
    OtherHeadings,
    /// Something else.
    Other,
}

/// A row: the place of its lines, and of its cells with secrets within them.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) bytes: Range<usize>,
    pub(super) secrets: Vec<Range<usize>>,
    /// Whether nothing but a row looks like this.
    pub(super) is_sure: bool,
    /// Whether the text ends in it, perhaps between two quotes.
    pub(super) is_unfinished: bool,
}

/// Whether separators between double quotes separate cells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    Hold,
    AreLetters,
}

impl Table {
    pub(super) fn of(line: &str) -> Option<Table> {
        if line.len() > MAX_HEADING_BYTES || is_json(line) {
            return None;
        }
        if let Some(wiki) = Table::of_wiki(line) {
            return Some(wiki);
        }
        let separator = SEPARATORS.into_iter().find(|separator| line.contains(*separator));
        let is_latex = || line.contains('&') && line.trim_end().ends_with("\\\\");
        let separator = separator.or_else(|| is_latex().then_some('&'))?;
        let cells = cells(line, separator, Quotes::Hold);
        let heading = |cell: &Range<usize>| unquoted(line.get(cell.clone()).unwrap_or_default());
        let secrets: Vec<usize> = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| is_secret_name(heading(cell)))
            .map(|(at, _)| at)
            .collect();
        if secrets.is_empty() || secrets.len() == cells.len() {
            return None;
        }
        // A line of code may end in a comma behind one name: `eq_token,`.
        let n_named = cells.iter().filter(|cell| !heading(cell).is_empty()).count();
        if n_named < 2 && is_in_prose(separator) {
            return None;
        }
        // Headings are short names; a sentence with commas is none.
        let (n_chars, n_words) =
            if is_in_prose(separator) { MAX_HEADING } else { MAX_LONG_HEADING };
        let is_headings = cells.iter().map(heading).all(|heading| {
            heading.chars().count() <= n_chars && heading.split_whitespace().count() <= n_words
        });
        let names = secrets.iter().filter_map(|at| cells.get(*at)).map(heading).map(in_lower_case);
        let (names, n_cells) = (names.collect(), cells.len());
        is_headings.then_some(Table { separator, n_cells, secrets, names })
    }

    /// Headings of wikis, which have two signs between cells where rows may have one:
    /// `||user||password||` above `|ann|…|`, `! user !! password` above `| ann || …`.
    fn of_wiki(line: &str) -> Option<Table> {
        let line = line.trim();
        let secrets = |names: &[&str]| -> Vec<usize> {
            let names = names.iter().enumerate();
            names.filter(|(_, name)| is_secret_name(unquoted(name))).map(|(at, _)| at).collect()
        };
        let inner = line.strip_prefix("||").and_then(|line| line.strip_suffix("||"));
        let (names, step): (Vec<&str>, usize) = match inner {
            Some(inner) => (inner.split("||").collect(), 1),
            None => (line.strip_prefix('!')?.split("!!").collect(), 2),
        };
        let secrets: Vec<usize> = secrets(&names).iter().map(|at| 1 + at * step).collect();
        // The row has a sign before its first cell, and with one sign between them after its last.
        let n_cells = if step == 1 { names.len() + 2 } else { 2 * names.len() };
        let is_table = !secrets.is_empty() && secrets.len() < names.len();
        let is_name = |name: &&str| is_secret_name(unquoted(name));
        let called = names.iter().copied().filter(is_name).map(unquoted).map(in_lower_case);
        let called = called.collect();
        is_table.then_some(Table { separator: '|', n_cells, secrets, names: called })
    }

    /// Gives a line of headings for a table of this form.
    pub(super) fn headings(&self) -> String {
        let headings: Vec<&str> = (0..self.n_cells)
            .map(|at| if self.secrets.contains(&at) { self.name() } else { "-" })
            .collect();
        headings.join(&self.separator.to_string())
    }

    /// Gives a name for columns of secrets, the first of theirs where it can be written anywhere.
    fn name(&self) -> &str {
        let is_plain = |name: &&String| !name.contains(['"', '\'', '\n', '|', ',', ';', '\t', '&']);
        self.names.first().filter(is_plain).map_or("password", String::as_str)
    }

    pub(super) fn shares_secret(&self, other: &Table) -> bool {
        self.separator == other.separator
            && self.n_cells == other.n_cells
            && self.secrets.iter().any(|at| other.secrets.contains(at))
    }

    /// Tells whether a row that names secrets where these headings do names them in the same
    /// words, as where headings are repeated on every page. Passwords are words such as
    /// `MyPassword` as well.
    pub(super) fn is_repeated_in(&self, row: &str) -> bool {
        let cells = cells(row, self.separator, Quotes::Hold);
        let mut names = self
            .secrets_of(&cells)
            .into_iter()
            .map(|cell| in_lower_case(unquoted(row.get(cell).unwrap_or_default())));
        let is_filled = |cell: &&Range<usize>| {
            row.get((*cell).clone()).is_some_and(|cell| !unquoted(cell).is_empty())
        };
        let filled: Vec<Range<usize>> = cells.iter().filter(is_filled).cloned().collect();
        looks_like_headings(row, &filled) && names.any(|name| self.names.contains(&name))
    }

    pub(super) fn add(&mut self, other: &Table) {
        self.secrets.extend(&other.secrets);
        self.secrets.sort_unstable();
        self.secrets.dedup();
    }

    /// Tells whether a line without separators may be a row of which only one cell is filled.
    pub(super) fn may_be_short_row(&self, line: &str) -> bool {
        let (n_bytes, n_words) = MAX_SHORT_LINE;
        !is_in_prose(self.separator)
            && line.len() <= n_bytes
            && line.split_whitespace().count() <= n_words
    }

    /// Reads the line that begins at a place, with those that follow where they are of one row.
    pub(super) fn line_at(&self, text: &str, start: usize, is_after_gap: bool) -> Line {
        let Some(bytes) = line_at(text, start) else { return Line::Other };
        let content = trimmed(text, bytes.clone());
        let cells = cells(content, self.separator, Quotes::Hold);
        if self.separator == '|' && is_rule(content) {
            return Line::Rule;
        }
        if cells.len() == self.n_cells && !self.last_goes_on(text, bytes.clone()) {
            let is_row = !is_after_gap || !self.may_be_prose(content, &cells);
            let secrets = self.secrets_of(&cells);
            return if is_row { sure_row(bytes, secrets) } else { Line::Other };
        }
        let (quoted, mut is_unfinished) = self.quoted_row(text, start);
        if let Some(row) = quoted {
            return Line::Row(row);
        }
        let (broken, is_cut_off) = self.broken_row(text, start, content);
        if let Some(row) = broken {
            return Line::Row(row);
        }
        is_unfinished |= is_cut_off;
        if cells.len() > self.n_cells && looks_like_headings(content, &cells) {
            return Line::OtherHeadings;
        }
        match self.irregular_row(content, &cells, is_after_gap) {
            None if is_unfinished => {
                Line::Row(Row { bytes, secrets: vec![], is_sure: false, is_unfinished })
            }
            None => Line::Other,
            Some((secrets, is_sure)) => Line::Row(Row { bytes, secrets, is_sure, is_unfinished }),
        }
    }

    pub(super) fn secrets_of(&self, cells: &[Range<usize>]) -> Vec<Range<usize>> {
        self.secrets.iter().filter_map(|at| cells.get(*at).cloned()).collect()
    }

    /// The same for a row with more cells than headings: any of the cells before the secret may
    /// be the one that holds separators, or two rows are on one line.
    fn secrets_of_divided(&self, cells: &[Range<usize>]) -> Vec<Range<usize>> {
        let n_more = match cells.len().saturating_sub(self.n_cells) {
            0 => 0,
            n_more => n_more.max(self.n_cells - 1),
        };
        let places = self.secrets.iter().flat_map(|at| *at..=*at + n_more);
        places.filter_map(|at| cells.get(at).cloned()).collect()
    }

    /// Reads a row of which a cell between quotes holds line breaks; tells also whether the text
    /// ends before the row does.
    fn quoted_row(&self, text: &str, start: usize) -> (Option<Row>, bool) {
        let (max_lines, max_bytes) = MAX_QUOTED;
        let (mut end, mut is_open, mut n_closings) = (start, false, 0);
        for n_lines in 1..=max_lines {
            let Some(line) = line_at(text, end) else { return (None, true) };
            let n_quotes = text.get(line.clone()).unwrap_or_default().matches('"').count();
            is_open ^= n_quotes % 2 == 1;
            end = line.end;
            if end - start > max_bytes {
                break;
            }
            if is_open {
                continue;
            }
            if n_lines == 1 {
                break;
            }
            let cells = cells(trimmed(text, start..end), self.separator, Quotes::Hold);
            if cells.len() == self.n_cells {
                let mut secrets = self.secrets_of(&cells);
                secrets.extend(self.secrets_of_lines(text, start..end));
                let bytes = start..end;
                let row = Row { bytes, secrets, is_sure: true, is_unfinished: false };
                return (Some(row), false);
            }
            n_closings += 1;
            if cells.len() > self.n_cells || n_closings == MAX_CLOSINGS {
                break;
            }
        }
        (None, false)
    }

    /// Reads lines as rows of their own, since what looks like a quote may be a letter: two signs
    /// of inches hold all rows between them.
    fn secrets_of_lines(&self, text: &str, lines: Range<usize>) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        let mut start = lines.start;
        while let Some(line) = line_at(text, start).filter(|line| line.end <= lines.end) {
            let content = trimmed(text, line.clone());
            let cells = cells(content, self.separator, Quotes::AreLetters);
            let is_row = match is_in_prose(self.separator) {
                true => cells.len() == self.n_cells && !self.may_be_prose(content, &cells),
                false => cells.len() > 1,
            };
            if is_row {
                secrets.extend(shifted(self.secrets_of_divided(&cells), line.start - lines.start));
            }
            start = line.end;
        }
        secrets
    }

    /// Reads a line with fewer cells than headings, whose last ones are empty, or with more,
    /// since one holds the separator; tells also whether it is surely a row.
    fn irregular_row(
        &self,
        line: &str,
        held: &[Range<usize>],
        is_after_gap: bool,
    ) -> Option<(Vec<Range<usize>>, bool)> {
        let mut readings = vec![held.to_vec()];
        if line.contains('"') {
            readings.push(cells(line, self.separator, Quotes::AreLetters));
        }
        let has_separator = line.contains(self.separator);
        let mut secrets: Vec<Range<usize>> = Vec::new();
        for cells in readings {
            secrets.extend(self.secrets_of_divided(&cells));
        }
        let has_space = |cell: &Range<usize>| {
            unquoted(line.get(cell.clone()).unwrap_or_default()).contains(char::is_whitespace)
        };
        if !has_separator {
            // One filled cell: a secret where its column is the first, unless it is prose.
            let is_secret = self.may_be_short_row(line) && !secrets.iter().any(has_space);
            return (is_secret && !secrets.is_empty()).then_some((secrets, false));
        }
        if is_in_prose(self.separator) {
            secrets.retain(|cell| !has_space(cell));
            return (!is_after_gap && !secrets.is_empty()).then_some((secrets, false));
        }
        Some((secrets, true))
    }

    /// After lines that were no rows, a line of prose may have as many commas.
    fn may_be_prose(&self, line: &str, cells: &[Range<usize>]) -> bool {
        let has_space = |cell: &Range<usize>| {
            unquoted(line.get(cell.clone()).unwrap_or_default()).contains(char::is_whitespace)
        };
        is_in_prose(self.separator)
            && self.secrets.iter().filter_map(|at| cells.get(*at)).any(has_space)
    }
}

fn in_lower_case(name: &str) -> String {
    name.to_lowercase()
}

fn sure_row(bytes: Range<usize>, secrets: Vec<Range<usize>>) -> Line {
    Line::Row(Row { bytes, secrets, is_sure: true, is_unfinished: false })
}

pub(super) fn shifted(ranges: Vec<Range<usize>>, by: usize) -> impl Iterator<Item = Range<usize>> {
    ranges.into_iter().map(move |range| range.start + by..range.end + by)
}

/// Tells whether prose uses a separator.
pub(super) fn is_in_prose(separator: char) -> bool {
    matches!(separator, ',' | ';' | '&')
}

/// Gives the line that begins at a place, with its line break; nothing at the end of the text.
pub(super) fn line_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
    Some(start..rest.find('\n').map_or(text.len(), |at| start + at + 1))
}

pub(super) fn trimmed(text: &str, line: Range<usize>) -> &str {
    text.get(line).unwrap_or_default().trim_end_matches(['\n', '\r'])
}

/// Gives what a cell says without marks around it.
pub(super) fn unquoted(cell: &str) -> &str {
    cell.trim().trim_end_matches("\\\\").trim().trim_matches(['"', '\'', '*', '`']).trim()
}

/// Tells whether a line is one of JSON, whose commas do not separate cells.
fn is_json(line: &str) -> bool {
    let line = line.trim_start();
    let inner = line.trim_start_matches(['[', '{', ' ']);
    inner.len() < line.len() && inner.starts_with('"')
}

fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|char| matches!(char, '-' | ':' | '|' | ' ' | '\t'))
}

/// Tells whether every cell is a name, as in a line of headings: rows have figures or gaps.
fn looks_like_headings(line: &str, cells: &[Range<usize>]) -> bool {
    let (n_chars, n_words) = MAX_HEADING;
    cells.iter().all(|cell| {
        let cell = unquoted(line.get(cell.clone()).unwrap_or_default());
        let is_short =
            cell.chars().count() <= n_chars && cell.split_whitespace().count() <= n_words;
        is_short && cell.starts_with(char::is_alphabetic) && !cell.contains(char::is_numeric)
    })
}

/// Cuts a line into cells.
pub(super) fn cells(line: &str, separator: char, quotes: Quotes) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, char) in line.char_indices() {
        if char == '"' && quotes == Quotes::Hold {
            is_quoted = !is_quoted;
        } else if char == separator && !is_quoted {
            cells.push(start..at);
            start = at + char.len_utf8();
        }
    }
    cells.push(start..line.len());
    cells
}
