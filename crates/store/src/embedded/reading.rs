//! Every question: to the snapshot of the indexes, to the catalogue, or to both.

use std::sync::Arc;

use model::{Deadline, DocumentId, NamespaceId, Passage, PassageId};
use rusqlite::{Connection, OptionalExtension, params};

use text::LanguageSet;

use super::rows;
use super::snapshot::Snapshot;
use super::store::EmbeddedStore;
use crate::vectors::normalised;
use crate::{
    Candidate, Candidates, Counts, Document, DocumentInfo, DocumentPage, Error, Filter, Form,
    Manifest, NamespaceInfo, PassageStore, Result, StoredPassage, TermStatistics, Upserted,
    VectorSpace, WordsQuery, limits,
};

/// A search whose passages were erased under it looks again this often.
const MAX_LOOKS: usize = 3;

impl PassageStore for EmbeddedStore {
    fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()> {
        self.create(namespace, manifest)
    }

    fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceInfo>> {
        let row = self.database.read(|connection| rows::namespace(connection, namespace))?;
        Ok(row.map(|row| row.info))
    }

    fn namespaces(&self) -> Result<Vec<NamespaceInfo>> {
        let rows = self.database.read(rows::namespaces)?;
        Ok(rows.into_iter().map(|row| row.info).collect())
    }

    fn set_vector_space(&self, namespace: &NamespaceId, space: Option<&VectorSpace>) -> Result<()> {
        self.change_space(namespace, space)
    }

    fn drop_namespace(&self, namespace: &NamespaceId) -> Result<bool> {
        self.drop_whole(namespace)
    }

    fn upsert(&self, namespace: &NamespaceId, documents: &[Document]) -> Result<Upserted> {
        self.write_documents(namespace, documents)
    }

    fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize> {
        self.delete_documents(namespace, documents)
    }

    fn documents(&self, namespace: &NamespaceId, page: &DocumentPage) -> Result<Vec<DocumentInfo>> {
        let after = page.after.as_ref().map(DocumentId::as_str);
        let limit = page.limit.min(limits::MAX_PAGE);
        self.read_in(namespace, |connection, number| {
            let mut statement = connection.prepare_cached(&format!(
                "{} WHERE namespace = ?1 AND id >= ?2 AND (?3 IS NULL OR id > ?3)
                 ORDER BY id",
                rows::DOCUMENT_INFO
            ))?;
            let mut found = statement.query(params![number, page.prefix, after])?;
            let mut documents = vec![];
            while documents.len() < limit
                && let Some(row) = found.next()?
            {
                let document = rows::finish_document_info(rows::read_document_info(row)?)?;
                // Ids are sorted, so the first one without the prefix ends the listing.
                if !document.id.as_str().starts_with(&page.prefix) {
                    break;
                }
                documents.push(document);
            }
            Ok(documents)
        })
    }

