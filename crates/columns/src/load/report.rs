//! What a source held that its schema does not: counted in full, the first few named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Kind;

/// How many characters of a cell that did not fit are shown.
const SHOWN_CHARS: usize = 60;

/// How many misfits a report names.
pub const NAMED_MISFITS: usize = 10;

/// What happened when a source was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Rows in the table. No row is left out: cells that do not fit are null.
    pub n_rows: u64,
    /// Rows with at least one cell that did not fit.
    pub n_misfit_rows: u64,
    /// Cells that did not fit, and rows that were broken as a whole.
    pub n_misfits: u64,
    /// The first few of them, by line.
    pub misfits: Vec<Misfit>,
    /// Cells that were not UTF-8; their bad bytes became U+FFFD.
    pub n_not_utf8: u64,
    /// Cells that were cut, since they were longer than a cell may be.
    pub n_cut_cells: u64,
    /// Different numbers with more than 38 digits: they were rounded to fifteen or more.
    #[serde(default)]
    pub n_rounded: u64,
    /// The cells that did not fit, by column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub misfits_by_column: BTreeMap<String, u64>,
    /// The rounded numbers, by column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rounded_by_column: BTreeMap<String, u64>,
    /// Values that were repeated in one list, and kept once.
    #[serde(default)]
    pub n_repeated_in_lists: u64,
    /// Nulls inside of lists, which were left out.
    #[serde(default)]
    pub n_nulls_in_lists: u64,
    /// Columns of numbers with more digits than whole numbers of 64 bits or floats keep, all of
    /// which are kept: with how many of them are behind the point, where that is the same for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub long_decimals: BTreeMap<String, Option<u8>>,
    /// The encoding that the text was read in, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The member of a JSON object that holds the rows; its other members are not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_of: Option<String>,
    /// Rows above the names of the columns, such as a title, that are no rows of the table.
    #[serde(default)]
    pub n_above_header: u64,
    /// Empty cells that have the value of the merged cell that they are part of.
    #[serde(default)]
    pub n_merged_cells: u64,
    /// Cells of workbooks with formulas whose results were never computed, by column: they are
    /// null.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_computed_by_column: BTreeMap<String, u64>,
    /// Columns of delimited text whose cells are always between quotes: digits there may be meant
    /// as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted_columns: Vec<String>,
    /// Columns that some files of a folder do not have: their cells are null there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_in_files: Vec<MissingInFiles>,
    /// Columns of timestamps whose cells are dates without a time of day: no time zone applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub date_columns: Vec<String>,
    /// Keys of other tables that several rows there have, so that they look nothing up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated_keys: Vec<RepeatedKeys>,
    /// Our keys that no row of another table has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_keys: Vec<MissingKeys>,
    #[serde(skip)]
    rows: Vec<u32>,
}

/// A column that some files of a folder do not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingInFiles {
    /// Its name in the schema.
    pub column: String,
    /// How many files do not have it.
    pub n_files: u64,
}

/// Keys of one table that several of its rows have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedKeys {
    /// The table that columns are looked up in.
    pub table: String,
    /// How many of its keys.
    pub n_keys: u64,
}

/// Keys that no row of another table has: what is looked up by them is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingKeys {
    /// The table that columns are looked up in.
    pub table: String,
    /// How many different keys.
    pub n_keys: u64,
    /// How many of our rows have them.
    pub n_rows: u64,
}

/// One cell or row that did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misfit {
    /// The line where the row starts, from 1; in formats without lines the row, from 1.
    pub line: u64,
    /// The key of the row, in a database; the line says nothing there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The column, or none when the whole row is meant.
    pub column: Option<String>,
    /// What is wrong, without the source's own text.
    pub problem: String,
    /// The start of the cell as the source has it, for the operator's eyes: it is neither
    /// redacted nor safe to show to a model.
    pub found: Option<String>,
}

impl LoadReport {
    /// Tells whether everything fitted.
    pub fn is_clean(&self) -> bool {
        self.n_misfits == 0 && self.n_not_utf8 == 0 && self.n_cut_cells == 0
    }

    /// Makes the report of a database's table: everything was counted there.
    pub(crate) fn of_database(
        n_rows: u64,
        n_misfit_rows: u64,
        n_misfits: u64,
        misfits: Vec<Misfit>,
    ) -> Self {
        LoadReport { n_rows, n_misfit_rows, n_misfits, misfits, ..LoadReport::default() }
    }

    pub(crate) fn add_misfit(&mut self, row: usize, misfit: Misfit) {
        self.n_misfits += 1;
        if let Some(column) = &misfit.column {
            *self.misfits_by_column.entry(column.clone()).or_default() += 1;
        }
        self.rows.push(row as u32);
        self.misfits.push(misfit);
        // Columns report one after the other, so the first lines are known only at the end;
        // sorting now and then keeps the list short meanwhile.
        if self.misfits.len() >= 64 * NAMED_MISFITS {
            self.shorten();
        }
    }

    /// Remembers that numbers of a column were rounded.
    pub(crate) fn add_rounded(&mut self, column: &str, n_rounded: u64) {
        if n_rounded > 0 {
            self.n_rounded += n_rounded;
            *self.rounded_by_column.entry(column.to_owned()).or_default() += n_rounded;
        }
    }

    pub(crate) fn close(&mut self, n_rows: usize) {
        self.n_rows = n_rows as u64;
        self.rows.sort_unstable();
        self.rows.dedup();
        self.n_misfit_rows = self.rows.len() as u64;
        self.rows = Vec::new();
        self.shorten();
    }

    fn shorten(&mut self) {
        self.misfits.sort_by_key(|misfit| misfit.line);
        self.misfits.truncate(NAMED_MISFITS);
    }
}

impl Misfit {
    /// Names a row that is broken as a whole.
    pub(crate) fn of_row(line: u64, problem: impl Into<String>) -> Self {
        Misfit { line, key: None, column: None, problem: problem.into(), found: None }
    }

    /// Names a cell that is not of its column's kind.
    pub(crate) fn of_cell(line: u64, column: &str, kind: Kind, found: &str) -> Self {
        let mut shown: String = found.chars().take(SHOWN_CHARS).collect();
        if shown.len() < found.len() {
            shown.push('…');
        }
        Misfit {
            line,
            key: None,
            column: Some(column.to_owned()),
            problem: format!("the cell is not one of the {}", kind.as_str()),
            found: Some(shown),
        }
    }
}
