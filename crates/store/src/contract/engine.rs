//! The contract of an engine: candidates by words and by vector, derived from a catalogue.

use std::time::Duration;

use model::{Deadline, NamespaceId};

use crate::{
    Candidates, Document, DroppedNamespace, Filter, Form, NamespaceHead, NamespaceState, Place,
    Result, StoredPassage, TermStatistics, VectorSpace, WordsQuery, Written,
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

/// A write that was just made by this process, so that an engine which has seen everything
/// before it need not read the documents back.
#[derive(Debug, Clone, Copy)]
pub struct Fresh<'a> {
    /// What the transaction did.
    pub written: &'a Written,
    /// The documents that were written.
    pub documents: &'a [Document],
}

/// Finds passages. Everything an engine holds is derived from the catalogue that it was opened
/// with: it reads the log, remembers the sequence number it has seen, and starts anew from the
/// passages when it cannot go on.
///
/// All calls block and may come from many threads at once.
///
/// **Visibility.** A search that begins after [`Engine::follow`] returned `Ok` sees every change
/// that the catalogue had when the call began. A search that runs at the same time as a writer
/// sees each document either before or after the change, never a part of it. Searches never wait
/// for writers.
///
/// **Failure.** Every method fails with [`crate::Error::UnknownNamespace`] when the catalogue has
/// no such namespace, unless it says otherwise.
pub trait Engine: Send + Sync {
    /// Gives the engine's name, as in the configuration.
    fn name(&self) -> &'static str;

    /// Follows the catalogue to its last change of a namespace, and releases what it has made
    /// durable ([`crate::Catalogue::release`]). What fails is made up for by the next call.
    fn follow(&self, namespace: &NamespaceId, fresh: Option<&Fresh<'_>>) -> Result<()>;

    /// Follows what other servers have written to the namespaces that are in use here; one that is
    /// not in use catches up when it is first used. `heads` are those of the catalogue.
    ///
    /// # Errors
    ///
    /// The first failure, after all namespaces were tried.
    fn follow_others(&self, heads: &[NamespaceHead]) -> Result<()>;

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

    /// Gives what BM25 needs to know about some index terms.
    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics>;

    /// Erases everything derived from a namespace that the catalogue has dropped. It may be
    /// called again after a crash, and for a namespace that the engine never saw.
    ///
    /// # Errors
    ///
    /// When something could not be erased yet; the engine remembers it and tries again in
    /// [`Engine::maintain`].
    fn erase(&self, dropped: &DroppedNamespace) -> Result<()>;

    /// Says that what was derived from a namespace was made with another analyser or index format,
    /// before the catalogue takes on those of this program. It has to be made anew; until then
    /// searches go on with what is there where that can be read.
    fn outdate(&self, outdated: &NamespaceState) -> Result<()>;

    /// Takes off the disk what erased documents have left in what was derived from these
    /// namespaces; one that does not exist is passed over.
    fn forget_erased(&self, namespaces: &[NamespaceId]) -> Result<()>;

    /// Merges, forgets what was erased, and catches up with what could not be done earlier.
    /// Searches go on meanwhile.
    fn maintain(&self) -> Result<()>;

    /// Compares what was derived from a namespace with its checksums and with the catalogue;
    /// gives what is wrong, or nothing.
    fn problem(&self, namespace: &NamespaceId) -> Result<Option<String>>;

    /// Makes everything derived from a namespace anew. Searches go on with the earlier state
    /// meanwhile.
    fn rebuild(&self, namespace: &NamespaceId) -> Result<()>;

    /// Tells whether the engine can take these documents, before they are written to the catalogue.
    ///
    /// # Errors
    ///
    /// [`crate::Error::TooLarge`] names the limit.
    fn accepts(&self, documents: &[Document], space: Option<&VectorSpace>) -> Result<()> {
        let _ = (documents, space);
        Ok(())
    }

    /// Gives where the engine has a passage, in its own names; nothing where it has not.
    fn place(&self, namespace: &NamespaceId, stored: &StoredPassage) -> Result<Option<Place>> {
        Ok(Some(Place { namespace: namespace.to_string(), id: stored.passage.id.to_string() }))
    }

    /// Gives the last sequence number of a namespace that the engine has taken in and made
    /// durable; 0 for one that it never saw.
    fn sequence(&self, namespace: &NamespaceId) -> Result<u64>;

    /// Counts the changes of the namespaces in use that the catalogue has and searches do not see
    /// yet.
    fn lag(&self) -> Result<u64>;

    /// Asks whether the engine answers; an engine in this process always does.
    fn reach(&self) -> Result<()> {
        Ok(())
    }

    /// Says how often to ask whether the engine answers, so that its absence is known before somebody
    /// searches; nothing where that need not be asked.
    fn reach_every(&self) -> Option<Duration> {
        None
    }

    /// Tells whether the engine is far away, so that one request for both searches is worth
    /// waiting for the query's vector.
    fn is_far(&self) -> bool {
        false
    }

    /// Lets go of writers and their memory; called before a clean stop.
    fn close(&self) -> Result<()> {
        Ok(())
    }
}
