//! Reads delimited text, whatever state it is in: quotes that never close, rows that are too
//! long or too short, bytes that are not UTF-8, a byte order mark.
//!
//! The file is read in blocks and never mapped, since a mapped file that its owner truncates
//! would end the process. Memory holds one block and the columns.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use model::{MAX_LINES_ABOVE, declared_delimiter, guess_delimiter};

use super::above_header::{LOOKED_AT, Shape, n_above};
use super::decode::Decoded;
use super::header::unique;
use super::intern::Raw;
use super::record::{Cell, Parsed, Quotes, split};
use super::report::Misfit;
use super::{MAX_CELL_BYTES, MAX_ROWS, TableBuilder};
use crate::{Error, Result, TableSpec};

/// How much is read at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Separates the cells of a file whose header has one name: a comma in a line below is a letter of
/// its cell, for there is no column for what is behind it.
const ONE_COLUMN: u8 = 0x1f;
/// The longest record; a quote that is still open after this was never closed.
const MAX_RECORD_BYTES: usize = 8 << 20;

/// Reads a file of delimited text; `tab` is forced for TSV by the caller's specification.
pub(crate) fn read(path: &Path, spec: &TableSpec, table: &mut TableBuilder) -> Result<()> {
    let mut records = Records::open(path)?;
    if let Some(encoding) = records.file.encoding() {
        table.encoding(encoding);
    }
    records.skip_mark()?;
    let said_delimiter = records.skip_remarks(table);
    let mut delimiter = match spec.delimiter {
        Some(delimiter) => u8::try_from(delimiter).map_err(|_| Error::Malformed {
            path: path.to_owned(),
            reason: format!("the delimiter `{delimiter}` is not one ASCII character"),
        })?,
        None => said_delimiter.unwrap_or_else(|| {
            guess_delimiter(records.buffer.get(records.at..).unwrap_or_default())
        }),
    };
    let mut cells = Vec::new();
    let n_above = n_above(&records.first_shapes(delimiter));
    for _ in 0..n_above {
        let has_text = records.next(delimiter, &mut cells)?.is_some_and(|_| !is_blank(&cells));
        table.above_header(has_text);
    }
    let header = match records.next(delimiter, &mut cells)? {
        None => Vec::new(),
        Some(_) => cells.iter().map(|cell| records.cell(cell).0.trim().to_owned()).collect(),
    };
    if header.len() == 1 && spec.delimiter.is_none() {
        delimiter = ONE_COLUMN;
    }
    records.n_columns = header.len();
    let places = table.start(&unique(header))?;
    let mut quoting = vec![Quoting::default(); places.len()];
    let mut row = 0;
    while let Some(record) = records.next(delimiter, &mut cells)? {
        if is_blank(&cells) && table.n_source_columns() > 1 {
            continue;
        }
        if row >= MAX_ROWS {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                size: row as u64 + 1,
                unit: "rows",
                limit: MAX_ROWS as u64,
            });
        }
        if record.has_open_quote {
            let problem = "a quote is opened and never closed; the line was read without quotes";
            table.misfit(row, Misfit::of_row(record.line, problem));
        } else if cells.len() != table.n_source_columns() {
            let problem = format!(
                "the row has {} cells, {} are expected",
                cells.len(),
                table.n_source_columns()
            );
            table.misfit(row, Misfit::of_row(record.line, problem));
        }
        table.line(record.line);
        for (column, place) in places.iter().enumerate() {
            match cells.get(*place) {
                None => table.columns[column].push_null(),
                Some(cell) => {
                    let (text, was_utf8) = records.cell(cell);
                    table.count_not_utf8(was_utf8);
                    let text = table.cut(&text);
                    table.columns[column].push(Raw::Text(text));
                    quoting[column].add(*cell);
                }
            }
        }
        row += 1;
    }
    for (column, quoting) in quoting.into_iter().enumerate() {
        if quoting.is_always() {
            table.always_quoted(column);
        }
    }
    Ok(())
}

fn is_blank(cells: &[Cell]) -> bool {
    cells.len() == 1 && cells[0].is_empty()
}

/// Whether the cells of a column are between quotes.
#[derive(Debug, Clone, Copy, Default)]
struct Quoting {
    has_quoted: bool,
    has_bare: bool,
}

impl Quoting {
    fn add(&mut self, cell: Cell) {
        self.has_quoted |= cell.is_quoted;
        self.has_bare |= !cell.is_quoted && !cell.is_empty();
    }

    fn is_always(self) -> bool {
        self.has_quoted && !self.has_bare
    }
}

struct Record {
    line: u64,
    has_open_quote: bool,
}

