//! Every change to namespaces, documents and vectors, each in one transaction that locks the row of
//! the namespace first.

use std::collections::BTreeMap;

use model::{DocumentId, NamespaceId, PassageId, Timestamp};
use store::{
    Agreement, Document, DroppedNamespace, Manifest, Result, VectorSpace, Written, bounds,
};

use crate::batch::Batch;
use crate::batch_rows::LogRows;
use crate::connection::Connection;
use crate::database::Database;
use crate::escape::spell;
use crate::rows::{self, Lock, key};

/// Passages erased in one transaction when a namespace goes.
const PASSAGES_PER_ERASURE: i64 = 20_000;

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
        let found =
            self.read(async |connection| rows::find_namespace(connection, id, Lock::No).await)?;
        if found.is_none() {
            self.write(async |connection| {
                connection
                    .execute(
                        "INSERT INTO namespaces (id, id_key, manifest, created_at)
                         VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                        &[&spell(id.as_str()), &key(id.as_str()), &json, &now.millis()],
                    )
                    .await
            })?;
        }
        // Another server may have made it at the same time, with another manifest.
        let found =
            self.read(async |connection| rows::namespace(connection, id, Lock::No).await)?;
        let kept = found.state.info.manifest;
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
        self.write(async |connection| {
            let row = rows::namespace(connection, id, Lock::Yes).await?;
            let mut manifest = row.state.info.manifest.clone();
            if manifest.vectors.as_ref() == space {
                return Ok(false);
            }
            manifest.vectors = space.cloned();
            let number = row.number();
            for table in ["vectors", "blobs", "awaiting_vectors"] {
                let sql = format!("DELETE FROM {table} WHERE namespace = $1");
                connection.execute(&sql, &[&number]).await?;
            }
            if space.is_some() {
                let sql = format!(
                    "INSERT INTO awaiting_vectors SELECT p.namespace, p.number FROM {}
                     WHERE p.namespace = $1 AND {}",
                    rows::WITH_DOCUMENT,
                    rows::IS_LIVING
                );
                connection.execute(&sql, &[&number]).await?;
            }
            connection
                .execute(
                    "UPDATE namespaces SET manifest = $2, n_vectors = 0 WHERE number = $1",
                    &[&number, &manifest.to_json(id)?],
                )
                .await?;
            Ok(true)
        })
    }

    /// Takes on the analyser and index format of this program.
    pub(crate) fn take_on_manifest(&self, id: &NamespaceId) -> Result<()> {
        self.write(async |connection| {
            let row = rows::namespace(connection, id, Lock::Yes).await?;
            let manifest = Manifest::current(row.state.info.manifest.vectors.clone());
            connection
                .execute(
                    "UPDATE namespaces SET manifest = $2 WHERE number = $1",
                    &[&row.number(), &manifest.to_json(id)?],
                )
                .await?;
            Ok(())
        })
    }

    /// Writes documents, each at its own time or all at one.
    pub(crate) fn upsert(
        &self,
        id: &NamespaceId,
        documents: &[Document],
        times: &[Timestamp],
    ) -> Result<Written> {
        self.write(async |connection| {
            let row = rows::namespace(connection, id, Lock::Yes).await?;
            let mut batch = Batch::begin(connection, row);
            batch.upsert(documents, times).await?;
            batch.finish().await
        })
    }

    /// Erases documents and gives how many there were.
    pub(crate) fn delete(&self, id: &NamespaceId, documents: &[DocumentId]) -> Result<usize> {
        bounds::check_deletion(documents)?;
        self.write(async |connection| {
            let row = rows::namespace(connection, id, Lock::Yes).await?;
            let mut batch = Batch::begin(connection, row);
            let n_deleted = batch.delete(documents).await?;
            batch.finish().await?;
            Ok(n_deleted)
        })
    }

    /// Gives passages their vectors and tells how many there were.
    pub(crate) fn set_vectors(
        &self,
        id: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        self.write(async |connection| {
            let row = rows::namespace(connection, id, Lock::Yes).await?;
            let space = row.state.info.manifest.vectors.as_ref();
            let mut by_key = BTreeMap::new();
            for (passage, vector) in vectors {
                let vector = bounds::unit_vector(id, space, passage, vector)?;
                by_key.insert(key(passage.as_str()), rows::bytes_of(&vector));
            }
            let number = row.number();
            let (numbers, found) = living_numbers(connection, number, by_key).await?;
            if numbers.is_empty() {
                return Ok(0);
            }
            connection
                .execute(
                    "INSERT INTO vectors (namespace, number, vector)
                     SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
                     ON CONFLICT (namespace, number) DO UPDATE SET vector = excluded.vector",
                    &[&number, &numbers, &found],
                )
                .await?;
            let n_new = connection
                .execute(
                    "DELETE FROM awaiting_vectors WHERE namespace = $1 AND number = ANY($2)",
                    &[&number, &numbers],
                )
                .await?;
            let mut log = LogRows::after(row.last_sequence);
            let passages = numbers.iter().map(|number| u32::try_from(*number).unwrap_or(u32::MAX));
            log.push_vectors(passages.collect());
            let last = log.last();
            log.write(connection, number).await?;
            connection
                .execute(
                    "UPDATE namespaces SET n_vectors = n_vectors + $2, last_sequence = $3
                     WHERE number = $1",
                    &[&number, &(n_new as i64), &(last as i64)],
                )
                .await?;
            Ok(numbers.len())
        })
    }

    /// Stores blobs with passages and tells how many were stored.
    pub(crate) fn set_blobs(
        &self,
        id: &NamespaceId,
        blobs: &[(PassageId, Vec<u8>)],
    ) -> Result<usize> {
        bounds::check_blobs(blobs)?;
        self.write(async |connection| {
            let number = rows::namespace(connection, id, Lock::Yes).await?.number();
            let by_key: BTreeMap<_, _> =
                blobs.iter().map(|(id, blob)| (key(id.as_str()), blob.clone())).collect();
            let (numbers, found) = living_numbers(connection, number, by_key).await?;
            connection
                .execute(
                    "INSERT INTO blobs (namespace, number, blob)
                     SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
                     ON CONFLICT (namespace, number) DO UPDATE SET blob = excluded.blob",
                    &[&number, &numbers, &found],
                )
                .await?;
            Ok(numbers.len())
        })
    }

    /// Marks a namespace as dropped: it is gone for every later call of every server.
    pub(crate) fn mark_dropped(&self, id: &NamespaceId) -> Result<bool> {
        self.write(async |connection| {
            let n_marked = connection
                .execute(
                    "UPDATE namespaces SET is_dropped = true WHERE id_key = $1 AND NOT is_dropped",
                    &[&key(id.as_str())],
                )
                .await?;
            Ok(n_marked > 0)
        })
    }

    /// Gives the namespaces that were dropped and are not erased yet.
    pub(crate) fn dropped(&self) -> Result<Vec<DroppedNamespace>> {
        self.read(async |connection| {
            let sql = "SELECT id, number FROM namespaces WHERE is_dropped ORDER BY number";
            let found = connection.query(sql, &[]).await?;
            let dropped = |row: &tokio_postgres::Row| DroppedNamespace {
                id: NamespaceId::new(rows::text(row, 0)),
                number: u32::try_from(row.get::<_, i32>(1)).unwrap_or(0),
            };
            Ok(found.iter().map(dropped).collect())
        })
    }

    /// Erases what is left of a dropped namespace, in small transactions.
    pub(crate) fn erase_namespace(&self, number: u32) -> Result<()> {
        let number = rows::namespace_number(number);
        let mut first = 0;
        loop {
            let end = self.write(async |connection| {
                let row = connection
                    .query_one(
                        "SELECT max(number) FROM (SELECT number FROM passages WHERE namespace = $1
                         AND number >= $2 ORDER BY number LIMIT $3) AS part",
                        &[&number, &first, &PASSAGES_PER_ERASURE],
                    )
                    .await?;
                let end: Option<i64> = row.get(0);
                erase_passages(connection, number, &[first], &[end.unwrap_or(i64::MAX)]).await?;
                Ok(end)
            })?;
            match end {
                Some(end) => first = end + 1,
                None => break,
            }
        }
        self.write(async |connection| {
            for table in ["documents", "log", "followers"] {
                let sql = format!("DELETE FROM {table} WHERE namespace = $1");
                connection.execute(&sql, &[&number]).await?;
            }
            connection.execute("DELETE FROM namespaces WHERE number = $1", &[&number]).await?;
            Ok(())
        })
    }
}

