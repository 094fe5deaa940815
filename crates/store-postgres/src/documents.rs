//! Questions that the catalogue answers by itself: documents, passages and blobs.

use std::collections::HashMap;

use model::{DocumentId, NamespaceId, Passage, PassageId};
use store::{DocumentInfo, DocumentPage, Fingerprint, Result, StoredPassage, limits};

use crate::connection::Connection;
use crate::database::Database;
use crate::escape::spell;
use crate::rows::{self, Lock, key};

/// Fingerprints read by one statement, so that a listing of millions is not held twice.
const FINGERPRINTS_PER_STATEMENT: usize = 50_000;

impl Database {
    /// Reads inside one namespace, whose number is given.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a closure at the call reads better than a reference to one"
    )]
    fn read_in<T>(
        &self,
        namespace: &NamespaceId,
        read: impl AsyncFn(&mut Connection, i32) -> Result<T>,
    ) -> Result<T> {
        self.read(async |connection| {
            let number = rows::namespace(connection, namespace, Lock::No).await?.number();
            read(connection, number).await
        })
    }

    /// Reads rows of a namespace by one statement, whose `$1` is its key; one that gives nothing is
    /// followed by the question whether there is such a namespace.
    fn rows_in(
        &self,
        namespace: &NamespaceId,
        sql: &str,
        keys: &[Vec<u8>],
    ) -> Result<Vec<tokio_postgres::Row>> {
        self.read(async |connection| {
            let found = connection.query(sql, &[&key(namespace.as_str()), &keys]).await?;
            if found.is_empty() {
                rows::namespace(connection, namespace, Lock::No).await?;
            }
            Ok(found)
        })
    }

    /// Lists documents in the order of their ids.
    pub(crate) fn documents(
        &self,
        namespace: &NamespaceId,
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        let limit = page.limit.min(limits::MAX_PAGE);
        self.read_in(namespace, async |connection, number| {
            let after = page.after.as_ref().map(DocumentId::as_str);
            let found =
                list(connection, number, rows::DOCUMENT_INFO, &page.prefix, after, limit).await?;
            found.iter().map(rows::read_document_info).collect()
        })
    }

    /// Gives the fingerprints of documents in the order of their ids.
    pub(crate) fn fingerprints(
        &self,
        namespace: &NamespaceId,
        prefix: &str,
    ) -> Result<Vec<Fingerprint>> {
        self.read_in(namespace, async |connection, number| {
            let mut fingerprints: Vec<Fingerprint> = vec![];
            loop {
                let after = fingerprints.last().map(|last| last.id.as_str().to_owned());
                let columns = "id, fingerprint, n_passages";
                let limit = FINGERPRINTS_PER_STATEMENT;
                let found =
                    list(connection, number, columns, prefix, after.as_deref(), limit).await?;
                fingerprints.extend(found.iter().map(|row| Fingerprint {
                    id: DocumentId::new(rows::text(row, 0)),
                    fingerprint: rows::text(row, 1),
                    n_passages: rows::count(row, 2),
                }));
                if found.len() < limit {
                    return Ok(fingerprints);
                }
            }
        })
    }

    /// Gives documents by id, in the order asked.
    pub(crate) fn documents_by_id(
        &self,
        namespace: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<DocumentInfo>>> {
        self.read_in(namespace, async |connection, number| {
            let sql = format!(
                "SELECT {} FROM documents WHERE namespace = $1 AND id_key = ANY($2)",
                rows::DOCUMENT_INFO
            );
            let keys: Vec<Vec<u8>> = documents.iter().map(|id| key(id.as_str())).collect();
            let found = connection.query(&sql, &[&number, &keys]).await?;
            let mut by_id = HashMap::with_capacity(found.len());
            for row in &found {
                let info = rows::read_document_info(row)?;
                by_id.insert(info.id.clone(), info);
            }
            Ok(documents.iter().map(|id| by_id.get(id).cloned()).collect())
        })
    }

    /// Gives the passages of a document in order.
    pub(crate) fn passages_of(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Vec<Passage>> {
        self.read_in(namespace, async |connection, number| {
            let sql = format!(
                "SELECT {} FROM documents d JOIN passages p ON p.namespace = d.namespace AND {}
                 WHERE d.namespace = $1 AND d.id_key = $2 ORDER BY p.number",
                rows::PASSAGE,
                rows::IS_LIVING
            );
            let found = connection.query(&sql, &[&number, &key(document.as_str())]).await?;
            found.iter().map(rows::read_passage).collect()
        })
    }

    /// Gives passages by id, in the order asked.
    pub(crate) fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        let sql = format!(
            "SELECT {}, {} FROM {} WHERE p.namespace = {} AND p.id_key = ANY($2) AND {}",
            rows::PASSAGE,
            rows::STORED,
            rows::WITH_DOCUMENT,
            rows::NUMBER_OF_FIRST,
            rows::IS_LIVING
        );
        let keys: Vec<Vec<u8>> = passages.iter().map(|id| key(id.as_str())).collect();
        let found = self.rows_in(namespace, &sql, &keys)?;
        let mut by_id = HashMap::with_capacity(found.len());
        for row in &found {
            let stored = rows::read_stored(row)?;
            by_id.insert(stored.passage.id.clone(), stored);
        }
        Ok(passages.iter().map(|id| by_id.get(id).cloned()).collect())
    }

    /// Gives passages that have no vector yet, the longest waiting first.
    pub(crate) fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        let limit = limit.min(limits::MAX_PAGE) as i64;
        self.read_in(namespace, async |connection, number| {
            let sql = format!(
                "SELECT {}, {} FROM {} WHERE p.namespace = $1 AND p.number IN
                     (SELECT number FROM awaiting_vectors WHERE namespace = $1
                      ORDER BY number LIMIT $2) ORDER BY p.number",
                rows::PASSAGE,
                rows::STORED,
                rows::WITH_DOCUMENT
            );
            let found = connection.query(&sql, &[&number, &limit]).await?;
            found.iter().map(rows::read_stored).collect()
        })
    }

    /// Gives those of some passages that have no vector yet.
    pub(crate) fn without_vectors(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<StoredPassage>> {
        self.read_in(namespace, async |connection, number| {
            let sql = format!(
                "SELECT {}, {} FROM {} WHERE p.namespace = $1 AND p.id_key = ANY($2) AND {}
                 AND NOT EXISTS (SELECT FROM vectors v
                     WHERE v.namespace = p.namespace AND v.number = p.number) ORDER BY p.number",
                rows::PASSAGE,
                rows::STORED,
                rows::WITH_DOCUMENT,
                rows::IS_LIVING
            );
            let keys: Vec<Vec<u8>> = passages.iter().map(|id| key(id.as_str())).collect();
            let found = connection.query(&sql, &[&number, &keys]).await?;
            found.iter().map(rows::read_stored).collect()
        })
    }

    /// Gives the blobs of passages, in the order asked.
    pub(crate) fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let sql = format!(
            "SELECT p.id_key, b.blob FROM {} JOIN blobs b
                 ON b.namespace = p.namespace AND b.number = p.number
             WHERE p.namespace = {} AND p.id_key = ANY($2) AND {}",
            rows::WITH_DOCUMENT,
            rows::NUMBER_OF_FIRST,
            rows::IS_LIVING
        );
        let keys: Vec<Vec<u8>> = passages.iter().map(|id| key(id.as_str())).collect();
        let found = self.rows_in(namespace, &sql, &keys)?;
        let mut by_key: HashMap<Vec<u8>, Vec<u8>> =
            found.iter().map(|row| (row.get(0), row.get(1))).collect();
        Ok(keys.iter().map(|key| by_key.remove(key)).collect())
    }
}

