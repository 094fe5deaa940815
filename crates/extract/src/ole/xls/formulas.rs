//! Formulas of a workbook that no program has computed, as people write them.
//!
//! A formula whose value is an empty text and one without a value look the same. Where not one
//! formula of a workbook has another value, nobody computed them, and `calamine` writes them out.

use std::collections::HashMap;
use std::io::Cursor;
use std::panic::catch_unwind;

use calamine::{Reader, Xls};

use crate::grid::UNKNOWN_FORMULA;
use crate::ole::bytes::u16_at;
use crate::ole::xls::cells::{CellRecord, Dialect, cells_of};
use crate::ole::xls::records::records;

const FORMULAS: [u16; 3] = [0x0006, 0x0206, 0x0406];

/// The most cells of the rectangle that a workbook's cells are in: `calamine` holds all of it.
const MAX_CELLS: u64 = 1_000_000;

/// The formulas of each sheet, by row and column.
pub(super) struct Formulas(HashMap<String, HashMap<(u32, u32), String>>);

/// Tells whether a workbook has formulas and none of them has a value.
pub(super) fn are_uncomputed(content: &[u8], dialect: Dialect) -> bool {
    let mut cells = records(content)
        .filter(|record| FORMULAS.contains(&record.kind))
        .flat_map(|record| cells_of(record.kind, record.body, dialect))
        .peekable();
    cells.peek().is_some() && cells.all(|cell| matches!(cell, CellRecord::NoValue(..)))
}

impl Formulas {
    /// Reads them out of the whole file; none where that would take much memory.
    pub(super) fn read(file: Option<&[u8]>, content: &[u8], dialect: Dialect) -> Self {
        let Some(file) = file.filter(|_| n_cells(content, dialect) <= MAX_CELLS) else {
            return Formulas(HashMap::new());
        };
        // The reader trusts what one part of a file says of another.
        let read = catch_unwind(|| {
            let mut workbook = Xls::new(Cursor::new(file)).ok()?;
            let mut formulas = HashMap::new();
            for sheet in workbook.sheet_names() {
                let Ok(range) = workbook.worksheet_formula(&sheet) else { continue };
                let (first_row, first_column) = range.start().unwrap_or_default();
                let of_sheet = range.used_cells().map(|(row, column, formula)| {
                    let row = first_row.saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
                    let column =
                        first_column.saturating_add(u32::try_from(column).unwrap_or(u32::MAX));
                    ((row, column), formula.trim_start_matches('=').to_owned())
                });
                formulas.insert(sheet, of_sheet.collect());
            }
            Some(formulas)
        });
        Formulas(read.ok().flatten().unwrap_or_default())
    }

    /// Gives what a cell is shown as.
    pub(super) fn shown(&self, sheet: &str, row: u32, column: u32) -> String {
        let formula = self.0.get(sheet).and_then(|of_sheet| of_sheet.get(&(row, column)));
        match formula.filter(|formula| !formula.is_empty()) {
            Some(formula) => format!("={formula}"),
            None => UNKNOWN_FORMULA.to_owned(),
        }
    }
}

/// Counts the cells of the rectangle from the first cell to the furthest of any sheet.
fn n_cells(content: &[u8], dialect: Dialect) -> u64 {
    let (mut n_rows, mut n_columns) = (0_u64, 0_u64);
    for record in records(content) {
        if !cells_of(record.kind, record.body, dialect).is_empty() {
            let at = |byte: usize| u16_at(record.body, byte).map_or(0, u64::from) + 1;
            // Cells side by side are in one record that ends with the last column.
            let last = if record.kind == 0x00bd { record.body.len().saturating_sub(2) } else { 2 };
            n_rows = n_rows.max(at(0));
            n_columns = n_columns.max(at(2)).max(at(last));
        }
    }
    n_rows.saturating_mul(n_columns)
}