    fn document(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Option<DocumentInfo>> {
        self.read_in(namespace, |connection, number| {
            let mut statement = connection.prepare_cached(&format!(
                "{} WHERE namespace = ? AND id = ?",
                rows::DOCUMENT_INFO
            ))?;
            let found = statement
                .query_row(params![number, document.as_str()], rows::read_document_info)
                .optional()?;
            found.map(rows::finish_document_info).transpose()
        })
    }

    fn passages_of(&self, namespace: &NamespaceId, document: &DocumentId) -> Result<Vec<Passage>> {
        self.read_in(namespace, |connection, number| {
            let Some(found) = rows::document_row(connection, number, document.as_str())? else {
                return Ok(vec![]);
            };
            let first = rows::row_of(number, found.first_passage);
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {} FROM passages WHERE row BETWEEN ? AND ? ORDER BY row",
                rows::PASSAGE
            ))?;
            let last = first + i64::from(found.n_passages) - 1;
            let found = statement.query_map(params![first, last], rows::read_passage)?;
            found.map(|passage| rows::finish_passage(passage?)).collect()
        })
    }

    fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        self.read_in(namespace, |connection, number| {
            let one = |id: &PassageId| match rows::living_row(connection, number, id)? {
                Some(row) => rows::stored_passage(connection, row),
                None => Ok(None),
            };
            passages.iter().map(one).collect()
        })
    }

    fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        self.read_in(namespace, |connection, number| {
            let (first, last) = rows::rows_of(number);
            let mut statement = connection.prepare_cached(
                "SELECT row FROM awaiting_vectors WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?",
            )?;
            let limit = limit.min(limits::MAX_PAGE);
            let awaiting = statement.query_map(params![first, last, limit], |row| row.get(0))?;
            let mut passages = vec![];
            for row in awaiting {
                passages.extend(rows::stored_passage(connection, row?)?);
            }
            Ok(passages)
        })
    }

    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        self.write_vectors(namespace, vectors)
    }

    fn set_blobs(&self, namespace: &NamespaceId, blobs: &[(PassageId, Vec<u8>)]) -> Result<usize> {
        self.write_blobs(namespace, blobs)
    }

    fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_in(namespace, |connection, number| {
            let mut statement =
                connection.prepare_cached("SELECT blob FROM blobs WHERE row = ?")?;
            let mut one = |id: &PassageId| match rows::living_row(connection, number, id)? {
                Some(row) => Ok(statement.query_row([row], |row| row.get(0)).optional()?),
                None => Ok(None),
            };
            passages.iter().map(&mut one).collect()
        })
    }

    fn by_words(
        &self,
        namespace: &NamespaceId,
        query: &WordsQuery,
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        query.check()?;
        self.search(namespace, filter, limit, |snapshot| {
            let fitting = snapshot.fitting(filter)?;
            let found = snapshot.words.search(query, &fitting.entries, limit, deadline)?;
            let mut candidates = Candidates {
                is_partial: found.is_partial,
                is_prefix_cut: found.is_prefix_cut,
                ..Candidates::default()
            };
            candidates.counts = snapshot.counts;
            Ok((found.hits, candidates))
        })
    }

    fn by_vector(
        &self,
        namespace: &NamespaceId,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        self.search(namespace, filter, limit, |snapshot| {
            let (Some(space), Some(vectors)) = (&snapshot.space, &snapshot.vectors) else {
                return Err(Error::NoVectorSpace { namespace: namespace.clone() });
            };
            if vector.len() != space.dimensions {
                return Err(Error::WrongDimensions {
                    namespace: namespace.clone(),
                    received: vector.len(),
                    expected: space.dimensions,
                });
            }
            let question = normalised(vector)
                .ok_or_else(|| Error::BadVector { passage: PassageId::new("query") })?;
            let near = if filter.is_all() {
                vectors.nearest(&question, None, limit, deadline)
            } else {
                let fitting = snapshot.fitting(filter)?;
                vectors.nearest(&question, fitting.numbers.as_ref(), limit, deadline)
            };
            let mut candidates =
                Candidates { is_partial: near.is_partial, ..Candidates::default() };
            candidates.counts = snapshot.counts;
            Ok((near.hits, candidates))
        })
    }

    fn counts(&self, namespace: &NamespaceId) -> Result<Counts> {
        let row = self.database.read(|connection| rows::namespace(connection, namespace))?;
        row.map(|row| row.counts)
            .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.clone() })
    }

    fn languages(&self, namespace: &NamespaceId) -> Result<LanguageSet> {
        let row = self.database.read(|connection| rows::namespace(connection, namespace))?;
        row.map(|row| row.languages)
            .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.clone() })
    }

    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        self.namespace_of(namespace)?.snapshot().words.statistics(terms)
    }
}

impl EmbeddedStore {
    fn read_in<T>(
        &self,
        namespace: &NamespaceId,
        read: impl FnOnce(&Connection, u32) -> Result<T>,
    ) -> Result<T> {
        self.database.read(|connection| {
            let row = rows::namespace(connection, namespace)?
                .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.clone() })?;
            read(connection, row.number)
        })
    }

    /// Searches a snapshot and names what it found.
    ///
    /// Passages whose document was erased meanwhile are left out; when that happens because the
    /// snapshot is out of date, the search is made again on the newer one.
    fn search(
        &self,
        id: &NamespaceId,
        filter: &Filter,
        limit: usize,
        search: impl Fn(&Snapshot) -> Result<(Vec<(u32, f32)>, Candidates)>,
    ) -> Result<Candidates> {
        filter.check()?;
        if limit > limits::MAX_CANDIDATES {
            return Err(Error::TooLarge {
                what: "the number of candidates",
                received: limit,
                allowed: limits::MAX_CANDIDATES,
            });
        }
        let namespace = self.namespace_of(id)?;
        let mut n_looks = 0;
        loop {
            let snapshot = namespace.snapshot();
            let (found, mut candidates) = search(&snapshot)?;
            candidates.hits = self.name(namespace.number, &found)?;
            n_looks += 1;
            let is_outdated = candidates.hits.len() < found.len()
                && !Arc::ptr_eq(&snapshot, &namespace.snapshot());
            if !is_outdated || n_looks == MAX_LOOKS {
                return Ok(candidates);
            }
        }
    }

    fn name(&self, namespace: u32, found: &[(u32, f32)]) -> Result<Vec<Candidate>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT documents.id, passages.id
                 FROM passages JOIN documents ON documents.row = passages.document
                 WHERE passages.row = ?",
            )?;
            let mut candidates = Vec::with_capacity(found.len());
            for (number, score) in found {
                let named = statement
                    .query_row([rows::row_of(namespace, *number)], |row| {
                        Ok(Candidate {
                            document: DocumentId::new(row.get::<_, String>(0)?),
                            passage: PassageId::new(row.get::<_, String>(1)?),
                            score: *score,
                        })
                    })
                    .optional()?;
                candidates.extend(named);
            }
            Ok(candidates)
        })
    }
}
