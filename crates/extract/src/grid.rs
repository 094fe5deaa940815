//! Tables as readable text: one row on each line, cells between ` | `, cut into blocks at row
//! ends, and the letters of spreadsheet columns.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::output::Output;

/// Rows are put together into blocks of about this many bytes.
pub(crate) const TABLE_BLOCK_BYTES: usize = 4 << 10;

/// Is between two cells.
const CELL_SEPARATOR: &str = " | ";

/// More empty cells than this in a row are not drawn, unless another row has them: cells of one
/// column are at one place, so that headings tell what they are.
const MAX_EMPTY_CELLS: u32 = 8;

/// Columns beyond this are not lined up: a sheet of few cells far apart stays small.
const MAX_LINED_UP_COLUMNS: u32 = 256;

/// Stands for a formula that no program has computed and whose text is not known.
pub(crate) const UNKNOWN_FORMULA: &str = "=(formula without a value)";

/// Puts the white space of a cell on one line.
pub(crate) fn one_line(cell: &str) -> String {
    let mut line = String::with_capacity(cell.len());
    for word in cell.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// A cell that is over several columns or rows is repeated in at most this many of each.
const MAX_SPAN: usize = 64;

/// A longer text is not repeated: it is prose that was laid out in a cell.
const MAX_REPEATED_BYTES: usize = 256;

/// A table of a text document. A cell over several columns or rows is repeated in each, so that
/// every row can be read alone.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    text: String,
    row: Vec<String>,
    /// How many cells of the row were given, not repeated.
    n_own: usize,
    last_row: Vec<String>,
    /// For each column, the cell that reaches down into it and for how many rows more.
    reaching: Vec<(usize, String)>,
}

impl TextTable {
    /// Adds a cell of one column and row.
    pub(crate) fn cell(&mut self, text: &str) {
        self.cell_over(text, 1, 1);
    }

    /// Adds a cell that is over several columns and rows.
    pub(crate) fn cell_over(&mut self, text: &str, n_columns: usize, n_rows: usize) {
        self.fill_reached();
        let text = one_line(text);
        self.n_own += 1;
        let is_repeated = text.len() <= MAX_REPEATED_BYTES;
        let n_columns = if is_repeated { n_columns.clamp(1, MAX_SPAN) } else { 1 };
        for _ in 0..n_columns {
            if n_rows > 1 && is_repeated {
                let column = self.row.len();
                if self.reaching.len() <= column {
                    self.reaching.resize(column + 1, (0, String::new()));
                }
                if let Some(slot) = self.reaching.get_mut(column) {
                    *slot = (n_rows.min(MAX_SPAN) - 1, text.clone());
                }
            }
            self.row.push(text.clone());
        }
    }

    /// Adds a cell that goes on from the row above.
    pub(crate) fn continued_from_above(&mut self, n_columns: usize) {
        for _ in 0..n_columns.clamp(1, MAX_SPAN) {
            let above = self.last_row.get(self.row.len());
            let above = above.filter(|above| above.len() <= MAX_REPEATED_BYTES);
            self.row.push(above.cloned().unwrap_or_default());
        }
    }

    /// Adds a cell that goes on from the one before it.
    pub(crate) fn continued_from_left(&mut self) {
        let left = self.row.last().filter(|left| left.len() <= MAX_REPEATED_BYTES);
        self.row.push(left.cloned().unwrap_or_default());
    }

    /// Ends a row; gives the text so far when it is long enough for a block.
    pub(crate) fn finish_row(&mut self) -> Option<String> {
        if self.row.is_empty() {
            return None;
        }
        self.fill_reached();
        if self.n_own == 1 && self.row.windows(2).all(|pair| pair.first() == pair.last()) {
            // One cell over the whole width is a title, not a row of equal cells.
            self.row.truncate(1);
        }
        push_cells(&self.row, &mut self.text);
        self.last_row = std::mem::take(&mut self.row);
        self.n_own = 0;
        (self.text.len() > TABLE_BLOCK_BYTES).then(|| std::mem::take(&mut self.text))
    }

    /// Ends the table and gives its text.
    pub(crate) fn finish(&mut self) -> String {
        let mut text = self.finish_row().unwrap_or_default();
        text.push_str(&std::mem::take(&mut self.text));
        *self = TextTable::default();
        text
    }

    /// Ends a row and pushes what is long enough.
    pub(crate) fn end_row(&mut self, pointer: &Pointer, output: &mut Output) -> Result<()> {
        match self.finish_row() {
            Some(text) => output.push(BlockKind::Table, pointer, text),
            None => Ok(()),
        }
    }

