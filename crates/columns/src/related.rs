//! Columns of other tables, looked up by a key: for each row, the value of the one row over there
//! that has the same key.
//!
//! Over files the looked-up column is made once for each state of the files: codes of the key
//! become codes of the value, so that filters, facets, sorting and groups see a column like any
//! other. Over databases the statement joins ([`crate::sql`]). A key that several rows over there
//! have looks nothing up, and is counted in the report.

use std::sync::Arc;

use ahash::AHashMap;
use model::Deadline;
use parking_lot::Mutex;

use crate::column::{Codes, NULL_CODE};
use crate::load::{LoadReport, MissingKeys, RepeatedKeys};
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::{
    Aggregate, AggregateAnswer, Column, Dataset, Decimal, Error, LiveTable, Result, TableSpec,
    Value,
};

/// Columns that are looked up in another table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// What messages call the other table.
    pub table: String,
    /// Its source, as a table of its own would name it.
    pub source: String,
    /// How its key and its looked-up columns are read.
    pub spec: TableSpec,
    /// The column of this table that holds the key.
    pub on: String,
    /// Whether the key itself is a column for queries, or only there to look others up.
    pub is_on_shown: bool,
    /// The column of the other table that holds the key, one row for each.
    pub key: String,
    /// The columns: the name here, and the name over there.
    pub columns: Vec<(String, String)>,
}

/// A table over files whose rows also have columns of other files.
pub(crate) struct RelatedTable {
    base: LiveTable,
    others: Vec<(Lookup, LiveTable)>,
    joined: Mutex<Option<Joined>>,
}

/// Columns put together, and the states of the files that they were made of.
struct Joined {
    parts: Vec<Arc<Dataset>>,
    dataset: Arc<Dataset>,
}

impl RelatedTable {
    /// Puts a table and those that it looks columns up in together.
    ///
    /// Fails when a key holds several values in a cell, or a column does not exist.
    pub(crate) fn new(base: LiveTable, others: Vec<(Lookup, LiveTable)>) -> Result<Self> {
        let table = RelatedTable { base, others, joined: Mutex::new(None) };
        table.dataset()?;
        Ok(table)
    }

    /// Gives the columns of the files as they are now.
    fn dataset(&self) -> Result<Arc<Dataset>> {
        self.base.follow();
        let mut parts = vec![self.base.snapshot()];
        for (_, other) in &self.others {
            other.follow();
            parts.push(other.snapshot());
        }
        let mut joined = self.joined.lock();
        let is_current = |joined: &Joined| {
            joined.parts.iter().zip(&parts).all(|(known, now)| Arc::ptr_eq(known, now))
        };
        if let Some(joined) = joined.as_ref().filter(|joined| is_current(joined)) {
            return Ok(Arc::clone(&joined.dataset));
        }
        let lookups = self.others.iter().map(|(lookup, _)| lookup);
        let others: Vec<(&Lookup, &Dataset)> =
            lookups.zip(parts[1..].iter().map(Arc::as_ref)).collect();
        let dataset = Arc::new(join(&parts[0], &others)?);
        *joined = Some(Joined { parts, dataset: Arc::clone(&dataset) });
        Ok(dataset)
    }
}

impl Table for RelatedTable {
    fn columns(&self) -> Vec<ColumnInfo> {
        self.dataset().map_or_else(|_| self.base.columns(), |dataset| dataset.columns())
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        self.dataset()?.query(query, deadline)
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        self.dataset()?.aggregate(aggregate, deadline)
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        self.dataset()?.nearest_values(column, wanted, limit, deadline)
    }

    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport> {
        self.dataset()?.load_report(deadline)
    }

    fn staleness(&self) -> Option<String> {
        let others = self.others.iter().map(|(_, other)| other);
        std::iter::once(&self.base).chain(others).find_map(Table::staleness)
    }
}

/// Adds the looked-up columns to a table.
fn join(base: &Dataset, others: &[(&Lookup, &Dataset)]) -> Result<Dataset> {
    let is_hidden = |column: &Column| {
        others.iter().any(|(lookup, _)| lookup.on == column.name() && !lookup.is_on_shown)
    };
    let mut columns: Vec<Column> =
        base.all_columns().iter().filter(|column| !is_hidden(column)).map(Column::shared).collect();
    let mut report = base.report().clone();
    let mut version = base.version();
    for (lookup, other) in others {
        let on = single(base, &lookup.on, lookup)?;
        let rows = rows_by_key(single(other, &lookup.key, lookup)?);
        let n_repeated = rows.values().filter(|row| row.is_none()).count() as u64;
        if n_repeated > 0 {
            let repeated = RepeatedKeys { table: lookup.table.clone(), n_keys: n_repeated };
            report.repeated_keys.push(repeated);
        }
        // The row over there for each value of our key.
        let targets: Vec<Option<usize>> = std::iter::once(None)
            .chain(on.distinct_values().map(|value| rows.get(&Key::of(&value)).copied().flatten()))
            .collect();
        report.missing_keys.extend(missing_keys(lookup, on, &rows));
        for (name, column) in &lookup.columns {
            if other.report().date_columns.contains(column) {
                report.date_columns.push(name.clone());
            }
            if let Some(scale) = other.report().long_decimals.get(column) {
                report.long_decimals.insert(name.clone(), *scale);
            }
            columns.push(looked_up(name, on, &targets, single(other, column, lookup)?));
        }
        version = version.rotate_left(7) ^ other.version();
    }
    Ok(Dataset::new(columns, report, version))
}

