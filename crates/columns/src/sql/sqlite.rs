//! A table of a SQLite file, read in place.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use model::Deadline;
use parking_lot::Mutex;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags};

use super::answer::{self, Cell, Item, Run};
use super::join::{self, Join};
use super::statement::{Dates, Dialect, ITEM, Key, List, SqlColumn, Statement, Target, quoted};
use super::{aggregate, fit, functions};
use crate::cache::Stamp;
use crate::load::{is_rounded_to, number_of};
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::related::Lookup;
use crate::spec::NULL_WORDS;
use crate::spec::flag_of;
use crate::{
    Aggregate, AggregateAnswer, Cells, ColumnSpec, Epoch, Error, Kind, LoadReport, Result,
    TableSpec, Value, moment, suggest,
};

/// Connections that are kept open between queries.
const MAX_IDLE: usize = 4;
/// Steps of SQLite's machine between two looks at the clock.
const STEPS_PER_CHECK: i32 = 10_000;

/// A table or view of a SQLite file. The file is opened read-only; cells that do not fit their
/// type are null, and the report counts them.
pub struct SqliteTable {
    path: PathBuf,
    source_name: String,
    target: Target,
    idle: Mutex<Vec<Connection>>,
    /// What was found when the file last looked like this.
    checked: Mutex<Option<(Outside, LoadReport)>>,
}

/// The start of a SQLite file, which counts its changes.
const HEADER_BYTES: usize = 100;

/// What tells two states of a file apart: its outside and its header, and the outside of the log
/// that holds changes until they come into the file.
type Outside = (Option<Stamp>, Option<[u8; HEADER_BYTES]>, Option<Stamp>);

impl SqliteTable {
    /// Opens a table and checks its columns.
    pub fn open(path: &Path, table: &str, spec: &TableSpec) -> Result<Self> {
        SqliteTable::open_related(path, table, spec, &[])
    }

    /// Opens a table whose rows also have columns of other tables of the same file.
    pub(crate) fn open_related(
        path: &Path,
        table: &str,
        spec: &TableSpec,
        lookups: &[(&Lookup, &str)],
    ) -> Result<Self> {
        let source_name = format!("sqlite:{}#{table}", path.display());
        let failed = |cause| Error::Sqlite { source_name: source_name.clone(), cause };
        let connection = connect(path).map_err(failed)?;
        let known = column_names(&connection, table).map_err(failed)?;
        let mut columns = sql_columns(&source_name, table, &known, spec)?;
        let mut keys = keys(&connection, table, &known);
        let mut from = quoted(table);
        let mut joins = Vec::new();
        for (lookup, other) in lookups {
            join::check_single(&source_name, &spec.columns, lookup)?;
            let source_name = format!("sqlite:{}#{other}", path.display());
            let known = column_names(&connection, other)
                .map_err(|cause| Error::Sqlite { source_name: source_name.clone(), cause })?;
            let others = sql_columns(&source_name, other, &known, &lookup.spec)?;
            joins.push(Join::new(lookup, quoted(other), &columns, &others)?);
        }
        if !joins.is_empty() {
            let (joined, added, joined_keys) =
                join::joined(Dialect::Sqlite, &from, "dowse_row", keys, &joins);
            (from, keys) = (joined, joined_keys);
            columns.extend(added);
        }
        let letters = String::new();
        let target = Target { dialect: Dialect::Sqlite, from, columns, keys, joins, letters };
        Ok(SqliteTable {
            path: path.to_owned(),
            source_name: source_name.clone(),
            target,
            idle: Mutex::new(vec![connection]),
            checked: Mutex::new(None),
        })
    }

    fn outside(&self) -> Outside {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let mut header = [0; HEADER_BYTES];
        let read = fs_err::File::open(&self.path).and_then(|mut file| file.read_exact(&mut header));
        let header = read.is_ok().then_some(header);
        (Stamp::of(&self.path).ok(), header, Stamp::of(Path::new(&log)).ok())
    }

