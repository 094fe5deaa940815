//! Leases, and files in pieces.

use std::time::Duration;

use model::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::checksums::Checksum;
use super::database::Database;
use crate::{Lease, Result, bounds, limits};

impl Database {
    /// Takes or renews a lease; tells whether the holder has it now.
    pub(super) fn take_lease(
        &self,
        name: &str,
        holder: &str,
        length: Duration,
        now: Timestamp,
    ) -> Result<bool> {
        let length = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
        let until = now.millis().saturating_add(length);
        self.write_together(|transaction| {
            let n_taken = transaction
                .prepare_cached(
                    "INSERT INTO leases VALUES (?1, ?2, ?3)
                     ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?3
                     WHERE holder = ?2 OR until <= ?4",
                )?
                .execute(params![name, holder, until, now.millis()])?;
            Ok(n_taken > 0)
        })
    }

    /// Ends a lease; tells whether the holder had it.
    pub(super) fn end_lease(&self, name: &str, holder: &str, now: Timestamp) -> Result<bool> {
        self.write_together(|transaction| {
            let n_ended = transaction
                .prepare_cached("DELETE FROM leases WHERE name = ? AND holder = ? AND until > ?")?
                .execute(params![name, holder, now.millis()])?;
            Ok(n_ended > 0)
        })
    }

    /// Gives who has a lease now.
    pub(super) fn lease(&self, name: &str, now: Timestamp) -> Result<Option<Lease>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT holder, until FROM leases WHERE name = ? AND until > ?")?;
            let found = statement.query_row(params![name, now.millis()], |row| {
                Ok(Lease { holder: row.get(0)?, until: Timestamp(row.get(1)?) })
            });
            Ok(found.optional()?)
        })
    }

    pub(super) fn put_piece(&self, file: &str, piece: u32, bytes: &[u8]) -> Result<()> {
        self.write_together(|transaction| put_piece(transaction, file, piece, bytes))
    }

    pub(super) fn piece(&self, file: &str, piece: u32) -> Result<Option<Vec<u8>>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT bytes FROM pieces WHERE file = ? AND piece = ?")?;
            Ok(statement.query_row(params![file, piece], |row| row.get(0)).optional()?)
        })
    }

    /// Lists files with how many pieces they have, in the order of their names.
    pub(super) fn files(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, u32)>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT file, max(piece) + 1 FROM pieces WHERE ?1 IS NULL OR file > ?1
                 GROUP BY file ORDER BY file LIMIT ?2",
            )?;
            let limit = limit.min(limits::MAX_PAGE);
            let found =
                statement.query_map(params![after, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Gives the kinds of objects that there are.
    pub(super) fn kinds(&self) -> Result<Vec<String>> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT DISTINCT kind FROM objects ORDER BY kind")?;
            let found = statement.query_map([], |row| row.get(0))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Erases the pieces of a file.
    pub(super) fn erase_file(&self, file: &str) -> Result<usize> {
        self.write_together(|transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM pieces WHERE file = ?")?;
            Ok(statement.execute([file])?)
        })
    }
}

/// Writes one piece of a file in a transaction.
pub(super) fn put_piece(
    transaction: &Connection,
    file: &str,
    piece: u32,
    bytes: &[u8],
) -> Result<()> {
    bounds::check_piece(bytes)?;
    let checksum = Checksum::default().text(file).int(piece).bytes(bytes);
    let sql = "REPLACE INTO pieces (file, piece, bytes, checksum) VALUES (?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    statement.execute(params![file, piece, bytes, checksum.finish()])?;
    Ok(())
}
