//! What followers read: the log, passages and vectors by number, and names for what they found;
//! and what is let go of when all of them have seen it.

use std::ops::Range;

use model::{DocumentId, NamespaceId, PassageId, Pointer};
use store::{Error, LogEntry, LogPage, PassageSource, Result, SourceParts};

use crate::commit::erase_passages;
use crate::database::Database;
use crate::rows;

/// A follower that has not been seen for this long is not waited for: when it comes back it starts
/// anew from the passages.
const FOLLOWER_PATIENCE: &str = "24 hours";
/// Entries that all followers have seen before the log is cut although nothing was removed.
const ENTRIES_PER_CUT: i64 = 256;

impl Database {
    /// Gives a part of a namespace's log, by one statement and so of one moment.
    pub(crate) fn log_page(&self, number: u32, after: u64, limit: usize) -> Result<LogPage> {
        let namespace = rows::namespace_number(number);
        let (after, limit) = (as_number(after), i64::try_from(limit).unwrap_or(i64::MAX));
        self.read(async |connection| {
            let found = connection
                .query(
                    "SELECT n.log_starts_after, n.last_sequence, l.sequence, l.kind, l.first, l.count
                     FROM namespaces n LEFT JOIN LATERAL
                         (SELECT * FROM log WHERE namespace = n.number AND sequence > $2
                          ORDER BY sequence LIMIT $3) l ON true
                     WHERE n.number = $1 ORDER BY l.sequence",
                    &[&namespace, &after, &limit],
                )
                .await?;
            let Some(first) = found.first() else {
                let namespace = NamespaceId::new(format!("number {number}"));
                return Err(Error::UnknownNamespace { namespace });
            };
            let entry = |row: &tokio_postgres::Row| {
                row.get::<_, Option<i64>>(2)?;
                Some(LogEntry {
                    sequence: rows::sequence(row, 2),
                    kind: rows::kind_of(row.get(3))?,
                    first: rows::number(row, 4),
                    count: rows::number(row, 5),
                })
            };
            Ok(LogPage {
                starts_after: rows::sequence(first, 0),
                last: rows::sequence(first, 1),
                entries: found.iter().filter_map(entry).collect(),
            })
        })
    }

    /// Gives passages of present versions.
    pub(crate) fn sources(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
        with: SourceParts,
    ) -> Result<Vec<PassageSource>> {
        let (column, join) = match with {
            SourceParts::WithoutVector => ("NULL::bytea", ""),
            SourceParts::WithVector => (
                "v.vector",
                "LEFT JOIN vectors v ON v.namespace = p.namespace AND v.number = p.number",
            ),
        };
        let sql = format!(
            "SELECT {}, {}, {column} FROM {} {join}
             WHERE p.namespace = $1 AND p.number >= $2 AND p.number < $3 AND {}
             ORDER BY p.number LIMIT $4",
            rows::PASSAGE,
            rows::SOURCE_DOCUMENT,
            rows::WITH_DOCUMENT,
            rows::IS_LIVING
        );
        let namespace = rows::namespace_number(number);
        let (first, end) = (i64::from(passages.start), i64::from(passages.end));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(async |connection| {
            let found = connection.query(&sql, &[&namespace, &first, &end, &limit]).await?;
            let mut sources: Vec<PassageSource> = Vec::with_capacity(found.len());
            for row in &found {
                let before = sources.last().map(|before| &before.document);
                let document = rows::read_source_document(row, before)?;
                sources.push(PassageSource {
                    number: rows::number(row, 7),
                    document,
                    passage: rows::read_passage(row)?,
                    vector: row.get::<_, Option<&[u8]>>(13).map(rows::floats),
                });
            }
            Ok(sources)
        })
    }

    /// Gives vectors of passages of present versions.
    pub(crate) fn vectors(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<f32>)>> {
        let sql = format!(
            "SELECT p.number, v.vector FROM {} JOIN vectors v
                 ON v.namespace = p.namespace AND v.number = p.number
             WHERE p.namespace = $1 AND p.number >= $2 AND p.number < $3 AND {}
             ORDER BY p.number LIMIT $4",
            rows::WITH_DOCUMENT,
            rows::IS_LIVING
        );
        let namespace = rows::namespace_number(number);
        let (first, end) = (i64::from(passages.start), i64::from(passages.end));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(async |connection| {
            let found = connection.query(&sql, &[&namespace, &first, &end, &limit]).await?;
            let vector =
                |row: &tokio_postgres::Row| (rows::number(row, 0), rows::floats(row.get(1)));
            Ok(found.iter().map(vector).collect())
        })
    }

    /// Gives the ids of passages by number.
    pub(crate) fn names(
        &self,
        number: u32,
        passages: &[u32],
    ) -> Result<Vec<Option<(DocumentId, PassageId)>>> {
        let sql = format!(
            "SELECT p.number, d.id, p.id FROM {} WHERE p.namespace = $1 AND p.number = ANY($2)",
            rows::WITH_DOCUMENT
        );
        let namespace = rows::namespace_number(number);
        let numbers: Vec<i64> = passages.iter().map(|number| i64::from(*number)).collect();
        self.read(async |connection| {
            let found = connection.query(&sql, &[&namespace, &numbers]).await?;
            let by_number: std::collections::HashMap<u32, (DocumentId, PassageId)> = found
                .iter()
                .map(|row| {
                    let document = DocumentId::new(rows::text(row, 1));
                    (rows::number(row, 0), (document, PassageId::new(rows::text(row, 2))))
                })
                .collect();
            Ok(passages.iter().map(|number| by_number.get(number).cloned()).collect())
        })
    }