    /// Runs work in one read transaction, so that all statements see the same rows.
    fn with<T>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let failed = |cause| Error::Sqlite { source_name: self.source_name.clone(), cause };
        let kept = self.idle.lock().pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => connect(&self.path).map_err(failed)?,
        };
        let watched = deadline.clone();
        connection
            .progress_handler(STEPS_PER_CHECK, Some(move || watched.is_over()))
            .map_err(failed)?;
        connection.execute_batch("BEGIN DEFERRED").map_err(failed)?;
        let mut transaction = Transaction { connection: &connection, table: self, deadline };
        let outcome = work(&mut transaction);
        let is_closed = connection.execute_batch("ROLLBACK").is_ok();
        let mut idle = self.idle.lock();
        if is_closed && idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        outcome
    }
}

impl Table for SqliteTable {
    fn columns(&self) -> Vec<ColumnInfo> {
        self.target
            .columns
            .iter()
            .map(|column| ColumnInfo {
                name: column.name.clone(),
                kind: column.kind,
                has_lists: column.list.is_some(),
                // A column of SQLite holds whatever was put into it.
                is_whole: false,
            })
            .collect()
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        self.with(deadline, |run| answer::answer(&self.target, run, query))
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        aggregate.check(&self.columns())?;
        self.with(deadline, |run| aggregate::aggregate(&self.target, run, aggregate))
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        let values =
            self.with(deadline, |run| answer::near(&self.target, run, column, wanted, limit))?;
        suggest::nearest(values.into_iter(), wanted, limit, deadline)
    }

    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport> {
        let outside = self.outside();
        if let Some((at, report)) = &*self.checked.lock()
            && *at == outside
        {
            return Ok(report.clone());
        }
        let report = self.with(deadline, |run| fit::report(&self.target, run))?;
        *self.checked.lock() = Some((outside, report.clone()));
        Ok(report)
    }
}

struct Transaction<'c> {
    connection: &'c Connection,
    table: &'c SqliteTable,
    deadline: &'c Deadline,
}

impl Run for Transaction<'_> {
    fn run(&mut self, statement: &Statement, shape: &[Cell]) -> Result<Vec<Vec<Value>>> {
        self.rows(statement, shape).map_err(|cause| {
            if self.deadline.is_over() {
                return Error::TimedOut;
            }
            Error::Sqlite { source_name: self.table.source_name.clone(), cause }
        })
    }
}

impl Transaction<'_> {
    fn rows(&self, statement: &Statement, shape: &[Cell]) -> rusqlite::Result<Vec<Vec<Value>>> {
        let mut prepared = self.connection.prepare_cached(&statement.sql)?;
        let mut rows =
            prepared.query(rusqlite::params_from_iter(statement.parameters.iter().map(Bound)))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = shape.iter().enumerate();
            found.push(
                cells
                    .map(|(at, cell)| row.get_ref(at).map(|value| take(value, *cell)))
                    .collect::<rusqlite::Result<_>>()?,
            );
        }
        Ok(found)
    }
}

/// A parameter.
struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null | Value::List(_) => ValueRef::Null,
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Integer(number) | Value::Timestamp(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            // No number here has more digits than a float.
            Value::Decimal(number) => return Ok(number.as_f64().into()),
            Value::Boolean(flag) => ValueRef::Integer(i64::from(*flag)),
        }))
    }
}

