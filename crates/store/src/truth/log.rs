//! The log that engines follow, and letting go of what none of them needs any more.

use rusqlite::{Connection, params};

use super::rows::{self, LogEntry, LogKind};
use crate::Result;

/// Erases everything that is kept for a range of passages.
pub(crate) fn erase_passages(connection: &Connection, first: i64, last: i64) -> Result<()> {
    for table in ["passages", "vectors", "awaiting_vectors", "blobs"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE row BETWEEN ? AND ?"))?
            .execute(params![first, last])?;
    }
    Ok(())
}

/// Forgets the part of the log that every engine has written down.
pub(crate) fn truncate_log(connection: &Connection, number: u32, written: u64) -> Result<()> {
    if written == 0 || written == u64::MAX {
        return Ok(());
    }
    connection
        .prepare_cached(
            "UPDATE namespaces SET log_starts_after = max(log_starts_after, ifnull(
                (SELECT max(sequence) FROM log WHERE namespace = ?1 AND sequence <= ?2), 0))
             WHERE number = ?1",
        )?
        .execute(params![number, written])?;
    connection
        .prepare_cached("DELETE FROM log WHERE namespace = ? AND sequence <= ?")?
        .execute(params![number, written])?;
    Ok(())
}

/// Gives the sequence number after which the log holds every change.
pub(crate) fn log_starts_after(connection: &Connection, number: u32) -> Result<u64> {
    let mut statement =
        connection.prepare_cached("SELECT log_starts_after FROM namespaces WHERE number = ?")?;
    Ok(statement.query_row([number], |row| row.get(0))?)
}

/// Gives the removed versions whose rows are still kept for engines that have not followed.
pub(crate) fn removed(connection: &Connection, number: u32) -> Result<Vec<LogEntry>> {
    let entries = rows::log_after(connection, number, 0)?;
    Ok(entries.into_iter().filter(|entry| entry.kind == LogKind::Removed).collect())
}
