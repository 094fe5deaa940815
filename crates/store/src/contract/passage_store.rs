//! The contract that every engine behind Dowse keeps.

use model::{Deadline, DocumentId, NamespaceId, Passage, PassageId};

use text::LanguageSet;

use crate::{
    Candidates, Counts, Document, DocumentInfo, DocumentPage, Filter, Fingerprint, Form, Manifest,
    NamespaceInfo, Place, Result, StoredPassage, TermStatistics, Upserted, VectorSpace, WordsQuery,
};

/// A question by words and by vector over the same passages.
#[derive(Debug, Clone, Copy)]
pub struct Both<'a> {
    /// The question by words.
    pub query: &'a WordsQuery,
    /// The question by vector.
    pub vector: &'a [f32],
    /// What passages have to fit.
    pub filter: &'a Filter,
    /// Candidates by words.
    pub n_by_words: usize,
    /// Candidates by vector.
    pub n_by_vector: usize,
}

/// Keeps passages and finds them again.
///
/// All calls block and may come from many threads at once.
///
/// **Durability.** When a writing call returns `Ok`, the change survives the death of the
/// process at any later moment. When it returns `Err`, the change was made either wholly or not
/// at all for each document.
///
/// **Visibility.** A search that begins after a writing call returned `Ok` sees that change. A
/// search that runs beside a writing call sees each document either before or after the change,
/// never a part of it. Searches never wait for writers.
///
/// **Failure.** Every method fails with [`crate::Error::UnknownNamespace`] when the namespace
/// does not exist, unless it says otherwise, and with [`crate::Error::TooLarge`] when the input
/// is over a limit of [`crate::limits`].
pub trait PassageStore: Send + Sync {
    /// Makes a namespace; one that exists with the same manifest is left as it is.
    ///
    /// # Errors
    ///
    /// [`crate::Error::ManifestMismatch`] when it exists with another manifest. A namespace
    /// that has no vector space yet does not mismatch one that names it: it takes it on.
    fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()>;

    /// Gives a namespace, or nothing when there is none with this id.
    fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceInfo>>;

    /// Lists all namespaces in the order of their ids.
    fn namespaces(&self) -> Result<Vec<NamespaceInfo>>;

    /// Changes the vector space. All vectors and blobs of another space are erased; documents
    /// and words stay searchable throughout.
    fn set_vector_space(&self, namespace: &NamespaceId, space: Option<&VectorSpace>) -> Result<()>;

    /// Erases a namespace with everything in it and derived from it; tells whether it existed.
    ///
    /// It is gone for every later call as soon as this returns, and nothing of it remains on
    /// disk in a form that a later call could give back.
    fn drop_namespace(&self, namespace: &NamespaceId) -> Result<bool>;

    /// Writes documents; each replaces the earlier version with the same id.
    ///
    /// A passage that keeps its id, text, headings and title keeps its vector and its blob.
    /// A batch is one commit, so that a few large batches are much cheaper than many small ones.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DuplicatePassage`] when a passage id is used twice, in this batch or by
    /// another document; nothing of the batch is written then.
    fn upsert(&self, namespace: &NamespaceId, documents: &[Document]) -> Result<Upserted>;

    /// Erases documents and gives how many there were; unknown ids are passed over.
    fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize>;

    /// Gets rid of what erased documents have left in the files of these namespaces, and what
    /// erased documents and objects have left in the catalogue's: words and vectors that no search
    /// finds any more, free pages, logs.
    ///
    /// What was erased is gone for every call already; this takes it off the disk. A search that
    /// runs beside this call keeps what it reads until the next call or [`Self::maintain`]. A
    /// namespace that does not exist is passed over. It may take as long as writing the indexes
    /// of the namespaces anew, so it belongs to the deletion of a source, not to every change.
    fn forget_erased(&self, namespaces: &[NamespaceId]) -> Result<()>;

    /// Keeps everything in shape: merges indexes, forgets what was erased, gives free space back,
    /// and catches up with an engine that was away. Calls go on meanwhile.
    fn maintain(&self) -> Result<()>;

    /// Lists documents in the order of their ids.
    fn documents(&self, namespace: &NamespaceId, page: &DocumentPage) -> Result<Vec<DocumentInfo>>;

