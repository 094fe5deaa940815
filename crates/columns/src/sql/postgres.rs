//! A table of PostgreSQL, queried in place.

use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use model::{Deadline, with_causes};
use net::PostgresAddress;
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::answer::{self, Cell, Run};
use super::join::{self, Join};
use super::statement::{Dialect, Key, SqlColumn, Statement, Target, quoted};
use super::{aggregate, fit};
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::related::Lookup;
use crate::source::without_password;
use crate::{
    Aggregate, AggregateAnswer, Cells, ColumnSpec, Epoch, Error, Kind, LoadReport, Result,
    TableSpec, Value, suggest,
};

/// Connections that are kept open between queries.
const MAX_IDLE: usize = 4;
/// The longest that connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long the caller waits after the deadline for the database to report its own time-out.
const GRACE: Duration = Duration::from_secs(2);
/// How long what did not fit is remembered: PostgreSQL does not say cheaply that rows changed.
const REPORT_KEPT: Duration = Duration::from_secs(60);

/// How often it is looked whether the database is there, while somebody asks.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The name of the table inside a statement. A key without it would be taken for the column of
/// the result that has the same name and is text.
const ALIAS: &str = "dowse_row";

/// A table or view of a PostgreSQL database. It is reached when it is first asked, and again
/// after a failure; connections are encrypted where its address says `sslmode=require`.
pub struct PostgresTable {
    inner: Arc<Inner>,
    checked: Mutex<Option<(Instant, LoadReport)>>,
}

struct Inner {
    address: PostgresAddress,
    source_name: String,
    /// The table with its schema, each part quoted.
    from: String,
    specs: Vec<ColumnSpec>,
    /// What is looked up, each in its quoted table.
    lookups: Vec<(Lookup, String)>,
    target: OnceLock<Arc<Target>>,
    idle: Mutex<Vec<Client>>,
    /// Why the database could not be reached the last time, if it could not.
    away: Mutex<Option<String>>,
    looked_at: Mutex<Option<Instant>>,
}

impl PostgresTable {
    /// Names a table, `table` or `schema.table`, without reaching it.
    pub fn open(url: &str, table: &str, spec: &TableSpec) -> Result<Self> {
        PostgresTable::open_related(url, table, spec, &[])
    }

    /// Names a table whose rows also have columns of other tables of the same database.
    pub(crate) fn open_related(
        url: &str,
        table: &str,
        spec: &TableSpec,
        lookups: &[(&Lookup, &str)],
    ) -> Result<Self> {
        let source_name = format!("{}#{table}", without_password(url));
        let address = PostgresAddress::parse(url, CONNECT_LIMIT)
            .map_err(|cause| Error::BadAddress { source_name: source_name.clone(), cause })?;
        if spec.columns.is_empty() {
            return Err(Error::Unsupported {
                source_name,
                column: "*".to_owned(),
                reason: "a table of PostgreSQL needs its columns in the schema",
            });
        }
        let others = lookups.iter().flat_map(|(lookup, _)| &lookup.spec.columns);
        let lists = spec.columns.iter().chain(others).find(|column| column.cells != Cells::One);
        if let Some(column) = lists {
            return Err(Error::Unsupported {
                source_name,
                column: column.name.clone(),
                reason: "several values in a cell are read from files only",
            });
        }
        let in_schema = |table: &str| table.split('.').map(quoted).collect::<Vec<_>>().join(".");
        let from = in_schema(table);
        let lookups =
            lookups.iter().map(|(lookup, other)| ((*lookup).clone(), in_schema(other))).collect();
        Ok(PostgresTable {
            checked: Mutex::new(None),
            inner: Arc::new(Inner {
                address,
                source_name,
                from,
                specs: spec.columns.clone(),
                lookups,
                target: OnceLock::new(),
                idle: Mutex::new(Vec::new()),
                away: Mutex::new(None),
                looked_at: Mutex::new(None),
            }),
        })
    }

    /// Runs work on a thread of its own with one transaction, and waits for it until shortly
    /// after the deadline.
    fn with<T: Send + 'static>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&Target, &mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let inner = self.inner.clone();
        let limit = deadline.clone();
        std::thread::Builder::new().name("postgres-query".to_owned()).spawn(move || {
            // The caller may have given up, and then nobody listens.
            let _ = sender.send(inner.with(&limit, work));
        })?;
        receiver.recv_timeout(deadline.remaining() + GRACE).unwrap_or(Err(Error::TimedOut))
    }
}

