//! Every change: first the catalogue in one transaction, then the indexes, then the searches.

use model::{DocumentId, NamespaceId, PassageId};
use rusqlite::{OptionalExtension, Transaction, params};

use super::batch::{Batch, Op, Outcome, log_runs};
use super::derived::Derived;
use super::following::{erase_passages, remove_folder, truncate_log};
use super::namespace::{Namespace, folder_of};
use super::rows::{self, NamespaceRow};
use super::store::EmbeddedStore;
use crate::lexical::Entry;
use crate::vectors::normalised;
use crate::{Document, Error, Manifest, Result, Upserted, VectorSpace, limits};

/// Rows erased in one transaction when a namespace goes.
const ROWS_PER_ERASURE: i64 = 20_000;

impl EmbeddedStore {
    pub(super) fn create(&self, id: &NamespaceId, manifest: &Manifest) -> Result<()> {
        within("the length of a namespace id", id.as_str().len(), limits::MAX_ID_BYTES)?;
        if let Some(space) = &manifest.vectors {
            within("the dimensions of a vector", space.dimensions, limits::MAX_DIMENSIONS)?;
        }
        let json = serde_json::to_string(manifest).map_err(|source| Error::BadObject {
            kind: "namespace".to_owned(),
            id: id.to_string(),
            source,
        })?;
        let kept = self.database.read(|connection| rows::namespace(connection, id))?;
        let Some(kept) = kept else {
            let now = self.clock.now().millis();
            return self.database.write(|transaction| {
                transaction.execute(
                    "INSERT INTO namespaces (id, manifest, created_at) VALUES (?, ?, ?)
                     ON CONFLICT DO NOTHING",
                    params![id.as_str(), json, now],
                )?;
                Ok(())
            });
        };
        let kept = kept.info.manifest;
        let takes_on_vectors = kept.vectors.is_none()
            && kept == Manifest { vectors: None, ..manifest.clone() }
            && manifest.vectors.is_some();
        if takes_on_vectors {
            return self.change_space(id, manifest.vectors.as_ref());
        }
        let is_without_wish = manifest.vectors.is_none();
        let is_same_otherwise = Manifest { vectors: None, ..kept.clone() }
            == Manifest { vectors: None, ..manifest.clone() };
        if kept == *manifest || (is_without_wish && is_same_otherwise) {
            return Ok(());
        }
        Err(Error::ManifestMismatch {
            namespace: id.clone(),
            kept: Box::new(kept),
            wanted: Box::new(manifest.clone()),
        })
    }

    pub(super) fn change_space(&self, id: &NamespaceId, space: Option<&VectorSpace>) -> Result<()> {
        if let Some(space) = space {
            within("the dimensions of a vector", space.dimensions, limits::MAX_DIMENSIONS)?;
        }
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let is_changed = self.database.write(|transaction| {
            let row = living(transaction, &namespace)?;
            let mut manifest = row.info.manifest;
            if manifest.vectors.as_ref() == space {
                return Ok(false);
            }
            manifest.vectors = space.cloned();
            let (first, last) = rows::rows_of(row.number);
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
            let json = serde_json::to_string(&manifest).map_err(|source| Error::BadObject {
                kind: "namespace".to_owned(),
                id: id.to_string(),
                source,
            })?;
            transaction.execute(
                "UPDATE namespaces SET manifest = ?, n_vectors = 0 WHERE number = ?",
                params![json, row.number],
            )?;
            Ok(true)
        })?;
        if is_changed {
            let space = space.cloned();
            self.follow(&namespace, &mut derived, |derived| {
                derived.open_vectors(&self.database, space)
            })?;
        }
        Ok(())
    }

    pub(super) fn drop_whole(&self, id: &NamespaceId) -> Result<bool> {
        // A namespace that cannot be opened (another analyser, say) can still be dropped.
        let open = match self.namespace_of(id) {
            Ok(namespace) => Some(namespace),
            Err(Error::UnknownNamespace { .. }) => return Ok(false),
            Err(_) => None,
        };
        let mut derived = open.as_ref().map(|namespace| namespace.derived.lock());
        self.database.write(|transaction| {
            transaction.execute(
                "UPDATE namespaces SET is_dropped = 1 WHERE id = ? AND is_dropped = 0",
                [id.as_str()],
            )?;
            Ok(())
        })?;
        self.take_out(id);
        if let Some(derived) = &mut derived {
            derived.words().abandon();
        }
        drop(derived);
        erase_dropped(self)?;
        // The freed pages and the log still hold what was erased until they are given back.
        self.database.forget_erased()?;
        Ok(true)
    }

