//! A table in columns, whole and unchanging: what one version of a file holds.

use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use model::Deadline;

use crate::column::Distinct;
use crate::load::{self, LoadReport};
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::{Aggregate, AggregateAnswer, Column, Error, Result, TableSpec, Value, scan, suggest};

/// A loaded table. Queries take `&self` and run side by side.
///
/// ```
/// use columns::{Dataset, TableSpec};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rates.csv");
/// fs_err::write(&path, "year,rate\n2023,4.95\n2024,4.97\n").unwrap();
///
/// let rates = Dataset::read(&path, &TableSpec::all_text()).unwrap();
/// assert_eq!(rates.column("rate").unwrap().text(1), Some("4.97"));
/// ```
#[derive(Debug)]
pub struct Dataset {
    columns: Vec<Column>,
    n_rows: usize,
    report: LoadReport,
    version: u64,
}

impl Dataset {
    /// Reads a CSV, TSV, JSON, JSON lines or Parquet file into memory.
    ///
    /// Fails when the file cannot be read at all or lacks a column of the specification; cells
    /// that do not fit become null and are in [`Dataset::report`].
    pub fn read(path: &Path, spec: &TableSpec) -> Result<Self> {
        let (columns, report) = load::read_file(path, spec)?;
        Ok(Dataset::new(columns, report, 0))
    }

    pub(crate) fn new(columns: Vec<Column>, report: LoadReport, version: u64) -> Self {
        Dataset { columns, n_rows: report.n_rows as usize, report, version }
    }

    /// Counts the rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Finds a column; one that is not there is the caller's mistake.
    pub fn column(&self, name: &str) -> Result<&Column> {
        Ok(&self.columns[self.column_idx(name)?])
    }

    /// Gives the columns in the order of the specification.
    pub fn all_columns(&self) -> &[Column] {
        &self.columns
    }

    /// Tells what did not fit.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// Gives a number that changes with the content of the source.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Counts the bytes of all columns.
    pub fn n_bytes(&self) -> usize {
        self.columns.iter().map(Column::n_bytes).sum()
    }

    pub(crate) fn column_idx(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column.name() == name).ok_or_else(|| {
            Error::UnknownColumn {
                column: name.to_owned(),
                known: self.columns.iter().map(|column| column.name().to_owned()).collect(),
            }
        })
    }

    /// Hashes a row's values, so that the row is found again in another version of the data.
    pub(crate) fn row_hash(&self, row: usize) -> u64 {
        let mut hasher = ahash::RandomState::with_seeds(5, 6, 7, 8).build_hasher();
        for column in &self.columns {
            hash_value(&mut hasher, &column.value(row));
        }
        hasher.finish()
    }
}

fn hash_value(hasher: &mut impl Hasher, value: &Value) {
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Text(text) => {
            hasher.write_u8(1);
            hasher.write(text.as_bytes());
        }
        // A column of integers becomes one of reals when one real is added to the file, so both
        // hash as the same number.
        Value::Integer(number) => hasher.write_u64((*number as f64).to_bits()),
        Value::Real(number) => hasher.write_u64(number.to_bits()),
        Value::Decimal(number) => hasher.write(number.to_string().as_bytes()),
        Value::Boolean(flag) => hasher.write_u8(2 + u8::from(*flag)),
        Value::Timestamp(millis) => hasher.write_i64(*millis),
        Value::List(values) => {
            hasher.write_usize(values.len());
            for value in values {
                hash_value(hasher, value);
            }
        }
    }
}

impl Table for Dataset {
    fn columns(&self) -> Vec<ColumnInfo> {
        self.columns
            .iter()
            .map(|column| ColumnInfo {
                name: column.name().to_owned(),
                kind: column.kind(),
                has_lists: column.has_lists(),
                is_whole: matches!(column.distinct, Distinct::Integers(_)),
            })
            .collect()
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        scan::run(self, query, deadline)
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        aggregate.check(&self.columns())?;
        scan::aggregate(self, aggregate, deadline)
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        let column = self.column(column)?;
        suggest::nearest(column.distinct_values(), wanted, limit, deadline)
    }

    fn load_report(&self, _deadline: &Deadline) -> Result<LoadReport> {
        Ok(self.report.clone())
    }
}
