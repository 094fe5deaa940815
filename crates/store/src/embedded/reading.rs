//! Every question: to the snapshot of the indexes, to the catalogue, or to both.

use std::sync::Arc;

use model::{Deadline, DocumentId, NamespaceId, Passage, PassageId};
use rusqlite::OptionalExtension;

use text::LanguageSet;

use super::snapshot::Snapshot;
use super::store::EmbeddedStore;
use crate::truth::rows;
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

    fn forget_erased(&self, namespaces: &[NamespaceId]) -> Result<()> {
        self.take_off_disk(namespaces)
    }

    fn maintain(&self) -> Result<()> {
        self.keep_in_shape()
    }

    fn documents(&self, namespace: &NamespaceId, page: &DocumentPage) -> Result<Vec<DocumentInfo>> {
        self.database.documents(namespace, page)
    }

    fn document(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Option<DocumentInfo>> {
        self.database.document(namespace, document)
    }

    fn passages_of(&self, namespace: &NamespaceId, document: &DocumentId) -> Result<Vec<Passage>> {
        self.database.passages_of(namespace, document)
    }

    fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        self.database.passages(namespace, passages)
    }

    fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        self.database.passages_without_vectors(namespace, limit)
    }

    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        self.write_vectors(namespace, vectors)
    }

    fn set_blobs(&self, namespace: &NamespaceId, blobs: &[(PassageId, Vec<u8>)]) -> Result<usize> {
        self.database.set_blobs(namespace, blobs)
    }

    fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.database.blobs(namespace, passages)
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
        Ok(self.database.row_of(namespace)?.counts)
    }

    fn languages(&self, namespace: &NamespaceId) -> Result<LanguageSet> {
        Ok(self.database.row_of(namespace)?.languages)
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
