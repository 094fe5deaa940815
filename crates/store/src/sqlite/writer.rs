//! The connection that writes, and commits that several writers share.
//!
//! A commit costs a sync of the disk, whatever is in it. Small changes that come while another one
//! holds the connection therefore go into one transaction: each in a savepoint of its own, so that
//! one that is refused takes nothing from the others, and the last of them commits for all. Nobody
//! is answered before that commit: what is acknowledged is durable, as with a commit of its own.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{Error, Result, failpoint};

/// Changes that share a commit at most, so that the first of them does not wait without end.
const MAX_SHARING: usize = 256;

/// The connection that writes, one at a time.
pub(super) struct Writer {
    open: Mutex<Open>,
    /// Those who are about to take the connection. Each of them ends a transaction that it finds.
    n_coming: AtomicUsize,
}

/// The connection, and the transaction that it has open.
struct Open {
    connection: Connection,
    shared: Option<Shared>,
}

/// A transaction that waits for its commit.
struct Shared {
    n_changes: usize,
    end: Arc<End>,
}

/// How a shared transaction ended, for those who wait for it.
#[derive(Default)]
struct End {
    committed: Mutex<Option<std::result::Result<u64, Failure>>>,
    ended: Condvar,
}

/// Why a shared transaction failed, for each of those who took part.
#[derive(Debug, Clone)]
enum Failure {
    DiskFull(String),
    Damaged(String),
    Other(rusqlite::ErrorCode, String),
    Failpoint(&'static str),
}

impl Writer {
    pub(super) fn new(connection: Connection) -> Self {
        let open = Mutex::new(Open { connection, shared: None });
        Writer { open, n_coming: AtomicUsize::new(0) }
    }

    /// Gives the connection without an open transaction.
    pub(super) fn idle(&self) -> Idle<'_> {
        let mut open = self.come();
        open.end_shared();
        Idle(open)
    }

    /// Closes the connection for good, so that SQLite takes away the files that it has beside the
    /// database where nobody else has it open. Who writes all the same writes into nothing.
    pub(super) fn end(&self) -> Result<()> {
        let mut idle = self.idle();
        let nothing = Connection::open_in_memory()?;
        drop(std::mem::replace(&mut idle.0.connection, nothing));
        Ok(())
    }

    /// Makes a change in a transaction of its own, and gives how many changes there are now.
    pub(super) fn write_alone<T>(
        &self,
        may_begin: impl FnOnce() -> Result<()>,
        write: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<(T, u64)> {
        let mut idle = self.idle();
        may_begin()?;
        let connection = &mut idle.0.connection;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        failpoint::reach("catalogue begun")?;
        let result = write(&transaction)?;
        let n_changes = count_change(&transaction)?;
        failpoint::reach("catalogue written")?;
        transaction.commit()?;
        Ok((result, n_changes))
    }

    /// Makes a small change in a transaction that others may share, and gives how many changes
    /// there are now.
    pub(super) fn write_together<T>(
        &self,
        may_begin: impl FnOnce() -> Result<()>,
        write: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<(T, u64)> {
        let mut open = self.come();
        let written = match may_begin().and_then(|()| open.join()) {
            Ok(()) => catch_unwind(AssertUnwindSafe(|| open.in_savepoint(write))),
            Err(error) => Ok(Err(error)),
        };
        let Some(shared) = &mut open.shared else {
            // Nothing was begun, or SQLite has ended the transaction by itself.
            drop(open);
            return Err(written
                .unwrap_or_else(|panic| resume_unwind(panic))
                .map_or_else(|error| error, |_| Error::Catalogue(rusqlite::Error::InvalidQuery)));
        };
        shared.n_changes += 1;
        let end = Arc::clone(&shared.end);
        // Whoever comes next holds the connection after this one and commits for both.
        let is_last = self.n_coming.load(Ordering::SeqCst) == 0 || shared.n_changes >= MAX_SHARING;
        if is_last {
            open.end_shared();
        }
        drop(open);
        let committed = end.wait();
        let written = written.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok((written, committed.map_err(Error::from)?))
    }

    fn come(&self) -> MutexGuard<'_, Open> {
        self.n_coming.fetch_add(1, Ordering::SeqCst);
        let open = self.open.lock();
        self.n_coming.fetch_sub(1, Ordering::SeqCst);
        open
    }
}

/// The connection of a writer, for what is no change: nothing is open on it.
pub(super) struct Idle<'a>(MutexGuard<'a, Open>);

