//! All rows of a query, written page by page: what `query_table` would show over all its pages,
//! with the same fields, in the same order, redacted in the same way.

use std::collections::BTreeMap;
use std::io::Write;

use columns::{ColumnInfo, Kind, ParquetWriter, Query, Sort, Value as Cell};
use model::{Caller, Deadline, Warning};
use serde_json::{Map, Value};

use crate::call_zone::CallZone;
use crate::check::{checked_names, checked_sort};
use crate::describe::load_warnings;
use crate::filters::typed;
use crate::format::to_csv;
use crate::numbers::digits_of;
use crate::request::{Formulas, QueryRequest};
use crate::response::rows_shown;
use crate::secret::hide;
use crate::served_table::ServedTable;
use crate::{Error, Result, Service};

/// The most rows of one export; a query with more must be filtered.
pub const MAX_EXPORT_ROWS: u64 = 5_000_000;
/// Rows that are read at a time.
const ROWS_AT_ONCE: usize = 50_000;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// RFC 4180, with a header.
    Csv,
    /// One JSON object on each line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [ExportFormat; 3] =
        [ExportFormat::Csv, ExportFormat::JsonLines, ExportFormat::Parquet];

    /// Gives the name used in calls, which is also the extension of a file.
    pub fn as_str(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::JsonLines => "jsonl",
            ExportFormat::Parquet => "parquet",
        }
    }

    /// Gives the type for HTTP.
    pub fn media_type(self) -> &'static str {
        match self {
            ExportFormat::Csv => "text/csv; charset=utf-8",
            ExportFormat::JsonLines => "application/x-ndjson",
            ExportFormat::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// Finds a format by its name.
    pub fn named(name: &str) -> Option<Self> {
        ExportFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// What an export wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// Those that were written, without the header.
    pub n_rows: u64,
    /// Values in whose place a mark is, or nothing, since their field is secret by a name.
    pub n_marked: usize,
    /// What of the source is not in these rows as it is there: cells that did not fit, numbers
    /// that were rounded.
    pub warnings: Vec<Warning>,
}

impl Service {
    /// Counts the rows that an export would have.
    ///
    /// Fails when the request is wrong, the table does not exist for the caller, or the rows are
    /// more than [`MAX_EXPORT_ROWS`].
    pub fn check_export(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        deadline: &Deadline,
    ) -> Result<u64> {
        let table = self.table(caller, request.table.as_deref())?;
        let query = Query { limit: 0, ..planned(table, request, deadline)? };
        let total = table.ask(&query, deadline)?.total;
        if total > MAX_EXPORT_ROWS {
            return Err(Error::OutOfBounds {
                field: "export".to_owned(),
                received: format!("{total} rows"),
                expected: format!("at most {MAX_EXPORT_ROWS} rows: filter more narrowly"),
            });
        }
        Ok(total)
    }

    /// Writes all rows of a query. `redact` is given the name of a field and a text of it, and
    /// gives the text that may leave in its place, or nothing when it may leave as it is; it is
    /// asked for every field that is to be redacted.
    /// Gives the number of rows. Values of secret fields are marks whatever `redact` says.
    ///
    /// Fails as [`Service::check_export`] does, and when the rows cannot be written.
    pub fn export(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        format: ExportFormat,
        redact: &dyn Fn(&str, &str) -> Option<String>,
        out: &mut (dyn Write + Send),
        deadline: &Deadline,
    ) -> Result<Exported> {
        let total = self.check_export(caller, request, deadline)?;
        let table = self.table(caller, request.table.as_deref())?;
        let mut query = planned(table, request, deadline)?;
        let failed = |cause: std::io::Error| Error::Source {
            table: table.schema.name.clone(),
            cause: cause.into(),
        };
        let infos = infos(table, &query.columns);
        let redacted: Vec<bool> = query
            .columns
            .iter()
            .map(|name| table.schema.field(name).is_none_or(crate::schema::is_redacted))
            .collect();
        let decimals = match format {
            ExportFormat::Parquet => long_decimals(table, deadline)?,
            ExportFormat::Csv | ExportFormat::JsonLines => BTreeMap::new(),
        };
        let mut writer = Writer::new(format, out, &infos, decimals).map_err(failed)?;
        let (mut n_rows, mut n_marked) = (0, 0);
        loop {
            let answer = table.ask(&query, deadline)?;
            let n_read = answer.rows.len() as u64;
            let mut rows = answer.rows;
            for row in &mut rows {
                let cells = row.iter_mut().zip(&query.columns).zip(&redacted);
                for ((cell, name), is_redacted) in cells {
                    if table.schema.is_secret(name) {
                        n_marked += hide(cell);
                        // A column of Parquet has one type.
                        if format == ExportFormat::Parquet && !is_text(&infos, name) {
                            *cell = Cell::Null;
                        }
                    } else if *is_redacted {
                        change(cell, format, &|text| redact(name, text));
                    }
                }
            }
            writer.write(&query.columns, &rows, request.formulas).map_err(failed)?;
            n_rows += n_read;
            let is_over = n_read == 0 || n_rows >= total;
            if is_over {
                break;
            }
            match answer.next {
                Some(next) => (query.after, query.offset) = (Some(next), 0),
                // A view without keys has no positions; its rows are counted instead.
                None => query.offset += n_read,
            }
        }
        writer.finish().map_err(failed)?;
        let warnings = load_warnings(table, Some(&query.columns), deadline);
        Ok(Exported { n_rows, n_marked, warnings })
    }
}

/// Gives the columns of numbers that no float keeps: in Parquet they need a type of their own.
fn long_decimals(table: &ServedTable, deadline: &Deadline) -> Result<BTreeMap<String, Option<u8>>> {
    let report = table.engine.load_report(deadline);
    report
        .map(|report| report.long_decimals)
        .map_err(|cause| Error::of_source(&table.schema.name, cause))
}

fn is_text(columns: &[ColumnInfo], name: &str) -> bool {
    columns.iter().any(|column| column.name == name && column.kind == Kind::Text)
}

/// A number that may not leave is a mark, and nothing in Parquet, where a column has one type.
fn change(cell: &mut Cell, format: ExportFormat, redact: &dyn Fn(&str) -> Option<String>) {
    if let Some(digits) = digits_of(cell) {
        if let Some(mark) = redact(&digits) {
            *cell = match format {
                ExportFormat::Csv | ExportFormat::JsonLines => Cell::Text(mark),
                ExportFormat::Parquet => Cell::Null,
            };
        }
        return;
    }
    match cell {
        Cell::Text(text) => {
            if let Some(changed) = redact(text) {
                *text = changed;
            }
        }
        Cell::List(items) => items.iter_mut().for_each(|item| change(item, format, redact)),
        Cell::Null
        | Cell::Integer(_)
        | Cell::Real(_)
        | Cell::Decimal(_)
        | Cell::Boolean(_)
        | Cell::Timestamp(_) => {}
    }
}

fn planned(table: &ServedTable, request: &QueryRequest, deadline: &Deadline) -> Result<Query> {
    let schema = &table.schema;
    let zone =
        CallZone::of_call(table, request.time_zone.as_deref(), std::iter::empty(), deadline)?;
    let typed = typed(schema, &request.filters, &zone)?;
    let sort = checked_sort(schema, request, &typed)?;
    table.check_order(sort.iter().map(|sort| sort.id.as_str()), deadline)?;
    let sort =
        sort.into_iter().map(|sort| Sort { column: sort.id, direction: sort.direction }).collect();
    let columns = checked_names(schema, "column", request.columns.as_deref())?
        .unwrap_or_else(|| schema.column_names());
    Ok(Query {
        filters: typed.filters,
        any: typed.any,
        sort,
        ..Query::first(ROWS_AT_ONCE, columns)
    })
}

fn infos(table: &ServedTable, names: &[String]) -> Vec<ColumnInfo> {
    let known = table.engine.columns();
    names
        .iter()
        .filter_map(|name| known.iter().find(|column| column.name == *name).cloned())
        .collect()
}

/// A file being written.
enum Writer<'o> {
    Csv { out: &'o mut (dyn Write + Send), has_header: bool },
    JsonLines(&'o mut (dyn Write + Send)),
    Parquet(Box<ParquetWriter<&'o mut (dyn Write + Send)>>),
}

impl<'o> Writer<'o> {
    fn new(
        format: ExportFormat,
        out: &'o mut (dyn Write + Send),
        columns: &[ColumnInfo],
        decimals: BTreeMap<String, Option<u8>>,
    ) -> std::io::Result<Self> {
        Ok(match format {
            ExportFormat::Csv => Writer::Csv { out, has_header: false },
            ExportFormat::JsonLines => Writer::JsonLines(out),
            ExportFormat::Parquet => {
                let writer = ParquetWriter::new(out, columns.to_vec(), decimals);
                Writer::Parquet(Box::new(writer.map_err(std::io::Error::other)?))
            }
        })
    }

    fn write(
        &mut self,
        columns: &[String],
        rows: &[Vec<Cell>],
        formulas: Formulas,
    ) -> std::io::Result<()> {
        match self {
            Writer::Csv { out, has_header } => {
                let text = to_csv(columns, &rows_shown(rows), formulas);
                // The header is written once, in front of the first rows.
                let header = to_csv(columns, &[], formulas).len();
                let start = if *has_header { header } else { 0 };
                *has_header = true;
                out.write_all(&text.as_bytes()[start..])
            }
            Writer::JsonLines(out) => {
                for row in rows {
                    let cells = row.iter().map(Cell::to_row_json);
                    let object: Map<String, Value> = columns.iter().cloned().zip(cells).collect();
                    writeln!(out, "{}", Value::Object(object))?;
                }
                Ok(())
            }
            Writer::Parquet(writer) => writer.write(rows).map_err(std::io::Error::other),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Writer::Csv { out, .. } | Writer::JsonLines(out) => out.flush(),
            Writer::Parquet(writer) => writer.finish().map_err(std::io::Error::other),
        }
    }
}
