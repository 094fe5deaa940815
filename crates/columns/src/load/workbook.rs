//! Reads one sheet of a workbook: the rows below titles and notes that name the columns, and the
//! rows below them.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Data, Range, Reader, Sheets, open_workbook_auto};

use super::above_header::{LOOKED_AT, n_above};
use super::header::unique;
use super::intern::Raw;
use super::merged::Merged;
use super::sheet_cells::{number_of, text_of};
use super::{MAX_ROWS, NO_PLACE, TableBuilder};
use crate::{Error, Result, TableSpec};

/// The largest workbook: it is unpacked in memory.
const MAX_WORKBOOK_BYTES: u64 = 256 << 20;

/// Reads a sheet.
pub(crate) fn read(path: &Path, spec: &TableSpec, table: &mut TableBuilder) -> Result<()> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    let size = super::stat(path)?.len();
    if size > MAX_WORKBOOK_BYTES {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            size,
            unit: "bytes",
            limit: MAX_WORKBOOK_BYTES,
        });
    }
    let mut workbook = open_workbook_auto(path).map_err(|cause| malformed(cause.to_string()))?;
    let Sheet { name, range } = wanted_sheet(path, spec, &mut workbook)?;
    let merged = Merged::of(&mut workbook, &name, &range);
    let first_line = range.start().map_or(1, |(row, _)| u64::from(row) + 1);
    let looked_at = range.rows().take(LOOKED_AT).enumerate();
    let shapes: Vec<_> = looked_at.map(|(row_idx, row)| merged.shape(row_idx, row)).collect();
    let n_above = n_above(&shapes);
    for shape in &shapes[..n_above] {
        table.above_header(shape.n_filled > 0);
    }
    let Some(header_idx) = (n_above..range.height()).find(|at| !is_empty(row_of(&range, *at)))
    else {
        table.start(&[])?;
        return Ok(());
    };
    let last_header_idx = merged.last_header_row(header_idx, &range);
    let places = table.start(&unique(merged.names(header_idx..=last_header_idx, &range)))?;
    // The results of formulas are in the file, unless a program wrote it that computes none.
    let mut formulas = None;
    for row_idx in last_header_idx + 1..range.height() {
        let row = row_of(&range, row_idx);
        if is_empty(row) {
            continue;
        }
        if table.n_rows() >= MAX_ROWS {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                size: MAX_ROWS as u64 + 1,
                unit: "rows",
                limit: MAX_ROWS as u64,
            });
        }
        table.line(first_line + row_idx as u64);
        for (column, place) in places.iter().enumerate() {
            let own = if *place == NO_PLACE { None } else { row.get(*place) };
            let cell = own.unwrap_or(&Data::Empty);
            if !is_blank(cell) || *place == NO_PLACE {
                push(table, column, cell);
                continue;
            }
            if let Some(above_idx) = merged.above(row_idx, *place) {
                push(table, column, &row_of(&range, above_idx)[*place]);
                table.merged_cell();
                continue;
            }
            let formulas = formulas
                .get_or_insert_with(|| workbook.worksheet_formula(&name).unwrap_or_default());
            let origin = range.start().unwrap_or_default();
            let at = (origin.0 + row_idx as u32, origin.1 + *place as u32);
            if formulas.get_value(at).is_some_and(|formula| !formula.is_empty()) {
                table.not_computed(column);
            }
            push(table, column, cell);
        }
    }
    Ok(())
}

/// A sheet with its cells.
struct Sheet {
    name: String,
    range: Range<Data>,
}

/// Gives the sheet that was asked for, or the first that holds rows.
fn wanted_sheet(
    path: &Path,
    spec: &TableSpec,
    workbook: &mut Sheets<BufReader<File>>,
) -> Result<Sheet> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    let names = workbook.sheet_names();
    let mut sheet = |name: &String| -> Result<Sheet> {
        let range = workbook.worksheet_range(name).map_err(|cause| malformed(cause.to_string()))?;
        Ok(Sheet { name: name.clone(), range })
    };
    if let Some(wanted) = &spec.sheet {
        let known = names.iter().find(|name| *name == wanted).ok_or_else(|| {
            malformed(format!("there is no sheet `{wanted}`: it has {}", names.join(", ")))
        })?;
        return sheet(known);
    }
    let first = names.first().ok_or_else(|| malformed("it has no sheet".to_owned()))?;
    for name in &names {
        // Charts and macros are sheets without cells.
        let Ok(sheet) = sheet(name) else { continue };
        if holds_rows(&sheet.range) {
            return Ok(sheet);
        }
    }
    sheet(first)
}

/// Names the sheets of a workbook that hold something, in their order.
///
/// # Errors
///
/// When the file is no workbook.
pub fn sheets_of(path: &Path) -> Result<Vec<String>> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    super::stat(path)?;
    let mut workbook = open_workbook_auto(path).map_err(|cause| malformed(cause.to_string()))?;
    let sheets = workbook.worksheets().into_iter();
    Ok(sheets.filter(|(_, range)| holds_rows(range)).map(|(name, _)| name).collect())
}

fn holds_rows(range: &Range<Data>) -> bool {
    range.rows().filter(|row| !is_empty(row)).nth(1).is_some()
}

/// Gives a row; the iterator of the library walks from the first to each.
fn row_of(range: &Range<Data>, row_idx: usize) -> &[Data] {
    if row_idx < range.height() { &range[row_idx] } else { &[] }
}

fn is_empty(row: &[Data]) -> bool {
    row.iter().all(|cell| matches!(cell, Data::Empty))
}

fn is_blank(cell: &Data) -> bool {
    match cell {
        Data::Empty => true,
        Data::String(text) => text.is_empty(),
        Data::Int(_)
        | Data::Float(_)
        | Data::Bool(_)
        | Data::DateTime(_)
        | Data::DateTimeIso(_)
        | Data::DurationIso(_)
        | Data::Error(_) => false,
    }
}

fn push(table: &mut TableBuilder, column: usize, cell: &Data) {
    if matches!(cell, Data::Empty) {
        table.columns[column].push_null();
        return;
    }
    if let Some(number) = number_of(cell) {
        table.columns[column].push(number);
        return;
    }
    let text = text_of(cell);
    let text = table.cut(&text).to_owned();
    table.columns[column].push(Raw::Text(&text));
}
