//! The log that engines follow, and letting go of what none of them needs any more.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{Error, Result};

/// Erases everything that is kept for a range of passages.
pub(crate) fn erase_passages(connection: &Connection, first: i64, last: i64) -> Result<()> {
    for table in ["passages", "texts", "vectors", "awaiting_vectors", "blobs"] {
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
///
/// # Errors
///
/// [`Error::UnknownNamespace`] when the namespace was erased meanwhile.
pub(crate) fn log_starts_after(connection: &Connection, number: u32) -> Result<u64> {
    let mut statement =
        connection.prepare_cached("SELECT log_starts_after FROM namespaces WHERE number = ?")?;
    let found = statement.query_row([number], |row| row.get(0)).optional()?;
    let namespace = || model::NamespaceId::new(format!("number {number}"));
    found.ok_or_else(|| Error::UnknownNamespace { namespace: namespace() })
}

/// Gives the passages of removed versions whose rows are still there for followers, up to a
/// sequence number, as first number and count.
pub(crate) fn removed(connection: &Connection, number: u32, until: u64) -> Result<Vec<(u32, u32)>> {
    let mut statement = connection.prepare_cached(
        "SELECT first, count FROM log WHERE namespace = ? AND sequence <= ? AND kind = 1",
    )?;
    let found =
        statement.query_map(params![number, until], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