    /// Gives ids and pointers of passages, of removed versions too.
    pub(crate) fn labels(
        &self,
        number: u32,
        passages: Range<u32>,
    ) -> Result<Vec<(PassageId, Pointer)>> {
        let namespace = rows::namespace_number(number);
        let (first, end) = (i64::from(passages.start), i64::from(passages.end));
        self.read(async |connection| {
            let found = connection
                .query(
                    "SELECT id, pointer FROM passages
                     WHERE namespace = $1 AND number >= $2 AND number < $3 ORDER BY number",
                    &[&namespace, &first, &end],
                )
                .await?;
            let label = |row: &tokio_postgres::Row| {
                let pointer = rows::pointer_of(rows::text_or_null(row, 1));
                (PassageId::new(rows::text(row, 0)), pointer)
            };
            Ok(found.iter().map(label).collect())
        })
    }

    /// Gives every namespace with its last sequence number, by one statement.
    pub(crate) fn heads(&self) -> Result<Vec<(NamespaceId, u32, u64)>> {
        self.read(async |connection| {
            let sql =
                "SELECT id, number, last_sequence FROM namespaces WHERE NOT is_dropped ORDER BY id";
            let found = connection.query(sql, &[]).await?;
            let head = |row: &tokio_postgres::Row| {
                let number = u32::try_from(row.get::<_, i32>(1)).unwrap_or(0);
                (NamespaceId::new(rows::text(row, 0)), number, rows::sequence(row, 2))
            };
            Ok(found.iter().map(head).collect())
        })
    }

    /// Notes how far a follower is, and lets go of what all followers have seen.
    pub(crate) fn release(&self, number: u32, follower: &str, sequence: u64) -> Result<()> {
        let namespace = rows::namespace_number(number);
        let sequence = as_number(sequence);
        let (seen, is_worth_it) = self.write(async |connection| {
            connection
                .execute(
                    "INSERT INTO followers VALUES ($1, $2, $3, clock_timestamp())
                     ON CONFLICT (namespace, follower)
                     DO UPDATE SET sequence = $3, seen_at = clock_timestamp()",
                    &[&namespace, &follower, &sequence],
                )
                .await?;
            let sql = format!(
                "WITH seen AS (SELECT min(sequence) AS by_all FROM followers WHERE namespace = $1
                     AND seen_at > clock_timestamp() - interval '{FOLLOWER_PATIENCE}')
                 SELECT by_all, by_all - n.log_starts_after >= $2 OR EXISTS
                     (SELECT FROM log WHERE namespace = $1 AND sequence <= by_all AND kind = 1)
                 FROM seen JOIN namespaces n ON n.number = $1"
            );
            let found = connection.query_opt(&sql, &[&namespace, &ENTRIES_PER_CUT]).await?;
            Ok(found.map_or((0, false), |row| (row.get(0), row.get(1))))
        })?;
        if is_worth_it { self.let_go(namespace, seen) } else { Ok(()) }
    }

    /// Erases the rows of removed passages and the log up to a sequence number.
    fn let_go(&self, namespace: i32, until: i64) -> Result<()> {
        self.write(async |connection| {
            let locked = connection
                .query_opt(
                    "SELECT last_sequence FROM namespaces WHERE number = $1 FOR UPDATE",
                    &[&namespace],
                )
                .await?;
            let Some(locked) = locked else { return Ok(()) };
            let until = until.min(locked.get(0));
            let removed = connection
                .query(
                    "DELETE FROM log WHERE namespace = $1 AND sequence <= $2
                     RETURNING kind, first, first + count - 1",
                    &[&namespace, &until],
                )
                .await?;
            let removed = removed.iter().filter(|row| row.get::<_, i16>(0) == 1);
            let (firsts, lasts): (Vec<i64>, Vec<i64>) =
                removed.map(|row| (row.get::<_, i64>(1), row.get::<_, i64>(2))).unzip();
            if !firsts.is_empty() {
                erase_passages(connection, namespace, &firsts, &lasts).await?;
            }
            connection
                .execute(
                    "UPDATE namespaces SET log_starts_after = greatest(log_starts_after, $2)
                     WHERE number = $1",
                    &[&namespace, &until],
                )
                .await?;
            Ok(())
        })
    }

    /// Forgets followers that were away for too long, and lets go of what waited for them.
    pub(crate) fn forget_followers(&self) -> Result<()> {
        let behind = self.write(async |connection| {
            let sql = format!(
                "DELETE FROM followers
                 WHERE seen_at < clock_timestamp() - interval '{FOLLOWER_PATIENCE}'
                 RETURNING namespace, follower"
            );
            for row in connection.query(&sql, &[]).await? {
                tracing::info!(
                    namespace = row.get::<_, i32>(0),
                    follower = row.get::<_, &str>(1),
                    "a follower was offline for too long and is not waited for"
                );
            }
            let sql = "SELECT namespace, min(sequence) FROM followers GROUP BY namespace";
            let found = connection.query(sql, &[]).await?;
            let seen = |row: &tokio_postgres::Row| (row.get(0), row.get(1));
            Ok(found.iter().map(seen).collect::<Vec<(i32, i64)>>())
        })?;
        behind.into_iter().try_for_each(|(namespace, until)| self.let_go(namespace, until))
    }
}

fn as_number(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
