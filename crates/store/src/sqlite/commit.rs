//! Every change to the catalogue, each in one transaction that also logs what engines have to
//! follow. Nothing here knows an engine.

use std::collections::HashMap;

use model::{DocumentId, NamespaceId, PassageId, Timestamp};
use parking_lot::Mutex;
use rusqlite::{Transaction, params};

use super::batch::{Batch, log_runs};
use super::checksums::Checksum;
use super::database::Database;
use super::log::{erase_passages, truncate_log};
use super::rows::{self, NamespaceRow};
use crate::{
    Agreement, Document, DroppedNamespace, Error, Manifest, Result, VectorSpace, Written, bounds,
    failpoint,
};

/// Rows erased in one transaction when a namespace goes.
const ROWS_PER_ERASURE: i64 = 20_000;

impl Database {
    /// Makes a namespace; an existing one takes on a vector space where it has none.
    pub(crate) fn create(
        &self,
        id: &NamespaceId,
        manifest: &Manifest,
        now: Timestamp,
    ) -> Result<()> {
        bounds::check_namespace(id, manifest)?;
        let json = manifest.to_json(id)?;
        let kept = self.read(|connection| rows::namespace(connection, id))?;
        let Some(kept) = kept else {
            return self.write(|transaction| {
                transaction.execute(
                    "INSERT INTO namespaces (id, manifest, created_at) VALUES (?, ?, ?)
                     ON CONFLICT DO NOTHING",
                    params![id.as_str(), json, now.millis()],
                )?;
                Ok(())
            });
        };
        let kept = kept.info.manifest;
        match kept.agree(id, manifest)? {
            Agreement::Same => Ok(()),
            Agreement::TakesSpace => self.change_space(id, manifest.vectors.as_ref()).map(|_| ()),
        }
    }

    /// Changes the vector space and erases the vectors of another one; tells whether it changed.
    pub(crate) fn change_space(
        &self,
        id: &NamespaceId,
        space: Option<&VectorSpace>,
    ) -> Result<bool> {
        bounds::check_space(space)?;
        self.write(|transaction| {
            let row = living(transaction, id)?;
            let number = row.number;
            let mut manifest = row.info.manifest;
            if manifest.vectors.as_ref() == space {
                return Ok(false);
            }
            manifest.vectors = space.cloned();
            let (first, last) = rows::rows_of(number);
            for table in ["vectors", "blobs", "awaiting_vectors"] {
                transaction.execute(
                    &format!("DELETE FROM {table} WHERE row BETWEEN ? AND ?"),
                    params![first, last],
                )?;
            }
            if space.is_some() {
                transaction.execute(
                    "INSERT INTO awaiting_vectors SELECT passages.row
                     FROM passages JOIN documents ON documents.row = passages.document
                     WHERE passages.row BETWEEN ?1 AND ?2
                     AND passages.row - ?1 - documents.first_passage
                         BETWEEN 0 AND documents.n_passages - 1",
                    params![first, last],
                )?;
            }
            transaction.execute(
                "UPDATE namespaces SET manifest = ?, n_vectors = 0 WHERE number = ?",
                params![manifest.to_json(id)?, number],
            )?;
            Ok(true)
        })
    }

