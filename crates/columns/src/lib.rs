//! Rows in, filtered, faceted and sorted pages out: the engine under `query_table` and charts.
//!
//! A file becomes Arrow columns once ([`Dataset`]): each column is a sorted list of its distinct
//! values and one small code per row. A filter tests each distinct value once and becomes a set
//! of codes; a facet counts codes; a sort compares codes and keeps only a page; extremes are the
//! lowest and highest code that were counted. All of it happens in one pass over the rows.
//! [`LiveTable`] keeps the columns in memory-mapped files and follows the source when it
//! changes. [`open`] also takes tables of SQLite and PostgreSQL, which are queried in place with
//! parametrised statements; all give the same answers, behind [`Table`].
//!
//! What is *not* here: who may ask ([`model::Caller`] is checked a rank above), JSON schemas,
//! formats of answers, SQL from outside (there is no way in).
//!
//! ```
//! use std::time::Duration;
//! use columns::{ColumnSpec, Dataset, Filter, Kind, Query, Range, Table, TableSpec, Test, Value};
//! use model::Deadline;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("requests.csv");
//! fs_err::write(&path, "host,latency\na.example,120\nb.example,80\na.example,oops\n").unwrap();
//!
//! let spec = TableSpec::of(vec![
//!     ColumnSpec::new("host", Kind::Text),
//!     ColumnSpec::new("latency", Kind::Number),
//! ]);
//! let requests = Dataset::read(&path, &spec).unwrap();
//! assert_eq!(requests.report().misfits[0].line, 4);
//!
//! let mut query = Query::first(10, vec!["host".into(), "latency".into()]);
//! query.filters.push(Filter::new(
//!     "latency",
//!     Test::Within(vec![Range { low: Value::Integer(100), high: Value::Integer(500) }]),
//! ));
//! query.facets.push("host".into());
//! let answer = requests.query(&query, &Deadline::after(Duration::from_secs(1))).unwrap();
//! assert_eq!(answer.total, 1);
//! assert_eq!(answer.facets[0].rows[0].value, Value::from("a.example"));
//! ```
#![doc(test(attr(deny(warnings))))]

mod aggregate;
mod decimal;
mod moment;
mod month_names;
mod numeral;
mod query;
mod spec;
mod value;
mod written_date;
mod zone;

mod column;
mod dataset;
mod load;
mod scan;
mod shown;
mod suggest;

mod cache;
mod live;
mod mapped;

mod away;
mod parquet_out;
mod related;
mod source;
mod sql;

pub mod bench;
mod error;

pub use aggregate::{
    Aggregate, AggregateAnswer, GroupBy, Grouping, Having, LAST_RANGE, MAX_AGGREGATE_GROUPS,
    MAX_DATABASE_GROUPS, Measure, Op, Output, OutputSort,
};
pub use away::ReopeningTable;
pub use column::Column;
pub use dataset::Dataset;
pub use decimal::Decimal;
pub use error::{Error, Result, is_of_source};
pub use live::{INLINE_RELOAD_BYTES, LiveTable};
pub use load::{
    Format, LoadReport, MAX_CELL_BYTES, MAX_COLUMNS, MAX_ROWS, MAX_SOURCE_BYTES, Misfit,
    MissingInFiles, MissingKeys, NAMED_MISFITS, RepeatedKeys, sheets_of, stat,
};
pub use moment::{
    Bucket, DAY_MILLIS, DateOrder, Epoch, parse as parse_moment, parse_ordered, to_iso,
};
pub use numeral::{DecimalMark, Numeral, read_numeral};
pub use parquet_out::ParquetWriter;
pub use query::{
    Answer, AnyGroup, Bars, Case, ColumnInfo, Direction, Distribution, Facet, FacetRow, Filter,
    MAX_SINGLE_VALUES, MAX_SORTS, Position, Query, Range, RowMark, SeriesAnswer, SeriesPoint,
    Sight, Sort, Table, Test, TimeSeries, Unmatched,
};
pub use related::Lookup;
pub use scan::{AUTO_POINTS, GroupQuery, GroupSum, MAX_GROUPS, MAX_POINTS, series};
pub use source::{keep_columns_of, open, open_related};
pub use spec::{Cells, ColumnSpec, FLAG_WORDS, Kind, NULL_WORDS, TableSpec};
pub use sql::{
    DatabaseColumn, DatabaseSample, PostgresTable, SqliteTable, is_sqlite, postgres_sample,
    postgres_tables, sqlite_sample, sqlite_tables,
};
pub use suggest::{MAX_COMPARED, likeness};
pub use value::Value;
pub use written_date::three_numbers;
pub use zone::{Calendar, Zone};

#[cfg(test)]
mod contract;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