impl Table for PostgresTable {
    /// Gives what is known now, and looks again in the background: whoever asks is not held up by
    /// a database that does not answer.
    fn away(&self) -> Option<String> {
        self.inner.look_again();
        self.inner.away.lock().clone()
    }

    fn columns(&self) -> Vec<ColumnInfo> {
        self.inner
            .specs
            .iter()
            .map(|spec| (spec.name.clone(), spec.kind))
            .chain(self.inner.lookups.iter().flat_map(|(lookup, _)| looked_up(lookup)))
            .map(|(name, kind)| ColumnInfo { name, kind, has_lists: false })
            .collect()
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        let query = query.clone();
        self.with(deadline, move |target, run| answer::answer(target, run, &query))
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        aggregate.check(&self.columns())?;
        let wanted = aggregate.clone();
        self.with(deadline, move |target, run| aggregate::aggregate(target, run, &wanted))
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        let (column, searched) = (column.to_owned(), wanted.clone());
        let values = self.with(deadline, move |target, run| {
            answer::near(target, run, &column, &searched, limit)
        })?;
        suggest::nearest(values.into_iter(), wanted, limit, deadline)
    }

    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport> {
        if let Some((at, report)) = &*self.checked.lock()
            && at.elapsed() < REPORT_KEPT
        {
            return Ok(report.clone());
        }
        let report = self.with(deadline, |target, run| fit::report(target, run))?;
        *self.checked.lock() = Some((Instant::now(), report.clone()));
        Ok(report)
    }
}

impl Inner {
    fn look_again(self: &Arc<Self>) {
        let mut looked_at = self.looked_at.lock();
        if looked_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        *looked_at = Some(Instant::now());
        let inner = self.clone();
        let looking = std::thread::Builder::new().name("postgres-look".to_owned());
        let looking = looking.spawn(move || {
            let looked = inner.client(&Deadline::after(CONNECT_LIMIT)).and_then(|client| {
                inner.batch(&client, "SELECT 1")?;
                inner.put_back(client);
                Ok(())
            });
            inner.note(&looked);
        });
        if let Err(error) = looking {
            tracing::debug!(%error, "a database could not be looked for");
        }
    }

    /// Remembers whether the database was there.
    fn note<T>(&self, outcome: &Result<T>) {
        match outcome {
            Ok(_) => *self.away.lock() = None,
            Err(error) if error.is_away() => *self.away.lock() = Some(with_causes(error)),
            Err(_) => {}
        }
    }