impl std::ops::Deref for Idle<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0.connection
    }
}

impl Open {
    /// Takes part in the open transaction, or begins one.
    fn join(&mut self) -> Result<()> {
        if self.shared.is_none() {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            self.shared = Some(Shared { n_changes: 0, end: Arc::default() });
            if let Err(error) = failpoint::reach("catalogue begun") {
                self.fail_shared(&error);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes a change that is taken back when it fails, and only it. Where SQLite takes the whole
    /// transaction back, as on a full disk, all who took part are told.
    fn in_savepoint<T>(&mut self, write: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let written = self.connection.savepoint().map_err(Error::from).and_then(|savepoint| {
            let written = write(&savepoint)?;
            savepoint.commit()?;
            Ok(written)
        });
        if let Err(error) = &written
            && self.connection.is_autocommit()
        {
            self.fail_shared(error);
        }
        written
    }

    /// Commits the open transaction, if there is one, and tells all who took part.
    fn end_shared(&mut self) {
        let Some(Shared { end, .. }) = self.shared.take() else { return };
        let committed = self.commit();
        if committed.is_err() && !self.connection.is_autocommit() {
            // What cannot even be taken back is taken back when the connection is closed.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        end.tell(committed.map_err(|error| Failure::of(&error)));
    }

    fn commit(&self) -> Result<u64> {
        let n_changes = count_change(&self.connection)?;
        failpoint::reach("catalogue written")?;
        self.connection.execute_batch("COMMIT")?;
        Ok(n_changes)
    }

    fn fail_shared(&mut self, error: &Error) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if let Some(Shared { end, .. }) = self.shared.take() {
            end.tell(Err(Failure::of(error)));
        }
    }
}

impl End {
    fn tell(&self, committed: std::result::Result<u64, Failure>) {
        *self.committed.lock() = Some(committed);
        self.ended.notify_all();
    }

    fn wait(&self) -> std::result::Result<u64, Failure> {
        let mut committed = self.committed.lock();
        loop {
            match &*committed {
                Some(committed) => return committed.clone(),
                None => self.ended.wait(&mut committed),
            }
        }
    }
}

impl Failure {
    #[expect(clippy::wildcard_enum_match_arm, reason = "a commit gives no others")]
    fn of(error: &Error) -> Self {
        match error {
            Error::DiskFull { source, .. } => Failure::DiskFull(source.to_string()),
            Error::CatalogueDamaged { reason, .. } => Failure::Damaged(reason.clone()),
            Error::Failpoint { name } => Failure::Failpoint(name),
            Error::Catalogue(error) => {
                let code = error.sqlite_error_code().unwrap_or(rusqlite::ErrorCode::Unknown);
                Failure::Other(code, error.to_string())
            }
            other => Failure::Other(rusqlite::ErrorCode::Unknown, other.to_string()),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::DiskFull(reason) => {
                Error::DiskFull { what: "the catalogue", source: reason.into() }
            }
            Failure::Damaged(reason) => Error::CatalogueDamaged { reason, source: None },
            Failure::Failpoint(name) => Error::Failpoint { name },
            Failure::Other(code, reason) => {
                let error = rusqlite::ffi::Error { code, extended_code: 0 };
                Error::Catalogue(rusqlite::Error::SqliteFailure(error, Some(reason)))
            }
        }
    }
}

/// Counts a commit, so that a catalogue that has lost some is noticed.
fn count_change(connection: &Connection) -> Result<u64> {
    let sql = "UPDATE about SET value = value + 1 WHERE key = 'changes' RETURNING value";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use rusqlite::ErrorCode;

    use super::*;

    fn writer() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        let sql =
            "CREATE TABLE about (key TEXT, value INTEGER); INSERT INTO about VALUES ('changes', 0);
                   CREATE TABLE kept (value INTEGER PRIMARY KEY)";
        connection.execute_batch(sql).unwrap();
        Writer::new(connection)
    }

    fn kept(writer: &Writer) -> (Vec<i64>, u64) {
        let idle = writer.idle();
        let mut statement = idle.prepare("SELECT value FROM kept ORDER BY value").unwrap();
        let values = statement.query_map([], |row| row.get(0)).unwrap();
        let values = values.collect::<rusqlite::Result<_>>().unwrap();
        let n_changes = idle.query_row("SELECT value FROM about", [], |row| row.get(0)).unwrap();
        (values, n_changes)
    }

    /// Lets writers come one after the other while the connection is taken, each with a value.
    fn write_at_once(writer: &Writer, values: &[i64]) -> Vec<Result<u64>> {
        let idle = writer.idle();
        std::thread::scope(|scope| {
            let write = |value: &i64| {
                let value = *value;
                let write = move |connection: &Connection| {
                    connection.execute("INSERT INTO kept VALUES (abs(?))", [value])?;
                    match value < 0 {
                        true => Err(Error::Closed),
                        false => Ok(()),
                    }
                };
                scope.spawn(move || Ok(writer.write_together(|| Ok(()), write)?.1))
            };
            let writers: Vec<_> = values.iter().map(write).collect();
            while writer.n_coming.load(Ordering::SeqCst) < values.len() {
                std::thread::yield_now();
            }
            drop(idle);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        })
    }

    #[test]
    fn those_who_wait_share_a_commit() {
        let writer = writer();
        let values: Vec<i64> = (1..=20).collect();
        assert!(write_at_once(&writer, &values).into_iter().all(|written| written.unwrap() == 1));
        assert_eq!(kept(&writer), (values, 1));
    }

    #[test]
    fn one_that_is_refused_takes_nothing_from_the_others() {
        let writer = writer();
        // 3 is there already for one of the two, and a negative value is taken back.
        let written = write_at_once(&writer, &[1, -2, 3, 3, 4]);
        let n_written = written.iter().filter(|written| matches!(written, Ok(1))).count();
        assert_eq!(n_written, 3);
        assert!(matches!(written[1], Err(Error::Closed)));
        let refused = written.iter().filter_map(|written| written.as_ref().err());
        let n_refused = refused
            .filter(|error| {
                matches!(error, Error::Catalogue(error)
                    if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
            })
            .count();
        assert_eq!(n_refused, 1);
        assert_eq!(kept(&writer), (vec![1, 3, 4], 1));
    }

    #[cfg(feature = "testing")]
    #[test]
    fn a_commit_that_fails_fails_for_all_who_share_it() {
        let writer = writer();
        failpoint::arm("catalogue written", 0, failpoint::Failure::DiskFull);
        let written = write_at_once(&writer, &[1, 2, 3]);
        assert!(written.iter().all(|one| one.as_ref().is_err_and(Error::is_disk_full)));
        assert_eq!(kept(&writer), (vec![], 0));
        assert!(write_at_once(&writer, &[1, 2, 3]).iter().all(Result::is_ok));
        assert_eq!(kept(&writer), (vec![1, 2, 3], 1));
    }

    #[test]
    fn a_writer_that_panics_leaves_the_connection_to_the_next() {
        let writer = writer();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let write = |connection: &Connection| {
                connection.execute("INSERT INTO kept VALUES (1)", [])?;
                panic!("of the test")
            };
            let _: Result<((), u64)> = writer.write_together(|| Ok(()), write);
        }));
        assert!(panic.is_err());
        assert!(write_at_once(&writer, &[2]).iter().all(Result::is_ok));
        assert_eq!(kept(&writer).0, [2]);
    }

    #[test]
    fn a_large_change_comes_after_what_is_open() {
        let writer = writer();
        let insert = |value: i64| {
            move |connection: &Connection| {
                connection.execute("INSERT INTO kept VALUES (?)", [value])?;
                Ok(())
            }
        };
        let idle = writer.idle();
        std::thread::scope(|scope| {
            let small = scope.spawn(|| writer.write_together(|| Ok(()), insert(1)).unwrap());
            let large = scope.spawn(|| writer.write_alone(|| Ok(()), |t| insert(2)(t)).unwrap());
            while writer.n_coming.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            drop(idle);
            small.join().unwrap();
            large.join().unwrap();
        });
        assert_eq!(kept(&writer), (vec![1, 2], 2));
    }
}