    pub(super) fn write_documents(
        &self,
        id: &NamespaceId,
        documents: &[Document],
    ) -> Result<Upserted> {
        check_documents(documents)?;
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let now = self.clock.now().millis();
        let outcome = self.database.write(|transaction| {
            let row = living(transaction, &namespace)?;
            truncate_log(transaction, row.number, written)?;
            let mut batch = Batch::begin(transaction, row)?;
            for (document_idx, document) in documents.iter().enumerate() {
                batch.upsert(document_idx, document, now)?;
            }
            batch.finish()
        })?;
        self.follow(&namespace, &mut derived, |derived| {
            if outcome.sequence_before == derived.words_seen() {
                apply(derived, &outcome, documents)?;
            }
            derived.catch_up(&self.database)
        })?;
        if outcome.ops.iter().any(|op| matches!(op, Op::Removed { .. })) {
            derived.purge(&self.database)?;
        }
        drop(derived);
        self.rest_unused_writers(id)?;
        Ok(outcome.upserted)
    }

    pub(super) fn delete_documents(
        &self,
        id: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<usize> {
        within("the documents of one write", documents.len(), limits::MAX_DOCUMENTS_PER_WRITE)?;
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let n_deleted = self.database.write(|transaction| {
            let row = living(transaction, &namespace)?;
            truncate_log(transaction, row.number, written)?;
            let mut batch = Batch::begin(transaction, row)?;
            let mut n_deleted = 0;
            for document in documents {
                n_deleted += usize::from(batch.delete(document)?);
            }
            batch.finish()?;
            Ok(n_deleted)
        })?;
        if n_deleted > 0 {
            self.follow(&namespace, &mut derived, |derived| derived.catch_up(&self.database))?;
            derived.purge(&self.database)?;
        }
        drop(derived);
        self.rest_unused_writers(id)?;
        Ok(n_deleted)
    }

    pub(super) fn write_vectors(
        &self,
        id: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let n_set = self.database.write(|transaction| {
            let row = living(transaction, &namespace)?;
            let Some(space) = row.info.manifest.vectors.clone() else {
                return Err(Error::NoVectorSpace { namespace: id.clone() });
            };
            truncate_log(transaction, row.number, written)?;
            let mut numbers = vec![];
            let mut n_new = 0;
            for (passage, vector) in vectors {
                if vector.len() != space.dimensions {
                    return Err(Error::WrongDimensions {
                        namespace: id.clone(),
                        received: vector.len(),
                        expected: space.dimensions,
                    });
                }
                let vector = normalised(vector)
                    .ok_or_else(|| Error::BadVector { passage: passage.clone() })?;
                let Some(passage_row) = rows::living_row(transaction, row.number, passage)? else {
                    continue;
                };
                let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                let n_awaiting = transaction
                    .prepare_cached("DELETE FROM awaiting_vectors WHERE row = ?")?
                    .execute([passage_row])?;
                transaction
                    .prepare_cached("REPLACE INTO vectors (row, vector) VALUES (?, ?)")?
                    .execute(params![passage_row, bytes])?;
                n_new += n_awaiting;
                numbers.push(rows::number_of(passage_row));
            }
            let n_set = numbers.len();
            log_runs(transaction, row.number, numbers)?;
            transaction
                .prepare_cached("UPDATE namespaces SET n_vectors = n_vectors + ? WHERE number = ?")?
                .execute(params![n_new, row.number])?;
            Ok(n_set)
        })?;
        if n_set > 0 {
            self.follow(&namespace, &mut derived, |derived| derived.catch_up(&self.database))?;
        }
        Ok(n_set)
    }

    pub(super) fn write_blobs(
        &self,
        id: &NamespaceId,
        blobs: &[(PassageId, Vec<u8>)],
    ) -> Result<usize> {
        for (_, blob) in blobs {
            within("the size of a blob", blob.len(), limits::MAX_BLOB_BYTES)?;
        }
        self.database.write(|transaction| {
            let row = rows::namespace(transaction, id)?
                .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })?;
            let mut n_set = 0;
            for (passage, blob) in blobs {
                if let Some(passage_row) = rows::living_row(transaction, row.number, passage)? {
                    transaction
                        .prepare_cached("REPLACE INTO blobs (row, blob) VALUES (?, ?)")?
                        .execute(params![passage_row, blob])?;
                    n_set += 1;
                }
            }
            Ok(n_set)
        })
    }

    /// Lets the indexes follow the catalogue, and the searches the indexes.
    ///
    /// After a failure it goes back to what is on disk and tries once more from the catalogue:
    /// a change that the catalogue has is never given up.
    fn follow(
        &self,
        namespace: &Namespace,
        derived: &mut Derived,
        step: impl FnOnce(&mut Derived) -> Result<()>,
    ) -> Result<()> {
        let followed = step(derived).and_then(|()| namespace.publish(derived, &self.database));
        let Err(first_failure) = followed else { return Ok(()) };
        tracing::warn!(
            namespace = %namespace.id,
            error = &first_failure as &dyn std::error::Error,
            "index could not follow; trying again from the catalogue"
        );
        derived
            .recover(&self.database)
            .and_then(|()| namespace.publish(derived, &self.database))
            .map_err(|source| Error::IndexBehind {
                namespace: namespace.id.clone(),
                source: Box::new(source),
            })
    }
}