    /// Tells whether a row has begun.
    pub(crate) fn has_row(&self) -> bool {
        !self.row.is_empty()
    }

    /// Pushes the rows so far; the one that has begun stays.
    pub(crate) fn end_rows(&mut self, pointer: &Pointer, output: &mut Output) -> Result<()> {
        output.push(BlockKind::Table, pointer, std::mem::take(&mut self.text))
    }

    /// Ends the table and pushes the rest.
    pub(crate) fn end(&mut self, pointer: &Pointer, output: &mut Output) -> Result<()> {
        let text = self.finish();
        output.push(BlockKind::Table, pointer, text)
    }

    /// Gives the table as one line, for a cell of the table around it: its cells and rows must not
    /// be taken for those of that one.
    pub(crate) fn flat(mut self) -> String {
        self.finish().trim_end().replace(CELL_SEPARATOR, ", ").replace('\n', "; ")
    }

    /// Writes the cells that reach down from rows above into where the row is.
    fn fill_reached(&mut self) {
        while let Some((n_left, text)) = self.reaching.get_mut(self.row.len()) {
            if *n_left == 0 {
                break;
            }
            *n_left -= 1;
            self.row.push(text.clone());
        }
    }
}

fn push_cells(row: &[String], text: &mut String) {
    let Some(last) = row.iter().rposition(|cell| !cell.is_empty()) else { return };
    for (cell_idx, cell) in row.iter().take(last + 1).enumerate() {
        if cell_idx > 0 {
            text.push_str(CELL_SEPARATOR);
        }
        text.push_str(cell);
    }
    text.push('\n');
}

/// The cells of one sheet as they come, row by row.
pub(crate) struct SheetRows {
    name: String,
    /// The rows of the block, which begin at the first column that any of them has.
    rows: Vec<Vec<(u32, String)>>,
    n_bytes: usize,
    bounds: Option<Bounds>,
    row: Vec<(u32, String)>,
    row_idx: u32,
    columns: Columns,
}

/// What is known of the columns of a table, which may go on over several blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Columns {
    first: Option<u32>,
    /// Behind the last column whose place in a line is told by its number.
    end: u32,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    first_row: u32,
    last_row: u32,
    first_column: u32,
    last_column: u32,
}

impl SheetRows {
    pub(crate) fn new(name: &str) -> Self {
        SheetRows {
            name: name.to_owned(),
            rows: Vec::new(),
            n_bytes: 0,
            bounds: None,
            row: Vec::new(),
            row_idx: 0,
            columns: Columns::default(),
        }
    }

    /// Adds a cell; rows come in order, and a new row ends the one before.
    pub(crate) fn cell(
        &mut self,
        row: u32,
        column: u32,
        value: &str,
        output: &mut Output,
    ) -> Result<()> {
        if row != self.row_idx {
            self.end_row(output)?;
            // A blank row between two tables parts them.
            let is_apart = self.bounds.is_some_and(|bounds| row > bounds.last_row + 1);
            if is_apart || row < self.row_idx {
                self.end_block(output)?;
                self.columns = Columns::default();
            }
            self.row_idx = row;
        }
        let value = one_line(value);
        if !value.is_empty() {
            self.row.push((column, value));
        }
        Ok(())
    }

    /// Writes what still waits: the row and the block that are open.
    pub(crate) fn end(&mut self, output: &mut Output) -> Result<()> {
        self.end_row(output)?;
        self.end_block(output)
    }

    fn end_row(&mut self, output: &mut Output) -> Result<()> {
        let mut cells = std::mem::take(&mut self.row);
        cells.sort_by_key(|(column, _)| *column);
        let (Some((first, _)), Some((last, _))) = (cells.first(), cells.last()) else {
            return Ok(());
        };
        let bounds = self.bounds.get_or_insert(Bounds {
            first_row: self.row_idx,
            last_row: self.row_idx,
            first_column: *first,
            last_column: *last,
        });
        bounds.last_row = self.row_idx;
        bounds.first_column = bounds.first_column.min(*first);
        bounds.last_column = bounds.last_column.max(*last);
        self.n_bytes +=
            cells.iter().map(|(_, value)| value.len() + CELL_SEPARATOR.len()).sum::<usize>();
        self.rows.push(cells);
        if self.n_bytes > TABLE_BLOCK_BYTES {
            self.end_block(output)?;
        }
        Ok(())
    }

