//! The contract: questions to the catalogue, and searches to the engine.

use model::{Deadline, DocumentId, NamespaceId, Passage, PassageId};
use text::LanguageSet;

use super::engine::{ENGINE, QUESTION_LIMIT};
use super::naming;
use super::row::Field;
use super::search::{ByVector, ByWords};
use super::store::TurbopufferStore;
use super::words::{self, Counted};
use crate::truth::rows;
use crate::{
    Both, Candidates, Counts, Document, DocumentInfo, DocumentPage, Error, Filter, Form, Manifest,
    NamespaceInfo, PassageStore, Place, Result, StoredPassage, TermCount, TermStatistics, Upserted,
    VectorSpace, WordsQuery,
};

impl PassageStore for TurbopufferStore {
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
        // The engine's own rows went with the deletion; what it could not take then goes now.
        for id in namespaces {
            let namespace = match self.namespace_of(id) {
                Err(Error::UnknownNamespace { .. }) => continue,
                namespace => namespace?,
            };
            let mut following = namespace.following.lock();
            self.follower().catch_up(&namespace, &mut following)?;
            self.database.purge(namespace.number, following.seen())?;
        }
        self.database.give_back_erased()
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

    fn places(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Place>>> {
        let name = self.namespace_of(namespace)?.view().name.clone();
        let found = self.database.passages(namespace, passages)?;
        let place = |stored: StoredPassage| {
            let pointer = stored.passage.pointer.to_string();
            name.as_ref().map(|name| Place {
                namespace: name.clone(),
                id: naming::passage_id(stored.passage.id.as_str(), &pointer),
            })
        };
        Ok(found.into_iter().map(|stored| stored.and_then(place)).collect())
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
        let by_words = ByWords { query, limit };
        Ok(self.search(namespace, Some(&by_words), None, filter, deadline)?.0)
    }

    fn by_vector(
        &self,
        namespace: &NamespaceId,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        let by_vector = ByVector { vector, limit };
        Ok(self.search(namespace, None, Some(&by_vector), filter, deadline)?.1)
    }

    fn is_far(&self) -> bool {
        true
    }

    fn by_both(
        &self,
        namespace: &NamespaceId,
        both: &Both<'_>,
        deadline: &Deadline,
    ) -> (Result<Candidates>, Result<Candidates>) {
        let by_words = ByWords { query: both.query, limit: both.n_by_words };
        let by_vector = ByVector { vector: both.vector, limit: both.n_by_vector };
        let found =
            self.search(namespace, Some(&by_words), Some(&by_vector), both.filter, deadline);
        match found {
            Ok((words, near)) => (Ok(words), Ok(near)),
            Err(error) if error.is_engine_away() => {
                let same = Error::EngineUnavailable {
                    engine: ENGINE,
                    what: "query",
                    reason: error.to_string(),
                };
                (Err(error), Err(same))
            }
            // What is wrong with one of the two must not cost the other.
            Err(_) => (
                self.by_words(namespace, both.query, both.filter, both.n_by_words, deadline),
                self.by_vector(namespace, both.vector, both.filter, both.n_by_vector, deadline),
            ),
        }
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
        let view = self.namespace_of(namespace)?.view();
        let counted: Vec<Counted> = terms
            .iter()
            .map(|(form, term)| Counted {
                field: Field::Text,
                form: *form,
                tokens: vec![naming::token(term).into_owned()],
                is_prefix: false,
            })
            .collect();
        let mut queries = vec![words::totals()];
        queries.extend(counted.iter().map(Counted::query));
        let deadline = Deadline::after(QUESTION_LIMIT);
        let answered = match &view.name {
            Some(name) if !view.attributes.is_empty() => self.engine.ask(name, &queries, &deadline),
            _ => Ok(vec![]),
        };
        let results = match answered {
            Err(Error::EngineMissing { .. }) => vec![],
            answered => answered?,
        };
        let statistics = words::read_statistics(&results, counted.clone());
        let count = |((form, term), counted): (&(Form, String), &Counted)| TermCount {
            form: *form,
            term: term.clone(),
            n_passages: statistics.holding.get(counted).map_or(0, |n_holding| *n_holding as u64),
        };
        Ok(TermStatistics {
            n_passages: statistics.n_passages as u64,
            mean_length: statistics.mean_text,
            terms: terms.iter().zip(&counted).map(count).collect(),
        })
    }
}
