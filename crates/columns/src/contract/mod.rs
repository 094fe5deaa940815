//! Proves that columns in memory, SQLite and PostgreSQL give the same rows, totals, facets,
//! extremes, series and continuations as a plain scan over the rows, for thousands of random
//! queries over random tables.

use std::collections::BTreeMap;
use std::path::Path;

use model::SplitMix64;

use crate::tests::deadline;
use crate::{
    AnyGroup, Bucket, Case, ColumnSpec, Dataset, Direction, FacetRow, Filter, Kind, Query, Range,
    Sort, SqliteTable, Table, TableSpec, Test, TimeSeries, Value,
};

pub(crate) use random::{directed, passes_all, random_any, random_filters};
use random::{random_query, random_value};

const N_ROWS: usize = 200;
const N_QUERIES: usize = 600;

#[test]
fn columns_and_sqlite_answer_like_a_plain_scan_with_moments_as_text() {
    check_table(0, Moments::Iso);
}

#[test]
fn columns_and_sqlite_answer_like_a_plain_scan() {
    check_table(1, Moments::Millis);
}

#[test]
fn columns_and_sqlite_answer_like_a_plain_scan_again() {
    check_table(2, Moments::Millis);
}

#[test]
fn columns_and_sqlite_answer_like_a_plain_scan_once_more() {
    check_table(3, Moments::Millis);
}

fn check_table(seed: u64, moments: Moments) {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::random(seed);
    let csv = folder.path().join("rows.csv");
    fs_err::write(&csv, model.to_csv()).unwrap();
    let spec = TableSpec { null_values: vec!["\\N".into()], ..spec() };
    let dataset = Dataset::read(&csv, &spec).unwrap();
    assert!(dataset.report().is_clean(), "{:?}", dataset.report());
    let database = folder.path().join("rows.db");
    model.fill_sqlite(&database, moments);
    let sqlite = SqliteTable::open(&database, "rows", &spec).unwrap();
    model.check(&[&dataset, &sqlite], seed + 100, N_QUERIES);
    model.check_aggregates(&[&dataset, &sqlite], seed + 200, N_QUERIES);
}

pub(crate) fn spec() -> TableSpec {
    TableSpec::of(vec![
        ColumnSpec::new("name", Kind::Text),
        ColumnSpec::new("size", Kind::Number),
        ColumnSpec::new("ratio", Kind::Number),
        ColumnSpec::new("ok", Kind::Boolean),
        ColumnSpec::new("at", Kind::Timestamp),
    ])
}

/// Rows that can be scanned naively.
pub(crate) struct Model {
    pub(crate) rows: Vec<Vec<Value>>,
}

/// What was asked when an answer was wrong; printed only then.
struct Context<'q> {
    place: usize,
    n_asked: usize,
    query: &'q Query,
}

impl std::fmt::Display for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "table {}, query {}: {:#?}", self.place, self.n_asked, self.query)
    }
}

/// How a database without a type for moments keeps them.
#[derive(Clone, Copy)]
enum Moments {
    Iso,
    Millis,
}