/// Splits a file into records.
struct Records {
    file: Decoded,
    buffer: Vec<u8>,
    /// Where the next record starts in the buffer.
    at: usize,
    is_ended: bool,
    line: u64,
    breaks: Breaks,
    /// How many cells a row has; none while the names of the columns are not read.
    n_columns: usize,
}

/// What ends a line.
#[derive(Clone, Copy, PartialEq)]
enum Breaks {
    /// A line feed, perhaps behind a carriage return.
    Feeds,
    /// A carriage return alone, as spreadsheets on old Macs write it.
    Returns,
}

impl Records {
    fn open(path: &Path) -> Result<Self> {
        let file = Decoded::open(path)?;
        let breaks = Breaks::Feeds;
        let buffer = Vec::new();
        Ok(Records { file, buffer, at: 0, is_ended: false, line: 1, breaks, n_columns: 0 })
    }

    fn skip_mark(&mut self) -> Result<()> {
        self.fill()?;
        if ends_in_returns(&self.buffer) {
            self.breaks = Breaks::Returns;
            feeds_for_returns(&mut self.buffer);
        }
        if self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        Ok(())
    }

    /// Passes over what programs write above a table: `sep=;`, which says what separates cells,
    /// and remarks. A remark has other cells than the first row below: `#,name` is a header.
    fn skip_remarks(&mut self, table: &mut TableBuilder) -> Option<u8> {
        let first = self.line_at(self.at);
        let said = declared_delimiter(first);
        if said.is_some() {
            self.skip_line(table);
        }
        let mut end = self.at;
        for _ in 0..MAX_LINES_ABOVE {
            if !self.buffer[end..].starts_with(b"#") {
                break;
            }
            end += self.line_at(end).len();
        }
        let delimiter = said.unwrap_or_else(|| guess_delimiter(&self.buffer[end..]));
        let n_cells = |line: &[u8]| memchr::memchr_iter(delimiter, line).count();
        let n_below = n_cells(self.line_at(end));
        while n_below > 0 && self.at < end {
            let line = self.line_at(self.at);
            // Only the last of them can be the names of the columns.
            if self.at + line.len() == end && n_cells(line) == n_below {
                break;
            }
            self.skip_line(table);
        }
        said
    }

