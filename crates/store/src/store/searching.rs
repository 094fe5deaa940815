//! Searches by words, by vector and by both: an engine has one, and what happens when one of the two
//! fails is decided here.

use model::{Deadline, DocumentId, NamespaceId};

use super::Store;
use crate::{
    Both, ByVector, ByWords, Candidates, EnginePlace, Error, Filter, Matched, Result, Search,
    WordsQuery,
};

impl Store {
    /// Tells whether the engine is on a server, so that one request for both searches is worth
    /// waiting for the query's vector.
    pub fn is_far(&self) -> bool {
        self.engine.info().is_elsewhere()
    }

    /// Tells whether a question to the engine or to the catalogue waits for a server, so that several
    /// are better asked at the same time.
    pub fn is_over_a_network(&self) -> bool {
        self.is_far() || self.catalogue.is_shared()
    }

    /// Tells whether words of all these namespaces are searched in this process although the engine is
    /// on a server.
    pub fn has_words_here<'a>(
        &self,
        namespaces: impl IntoIterator<Item = &'a NamespaceId>,
    ) -> bool {
        let server = self.engine.info().server();
        server.is_some_and(|server| namespaces.into_iter().all(|one| server.has_words_here(one)))
    }

    /// Finds the `limit` passages with the best BM25 among those that fit the filter; see
    /// [`crate::Engine::search`].
    pub fn by_words(
        &self,
        namespace: &NamespaceId,
        query: &WordsQuery,
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        let by_words = Some(ByWords { query, limit });
        let search = Search { by_words, by_vector: None, filter };
        Ok(self.engine.search(namespace, &search, deadline)?.0)
    }

    /// Counts what a search by words finds, see [`crate::EngineHere::count`]; nothing where the
    /// engine is on a server, which would have to send all of it to count it.
    pub fn count(
        &self,
        namespace: &NamespaceId,
        query: Option<&WordsQuery>,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Option<Matched>> {
        match self.engine.info().place {
            EnginePlace::Here(engine) => engine.count(namespace, query, filter, deadline).map(Some),
            EnginePlace::Server(_) => Ok(None),
        }
    }

    /// Lists the documents with passages that fit a filter, see [`crate::EngineHere::documents`];
    /// nothing where the engine is on a server, or the deadline came first.
    pub fn documents_that_fit(
        &self,
        namespace: &NamespaceId,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Option<Vec<DocumentId>>> {
        match self.engine.info().place {
            EnginePlace::Here(engine) => engine.documents(namespace, filter, deadline),
            EnginePlace::Server(_) => Ok(None),
        }
    }

    /// Finds the `limit` passages whose vectors are nearest among those that fit the filter and
    /// have one; see [`crate::Engine::search`].
    pub fn by_vector(
        &self,
        namespace: &NamespaceId,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        let by_vector = Some(ByVector { vector, limit });
        let search = Search { by_words: None, by_vector, filter };
        Ok(self.engine.search(namespace, &search, deadline)?.1)
    }

    /// Searches by words and by vector side by side; each fails for itself. An engine elsewhere is
    /// asked once for both, one in this process on two threads.
    pub fn by_both(
        &self,
        namespace: &NamespaceId,
        both: &Both<'_>,
        deadline: &Deadline,
    ) -> (Result<Candidates>, Result<Candidates>) {
        let Both { query, vector, filter, n_by_words, n_by_vector } = *both;
        let by_words = || self.by_words(namespace, query, filter, n_by_words, deadline);
        let by_vector = || self.by_vector(namespace, vector, filter, n_by_vector, deadline);
        if !self.is_far() {
            return std::thread::scope(|scope| {
                let near = scope.spawn(by_vector);
                let words = by_words();
                (words, near.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            });
        }
        let search = Search {
            by_words: Some(ByWords { query, limit: n_by_words }),
            by_vector: Some(ByVector { vector, limit: n_by_vector }),
            filter,
        };
        match self.engine.search(namespace, &search, deadline) {
            Ok((words, near)) => (Ok(words), Ok(near)),
            Err(error) if error.is_engine_away() => {
                let (engine, reason) = (self.engine.info().name, error.to_string());
                let same = Error::EngineUnavailable { engine, what: "query", reason };
                (if self.has_words_here([namespace]) { by_words() } else { Err(same) }, Err(error))
            }
            // What is wrong with one of the two must not cost the other.
            Err(_) => (by_words(), by_vector()),
        }
    }
}
