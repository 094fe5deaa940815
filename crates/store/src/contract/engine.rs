//! The contract of an engine: candidates by words and by vector, derived from a catalogue.

use std::time::Duration;

use model::{Deadline, DocumentId, NamespaceId};

use crate::{
    Candidates, Document, DroppedNamespace, Filter, Form, Matched, NamespaceHead, Place, Result,
    Search, StoredPassage, TermStatistics, VectorSpace, WordsQuery, Written,
};

/// What an engine is called, and what depends on where it runs.
#[derive(Clone, Copy)]
pub struct EngineInfo<'a> {
    /// Its name, as in the configuration.
    pub name: &'static str,
    /// Where it runs.
    pub place: EnginePlace<'a>,
}

/// Where an engine runs, with what only one that runs there can do.
#[derive(Clone, Copy)]
pub enum EnginePlace<'a> {
    /// In this process, where it always answers and runs two searches side by side.
    Here(&'a dyn EngineHere),
    /// Elsewhere, where it may be away, and has limits and names of its own.
    Server(&'a dyn EngineServer),
}

impl<'a> EngineInfo<'a> {
    /// Gives what only one that is elsewhere has; nothing for one in this process.
    pub fn server(&self) -> Option<&'a dyn EngineServer> {
        match self.place {
            EnginePlace::Server(server) => Some(server),
            EnginePlace::Here(_) => None,
        }
    }

    /// Tells whether the engine is on a server.
    pub fn is_elsewhere(&self) -> bool {
        self.server().is_some()
    }

    /// Asks whether the engine answers; one in this process always does.
    ///
    /// # Errors
    ///
    /// When its server does not answer.
    pub fn reach(&self) -> Result<()> {
        self.server().map_or(Ok(()), EngineServer::reach)
    }
}

/// What only an engine in this process has: it can look at everything it holds, and holds what has
/// to be let go of.
pub trait EngineHere: Send + Sync {
    /// Counts what a search by words finds among the passages that fit the filter; without a query,
    /// all of those.
    fn count(
        &self,
        namespace: &NamespaceId,
        query: Option<&WordsQuery>,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Matched>;

    /// Lists the documents with passages that fit the filter, each once, in an order that means
    /// nothing; none at all when the deadline came first. Nothing is scored.
    fn documents(
        &self,
        namespace: &NamespaceId,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Option<Vec<DocumentId>>>;

    /// Lets go of writers and their memory; called before a clean stop.
    fn close(&self) -> Result<()>;
}

/// What only an engine on a server has: it may be away, and it has limits and names of its own.
/// One request for both searches is worth waiting for the query's vector there.
pub trait EngineServer: Send + Sync {
    /// Asks whether the server answers.
    fn reach(&self) -> Result<()>;

    /// Tells whether words of a namespace are searched in this process, so that the server may be away.
    fn has_words_here(&self, namespace: &NamespaceId) -> bool {
        let _ = namespace;
        false
    }

    /// Says how often to ask, so that its absence is known before somebody searches.
    fn reach_every(&self) -> Duration;

    /// Tells whether the server can take these documents, before they are written to the
    /// catalogue.
    ///
    /// # Errors
    ///
    /// [`crate::Error::TooLarge`] names the limit.
    fn accepts(&self, documents: &[Document], space: Option<&VectorSpace>) -> Result<()> {
        let _ = (documents, space);
        Ok(())
    }

    /// Gives where the server has a passage, in its own names; nothing where it has not.
    fn place(&self, namespace: &NamespaceId, stored: &StoredPassage) -> Result<Option<Place>> {
        Ok(Some(Place::ours(namespace, stored)))
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

/// The changes that an engine follows.
#[derive(Debug, Clone, Copy)]
pub enum Changes<'a> {
    /// Those of one namespace, whoever made them, to the last one.
    Of {
        /// Which one; others are left as they are.
        namespace: &'a NamespaceId,
        /// The last of them, when this process has just made it.
        fresh: Option<&'a Fresh<'a>>,
    },
    /// Those that other servers have made in the namespaces in use here, up to the heads of the
    /// catalogue; a namespace that is not in use catches up when it is first used. The first
    /// failure is given after all namespaces were tried.
    OfOthers(&'a [NamespaceHead]),
}

/// How far an engine has followed a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The number of the namespace.
    pub number: u32,
    /// The last change that searches see; 0 when there is none.
    pub seen: u64,
}

/// What the catalogue has erased, and an engine erases after it.
#[derive(Debug, Clone, Copy)]
pub enum Erased<'a> {
    /// A namespace that was dropped: everything derived from it goes. It may be asked for again
    /// after a crash, and for a namespace that the engine never saw.
    Namespace(&'a DroppedNamespace),
    /// Documents of these namespaces: what they have left on the disk goes. A namespace that does
    /// not exist is passed over.
    Documents(&'a [NamespaceId]),
}

/// When something derived is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// Before the call returns.
    Now,
    /// When it is next used: it was made with another analyser or index format, before the
    /// catalogue takes on those of this program.
    WhenUsed,
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
    /// Says which engine it is and where it runs.
    fn info(&self) -> EngineInfo<'_>;

    /// Follows the catalogue, and releases what it has made durable
    /// ([`crate::Catalogue::release`]). What fails is made up for by the next call.
    fn follow(&self, changes: Changes<'_>) -> Result<()>;

    /// Tells how far the namespaces in use were followed; one that is being written may be left
    /// out. Nothing is asked of a server.
    fn positions(&self) -> Result<Vec<Position>>;

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

    /// Erases what the catalogue has erased.
    ///
    /// # Errors
    ///
    /// When something could not be erased yet; the engine remembers it and tries again in
    /// [`Engine::maintain`].
    fn erase(&self, erased: Erased<'_>) -> Result<()>;

    /// Makes everything derived from a namespace anew. Searches go on with the earlier state
    /// meanwhile, where that can be read.
    fn rebuild(&self, namespace: &NamespaceId, when: Rebuild) -> Result<()>;

    /// Compares what was derived from a namespace with its checksums and with the catalogue;
    /// gives what is wrong, or nothing.
    fn problem(&self, namespace: &NamespaceId) -> Result<Option<String>>;

    /// Merges, forgets what was erased, and catches up with what could not be done earlier.
    /// Searches go on meanwhile.
    fn maintain(&self) -> Result<()>;
}

/// Lets an engine follow those of some namespaces that exist: all that an erasure of documents
/// asks of one whose rows go with their deletion.
///
/// # Errors
///
/// The first failure.
pub fn follow_known(engine: &dyn Engine, namespaces: &[NamespaceId]) -> Result<()> {
    for namespace in namespaces {
        match engine.follow(Changes::Of { namespace, fresh: None }) {
            Err(crate::Error::UnknownNamespace { .. }) => {}
            followed => followed?,
        }
    }
    Ok(())
}
