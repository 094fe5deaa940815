//! Excel workbooks before 2007: a stream of records, from Excel 2 to Excel 2003.
//!
//! Cells are streamed: nothing is allocated for what a sheet only claims to hold.

mod cells;
mod formulas;
mod records;
mod strings;
mod workbook;

pub(crate) use workbook::read_xls;