    /// Gives what tells changed documents from unchanged ones, for all whose ids start with
    /// `prefix`, in the order of their ids.
    fn fingerprints(&self, namespace: &NamespaceId, prefix: &str) -> Result<Vec<Fingerprint>> {
        let limit = crate::limits::MAX_PAGE;
        let mut page = DocumentPage { prefix: prefix.to_owned(), after: None, limit };
        let mut fingerprints = vec![];
        loop {
            let documents = self.documents(namespace, &page)?;
            let Some(last) = documents.last() else { return Ok(fingerprints) };
            page.after = Some(last.id.clone());
            fingerprints.extend(documents.into_iter().map(|document| Fingerprint {
                id: document.id,
                fingerprint: document.fingerprint,
                n_passages: document.n_passages,
            }));
        }
    }

    /// Gives one document, or nothing.
    fn document(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Option<DocumentInfo>>;

    /// Gives the passages of a document in order; none when there is no such document.
    fn passages_of(&self, namespace: &NamespaceId, document: &DocumentId) -> Result<Vec<Passage>>;

    /// Gives passages by id, in the order asked; nothing where there is none.
    fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>>;

    /// Gives where the engine keeps passages, in the order asked; nothing where it keeps none.
    ///
    /// An engine with names of its own (shorter ids, say) gives those, so that an answer can name
    /// what is found there; the others give ours.
    fn places(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Place>>> {
        let found = self.passages(namespace, passages)?;
        let place = |stored: StoredPassage| Place {
            namespace: namespace.to_string(),
            id: stored.passage.id.to_string(),
        };
        Ok(found.into_iter().map(|stored| stored.map(place)).collect())
    }

    /// Gives up to `limit` passages that have no vector yet, the longest waiting first.
    fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>>;

    /// Gives passages their vectors and tells how many there were; a passage that is gone is
    /// passed over. The length of a vector does not matter, only its direction.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NoVectorSpace`], [`crate::Error::WrongDimensions`],
    /// [`crate::Error::BadVector`]; nothing is written then.
    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize>;

    /// Keeps a blob beside each passage (token vectors) and tells how many were kept; a passage
    /// that is gone is passed over. The store does not look inside.
    fn set_blobs(&self, namespace: &NamespaceId, blobs: &[(PassageId, Vec<u8>)]) -> Result<usize>;

    /// Gives the blobs of passages, in the order asked; nothing where there is none.
    fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// Finds the `limit` passages with the best BM25 among those that fit the filter.
    ///
    /// When the deadline comes first, gives the best so far and says `is_partial`.
    fn by_words(
        &self,
        namespace: &NamespaceId,
        query: &WordsQuery,
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates>;

    /// Finds the `limit` passages whose vectors are nearest by cosine among those that fit the
    /// filter and have a vector.
    ///
    /// Callers may not rely on exactness: an engine may miss a few, and says in its
    /// documentation how many. When the deadline comes first, gives the best so far and says
    /// `is_partial`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NoVectorSpace`], [`crate::Error::WrongDimensions`],
    /// [`crate::Error::BadVector`].
    fn by_vector(
        &self,
        namespace: &NamespaceId,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates>;

    /// Tells whether the engine is far away, so that one request for both searches is worth
    /// waiting for the query's vector.
    fn is_far(&self) -> bool {
        false
    }

    /// Searches by words and by vector side by side; each fails for itself.
    ///
    /// An engine that is far away asks both in one request, and one that is near on two threads.
    fn by_both(
        &self,
        namespace: &NamespaceId,
        both: &Both<'_>,
        deadline: &Deadline,
    ) -> (Result<Candidates>, Result<Candidates>) {
        std::thread::scope(|scope| {
            let near = scope.spawn(|| {
                self.by_vector(namespace, both.vector, both.filter, both.n_by_vector, deadline)
            });
            let words =
                self.by_words(namespace, both.query, both.filter, both.n_by_words, deadline);
            let near = near.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (words, near)
        })
    }

    /// Counts what is in the namespace.
    fn counts(&self, namespace: &NamespaceId) -> Result<Counts>;

    /// Gives the languages that documents of the namespace were cut in, for the analysis of
    /// questions. May name a language whose last document is gone.
    fn languages(&self, namespace: &NamespaceId) -> Result<LanguageSet>;

    /// Gives what BM25 needs to know about some index terms.
    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics>;
}