    /// Gives the line that begins at this place, with its break.
    fn line_at(&self, at: usize) -> &[u8] {
        let rest = self.buffer.get(at..).unwrap_or_default();
        &rest[..memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)]
    }

    fn skip_line(&mut self, table: &mut TableBuilder) {
        self.at += self.line_at(self.at).len();
        self.line += 1;
        table.above_header(true);
    }

    /// Looks at the first records of the block that is read, without taking them.
    fn first_shapes(&self, delimiter: u8) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let mut cells = Vec::new();
        let mut at = self.at;
        while at < self.buffer.len() && shapes.len() < LOOKED_AT {
            cells.clear();
            let parsed = split(&self.buffer[at..], at, delimiter, &mut cells, Quotes::Honoured);
            let Some(parsed) = parsed else { break };
            shapes.push(Shape::of(cells.iter().map(|cell| !self.is_void(*cell))));
            at += parsed.n_bytes;
        }
        shapes
    }

    fn is_void(&self, cell: Cell) -> bool {
        self.buffer[cell.start..cell.end].iter().all(u8::is_ascii_whitespace)
    }

    /// Gives the text of a cell of the last record, and whether it was UTF-8.
    fn cell(&self, cell: &Cell) -> (Cow<'_, str>, bool) {
        let bytes = &self.buffer[cell.start..cell.end];
        if cell.has_doubled_quotes {
            let text = String::from_utf8_lossy(bytes);
            let was_utf8 = matches!(text, Cow::Borrowed(_));
            return (text.replace("\"\"", "\"").into(), was_utf8);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => (text.into(), true),
            Err(_) => (String::from_utf8_lossy(bytes), false),
        }
    }

    /// Finds the cells of the next record; they are valid until the next call.
    fn next(&mut self, delimiter: u8, cells: &mut Vec<Cell>) -> Result<Option<Record>> {
        loop {
            if self.at >= self.buffer.len() && self.is_ended {
                return Ok(None);
            }
            cells.clear();
            let start = self.at;
            let parsed = split(&self.buffer[start..], start, delimiter, cells, Quotes::Honoured);
            let is_whole = parsed.is_some_and(|parsed| parsed.is_terminated)
                || (self.is_ended && parsed.is_some());
            if let Some(parsed) = parsed.filter(|_| is_whole) {
                // A record with the right number of cells is what its quotes say; between tabs,
                // where cells seldom have breaks, only if all of them are quoted.
                let is_row = cells.len() == self.n_columns
                    && (delimiter != b'\t' || cells.iter().all(|cell| cell.is_quoted));
                if parsed.n_lines > 1 && !is_row && self.is_lines(start, parsed, delimiter) {
                    let line = self.split_line(start, delimiter, cells);
                    return Ok(line.map(|line| self.advance(line, false)));
                }
                if parsed.n_lines == 1
                    && let Some(line) = self.split_by_tabs(start, delimiter, cells)
                {
                    return Ok(Some(self.advance(line, false)));
                }
                return Ok(Some(self.advance(parsed, false)));
            }
            let may_grow = !self.is_ended && self.buffer.len() - start < MAX_RECORD_BYTES;
            if may_grow {
                self.fill()?;
                continue;
            }
            // The quote stays open to the end of the file, or for longer than any record: the
            // line is taken as it stands, and only this line.
            let parsed = self.split_line(start, delimiter, cells);
            // Between tabs a quote is a letter, which misses no other.
            let is_open = delimiter != b'\t' || cells.len() != self.n_columns;
            return Ok(parsed.map(|parsed| self.advance(parsed, is_open)));
        }
    }

    /// Splits the line that begins at this place, whatever quotes it leaves open.
    fn split_line(&self, start: usize, delimiter: u8, cells: &mut Vec<Cell>) -> Option<Parsed> {
        cells.clear();
        let line = split(&self.buffer[start..], start, delimiter, cells, Quotes::WithinLine);
        self.split_by_tabs(start, delimiter, cells).or(line)
    }

    /// Splits a line at every tab, where that gives a row and its quotes do not: programs that
    /// write tabs seldom quote, and a cell that begins with a quote may be next to one that ends
    /// with another.
    fn split_by_tabs(&self, start: usize, delimiter: u8, cells: &mut Vec<Cell>) -> Option<Parsed> {
        if delimiter != b'\t' || cells.len() == self.n_columns {
            return None;
        }
        let mut letters = Vec::new();
        let bytes = &self.buffer[start..];
        let line = split(bytes, start, delimiter, &mut letters, Quotes::Letters)?;
        (letters.len() == self.n_columns).then(|| {
            *cells = letters;
            line
        })
    }

    /// Tells whether a record of several lines is several records: its lines have the cells of a
    /// row, so the quote that holds them together is a letter of a cell, and so is the one that
    /// seems to close it. Between commas all of them must; between tabs most, for there a quote
    /// may join rows over one that is broken itself.
    fn is_lines(&self, start: usize, record: Parsed, delimiter: u8) -> bool {
        if self.n_columns < 2 {
            return false;
        }
        let mut cells = Vec::new();
        let (mut at, end) = (start, start + record.n_bytes);
        let (mut n_lines, mut n_rows) = (0, 0);
        while at < end {
            let Some(line) = self.split_line(at, delimiter, &mut cells) else { return false };
            n_lines += 1;
            n_rows += usize::from(cells.len() == self.n_columns);
            if delimiter != b'\t' && n_rows < n_lines {
                return false;
            }
            at += line.n_bytes;
        }
        2 * n_rows > n_lines
    }

    fn advance(&mut self, parsed: Parsed, has_open_quote: bool) -> Record {
        let record = Record { line: self.line, has_open_quote };
        self.line += parsed.n_lines;
        self.at += parsed.n_bytes;
        record
    }

    /// Reads another block behind what is still needed.
    fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        // Growing with the record keeps a long one from being parsed again for each block.
        let n_wanted = BLOCK_BYTES.max(self.buffer.len());
        let n_before = self.buffer.len();
        let n_read = self.file.by_ref().take(n_wanted as u64).read_to_end(&mut self.buffer)?;
        if self.breaks == Breaks::Returns {
            feeds_for_returns(&mut self.buffer[n_before..]);
        }
        self.is_ended = n_read == 0;
        Ok(())
    }
}

/// Tells whether carriage returns end the lines: the first line ends with one, and more of them are
/// alone than there are line feeds, of which somebody may have added one at the end.
fn ends_in_returns(bytes: &[u8]) -> bool {
    let Some(first) = memchr::memchr2(b'\r', b'\n', bytes) else { return false };
    let is_alone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    let n_feeds = memchr::memchr_iter(b'\n', bytes).count();
    let n_returns = memchr::memchr_iter(b'\r', bytes).filter(|at| is_alone(*at)).count();
    bytes[first] == b'\r' && is_alone(first) && n_returns > n_feeds
}

fn feeds_for_returns(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// Tells the longest cell that is kept, so that a reader knows where the cut is.
pub(crate) fn cut_at_boundary(text: &str) -> &str {
    if text.len() <= MAX_CELL_BYTES {
        return text;
    }
    let mut end = MAX_CELL_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