fn take(value: ValueRef<'_>, cell: Cell) -> Value {
    match (cell, value) {
        (Cell::List(items), ValueRef::Text(bytes)) => listed(bytes, items),
        (Cell::List(_), _) => Value::List(Vec::new()),
        (_, ValueRef::Null) => Value::Null,
        (Cell::Boolean, ValueRef::Integer(flag)) => Value::Boolean(flag != 0),
        (Cell::Moment, ValueRef::Integer(millis)) => Value::Timestamp(millis),
        (_, ValueRef::Integer(number)) => Value::Integer(number),
        (_, ValueRef::Real(number)) => Value::Real(number),
        (Cell::Real, ValueRef::Text(digits)) => {
            Value::number(&String::from_utf8_lossy(digits)).unwrap_or(Value::Null)
        }
        (_, ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// Reads a list as [`functions`] write one.
fn listed(json: &[u8], items: Item) -> Value {
    let read: Vec<serde_json::Value> = serde_json::from_slice(json).unwrap_or_default();
    let value = |item: serde_json::Value| match (items, item) {
        (_, serde_json::Value::String(text)) => Value::Text(text),
        (Item::Boolean, item) => Value::Boolean(item.as_i64() == Some(1)),
        (Item::Moment, item) => item.as_i64().map_or(Value::Null, Value::Timestamp),
        (Item::Text | Item::Whole | Item::Real | Item::Decimal, item) => match item.as_i64() {
            Some(number) => Value::Integer(number),
            None => item.as_f64().map_or(Value::Null, Value::Real),
        },
    };
    Value::List(read.into_iter().map(value).collect())
}

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("dowse_fold", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).to_lowercase()),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        })
    })?;
    connection.create_scalar_function("dowse_is_private", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Text(bytes) => {
                !text::find_private(&String::from_utf8_lossy(bytes)).is_empty()
            }
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => false,
        })
    })?;
    connection.create_scalar_function("dowse_flag", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Integer(flag @ (0 | 1)) => Some(flag == 1),
            ValueRef::Text(bytes) => flag_of(&String::from_utf8_lossy(bytes)),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        })
    })?;
    connection.create_scalar_function("dowse_is_rounded", 1, flags, |context| {
        let text = context.get_raw(0).as_str().unwrap_or_default();
        Ok(match number_of(text) {
            Some(Value::Real(number)) => is_rounded_to(text, number),
            _ => false,
        })
    })?;
    connection.create_scalar_function("dowse_is_date", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Text(bytes) => moment::is_date(&String::from_utf8_lossy(bytes)),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => false,
        })
    })?;
    connection.create_scalar_function("dowse_number", 1, flags, |context| {
        use rusqlite::types::Value as Held;
        let number = context.get_raw(0).as_str().ok().and_then(number_of);
        Ok(match number {
            Some(Value::Integer(number)) => Held::Integer(number),
            Some(number) => number.as_f64().map_or(Held::Null, Held::Real),
            None => Held::Null,
        })
    })?;
    functions::add(&connection)?;
    for (name, epoch) in EPOCHS {
        connection.create_scalar_function(name, 1, flags, move |context| {
            Ok(match context.get_raw(0) {
                ValueRef::Integer(number) => epoch.to_millis(number as f64),
                ValueRef::Real(number) => epoch.to_millis(number),
                ValueRef::Text(bytes) => moment::parse(&String::from_utf8_lossy(bytes), epoch),
                ValueRef::Null | ValueRef::Blob(_) => None,
            })
        })?;
    }
    Ok(connection)
}

const EPOCHS: [(&str, Epoch); 4] = [
    ("dowse_millis_s", Epoch::S),
    ("dowse_millis_ms", Epoch::Ms),
    ("dowse_millis_us", Epoch::Us),
    ("dowse_millis_ns", Epoch::Ns),
];

