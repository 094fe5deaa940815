//! The contract of an engine: candidates by words and by vector, derived from a catalogue.

use std::time::Duration;

use model::{Deadline, NamespaceId};

use crate::{
    Candidates, Document, DroppedNamespace, Filter, Form, NamespaceHead, NamespaceState, Place,
    Result, Search, StoredPassage, TermStatistics, VectorSpace, WordsQuery, Written,
};

/// Which engine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineInfo {
    /// Its name, as in the configuration.
    pub name: &'static str,
    /// Where it is.
    pub location: EngineLocation,
}

/// Where an engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineLocation {
    /// In this process: it always answers, and two searches run side by side.
    InProcess,
    /// On a server: one request for both searches is worth waiting for the query's vector.
    Elsewhere {
        /// How often to ask whether it answers, so that its absence is known before somebody
        /// searches.
        reach_every: Duration,
    },
}

impl EngineInfo {
    /// Tells whether the engine is on a server.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.location, EngineLocation::Elsewhere { .. })
    }
}

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
    /// Says which engine it is and where.
    fn info(&self) -> EngineInfo;

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

    /// Finds passages among those that fit the filter: by words those with the best BM25, by vector
    /// those that have one and are nearest by cosine. Gives both lists, that by words first; one
    /// that was not asked for is empty.
    ///
    /// Callers may not rely on exactness by vector: an engine may miss a few, and says in its
    /// documentation how many. When the deadline comes first, gives the best so far and says
    /// `is_partial`. An engine that is elsewhere asks both in one request.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NoVectorSpace`], [`crate::Error::WrongDimensions`] and
    /// [`crate::Error::BadVector`] where a vector is given; both are lost when one cannot be
    /// answered, and [`crate::Store::by_both`] asks again for each.
    fn search(
        &self,
        namespace: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)>;

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
    ///
    /// An engine whose rows go with the deletion only takes in what it could not take then.
    fn forget_erased(&self, namespaces: &[NamespaceId]) -> Result<()> {
        for namespace in namespaces {
            match self.follow(namespace, None) {
                Err(crate::Error::UnknownNamespace { .. }) => {}
                followed => followed?,
            }
        }
        Ok(())
    }

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

    /// Lets go of writers and their memory; called before a clean stop.
    fn close(&self) -> Result<()> {
        Ok(())
    }
}