/// Erases what is left of namespaces that were dropped, in small transactions.
pub(super) fn erase_dropped(store: &EmbeddedStore) -> Result<()> {
    let database = &store.database;
    loop {
        let dropped: Option<u32> = database.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT number FROM namespaces WHERE is_dropped = 1")?;
            Ok(statement.query_row([], |row| row.get(0)).optional()?)
        })?;
        let Some(number) = dropped else { return Ok(()) };
        remove_folder(&folder_of(&store.root, number))?;
        let (first, last) = rows::rows_of(number);
        loop {
            let n_left = database.write(|transaction| {
                let end: Option<i64> = transaction.query_row(
                    "SELECT max(row) FROM (SELECT row FROM passages WHERE row BETWEEN ? AND ?
                     ORDER BY row LIMIT ?)",
                    params![first, last, ROWS_PER_ERASURE],
                    |row| row.get(0),
                )?;
                match end {
                    Some(end) => {
                        erase_passages(transaction, first, end)?;
                        Ok(1)
                    }
                    None => {
                        erase_passages(transaction, first, last)?;
                        Ok(0)
                    }
                }
            })?;
            if n_left == 0 {
                break;
            }
        }
        database.write(|transaction| {
            transaction
                .execute("DELETE FROM documents WHERE row BETWEEN ? AND ?", params![first, last])?;
            transaction.execute("DELETE FROM log WHERE namespace = ?", [number])?;
            transaction.execute("DELETE FROM namespaces WHERE number = ?", [number])?;
            Ok(())
        })?;
    }
}

/// Puts what the transaction did into the full-text index, from the documents in hand.
fn apply(derived: &mut Derived, outcome: &Outcome, documents: &[Document]) -> Result<()> {
    if outcome.ops.is_empty() {
        return Ok(());
    }
    for op in &outcome.ops {
        match op {
            Op::Removed { first } => derived.words().remove_version(*first)?,
            Op::Added { document_idx, first, language } => {
                let document = &documents[*document_idx];
                for (number, passage) in (*first..).zip(&document.passages) {
                    derived.words().add(&Entry {
                        number,
                        version: *first,
                        document: &document.id,
                        title: &document.title,
                        attributes: &document.attributes,
                        language: *language,
                        passage,
                    })?;
                }
            }
        }
    }
    derived.commit_words(outcome.sequence)
}

/// Gives the namespace's row, unless it was dropped while the writer waited.
fn living(transaction: &Transaction<'_>, namespace: &Namespace) -> Result<NamespaceRow> {
    rows::namespace(transaction, &namespace.id)?
        .filter(|row| row.number == namespace.number)
        .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.id.clone() })
}

fn check_documents(documents: &[Document]) -> Result<()> {
    within("the documents of one write", documents.len(), limits::MAX_DOCUMENTS_PER_WRITE)?;
    for document in documents {
        within("the length of a document id", document.id.as_str().len(), limits::MAX_ID_BYTES)?;
        within("the length of a title", document.title.len(), limits::MAX_TITLE_BYTES)?;
        let n_passages = document.passages.len();
        within("the passages of a document", n_passages, limits::MAX_PASSAGES_PER_DOCUMENT)?;
        for passage in &document.passages {
            within("the length of a passage id", passage.id.as_str().len(), limits::MAX_ID_BYTES)?;
            within("the length of a passage", passage.text.len(), limits::MAX_PASSAGE_BYTES)?;
        }
    }
    Ok(())
}

fn within(what: &'static str, received: usize, allowed: usize) -> Result<()> {
    if received > allowed {
        return Err(Error::TooLarge { what, received, allowed });
    }
    Ok(())
}
