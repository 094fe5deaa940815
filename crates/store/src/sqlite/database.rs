//! The SQLite file: its tables, one connection that writes and a few that read.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::schema;
use crate::{Config, Error, Result, failpoint};

/// Statements that each connection keeps compiled.
const MAX_CACHED_STATEMENTS: usize = 64;
/// A write-ahead log longer than this many pages is folded back into the file.
const CHECKPOINT_PAGES: u32 = 4_000;
/// Free pages given back while other writers wait.
const PAGES_PER_ROUND: u32 = 4_096;

/// Passages and documents have rows of `namespace << 32 | number`, so that a namespace lies
/// together and a passage is found by its number without another index.
pub(crate) const ROW_BITS: u32 = 32;

/// The catalogue's file.
pub(crate) struct Database {
    path: PathBuf,
    cache_bytes: usize,
    max_readers: usize,
    // Closed before the writer, which can then fold the log back and remove it.
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Connection>,
}

impl Database {
    /// Opens the file, or makes one with empty tables.
    ///
    /// # Errors
    ///
    /// [`Error::FormatTooNew`] when a later program wrote it.
    pub(crate) fn open(path: &Path, config: &Config) -> Result<Self> {
        let mut writer = Connection::open(path)?;
        prepare(&writer, config.catalogue_cache_bytes)?;
        writer.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        writer.pragma_update(None, "journal_mode", "WAL")?;
        writer.pragma_update(None, "synchronous", "FULL")?;
        writer.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        schema::bring_up_to_date(&mut writer, path)?;
        Ok(Database {
            path: path.to_owned(),
            cache_bytes: config.catalogue_cache_bytes,
            max_readers: config.max_readers,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
        })
    }

    /// Reads; what is read belongs to one moment, and no writer is waited for.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let pooled = self.readers.lock().pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = Connection::open_with_flags(&self.path, flags)?;
                prepare(&connection, self.cache_bytes)?;
                connection
            }
        };
        let transaction = connection.transaction()?;
        let result = read(&transaction);
        drop(transaction);
        let mut readers = self.readers.lock();
        if readers.len() < self.max_readers {
            readers.push(connection);
        }
        result
    }

    /// Writes in one transaction, which is durable when this returns `Ok`.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.writer.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        failpoint::reach("catalogue begun")?;
        let result = write(&transaction)?;
        failpoint::reach("catalogue written")?;
        transaction.commit()?;
        failpoint::reach("catalogue committed")?;
        Ok(result)
    }

    /// Folds the write-ahead log back and gives free pages to the disk, in small steps.
    pub(crate) fn maintain(&self, max_free_pages: u32) -> Result<()> {
        let connection = self.writer.lock();
        give_back(&connection, max_free_pages)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        connection.execute_batch("PRAGMA optimize")?;
        Ok(())
    }

    /// Gives all free pages to the disk and empties the write-ahead log, so that nothing erased
    /// is left in either. Other writers come in between two rounds. A reader that is in the way
    /// keeps the log for the next time.
    pub(crate) fn give_back_erased(&self) -> Result<()> {
        // As many rounds as the pages need that are free now: what others free meanwhile is
        // theirs to give back.
        for _ in 0..self.n_free_pages()?.div_ceil(PAGES_PER_ROUND) {
            give_back(&self.writer.lock(), PAGES_PER_ROUND)?;
        }
        let connection = self.writer.lock();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Moves everything into the one file and empties the write-ahead log, so that the file can
    /// be copied as it is. The connections stay usable.
    pub(crate) fn close(&self) -> Result<()> {
        // A pooled reader holds no snapshot, but would keep the log's index file open.
        self.readers.lock().clear();
        let connection = self.writer.lock();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Counts the pages of the file that hold nothing.
    pub(crate) fn n_free_pages(&self) -> Result<u32> {
        let connection = self.writer.lock();
        Ok(connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?)
    }

    /// Checks the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] says what is wrong.
    pub(crate) fn verify(&self) -> Result<()> {
        self.read(|connection| {
            let reason: String =
                connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if reason == "ok" {
                return Ok(());
            }
            Err(Error::Damaged { path: self.path.clone(), reason })
        })
    }

    /// Copies the file while it is in use; the copy belongs to one moment.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<()> {
        self.read(|connection| {
            let mut copy = Connection::open(target)?;
            let backup = rusqlite::backup::Backup::new(connection, &mut copy)?;
            backup.run_to_completion(1_024, std::time::Duration::ZERO, None)?;
            drop(backup);
            copy.pragma_update(None, "journal_mode", "DELETE")?;
            Ok(())
        })
    }
}

/// Takes free pages off the end of the file.
fn give_back(connection: &Connection, max_pages: u32) -> Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({max_pages})"))?;
    // Every row that is asked for gives one page back; a statement that is run once gives one.
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn prepare(connection: &Connection, cache_bytes: usize) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    connection.pragma_update(None, "cache_size", -((cache_bytes / 1024) as i64))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Otherwise a statement is compiled again whenever another value is bound to it, to see whether
    // that value has a better plan: every question here has one good plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // What is deleted is overwritten, in free pages too: the cheaper `FAST` leaves those as they
    // are, and a large text that takes one of them over does not fill it to its end.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    Ok(())
}
