//! A table of PostgreSQL, queried in place.

mod columns;
mod numeric;
mod sample;
mod transaction;

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use model::{Deadline, with_causes};
use net::{PostgresAddress, PostgresPool, PostgresSession, SessionError, wait_at_most};
use parking_lot::Mutex;
use tokio_postgres::Client;

use super::answer;
use super::join::{self, Join};
use super::statement::{Dialect, Key, SqlColumn, Target, quoted};
use super::{aggregate, fit};
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::related::Lookup;
use crate::source::without_password;
use crate::{
    Aggregate, AggregateAnswer, Cells, ColumnSpec, Error, Kind, LoadReport, Result, TableSpec,
    Value, suggest,
};
pub use sample::{DatabaseColumn, DatabaseSample, postgres_sample, postgres_tables};
use transaction::Transaction;

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
    pool: PostgresPool,
    source_name: String,
    /// The table with its schema, each part quoted.
    from: String,
    specs: Vec<ColumnSpec>,
    /// What is looked up, each in its quoted table.
    lookups: Vec<(Lookup, String)>,
    /// What was learned of the table; forgotten when a statement no longer fits it.
    target: Mutex<Option<Arc<Target>>>,
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
        let inner = Inner::of(url, table, spec, lookups)?;
        if spec.columns.is_empty() {
            return Err(Error::Unsupported {
                source_name: inner.source_name,
                column: "*".to_owned(),
                reason: "a table of PostgreSQL needs its columns in the schema",
            });
        }
        for (lookup, _) in lookups {
            join::check_single(&inner.source_name, &spec.columns, lookup)?;
        }
        Ok(PostgresTable { checked: Mutex::new(None), inner: Arc::new(inner) })
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
        let target = self.inner.target.lock().clone();
        let is_whole = |name: &str| {
            let columns = target.iter().flat_map(|target| &target.columns);
            columns.into_iter().any(|column| column.name == name && column.is_whole)
        };
        self.inner
            .specs
            .iter()
            .map(|spec| (spec.name.clone(), spec.kind, spec.cells != Cells::One))
            .chain(self.inner.lookups.iter().flat_map(|(lookup, _)| looked_up(lookup)))
            .map(|(name, kind, has_lists)| {
                let is_whole = is_whole(&name);
                ColumnInfo { name, kind, has_lists, is_whole }
            })
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

    /// The types say so, without a look at the rows.
    fn date_columns(&self, deadline: &Deadline) -> Result<Vec<String>> {
        self.with(deadline, |target, run| fit::date_columns(target, run))
    }
}

impl Inner {
    fn of(url: &str, table: &str, spec: &TableSpec, lookups: &[(&Lookup, &str)]) -> Result<Self> {
        let source_name = format!("{}#{table}", without_password(url));
        let address = PostgresAddress::parse(url, CONNECT_LIMIT)
            .map_err(|cause| Error::BadAddress { source_name: source_name.clone(), cause })?;
        let in_schema = |table: &str| table.split('.').map(quoted).collect::<Vec<_>>().join(".");
        let lookups = lookups.iter();
        Ok(Inner {
            pool: PostgresPool::new(address, ""),
            source_name,
            from: in_schema(table),
            specs: spec.columns.clone(),
            lookups: lookups.map(|(lookup, other)| ((*lookup).clone(), in_schema(other))).collect(),
            target: Mutex::new(None),
            away: Mutex::new(None),
            looked_at: Mutex::new(None),
        })
    }