/// Lists rows of documents in the order of their ids. The index holds their beginnings, which have
/// the same order.
async fn list(
    connection: &mut Connection,
    namespace: i32,
    columns: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<tokio_postgres::Row>> {
    let sql = format!(
        "SELECT {columns} FROM documents WHERE namespace = $1
             AND left(id, 400) COLLATE \"C\" >= left($2::text, 400) COLLATE \"C\"
             AND starts_with(id, $2::text)
             AND ($3::text IS NULL OR (left(id, 400) COLLATE \"C\" >= left($3::text, 400) COLLATE \"C\"
                 AND id > $3::text COLLATE \"C\"))
             AND ($4::text IS NULL OR left(id, 400) COLLATE \"C\" < $4::text COLLATE \"C\")
         ORDER BY left(id, 400) COLLATE \"C\", id LIMIT $5"
    );
    let prefix = spell(prefix);
    let after = after.map(spell);
    let end = end_of(&prefix);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let after = after.as_deref();
    connection.query(&sql, &[&namespace, &prefix.as_ref(), &after, &end, &limit]).await
}

/// Gives the first text after all that begin with a prefix, so that the listing ends in the index;
/// nothing where that is not simple to say.
fn end_of(prefix: &str) -> Option<String> {
    if prefix.is_empty() || prefix.chars().count() >= 400 {
        return None;
    }
    let mut end = prefix.to_owned();
    let last = end.pop()?;
    let next = (u32::from(last) + 1..=u32::from(last) + 0x801).find_map(char::from_u32)?;
    end.push(next);
    Some(end)
}