    fn end_block(&mut self, output: &mut Output) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.n_bytes = 0;
        let bounds = self.bounds.take();
        if let Some(bounds) = &bounds {
            let first = self.columns.first.get_or_insert(bounds.first_column);
            *first = bounds.first_column.min(*first);
        }
        let mut text = String::new();
        for row in rows {
            self.columns.write(&row, &mut text);
        }
        let range = bounds.map(|bounds| {
            let first = cell_name(bounds.first_row, bounds.first_column);
            let last = cell_name(bounds.last_row, bounds.last_column);
            if first == last { first } else { format!("{first}:{last}") }
        });
        let pointer = Pointer::Sheet { name: self.name.clone(), range };
        output.push(BlockKind::Table, &pointer, text)
    }
}

impl Columns {
    /// Writes a row on a line.
    fn write(&mut self, cells: &[(u32, String)], text: &mut String) {
        let mut next_column = self.first.unwrap_or(0);
        let mut is_exact = true;
        for (cell_idx, (column, value)) in cells.iter().enumerate() {
            let n_empty = column.saturating_sub(next_column);
            let is_known = *column < self.end || n_empty <= MAX_EMPTY_CELLS;
            is_exact &= is_known;
            let n_drawn = if is_known { n_empty } else { MAX_EMPTY_CELLS };
            for _ in 0..n_drawn + u32::from(cell_idx > 0) {
                text.push_str(CELL_SEPARATOR);
            }
            text.push_str(value);
            next_column = column.saturating_add(1);
            if is_exact {
                self.end = self.end.max(next_column).min(MAX_LINED_UP_COLUMNS);
            }
        }
        text.push('\n');
    }
}

/// Gives the name of a cell, such as `B7`; rows and columns count from 0.
pub(crate) fn cell_name(row: u32, column: u32) -> String {
    format!("{}{}", column_letters(column), u64::from(row) + 1)
}

fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'A' + (rest % 26) as u8);
        rest /= 26;
    }
    letters.reverse();
    String::from_utf8(letters).expect("letters are ASCII")
}

/// Reads the name of a cell; rows and columns count from 0.
pub(crate) fn parse_cell_name(name: &str) -> Option<(u32, u32)> {
    let n_letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let mut column = 0_u32;
    for letter in name.get(..n_letters)?.bytes() {
        let digit = u32::from(letter.to_ascii_uppercase() - b'A') + 1;
        column = column.checked_mul(26)?.checked_add(digit)?;
    }
    let row: u32 = name.get(n_letters..)?.parse().ok()?;
    Some((row.checked_sub(1)?, column.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(row: u32, column: u32, name: &str) {
        assert_eq!(cell_name(row, column), name);
        assert_eq!(parse_cell_name(name), Some((row, column)));
    }

    #[test]
    fn cells_over_others_are_repeated() {
        let mut table = TextTable::default();
        table.cell_over("A title over all", 3, 1);
        table.finish_row();
        table.cell_over("both", 2, 1);
        table.cell_over("down", 1, 2);
        table.finish_row();
        table.cell("1");
        table.cell("2");
        table.finish_row();
        table.continued_from_above(1);
        table.cell("3");
        table.continued_from_left();
        assert_eq!(
            table.finish(),
            "A title over all\nboth | both | down\n1 | 2 | down\n1 | 3 | 3\n"
        );
    }

    /// A column without a heading, rows whose first cells are empty and long gaps moved cells to
    /// the place of another column.
    #[test]
    fn cells_of_a_column_are_below_their_heading() {
        let caps = crate::Caps::standard();
        let mut output = Output::new(&caps, 1 << 20);
        let mut rows = SheetRows::new("Users");
        for column in 1..30 {
            let heading = if column == 28 { "password" } else { "other" };
            rows.cell(0, column, heading, &mut output).unwrap();
        }
        for row in 1..900 {
            if row % 3 == 0 {
                rows.cell(row, 0, "5", &mut output).unwrap();
            }
            rows.cell(row, 28, "tiger", &mut output).unwrap();
        }
        rows.end(&mut output).unwrap();
        let blocks = output.finish(crate::Format::Xlsx).blocks;
        assert!(blocks.len() > 2, "{}", blocks.len());
        for line in blocks.iter().flat_map(|block| block.text.lines()) {
            let cell = line.split('|').nth(28).map(str::trim);
            assert!(matches!(cell, Some("password" | "tiger")), "{line}");
        }
    }

    #[test]
    fn cells_have_names() {
        check(0, 0, "A1");
        check(6, 25, "Z7");
        check(6, 26, "AA7");
        check(1_048_575, 16_383, "XFD1048576");
        assert_eq!(parse_cell_name("7"), None);
        assert_eq!(parse_cell_name("A0"), None);
        assert_eq!(parse_cell_name("AAAAAAAAAAAA1"), None);
    }
}