/// Why a column with lists is refused.
pub(crate) const SEVERAL_VALUES: &str =
    "several values in a cell cannot be looked up, nor look others up";

/// Gives a column that has one value in a cell.
fn single<'d>(dataset: &'d Dataset, name: &str, lookup: &Lookup) -> Result<&'d Column> {
    let column = dataset.column(name)?;
    if column.has_lists() {
        return Err(Error::Unsupported {
            source_name: lookup.source.clone(),
            column: name.to_owned(),
            reason: SEVERAL_VALUES,
        });
    }
    Ok(column)
}

/// A value by which rows find each other: a whole number is the same however it is kept.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Whole(i64),
    Bits(u64),
    Decimal(Decimal),
    Boolean(bool),
    Moment(i64),
    Nothing,
}

impl Key {
    fn of(value: &Value) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match value {
            // An empty cell of a text file names nothing.
            Value::Text(text) if text.is_empty() => Key::Nothing,
            Value::Text(text) => Key::Text(text.clone()),
            Value::Integer(number) => Key::Whole(*number),
            Value::Real(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Key::Whole(*number as i64)
            }
            Value::Real(number) => Key::Bits(number.to_bits()),
            Value::Decimal(number) => Key::Decimal(**number),
            Value::Boolean(flag) => Key::Boolean(*flag),
            Value::Timestamp(millis) => Key::Moment(*millis),
            Value::Null | Value::List(_) => Key::Nothing,
        }
    }
}

/// Gives the row of each key; none for a key that several rows have.
fn rows_by_key(keys: &Column) -> AHashMap<Key, Option<usize>> {
    let n_rows = keys.codes.len();
    let mut row_of_code: Vec<Option<Option<usize>>> = vec![None; keys.n_distinct() + 1];
    for row in 0..n_rows {
        let code = keys.codes.get(row) as usize;
        row_of_code[code] = Some(if row_of_code[code].is_none() { Some(row) } else { None });
    }
    let rows = keys.distinct_values().zip(row_of_code.into_iter().skip(1));
    let rows = rows.filter_map(|(value, row)| Some((Key::of(&value), row?)));
    rows.filter(|(key, _)| *key != Key::Nothing).collect()
}

/// Counts our keys that no row over there has.
fn missing_keys(
    lookup: &Lookup,
    on: &Column,
    rows: &AHashMap<Key, Option<usize>>,
) -> Option<MissingKeys> {
    let mut missing = MissingKeys { table: lookup.table.clone(), n_keys: 0, n_rows: 0 };
    for (value, n_rows) in on.distinct_values().zip(&on.totals()[1..]) {
        let key = Key::of(&value);
        if key != Key::Nothing && !rows.contains_key(&key) && *n_rows > 0 {
            missing.n_keys += 1;
            missing.n_rows += u64::from(*n_rows);
        }
    }
    (missing.n_keys > 0).then_some(missing)
}

/// Makes the column that gives, for each row, the value of the row that its key names.
fn looked_up(name: &str, on: &Column, targets: &[Option<usize>], values: &Column) -> Column {
    let wanted: Vec<u32> = targets
        .iter()
        .map(|target| target.map_or(NULL_CODE, |row| values.codes.get(row)))
        .collect();
    // Only values that a row has are values of the column.
    let mut used: Vec<u32> = (0..on.codes.len())
        .map(|item| on.codes.get(item))
        .fold(vec![false; targets.len()], |mut seen, code| {
            seen[code as usize] = true;
            seen
        })
        .iter()
        .zip(&wanted)
        .filter(|(is_seen, code)| **is_seen && **code != NULL_CODE)
        .map(|(_, code)| *code)
        .collect();
    used.sort_unstable();
    used.dedup();
    let new_codes: AHashMap<u32, u32> =
        used.iter().enumerate().map(|(at, code)| (*code, at as u32 + 1)).collect();
    let renamed: Vec<u32> =
        wanted.iter().map(|code| new_codes.get(code).copied().unwrap_or(NULL_CODE)).collect();
    let codes: Vec<u32> =
        (0..on.codes.len()).map(|item| renamed[on.codes.get(item) as usize]).collect();
    let distinct = values.distinct.only(&used);
    Column::new(name.to_owned(), Codes::narrowed(codes, used.len() + 1), None, distinct)
}
