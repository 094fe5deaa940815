//! The connections that read the catalogue's file, beside the one that writes or without it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema;
use crate::{Config, Error, FORMAT, Result};

/// How long a connection waits for another one.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Statements that each connection keeps compiled.
const MAX_CACHED_STATEMENTS: usize = 64;

/// A few connections that read, opened as they are needed.
pub(super) struct Readers {
    /// The path of the file, or its address with what SQLite must know.
    place: PathBuf,
    flags: OpenFlags,
    cache_bytes: usize,
    map_bytes: u64,
    max_readers: usize,
    pool: Mutex<Vec<Connection>>,
}

impl Readers {
    /// For a file that this process also writes.
    pub(super) fn beside_writer(path: &Path, config: &Config) -> Self {
        Readers {
            place: path.to_owned(),
            flags: OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            cache_bytes: config.catalogue_cache_bytes,
            map_bytes: config.catalogue_map_bytes,
            max_readers: config.max_readers,
            pool: Mutex::default(),
        }
    }

    /// For a file that may only be read, and that nobody writes meanwhile. What its log has is
    /// taken in where SQLite can do that without writing: a process that was killed left the
    /// index of the log, too.
    ///
    /// # Errors
    ///
    /// [`Error::LogUnread`], [`Error::FormatTooOld`] or [`Error::FormatTooNew`].
    pub(super) fn alone(path: &Path, config: &Config) -> Result<Self> {
        let (log, journal) = (beside(path, "-wal"), beside(path, "-journal"));
        if super::database::bytes_of(&journal)? > 0 {
            return Err(Error::LogUnread { path: journal, source: None });
        }
        let has_log = super::database::bytes_of(&log)? > 0;
        let readers = Readers {
            place: PathBuf::from(address(path, has_log)?),
            flags: OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI,
            ..Readers::beside_writer(path, config)
        };
        let found = readers.read(schema::format_of).map_err(|error| {
            if let Error::Catalogue(source) = error {
                match has_log && is_unread(&source) {
                    true => Error::LogUnread { path: log, source: Some(source) },
                    false => Error::Catalogue(source),
                }
            } else {
                error
            }
        })?;
        let (path, known) = (path.to_owned(), FORMAT);
        match found {
            found if found > FORMAT => Err(Error::FormatTooNew { path, found, known }),
            found if found < FORMAT => Err(Error::FormatTooOld { path, found, known }),
            _ => Ok(readers),
        }
    }

    /// Opens a connection that is in nobody's way.
    pub(super) fn open(&self) -> Result<Connection> {
        let connection = Connection::open_with_flags(&self.place, self.flags)?;
        prepare(&connection, self.cache_bytes)?;
        if self.map_bytes > 0 {
            connection.pragma_update(None, "mmap_size", self.map_bytes)?;
        }
        Ok(connection)
    }

    /// Reads; what is read belongs to one moment, and no writer is waited for.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let pooled = self.pool.lock().pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => self.open()?,
        };
        let transaction = connection.transaction()?;
        let result = read(&transaction);
        drop(transaction);
        let mut pool = self.pool.lock();
        if pool.len() < self.max_readers {
            pool.push(connection);
        }
        result
    }

    /// Closes those that nobody uses. One holds no snapshot, but keeps the log's index file open.
    pub(super) fn clear(&self) {
        self.pool.lock().clear();
    }
}

/// Tells a connection what all of them must know.
pub(super) fn prepare(connection: &Connection, cache_bytes: usize) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    connection.pragma_update(None, "cache_size", -((cache_bytes / 1024) as i64))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Otherwise a statement is compiled again whenever another value is bound to it, to see whether
    // that value has a better plan: every question here has one good plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // What is deleted is overwritten, in free pages too: the cheaper `FAST` leaves those as they
    // are, and a large text that takes one of them over does not fill it to its end.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.busy_timeout(BUSY_WAIT)?;
    Ok(())
}

/// Folds the write-ahead log back into the file as far as readers let it, without waiting for them,
/// and tells whether one of them keeps the rest.
pub(super) fn fold_once(connection: &Connection) -> Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy = connection.query_row(sql, [], |row| row.get(0));
    connection.busy_timeout(BUSY_WAIT)?;
    Ok(is_busy?)
}

/// Gives the address of a file that is not written: without a log it cannot change, so that SQLite
/// makes no file beside it. With one, the log's index is used as it is.
fn address(path: &Path, has_log: bool) -> Result<String> {
    let mut address = "file:".to_owned();
    for byte in std::path::absolute(path)?.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                address.push(char::from(*byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push_str(if has_log { "?mode=ro&readonly_shm=1" } else { "?mode=ro&immutable=1" });
    Ok(address)
}

/// Tells whether SQLite would have to write before it can read.
fn is_unread(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    )
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