    fn look_again(self: &Arc<Self>) {
        let mut looked_at = self.looked_at.lock();
        if looked_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        *looked_at = Some(Instant::now());
        let inner = self.clone();
        let looking = std::thread::Builder::new().name("postgres-look".to_owned());
        let looking = looking.spawn(move || {
            // The table is looked at as well, so that one that does not fit stays away.
            let looked = inner.with(&Deadline::after(CONNECT_LIMIT), |_, _| Ok(()));
            if let Err(error) = looked {
                tracing::debug!(%error, "a database was looked for and did not answer");
            }
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

    fn with<T>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&Target, &mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let outcome = self.try_with(deadline, work);
        let has_changed = matches!(&outcome, Err(Error::Postgres { cause, .. })
            if cause.code().is_some_and(|code| code.code().starts_with("42")));
        if has_changed {
            *self.target.lock() = None;
        }
        self.note(&outcome);
        outcome
    }

    fn try_with<T>(
        &self,
        deadline: &Deadline,
        work: impl FnOnce(&Target, &mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let session = self.session(deadline)?;
        let known = self.target.lock().clone();
        let target = match known {
            Some(target) => target,
            None => {
                let target = Arc::new(self.wait(deadline, self.inspect(&session))?);
                self.target.lock().get_or_insert(target).clone()
            }
        };
        let millis = deadline.remaining().as_millis().max(1);
        self.batch(
            &session,
            &format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {millis}; SET LOCAL TimeZone = 'UTC'"
            ),
            deadline,
        )?;
        let outcome = work(&target, &mut Transaction { inner: self, client: &session, deadline });
        let is_closed = self.batch(&session, "ROLLBACK", deadline).is_ok();
        if is_closed && outcome.is_ok() {
            session.give_back();
        }
        outcome
    }

    fn session(&self, deadline: &Deadline) -> Result<PostgresSession<'_>> {
        self.pool.take(deadline.remaining()).map_err(|error| match error {
            SessionError::InUse => Error::TimedOut,
            SessionError::TimedOut => Error::Unreachable { source_name: self.source_name.clone() },
            SessionError::Refused(cause) => self.failed(cause),
            SessionError::NoThreads(cause) => cause.into(),
        })
    }

    fn batch(&self, client: &Client, sql: &str, deadline: &Deadline) -> Result<()> {
        let asked = client.batch_execute(sql);
        self.wait(deadline, async { asked.await.map_err(|cause| self.failed(cause)) })
    }

    /// Waits until shortly after the deadline: a database that hangs must not keep a session, of
    /// which there are only so many.
    fn wait<T>(&self, deadline: &Deadline, asked: impl Future<Output = Result<T>>) -> Result<T> {
        wait_at_most(deadline.remaining() + GRACE, asked)?.unwrap_or(Err(Error::TimedOut))
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
        let letters = self.letters(client).await?;
        Ok(Target { dialect: Dialect::Postgres, from, columns, keys, joins, letters })
    }

    /// Names a collation that knows the letters of all languages, or that of the database.
    async fn letters(&self, client: &Client) -> Result<String> {
        let known = client
            .query_opt(
                "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.collname) \
                 FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace, \
                 unnest(ARRAY['und-x-icu', 'pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8']) \
                 WITH ORDINALITY AS wanted(name, place) \
                 WHERE c.collname = wanted.name AND getdatabaseencoding() = 'UTF8' \
                 AND c.collencoding IN (-1, pg_char_to_encoding('UTF8')) \
                 ORDER BY wanted.place LIMIT 1",
                &[],
            )
            .await
            .map_err(|cause| self.failed(cause))?;
        Ok(known.map_or_else(|| "\"default\"".to_owned(), |row| row.get(0)))
    }

    fn failed(&self, cause: tokio_postgres::Error) -> Error {
        use tokio_postgres::error::SqlState;
        if cause.code() == Some(&SqlState::QUERY_CANCELED) {
            return Error::TimedOut;
        }
        if cause.code() == Some(&SqlState::NUMERIC_VALUE_OUT_OF_RANGE) {
            return Error::Overflow;
        }
        Error::Postgres { source_name: self.source_name.clone(), cause }
    }
}

/// Gives the looked-up columns with what they hold.
fn looked_up(lookup: &Lookup) -> impl Iterator<Item = (String, Kind, bool)> + '_ {
    lookup.columns.iter().map(|(name, column)| {
        let specs = &lookup.spec.columns;
        let spec = specs.iter().find(|spec| spec.name == *column);
        (name.clone(), spec.map_or(Kind::Text, |spec| spec.kind), false)
    })
}
