//! Leases by the database's clock, and files in pieces.

use std::time::Duration;

use model::Timestamp;
use store::{Lease, Result, bounds, limits};

use crate::connection::Connection;
use crate::database::Database;
use crate::escape::spell;
use crate::rows;

/// The longest lease: longer ones would leave what a timestamp can say.
const MAX_LEASE: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

impl Database {
    /// Takes or renews a lease; tells whether the holder has it now.
    pub(crate) fn take_lease(&self, name: &str, holder: &str, length: Duration) -> Result<bool> {
        let seconds = length.min(MAX_LEASE).as_secs_f64();
        self.write(async |connection| {
            let n_taken = connection
                .execute(
                    "INSERT INTO leases VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
                     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
                     WHERE leases.holder = excluded.holder OR leases.until <= clock_timestamp()",
                    &[&spell(name), &spell(holder), &seconds],
                )
                .await?;
            Ok(n_taken > 0)
        })
    }

    /// Ends a lease; tells whether the holder had it.
    pub(crate) fn end_lease(&self, name: &str, holder: &str) -> Result<bool> {
        self.write(async |connection| {
            let n_ended = connection
                .execute(
                    "DELETE FROM leases WHERE name = $1 AND holder = $2 AND until > clock_timestamp()",
                    &[&spell(name), &spell(holder)],
                )
                .await?;
            Ok(n_ended > 0)
        })
    }

    /// Takes out leases that were over long ago; each server and each link had one of its own.
    pub(crate) fn forget_leases(&self) -> Result<()> {
        self.write(async |connection| {
            let sql = "DELETE FROM leases WHERE until < clock_timestamp() - interval '1 hour'";
            connection.execute(sql, &[]).await?;
            Ok(())
        })
    }

    /// Gives who has a lease now.
    pub(crate) fn lease(&self, name: &str) -> Result<Option<Lease>> {
        self.read(async |connection| {
            let found = connection
                .query_opt(
                    "SELECT holder, (extract(epoch FROM until) * 1000)::bigint FROM leases
                     WHERE name = $1 AND until > clock_timestamp()",
                    &[&spell(name)],
                )
                .await?;
            Ok(found.map(|row| Lease { holder: rows::text(&row, 0), until: Timestamp(row.get(1)) }))
        })
    }

    pub(crate) fn put_piece(&self, file: &str, piece: u32, bytes: &[u8]) -> Result<()> {
        self.write(async |connection| put_piece(connection, file, piece, bytes).await)
    }

    pub(crate) fn piece(&self, file: &str, piece: u32) -> Result<Option<Vec<u8>>> {
        self.read(async |connection| {
            let sql = "SELECT bytes FROM pieces WHERE file = $1 AND piece = $2";
            let found = connection.query_opt(sql, &[&spell(file), &i64::from(piece)]).await?;
            Ok(found.map(|row| row.get(0)))
        })
    }

    /// Erases the pieces of a file.
    pub(crate) fn erase_file(&self, file: &str) -> Result<usize> {
        self.write(async |connection| {
            let sql = "DELETE FROM pieces WHERE file = $1";
            Ok(connection.execute(sql, &[&spell(file)]).await? as usize)
        })
    }

    /// Lists files with the numbers of their pieces, in the order of their names.
    pub(crate) fn files(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, u32)>> {
        let limit = i64::try_from(limit.min(limits::MAX_PAGE)).unwrap_or(i64::MAX);
        let after = after.map(|after| spell(after).into_owned());
        self.read(async |connection| {
            let found = connection
                .query(
                    "SELECT file, max(piece) + 1 FROM pieces
                     WHERE $1::text IS NULL OR file > $1::text COLLATE \"C\"
                     GROUP BY file ORDER BY file LIMIT $2",
                    &[&after, &limit],
                )
                .await?;
            Ok(found.iter().map(|row| (rows::text(row, 0), rows::number(row, 1))).collect())
        })
    }
}

/// Writes one piece of a file in a transaction.
pub(crate) async fn put_piece(
    connection: &mut Connection,
    file: &str,
    piece: u32,
    bytes: &[u8],
) -> Result<()> {
    bounds::check_piece(bytes)?;
    connection
        .execute(
            "INSERT INTO pieces VALUES ($1, $2, $3)
             ON CONFLICT (file, piece) DO UPDATE SET bytes = excluded.bytes",
            &[&spell(file), &i64::from(piece), &bytes],
        )
        .await?;
    Ok(())
}
