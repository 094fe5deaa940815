//! Tables whose rows were cut: passages cut a row that is longer than they are, and what was blank
//! at their edges is not known. A row, or a line of headings, is then put together again from its
//! lines; where its begin is out of sight its cells are counted from its end.

use std::ops::Range;

use super::table_rows::{
    MAX_HEADING_BYTES, Quotes, Row, Table, cells, is_in_prose, line_at, shifted, trimmed,
};

/// What is between two passages of one text where it is not known whether a line ends there.
pub(super) const EDGE: char = '\u{1e}';

/// A row of at least so many cells may be broken into lines: it is wide.
const MIN_BROKEN_CELLS: usize = 4;

/// Into so many lines at most.
const MAX_BROKEN_LINES: usize = 4;

/// A row that no passage can hold is cut, and lines that were passages are long: at least so many
/// bytes, but for the last.
const MIN_CUT_BYTES: usize = 200;

/// So many lines at most are put together to one of headings.
const MAX_CUT_HEADINGS: usize = 16;

/// How far such a row may go on, in lines and bytes.
const MAX_CUT: (usize, usize) = (64, 65_536);

impl Table {
    /// Reads a line as headings, together with long lines from `cut_from` on and after it where
    /// only those together have as many cells as the row below: a wide line of headings was cut.
    pub(super) fn at(
        text: &str,
        cut_from: Option<usize>,
        line: Range<usize>,
    ) -> Option<(Table, Range<usize>)> {
        let alone = Table::of(text.get(line.clone())?)?;
        let next = row_after(text, line.end);
        let fits_alone = next.is_none_or(|next| {
            CellCount::of(trimmed(text, next), alone.separator).n_cells() == alone.n_cells
        });
        let may_be_cut = cut_from.is_some() || line.len() >= MIN_CUT_BYTES;
        if alone.separator != '|' || fits_alone || !may_be_cut {
            return Some((alone, line));
        }
        for first in [cut_from, Some(line.start)].into_iter().flatten() {
            let mut end = line.end;
            for _ in 0..MAX_CUT_HEADINGS {
                let joined = text.get(first..end).and_then(Table::of);
                if let Some(joined) = joined.filter(|joined| joined.fits_row_after(text, end)) {
                    return Some((joined, first..end));
                }
                let Some(next) = row_after(text, end) else { break };
                end = next.start + trimmed(text, next).len();
            }
        }
        Some((alone, line))
    }

    /// Tells whether lines after a place, of which all but the last are long, have together as
    /// many cells as the headings.
    fn fits_row_after(&self, text: &str, end: usize) -> bool {
        let (max_lines, _) = MAX_CUT;
        let mut count = CellCount::default();
        let mut end = end;
        for _ in 0..max_lines {
            let Some(line) = row_after(text, end) else { return false };
            let content = trimmed(text, line.clone());
            count.add(content, self.separator);
            if count.n_cells() >= self.n_cells || content.len() < MIN_CUT_BYTES {
                return count.n_cells() == self.n_cells;
            }
            end = line.end;
        }
        false
    }

    /// Gives where the first row begins in lines of the table that may begin inside one: after a
    /// line break, or with a line that has all cells. [`EDGE`] is a line break or a space.
    pub(super) fn first_row(&self, rows: &str) -> usize {
        let mut start = 0;
        for line in rows.split_inclusive(['\n', EDGE]) {
            let content = line.trim_end_matches(['\n', '\r', EDGE]);
            if CellCount::of(content, self.separator).n_cells() == self.n_cells {
                return start;
            }
            start += line.len();
            if line.ends_with('\n') {
                return start;
            }
        }
        rows.len()
    }

    /// Gives the cells that may be in a column of secrets, of a part of a row that begins after
    /// it. Its last cells may have been left out, as they are where they are empty.
    pub(super) fn secrets_at_end(&self, part: &str, is_row_end: bool) -> Vec<Range<usize>> {
        let cells = cells(part, self.separator, Quotes::Hold);
        let Some(first) = self.secrets.first() else { return vec![] };
        // More cells than a row has are those of several.
        let is_counted = is_row_end && cells.len() <= self.n_cells;
        let first = if is_counted { (cells.len() + first).saturating_sub(self.n_cells) } else { 0 };
        cells.into_iter().skip(first).collect()
    }