/// A small generator, the same everywhere.
pub(crate) struct Numbers(SplitMix64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(SplitMix64(seed))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

const NAMES: [&str; 12] =
    ["", "a", "A", "ab", "abc", "B", "ș", "Ș", "日本", "x,y", "say \"hi\"", "line\nbreak"];
/// The first of January 2024.
const START: i64 = 1_704_067_200_000;

impl Model {
    pub(crate) fn random(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let rows = (0..N_ROWS)
            .map(|_| (0..5).map(|column| random_value(&mut numbers, column)).collect())
            .collect();
        Model { rows }
    }

    fn to_csv(&self) -> String {
        let mut csv = "name,size,ratio,ok,at\n".to_owned();
        for row in &self.rows {
            let cells: Vec<String> = row
                .iter()
                .map(|value| match value {
                    Value::Null => "\\N".to_owned(),
                    Value::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
                    Value::Integer(_)
                    | Value::Real(_)
                    | Value::Decimal(_)
                    | Value::Boolean(_)
                    | Value::Timestamp(_)
                    | Value::List(_) => {
                        value.to_row_json().to_string().trim_matches('"').to_owned()
                    }
                })
                .collect();
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
        csv
    }

    fn fill_sqlite(&self, path: &Path, moments: Moments) {
        let database = rusqlite::Connection::open(path).unwrap();
        database
            .execute_batch(
                "CREATE TABLE rows (name TEXT, size INTEGER, ratio REAL, ok INTEGER, at); BEGIN",
            )
            .unwrap();
        for row in &self.rows {
            let cells: Vec<rusqlite::types::Value> = row
                .iter()
                .map(|value| match value {
                    Value::Null | Value::List(_) => rusqlite::types::Value::Null,
                    Value::Text(text) => text.clone().into(),
                    Value::Integer(number) => (*number).into(),
                    Value::Real(number) => (*number).into(),
                    Value::Decimal(number) => number.to_string().into(),
                    Value::Boolean(flag) => i64::from(*flag).into(),
                    Value::Timestamp(millis) => match moments {
                        Moments::Iso => crate::to_iso(*millis).into(),
                        Moments::Millis => (*millis).into(),
                    },
                })
                .collect();
            database
                .execute(
                    "INSERT INTO rows VALUES (?, ?, ?, ?, ?)",
                    rusqlite::params_from_iter(cells),
                )
                .unwrap();
        }
        database.execute_batch("COMMIT").unwrap();
    }

    /// Asks random queries of all tables and compares each answer with a plain scan.
    pub(crate) fn check(&self, tables: &[&dyn Table], seed: u64, n_queries: usize) {
        let mut numbers = Numbers::new(seed);
        for n_asked in 0..n_queries {
            let query = random_query(&mut numbers);
            let passing = self.passing(&query);
            for (place, table) in tables.iter().enumerate() {
                let context = Context { place, n_asked, query: &query };
                let context = &context;
                let answer = table.query(&query, &deadline()).unwrap();
                assert_eq!(answer.total, passing.len() as u64, "{context}");
                let page: Vec<Vec<Value>> = passing
                    .iter()
                    .skip(query.offset as usize)
                    .take(query.limit)
                    .map(|row| row.iter().map(plain).collect())
                    .collect();
                let rows: Vec<Vec<Value>> =
                    answer.rows.iter().map(|row| row.iter().map(plain).collect()).collect();
                assert_eq!(rows, page, "{context}");
                for (facet, name) in answer.facets.iter().zip(&query.facets) {
                    self.check_facet(&passing, facet, name, query.facet_rows, context);
                }
                if let Some(series) = &answer.series {
                    self.check_series(&passing, series, &query, context);
                }
                let has_more = passing.len() as u64 > query.offset + query.limit as u64;
                assert_eq!(answer.next.is_some(), has_more && query.limit > 0, "{context}");
                if answer.next.is_some() {
                    let next = Query { after: answer.next, offset: 0, ..query.clone() };
                    let continued = table.query(&next, &deadline()).unwrap();
                    let skipped = query.offset as usize + query.limit;
                    let page: Vec<Vec<Value>> = passing
                        .iter()
                        .skip(skipped)
                        .take(query.limit)
                        .map(|row| row.iter().map(plain).collect())
                        .collect();
                    let rows: Vec<Vec<Value>> =
                        continued.rows.iter().map(|row| row.iter().map(plain).collect()).collect();
                    assert_eq!(rows, page, "continued, {context}");
                }
            }
        }
    }

    fn passing(&self, query: &Query) -> Vec<&Vec<Value>> {
        let mut rows: Vec<&Vec<Value>> =
            self.rows.iter().filter(|row| passes_all(row, &query.filters, &query.any)).collect();
        rows.sort_by(|left, right| {
            query
                .sort
                .iter()
                .map(|sort| {
                    let idx = column_idx(&sort.column);
                    directed(&left[idx], &right[idx], sort.direction)
                })
                .find(|by| by.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        rows
    }

    fn check_facet(
        &self,
        passing: &[&Vec<Value>],
        facet: &crate::Facet,
        name: &str,
        limit: usize,
        context: &Context<'_>,
    ) {
        let idx = column_idx(name);
        let mut counts: Vec<FacetRow> = Vec::new();
        for row in passing {
            let value = plain(&row[idx]);
            match counts.iter_mut().find(|count| count.value == value) {
                Some(count) => count.total += 1,
                None => counts.push(FacetRow { value, total: 1 }),
            }
        }
        assert_eq!(facet.n_values, counts.len() as u64, "{name}, {context}");
        assert_eq!(facet.total, passing.len() as u64, "{name}, {context}");
        counts.sort_by(|left, right| {
            let by_value = match (&left.value, &right.value) {
                (Value::Null, Value::Null) => std::cmp::Ordering::Equal,
                (Value::Null, _) => std::cmp::Ordering::Less,
                (_, Value::Null) => std::cmp::Ordering::Greater,
                (left, right) => compare(left, right),
            };
            right.total.cmp(&left.total).then(by_value)
        });
        let has_order = matches!(name, "size" | "ratio" | "at");
        let mut values: Vec<&Value> = counts
            .iter()
            .map(|count| &count.value)
            .filter(|value| **value != Value::Null)
            .collect();
        values.sort_by(|left, right| compare(left, right));
        let min = values.first().filter(|_| has_order).map(|value| (*value).clone());
        let max = values.last().filter(|_| has_order).map(|value| (*value).clone());
        assert_eq!(facet.min.as_ref().map(plain), min, "{name}, {context}");
        assert_eq!(facet.max.as_ref().map(plain), max, "{name}, {context}");
        if let Some(spread) = &facet.distribution {
            let numbers: Vec<&Value> = passing
                .iter()
                .map(|row| &row[idx])
                .filter(|value| **value != Value::Null)
                .collect();
            check_distribution(&numbers, spread, &format!("{name}, {context}"));
            return;
        }
        counts.truncate(limit);
        let rows: Vec<FacetRow> = facet
            .rows
            .iter()
            .map(|row| FacetRow { value: plain(&row.value), total: row.total })
            .collect();
        assert_eq!(rows, counts, "{name}, {context}");
    }

    fn check_series(
        &self,
        passing: &[&Vec<Value>],
        series: &crate::SeriesAnswer,
        query: &Query,
        context: &Context<'_>,
    ) {
        let wanted = query.series.as_ref().unwrap();
        let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
        let mut n_without_time = 0;
        for row in passing {
            let Value::Timestamp(millis) = row[4] else {
                n_without_time += 1;
                continue;
            };
            let amount = match &wanted.sum {
                None => 1.0,
                Some(name) => row[column_idx(name)].as_f64().unwrap_or(0.0),
            };
            *sums.entry(series.bucket.index_of(millis)).or_default() += amount;
        }
        assert_eq!(series.n_without_time, n_without_time, "{context}");
        let (Some(first), Some(last)) = (sums.keys().next(), sums.keys().last()) else {
            assert!(series.points.is_empty(), "{context}");
            return;
        };
        assert_eq!(series.points.len() as i64, last - first + 1, "{context}");
        for (point, index) in series.points.iter().zip(*first..) {
            assert_eq!(point.start, series.bucket.start_of(index), "{context}");
            let expected = sums.get(&index).copied().unwrap_or(0.0);
            assert!((point.value - expected).abs() < 1e-6, "{point:?} {expected} {context}");
        }
    }
}

/// Every value lies in one bar, and each quantile has so many values at or below it.
fn check_distribution(values: &[&Value], spread: &crate::Distribution, context: &str) {
    let n = values.len() as u64;
    assert_eq!(spread.totals.iter().sum::<u64>(), n, "{context}");
    for (percent, quantile) in &spread.quantiles {
        let n_below = |is_below: fn(std::cmp::Ordering) -> bool| {
            values.iter().filter(|value| is_below(compare(value, quantile))).count() as u64
        };
        let wanted = n * u64::from(*percent);
        assert!(n_below(std::cmp::Ordering::is_le) * 100 >= wanted, "{percent} {context}");
        assert!(n_below(std::cmp::Ordering::is_lt) * 100 < wanted, "{percent} {context}");
    }
    for (bar, total) in spread.totals.iter().enumerate() {
        let (low, high) = match spread.bars {
            crate::Bars::Numbers { start, width } => {
                (start + width * bar as f64, start + width * (bar + 1) as f64)
            }
            crate::Bars::Time { start, bucket } => {
                let first = bucket.index_of(start) + bar as i64;
                (bucket.start_of(first) as f64, bucket.start_of(first + 1) as f64)
            }
        };
        let is_last = bar + 1 == spread.totals.len();
        let n_inside = values
            .iter()
            .filter_map(|value| value.as_f64())
            .filter(|value| *value >= low && (*value < high || is_last))
            .count() as u64;
        assert_eq!(*total, n_inside, "bar {bar}, {context}");
    }
}

/// The plain meaning of a test.
fn passes(value: &Value, test: &Test) -> bool {
    match test {
        Test::Contains { text, case: Case::Sensitive } => {
            value.as_str().is_some_and(|cell| cell.contains(text))
        }
        Test::Contains { text, case: Case::Ignored } => {
            value.as_str().is_some_and(|cell| cell.to_lowercase().contains(&text.to_lowercase()))
        }
        Test::AnyOf(values) => values.contains(value),
        Test::Within(ranges) => ranges.iter().any(|range| {
            *value != Value::Null
                && (range.low == Value::Null || compare(value, &range.low).is_ge())
                && (range.high == Value::Null || compare(value, &range.high).is_le())
        }),
        Test::HasPrefix(prefixes) => prefixes
            .iter()
            .any(|prefix| value.as_str().is_some_and(|cell| cell.starts_with(prefix.as_str()))),
        Test::HoldsAll(lists) => lists.iter().any(|list| list.iter().all(|wanted| wanted == value)),
        Test::Not(inner) => !passes(value, inner),
    }
}

pub(crate) fn compare(left: &Value, right: &Value) -> std::cmp::Ordering {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (left, right) => left.as_f64().unwrap().total_cmp(&right.as_f64().unwrap()),
    }
}

/// Whole reals and integers are the same number.
pub(crate) fn plain(value: &Value) -> Value {
    if let Value::Integer(number) = value { Value::Real(*number as f64) } else { value.clone() }
}

pub(crate) const NAMES_OF_COLUMNS: [&str; 5] = ["name", "size", "ratio", "ok", "at"];

pub(crate) fn column_idx(name: &str) -> usize {
    NAMES_OF_COLUMNS.iter().position(|known| *known == name).unwrap()
}

/// Writes a cell that did not fit on one line.
fn misfit_line(misfit: &crate::Misfit) -> String {
    format!(
        "row {}, {}: {}",
        misfit.key.as_deref().unwrap_or("?"),
        misfit.column.as_deref().unwrap_or("?"),
        misfit.found.as_deref().unwrap_or("?")
    )
}

mod aggregate;
mod decimals;
mod lists;
mod long_numbers;
mod postgres;
mod random;
mod related;
mod sqlite;