    fn put_back(&self, client: Client) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(client);
        }
    }

    fn with<T>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&Target, &mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let outcome = self.try_with(deadline, work);
        self.note(&outcome);
        outcome
    }

    fn try_with<T>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&Target, &mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let client = self.client(deadline)?;
        let target = match self.target.get() {
            Some(target) => target.clone(),
            None => {
                let target = Arc::new(runtime()?.block_on(self.inspect(&client))?);
                self.target.get_or_init(|| target).clone()
            }
        };
        let millis = deadline.remaining().as_millis().max(1);
        self.batch(
            &client,
            &format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {millis}; SET LOCAL TimeZone = 'UTC'"
            ),
        )?;
        let outcome = work(&target, &mut Transaction { inner: self, client: &client });
        let is_closed = self.batch(&client, "ROLLBACK").is_ok();
        if is_closed && outcome.is_ok() {
            self.put_back(client);
        }
        outcome
    }

    fn client(&self, deadline: &Deadline) -> Result<Client> {
        while let Some(client) = { self.idle.lock().pop() } {
            if !client.is_closed() {
                return Ok(client);
            }
        }
        let unreachable = || Error::Unreachable { source_name: self.source_name.clone() };
        let limit = deadline.remaining().min(CONNECT_LIMIT);
        let (client, connection) = runtime()?
            .block_on(async { tokio::time::timeout(limit, self.address.connect()).await })
            .map_err(|_| unreachable())?
            .map_err(|cause| self.failed(cause))?;
        runtime()?.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }

    fn batch(&self, client: &Client, sql: &str) -> Result<()> {
        runtime()?.block_on(client.batch_execute(sql)).map_err(|cause| self.failed(cause))
    }

    /// Learns the types of the columns and the primary key.
    async fn inspect(&self, client: &Client) -> Result<Target> {
        let failed = |cause| self.failed(cause);
        let key = |name: &str| format!("{ALIAS}.{name}");
        let known = self.types_of(client, &self.from).await?;
        let keys = client
            .query(
                "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_index i \
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) \
                 WHERE i.indrelid = to_regclass($1::text) AND i.indisprimary \
                 ORDER BY array_position(i.indkey::int2[], a.attnum)",
                &[&self.from],
            )
            .await
            .map_err(failed)?;
        let mut keys: Vec<Key> = keys
            .iter()
            .map(|row| Key { expression: key(&quoted(row.get(0))), cast: row.get(1) })
            .collect();
        let kind = client
            .query_opt(
                "SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1::text)",
                &[&self.from],
            )
            .await
            .map_err(failed)?;
        let is_table = kind.is_some_and(|row| row.get::<_, String>(0) == "r");
        if keys.is_empty() && is_table {
            keys.push(Key { expression: key("ctid"), cast: "tid".to_owned() });
        }
        let mut columns: Vec<SqlColumn> =
            self.specs.iter().map(|spec| self.sql_column(spec, &known)).collect::<Result<_>>()?;
        let mut from = format!("{} AS {ALIAS}", self.from);
        let mut joins = Vec::new();
        for (lookup, other) in &self.lookups {
            let known = self.types_of(client, other).await?;
            let specs = lookup.spec.columns.iter();
            let others: Vec<SqlColumn> =
                specs.map(|spec| self.sql_column(spec, &known)).collect::<Result<_>>()?;
            joins.push(Join::new(lookup, other.clone(), &columns, &others)?);
        }
        if !joins.is_empty() {
            let (joined, added, joined_keys) =
                join::joined(Dialect::Postgres, &self.from, ALIAS, keys, &joins);
            (from, keys) = (joined, joined_keys);
            columns.extend(added);
        }
        Ok(Target { dialect: Dialect::Postgres, from, columns, keys, joins })
    }

    /// Learns the columns of a table and their types.
    async fn types_of(&self, client: &Client, table: &str) -> Result<Vec<(String, String)>> {
        let columns = client
            .query(
                "SELECT a.attname::text, t.typname::text FROM pg_attribute a \
                 JOIN pg_type t ON t.oid = a.atttypid \
                 WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped \
                 ORDER BY a.attnum",
                &[&table],
            )
            .await
            .map_err(|cause| self.failed(cause))?;
        Ok(columns.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn sql_column(&self, spec: &ColumnSpec, known: &[(String, String)]) -> Result<SqlColumn> {
        let found = known.iter().find(|(name, _)| *name == spec.source_name);
        let Some((_, found)) = found else {
            return Err(Error::MissingColumn {
                source_name: self.source_name.clone(),
                column: spec.source_name.clone(),
                known: known.iter().map(|(name, _)| name.clone()).collect(),
            });
        };
        let name = quoted(&spec.source_name);
        let is_whole = matches!(found.as_str(), "int2" | "int4" | "int8");
        let is_real = matches!(found.as_str(), "float4" | "float8" | "numeric");
        let is_moment = matches!(found.as_str(), "timestamptz" | "timestamp" | "date");
        let finite = |value: &str| {
            // NaN is above infinity in PostgreSQL, so one range leaves out both.
            format!(
                "CASE WHEN {value} BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN {value} END"
            )
        };
        let expression = match spec.kind {
            Kind::Text => format!("{name}::text COLLATE \"C\""),
            Kind::Number if is_whole => format!("{name}::int8"),
            Kind::Number if is_real => finite(&format!("{name}::float8")),
            Kind::Boolean if found == "bool" => name.clone(),
            Kind::Timestamp if is_moment => format!(
                "CASE WHEN isfinite({name}) THEN floor(extract(epoch FROM {name}) * 1000)::int8 END"
            ),
            Kind::Timestamp if is_whole => match spec.epoch {
                Epoch::S => format!("{name}::int8 * 1000"),
                Epoch::Ms => format!("{name}::int8"),
                Epoch::Us => format!("floor({name}::numeric / 1000)::int8"),
                Epoch::Ns => format!("floor({name}::numeric / 1000000)::int8"),
            },
            Kind::Number | Kind::Boolean | Kind::Timestamp => {
                return Err(Error::UnfitColumn {
                    source_name: self.source_name.clone(),
                    column: spec.source_name.clone(),
                    found: found.clone(),
                    kind: spec.kind.as_str(),
                });
            }
        };
        let is_whole = spec.kind == Kind::Number && is_whole;
        let expression = format!("({expression})");
        let misfit = match spec.kind {
            // "Not a number" is how a typed source leaves a number empty.
            Kind::Number if is_real => Some(format!(
                "({name} IS NOT NULL AND {expression} IS NULL AND {name}::text <> 'NaN')"
            )),
            Kind::Timestamp if is_moment => {
                Some(format!("({name} IS NOT NULL AND {expression} IS NULL)"))
            }
            Kind::Text | Kind::Number | Kind::Boolean | Kind::Timestamp => None,
        };
        Ok(SqlColumn {
            name: spec.name.clone(),
            kind: spec.kind,
            misfit,
            expression,
            source: name,
            is_whole,
        })
    }

    fn failed(&self, cause: tokio_postgres::Error) -> Error {
        let is_timeout = cause.code() == Some(&tokio_postgres::error::SqlState::QUERY_CANCELED);
        if is_timeout {
            return Error::TimedOut;
        }
        Error::Postgres { source_name: self.source_name.clone(), cause }
    }
}

struct Transaction<'c> {
    inner: &'c Inner,
    client: &'c Client,
}