/// Erases everything that is kept for ranges of passages, both ends included.
pub(crate) async fn erase_passages(
    connection: &mut Connection,
    namespace: i32,
    firsts: &[i64],
    lasts: &[i64],
) -> Result<()> {
    for table in ["passages", "vectors", "awaiting_vectors", "blobs"] {
        let sql = format!(
            "DELETE FROM {table} t USING unnest($2::bigint[], $3::bigint[]) AS range (first, last)
             WHERE t.namespace = $1 AND t.number BETWEEN range.first AND range.last"
        );
        connection.execute(&sql, &[&namespace, &firsts, &lasts]).await?;
    }
    Ok(())
}

/// Gives the numbers of the living passages among some, with what was given for each.
async fn living_numbers(
    connection: &mut Connection,
    namespace: i32,
    mut by_key: BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<(Vec<i64>, Vec<Vec<u8>>)> {
    let keys: Vec<&Vec<u8>> = by_key.keys().collect();
    let sql = format!(
        "SELECT p.id_key, p.number FROM {}
         WHERE p.namespace = $1 AND p.id_key = ANY($2) AND {} ORDER BY p.number",
        rows::WITH_DOCUMENT,
        rows::IS_LIVING
    );
    let found = connection.query(&sql, &[&namespace, &keys]).await?;
    let pairs = found
        .iter()
        .filter_map(|row| Some((row.get::<_, i64>(1), by_key.remove(row.get::<_, &[u8]>(0))?)));
    Ok(pairs.unzip())
}