/// Gives the columns of a table or view, and their places in the primary key, from 1.
pub(super) fn column_names(
    connection: &Connection,
    table: &str,
) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut statement = connection.prepare("SELECT name, pk FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Finds what tells rows apart: the row id, or else the primary key, or else nothing.
fn keys(connection: &Connection, table: &str, known: &[(String, i64)]) -> Vec<Key> {
    let key = |expression: String| Key { expression, cast: String::new() };
    let is_hidden = known.iter().any(|(name, _)| name.eq_ignore_ascii_case("rowid"));
    let kind: Option<String> = connection
        .query_row("SELECT type FROM sqlite_schema WHERE name = ?1", [table], |row| row.get(0))
        .ok();
    let has_row_ids = kind.as_deref() == Some("table")
        && !is_hidden
        && connection.prepare(&format!("SELECT rowid FROM {} LIMIT 0", quoted(table))).is_ok();
    if has_row_ids {
        return vec![key("rowid".to_owned())];
    }
    let mut primary: Vec<&(String, i64)> = known.iter().filter(|(_, place)| *place > 0).collect();
    primary.sort_by_key(|(_, place)| *place);
    primary.into_iter().map(|(name, _)| key(quoted(name))).collect()
}

/// Checks columns against those that a table has.
fn sql_columns(
    source_name: &str,
    table: &str,
    known: &[(String, i64)],
    spec: &TableSpec,
) -> Result<Vec<SqlColumn>> {
    let specs = if spec.columns.is_empty() {
        known.iter().map(|(name, _)| ColumnSpec::new(name, Kind::Text)).collect()
    } else {
        spec.columns.clone()
    };
    let mut columns = Vec::new();
    for column in specs {
        let is_there = known.iter().any(|(name, _)| *name == column.source_name);
        if !is_there {
            return Err(Error::MissingColumn {
                source_name: source_name.to_owned(),
                column: column.source_name,
                known: known.iter().map(|(name, _)| name.clone()).collect(),
            });
        }
        columns.push(sql_column(&column, table));
    }
    Ok(columns)
}

fn sql_column(spec: &ColumnSpec, table: &str) -> SqlColumn {
    let name = quoted(&spec.source_name);
    if let Cells::Many { .. } = spec.cells {
        return listed_column(spec);
    }
    let as_written = |function: &str| format!("{function}({name}, {})", functions::spec_of(spec));
    let expression = match spec.kind {
        Kind::Text => format!("CAST({name} AS TEXT) COLLATE BINARY"),
        Kind::Number => {
            let written = match spec.decimal {
                Some(_) => as_written("dowse_cell"),
                None => format!("dowse_number({name})"),
            };
            format!(
                "CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN CASE WHEN abs({name}) <= 1.7976931348623157e308 THEN {name} END WHEN 'text' THEN {written} END"
            )
        }
        Kind::Boolean => format!("dowse_flag({name})"),
        Kind::Timestamp if spec.date_order.is_some() => as_written("dowse_cell"),
        Kind::Timestamp => {
            let function = EPOCHS
                .iter()
                .find(|(_, epoch)| *epoch == spec.epoch)
                .map_or("dowse_millis_ms", |(name, _)| *name);
            format!("{function}({name})")
        }
    };
    let expression = format!("({expression})");
    let misfit = (spec.kind != Kind::Text).then(|| {
        let words: Vec<String> = NULL_WORDS.iter().map(|word| format!("'{word}'")).collect();
        format!(
            "({name} IS NOT NULL AND {expression} IS NULL AND NOT (typeof({name}) = 'text' AND trim({name}) IN ({})))",
            words.join(", ")
        )
    });
    let dates = match (spec.kind, spec.date_order) {
        (Kind::Timestamp, Some(crate::DateOrder::Ymd)) => Dates::Yes,
        (Kind::Timestamp, _) => Dates::Unless(format!(
            "SELECT 1 FROM {} WHERE {expression} IS NOT NULL AND NOT dowse_is_date({name}) LIMIT 1",
            quoted(table)
        )),
        (Kind::Text | Kind::Number | Kind::Boolean, _) => Dates::No,
    };
    let rounded = (spec.kind == Kind::Number)
        .then(|| format!("(typeof({name}) = 'text' AND dowse_is_rounded({name}))"));
    SqlColumn {
        name: spec.name.clone(),
        kind: spec.kind,
        expression,
        source: name,
        misfit,
        is_whole: false,
        is_decimal: false,
        rounded,
        dates,
        list: None,
    }
}

/// Writes a column whose cells have several values: lists in JSON, or texts that a separator splits.
fn listed_column(spec: &ColumnSpec) -> SqlColumn {
    let name = quoted(&spec.source_name);
    let called = |function: &str| format!("{function}({name}, {})", functions::spec_of(spec));
    let whole = called("dowse_list");
    SqlColumn {
        name: spec.name.clone(),
        kind: spec.kind,
        expression: format!("json_extract({whole}, '$[0]')"),
        source: name.clone(),
        misfit: (spec.kind != Kind::Text).then(|| called("dowse_has_misfits")),
        is_whole: false,
        is_decimal: false,
        rounded: None,
        dates: Dates::No,
        list: Some(List {
            items: format!("(SELECT value AS {ITEM} FROM json_each({whole}))"),
            n_repeated: called("dowse_repeated"),
            n_nulls: called("dowse_nulls"),
            whole,
        }),
    }
}