impl Run for Transaction<'_> {
    fn run(&mut self, statement: &Statement, shape: &[Cell]) -> Result<Vec<Vec<Value>>> {
        let parameters: Vec<(Box<dyn ToSql + Sync>, Type)> =
            statement.parameters.iter().map(bound).collect();
        let parameters: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|(value, kind)| (value.as_ref(), kind.clone())).collect();
        let rows = runtime()?
            .block_on(self.client.query_typed(&statement.sql, &parameters))
            .map_err(|cause| self.inner.failed(cause))?;
        rows.iter()
            .map(|row| {
                shape
                    .iter()
                    .enumerate()
                    .map(|(at, cell)| take(row, at, *cell))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|cause| self.inner.failed(cause))
            })
            .collect()
    }
}

/// Gives the looked-up columns with what they hold.
fn looked_up(lookup: &Lookup) -> impl Iterator<Item = (String, Kind)> + '_ {
    lookup.columns.iter().map(|(name, column)| {
        let specs = &lookup.spec.columns;
        let spec = specs.iter().find(|spec| spec.name == *column);
        (name.clone(), spec.map_or(Kind::Text, |spec| spec.kind))
    })
}

fn bound(value: &Value) -> (Box<dyn ToSql + Sync>, Type) {
    match value {
        Value::Text(text) => (Box::new(text.clone()), Type::TEXT),
        Value::Integer(number) | Value::Timestamp(number) => (Box::new(*number), Type::INT8),
        Value::Real(number) => (Box::new(*number), Type::FLOAT8),
        Value::Boolean(flag) => (Box::new(*flag), Type::BOOL),
        Value::Null | Value::List(_) => (Box::new(None::<String>), Type::TEXT),
    }
}

fn take(row: &Row, at: usize, cell: Cell) -> Result<Value, tokio_postgres::Error> {
    Ok(match cell {
        Cell::Text => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text),
        Cell::Whole => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Integer),
        Cell::Real => row.try_get::<_, Option<f64>>(at)?.map_or(Value::Null, Value::Real),
        Cell::Boolean => row.try_get::<_, Option<bool>>(at)?.map_or(Value::Null, Value::Boolean),
        Cell::Moment => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Timestamp),
        Cell::Key => Value::Null,
    })
}

/// The one small runtime under all connections.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("postgres")
        .enable_all()
        .build()?;
    Ok(RUNTIME.get_or_init(|| built))
}