    /// Takes on another analyser and format.
    pub(crate) fn take_on_manifest(&self, id: &NamespaceId) -> Result<()> {
        self.write(|transaction| {
            let row = rows::namespace(transaction, id)?
                .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })?;
            let manifest = Manifest::current(row.info.manifest.vectors);
            transaction.execute(
                "UPDATE namespaces SET manifest = ? WHERE number = ?",
                params![manifest.to_json(id)?, row.number],
            )?;
            Ok(())
        })
    }

    /// Writes documents. The log up to `written` is not needed any more.
    pub(crate) fn upsert(
        &self,
        id: &NamespaceId,
        documents: &[Document],
        released: &Released,
        now: Timestamp,
    ) -> Result<Written> {
        self.write(|transaction| {
            let row = living(transaction, id)?;
            truncate_log(transaction, row.number, released.of(row.number))?;
            let mut batch = Batch::begin(transaction, row)?;
            for (document_idx, document) in documents.iter().enumerate() {
                batch.upsert(document_idx, document, now.millis())?;
            }
            batch.finish()
        })
    }

    /// Writes documents with the times at which they were written elsewhere.
    pub(crate) fn import(
        &self,
        id: &NamespaceId,
        documents: &[(Document, Timestamp)],
    ) -> Result<()> {
        self.write(|transaction| {
            let row = living(transaction, id)?;
            let mut batch = Batch::begin(transaction, row)?;
            for (document_idx, (document, written_at)) in documents.iter().enumerate() {
                batch.upsert(document_idx, document, written_at.millis())?;
            }
            batch.finish().map(|_| ())
        })
    }

    /// Erases documents and gives how many there were.
    pub(crate) fn delete(
        &self,
        id: &NamespaceId,
        documents: &[DocumentId],
        released: &Released,
    ) -> Result<usize> {
        bounds::check_deletion(documents)?;
        self.write(|transaction| {
            let row = living(transaction, id)?;
            truncate_log(transaction, row.number, released.of(row.number))?;
            let mut batch = Batch::begin(transaction, row)?;
            let mut n_deleted = 0;
            for document in documents {
                n_deleted += usize::from(batch.delete(document)?);
            }
            batch.finish()?;
            Ok(n_deleted)
        })
    }

    /// Gives passages their vectors and tells how many there were.
    pub(crate) fn set_vectors(
        &self,
        id: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
        released: &Released,
    ) -> Result<usize> {
        self.write(|transaction| {
            let row = living(transaction, id)?;
            let space = row.info.manifest.vectors.as_ref();
            truncate_log(transaction, row.number, released.of(row.number))?;
            let mut numbers = vec![];
            let mut n_new = 0;
            for (passage, vector) in vectors {
                let vector = bounds::unit_vector(id, space, passage, vector)?;
                let Some(passage_row) = rows::living_row(transaction, row.number, passage)? else {
                    continue;
                };
                let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                let n_awaiting = transaction
                    .prepare_cached("DELETE FROM awaiting_vectors WHERE row = ?")?
                    .execute([passage_row])?;
                transaction
                    .prepare_cached(
                        "REPLACE INTO vectors (row, vector, checksum) VALUES (?, ?, ?)",
                    )?
                    .execute(params![passage_row, bytes, checksum_of(&bytes)])?;
                n_new += n_awaiting;
                numbers.push(rows::number_of(passage_row));
            }
            let n_set = numbers.len();
            log_runs(transaction, row.number, numbers)?;
            transaction
                .prepare_cached("UPDATE namespaces SET n_vectors = n_vectors + ? WHERE number = ?")?
                .execute(params![n_new, row.number])?;
            Ok(n_set)
        })
    }

    /// Keeps blobs beside passages and tells how many were kept.
    pub(crate) fn set_blobs(
        &self,
        id: &NamespaceId,
        blobs: &[(PassageId, Vec<u8>)],
    ) -> Result<usize> {
        bounds::check_blobs(blobs)?;
        self.write(|transaction| {
            let row = rows::namespace(transaction, id)?
                .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })?;
            let mut n_set = 0;
            for (passage, blob) in blobs {
                if let Some(passage_row) = rows::living_row(transaction, row.number, passage)? {
                    transaction
                        .prepare_cached(
                            "REPLACE INTO blobs (row, blob, checksum) VALUES (?, ?, ?)",
                        )?
                        .execute(params![passage_row, blob, checksum_of(blob)])?;
                    n_set += 1;
                }
            }
            Ok(n_set)
        })
    }

    /// Marks a namespace as dropped: it is gone for every later call.
    pub(crate) fn mark_dropped(&self, id: &NamespaceId) -> Result<bool> {
        self.write(|transaction| {
            let n_marked = transaction.execute(
                "UPDATE namespaces SET is_dropped = 1 WHERE id = ? AND is_dropped = 0",
                [id.as_str()],
            )?;
            Ok(n_marked > 0)
        })
    }

    /// Gives the namespaces that were dropped and are not erased yet.
    pub(crate) fn dropped(&self) -> Result<Vec<DroppedNamespace>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT id, number FROM namespaces WHERE is_dropped = 1")?;
            let found = statement.query_map([], |row| {
                let id = NamespaceId::new(row.get::<_, String>(0)?);
                Ok(DroppedNamespace { id, number: row.get(1)? })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Erases what is left of a dropped namespace, in small transactions.
    pub(crate) fn erase_namespace(&self, number: u32) -> Result<()> {
        let (first, last) = rows::rows_of(number);
        loop {
            let is_left = self.write(|transaction| {
                let end: Option<i64> = transaction.query_row(
                    "SELECT max(row) FROM (SELECT row FROM passages WHERE row BETWEEN ? AND ?
                     ORDER BY row LIMIT ?)",
                    params![first, last, ROWS_PER_ERASURE],
                    |row| row.get(0),
                )?;
                erase_passages(transaction, first, end.unwrap_or(last))?;
                Ok(end.is_some())
            })?;
            if !is_left {
                break;
            }
        }
        self.write(|transaction| {
            transaction
                .execute("DELETE FROM documents WHERE row BETWEEN ? AND ?", params![first, last])?;
            transaction.execute("DELETE FROM log WHERE namespace = ?", [number])?;
            transaction.execute("DELETE FROM namespaces WHERE number = ?", [number])?;
            Ok(())
        })
    }

    /// Erases the rows of removed passages, which no search sees any more, and the log that
    /// followers do not need.
    pub(crate) fn purge(&self, number: u32, written: u64) -> Result<()> {
        let removed = self.read(|connection| super::log::removed(connection, number, written))?;
        if removed.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            for (first, count) in &removed {
                let first = rows::row_of(number, *first);
                erase_passages(transaction, first, first + i64::from(*count) - 1)?;
            }
            truncate_log(transaction, number, written)
        })?;
        failpoint::reach("removed purged")
    }
}

/// How far followers have made the log durable on their side, by namespace.
///
/// The log is shortened by the next write of the namespace, so that it costs no transaction of
/// its own; what is forgotten when the process ends only makes the log longer.
#[derive(Debug, Default)]
pub(crate) struct Released(Mutex<HashMap<u32, u64>>);

impl Released {
    pub(crate) fn note(&self, number: u32, sequence: u64) {
        self.0.lock().insert(number, sequence);
    }

    fn of(&self, number: u32) -> u64 {
        self.0.lock().get(&number).copied().unwrap_or(0)
    }
}

/// Gives the namespace's row, unless it was dropped while the writer waited.
fn living(transaction: &Transaction<'_>, id: &NamespaceId) -> Result<NamespaceRow> {
    rows::namespace(transaction, id)?
        .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })
}

fn checksum_of(bytes: &[u8]) -> u32 {
    Checksum::default().bytes(bytes).finish()
}