    /// Reads a row that was broken into lines: a wide one, one that was cut into passages, or one
    /// whose tab was left out as blank space at the edge of a passage, so that a line break is in
    /// its place. Each line may be a row without its last cells too, so what is secret in them
    /// alone is secret. Tells also whether the text ends before the row does.
    pub(super) fn broken_row(&self, text: &str, start: usize, first: &str) -> (Option<Row>, bool) {
        let is_blank = self.separator == '\t';
        let is_wide = self.n_cells >= MIN_BROKEN_CELLS && first.contains(self.separator);
        let is_cut = !is_in_prose(self.separator) && first.len() >= MIN_CUT_BYTES;
        if !is_blank && !is_wide && !is_cut {
            return (None, false);
        }
        let (max_lines, max_bytes) = MAX_CUT;
        let mut lines: Vec<Range<usize>> = Vec::new();
        let mut joined = CellCount::default();
        let (mut n_parted, mut is_table, mut all_long, mut end) = (0, false, true, start);
        while lines.len() < max_lines && end - start < max_bytes {
            let Some(line) = line_at(text, end) else { return (None, is_cut && all_long) };
            let (content, end_line) = (trimmed(text, line.clone()), line.clone());
            if content.is_empty() && !(is_cut && all_long && !lines.is_empty()) {
                return (None, false);
            }
            is_table |= content.contains(self.separator);
            end = line.end;
            joined.add(text.get(line.clone()).unwrap_or_default(), self.separator);
            n_parted += CellCount::of(content, self.separator).n_cells();
            lines.push(line);
            if joined.n_cells() > self.n_cells {
                return (None, false);
            }
            // Lines without a tab are rows only where each is one word.
            let is_parted = is_blank
                && (2..=MAX_BROKEN_LINES).contains(&lines.len())
                && n_parted == self.n_cells
                && (is_table || !trimmed(text, start..end).contains(' '));
            let is_few = lines.len() <= MAX_BROKEN_LINES && is_wide;
            let is_joined = joined.n_cells() == self.n_cells && (is_few || (is_cut && all_long));
            if is_parted || (is_joined && !self.last_goes_on(text, end_line)) {
                let secrets = self.secrets_of_broken(text, start..end, &lines, is_parted);
                let bytes = start..end;
                let row = Row { bytes, secrets, is_sure: is_table, is_unfinished: false };
                return (Some(row), false);
            }
            all_long &= content.is_empty() || content.len() >= MIN_CUT_BYTES;
            if lines.len() >= MAX_BROKEN_LINES && !(is_cut && all_long) {
                return (None, false);
            }
        }
        (None, false)
    }

    /// Tells whether the last cell of a row, which holds a secret, may go on below a line that was
    /// cut: the line is long, and the next one has no cells.
    pub(super) fn last_goes_on(&self, text: &str, line: Range<usize>) -> bool {
        let is_cut =
            !is_in_prose(self.separator) && trimmed(text, line.clone()).len() >= MIN_CUT_BYTES;
        let is_secret = self.n_cells > 0 && self.secrets.contains(&(self.n_cells - 1));
        is_cut
            && is_secret
            && line_at(text, line.end).is_some_and(|next| {
                let next = trimmed(text, next);
                !next.trim().is_empty() && !next.contains(self.separator)
            })
    }

    fn secrets_of_broken(
        &self,
        text: &str,
        row: Range<usize>,
        lines: &[Range<usize>],
        is_parted: bool,
    ) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        let mut parted = Vec::new();
        for line in lines {
            let alone = cells(trimmed(text, line.clone()), self.separator, Quotes::Hold);
            secrets.extend(shifted(self.secrets_of(&alone), line.start - row.start));
            parted.extend(shifted(alone, line.start - row.start));
        }
        if is_parted {
            secrets.extend(self.secrets_of(&parted));
        }
        let joined = cells(trimmed(text, row), self.separator, Quotes::Hold);
        secrets.extend(self.secrets_of(&joined));
        secrets
    }
}

/// Gives the first line after a place that is not blank.
fn row_after(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.get(end..)?;
    let skipped = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    line_at(text, end + skipped)
}

/// Tells whether a line may be a part of headings that were cut: it is long, and has cells.
pub(super) fn may_be_cut(line: &str) -> bool {
    line.len() >= MIN_CUT_BYTES && line.len() <= MAX_HEADING_BYTES && line.contains('|')
}

/// Counts cells as [`cells`] does, of lines that come one by one.
#[derive(Default)]
struct CellCount {
    n_separators: usize,
    is_quoted: bool,
}

impl CellCount {
    fn of(line: &str, separator: char) -> Self {
        let mut count = CellCount::default();
        count.add(line, separator);
        count
    }

    fn add(&mut self, line: &str, separator: char) {
        for char in line.chars() {
            if char == '"' {
                self.is_quoted = !self.is_quoted;
            } else if char == separator && !self.is_quoted {
                self.n_separators += 1;
            }
        }
    }

    fn n_cells(&self) -> usize {
        self.n_separators + 1
    }
}
