//! A store: one catalogue, and one engine that follows it.
//!
//! Every change goes to the catalogue first, in one transaction, and then the engine follows;
//! every question goes to the one that can answer it. Nothing here knows which they are, apart
//! from the functions that open the usual pairs.

mod maintenance;
mod opening;
mod searching;
mod surroundings;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{DocumentId, NamespaceId, Passage, PassageId};
use parking_lot::Mutex;
use text::LanguageSet;

use crate::health;
use crate::sqlite::FolderLock;
use crate::{
    Access, Catalogue, Changes, Counts, DocumentCount, DocumentInfo, DocumentPage, Engine, Erased,
    Error, Fingerprint, Form, Fresh, Manifest, NamespaceInfo, NamespaceState, Objects, Place,
    Rebuild, Result, StoredPassage, TermStatistics, VectorSpace,
};

pub use maintenance::{Finding, Repair};
pub use surroundings::Surroundings;

/// Keeps passages and finds them again: a catalogue and an engine.
///
/// All calls block and may come from many threads at once.
///
/// **Durability** is the catalogue's: when a writing call returns `Ok`, the change survives the
/// death of the process at any later moment. [`Error::IndexBehind`] says that the change is
/// durable and the engine could not follow yet.
///
/// **Visibility** is the engine's: a search that begins after a writing call of this store
/// returned `Ok` sees that change.
pub struct Store {
    engine: Arc<dyn Engine>,
    catalogue: Arc<dyn Catalogue>,
    /// Why the engine could not follow a namespace, until it can.
    behind: Mutex<BTreeMap<NamespaceId, String>>,
    /// When everything that other servers had written was last taken in; nothing where nobody
    /// follows others.
    followed_at: Mutex<Option<Instant>>,
    /// Why the engine did not answer when it was last asked.
    engine_away: Mutex<Option<String>>,
    access: Access,
    // Dropped last, so that the folder is free only when everything in it is closed.
    _lock: Option<FolderLock>,
}

impl Store {
    /// Puts a catalogue and an engine over it together, and ends erasures that were interrupted.
    ///
    /// # Errors
    ///
    /// When the catalogue does not answer.
    pub fn new(catalogue: Arc<dyn Catalogue>, engine: Arc<dyn Engine>) -> Result<Self> {
        Store::assemble(catalogue, engine, None, Access::Write)
    }

    fn assemble(
        catalogue: Arc<dyn Catalogue>,
        engine: Arc<dyn Engine>,
        lock: Option<FolderLock>,
        access: Access,
    ) -> Result<Self> {
        let store = Store {
            engine,
            catalogue,
            behind: Mutex::default(),
            followed_at: Mutex::default(),
            engine_away: Mutex::default(),
            access,
            _lock: lock,
        };
        if access == Access::Read {
            return Ok(store);
        }
        // An engine that is away remembers what it has to erase.
        if let Err(error) = store.erase_dropped()? {
            tracing::warn!(error = &error as &dyn std::error::Error, "engine could not erase");
        }
        store.adopt_manifests()?;
        Ok(store)
    }

    /// Namespaces that an earlier program made take on the analyser and index format of this one;
    /// what was derived is made anew while searches go on.
    fn adopt_manifests(&self) -> Result<()> {
        for state in self.catalogue.namespaces()? {
            let manifest = &state.info.manifest;
            let current = Manifest::current(manifest.vectors.clone());
            // A later analyser or format belongs to a later program, which keeps what it made.
            let is_later = manifest.format > current.format
                || manifest.analyser.id != current.analyser.id
                || manifest.analyser.version > current.analyser.version;
            if *manifest == current || is_later {
                continue;
            }
            tracing::info!(
                namespace = %state.info.id, from = %manifest, to = %current,
                "the index is rebuilt with the current analyser"
            );
            self.engine.rebuild(&state.info.id, Rebuild::WhenUsed)?;
            self.catalogue.adopt_manifest(&state.info.id)?;
        }
        Ok(())
    }

    /// Gives the part of the catalogue where the families' objects are.
    pub fn objects(&self) -> Arc<dyn Objects> {
        self.catalogue.clone()
    }

    /// Gives the half that is the truth.
    pub fn catalogue(&self) -> Arc<dyn Catalogue> {
        self.catalogue.clone()
    }

    /// Gives the half that is derived.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Makes a namespace; see [`Catalogue::create_namespace`].
    pub fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()> {
        self.catalogue.create_namespace(namespace, manifest)?;
        if manifest.vectors.is_some() {
            return self.follow(namespace, None);
        }
        Ok(())
    }

    /// Gives a namespace, or nothing when there is none with this id.
    pub fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceInfo>> {
        Ok(self.catalogue.namespace(namespace)?.map(|state| state.info))
    }

    /// Gives what the catalogue knows of namespaces, in the order asked and by one query; nothing
    /// where there is none.
    pub fn states(&self, namespaces: &[&NamespaceId]) -> Result<Vec<Option<NamespaceState>>> {
        self.catalogue.namespaces_by_id(namespaces)
    }

    /// Lists all namespaces in the order of their ids.
    pub fn namespaces(&self) -> Result<Vec<NamespaceInfo>> {
        Ok(self.catalogue.namespaces()?.into_iter().map(|state| state.info).collect())
    }

    /// Changes the vector space. All vectors and blobs of another space are erased; documents
    /// and words stay searchable throughout.
    pub fn set_vector_space(
        &self,
        namespace: &NamespaceId,
        space: Option<&VectorSpace>,
    ) -> Result<()> {
        if self.catalogue.set_vector_space(namespace, space)? {
            self.follow(namespace, None)?;
        }
        Ok(())
    }

    /// Erases a namespace with everything in it and derived from it; tells whether it existed.
    ///
    /// It is gone for every later call as soon as this returns, and nothing of it remains on
    /// disk in a form that a later call could give back.
    pub fn drop_namespace(&self, namespace: &NamespaceId) -> Result<bool> {
        if !self.catalogue.drop_namespace(namespace)? {
            return Ok(false);
        }
        let erased = self.erase_dropped()?;
        // The freed pages and the log still hold what was erased until they are given back.
        self.catalogue.forget_erased()?;
        erased.map(|()| true)
    }

    /// Gets rid of what erased documents have left in the files of these namespaces, and what
    /// erased documents and objects have left in the catalogue's: words and vectors that no search
    /// finds any more, free pages, logs.
    ///
    /// What was erased is gone for every call already; this takes it off the disk. A search that
    /// runs at the same time keeps what it reads until the next call or [`Store::maintain`]. A
    /// namespace that does not exist is passed over. It may take as long as writing the indexes
    /// of the namespaces anew, so it belongs to the deletion of a source, not to every change.
    pub fn forget_erased(&self, namespaces: &[NamespaceId]) -> Result<()> {
        self.engine.erase(Erased::Documents(namespaces))?;
        self.catalogue.forget_erased()
    }

    /// Keeps everything in shape: merges indexes, forgets what was erased, gives free space back,
    /// and catches up with an engine that was away. Calls go on meanwhile.
    pub fn maintain(&self) -> Result<()> {
        self.engine.maintain()?;
        self.catalogue.maintain()
    }

    /// Lists documents in the order of their ids.
    pub fn documents(
        &self,
        namespace: &NamespaceId,
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        self.catalogue.documents(namespace, page)
    }

    /// Lists documents whose attribute has one of some values; see [`Catalogue::documents_with`].
    pub fn documents_with(
        &self,
        namespace: &NamespaceId,
        attribute: &str,
        values: &[Option<&str>],
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        self.catalogue.documents_with(namespace, attribute, values, page)
    }

    /// Gives documents by id, in the order asked, by one query; nothing where there is none.
    pub fn documents_by_id(
        &self,
        namespace: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<DocumentInfo>>> {
        self.catalogue.documents_by_id(namespace, documents)
    }

    /// Gives one document, or nothing.
    pub fn document(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Option<DocumentInfo>> {
        self.catalogue.document(namespace, document)
    }

    /// Gives the fingerprints of all documents whose ids start with `prefix`, in the order of the
    /// ids, by one query.
    pub fn fingerprints(&self, namespace: &NamespaceId, prefix: &str) -> Result<Vec<Fingerprint>> {
        self.catalogue.fingerprints(namespace, prefix)
    }

    /// Counts documents by the values of some attributes and by whether they have passages; see
    /// [`Catalogue::count_documents`].
    pub fn count_documents(
        &self,
        namespace: &NamespaceId,
        attributes: &[&str],
    ) -> Result<Vec<DocumentCount>> {
        self.catalogue.count_documents(namespace, attributes)
    }

    /// Gives the passages of a document in order; none when there is no such document.
    pub fn passages_of(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Vec<Passage>> {
        self.catalogue.passages_of(namespace, document)
    }

    /// Gives passages by id, in the order asked; nothing where there is none.
    pub fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        self.catalogue.passages(namespace, passages)
    }

    /// Gives where the engine has passages, in the order asked; nothing where it has none.
    ///
    /// An engine with names of its own (shorter ids, say) gives those, so that an answer can name
    /// what is found there; the others give ours.
    pub fn places(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Place>>> {
        let found = self.catalogue.passages(namespace, passages)?;
        let server = self.engine.info().server();
        let place = |stored: Option<StoredPassage>| match (stored, server) {
            (Some(stored), Some(server)) => server.place(namespace, &stored),
            (stored, _) => Ok(stored.map(|stored| Place::ours(namespace, &stored))),
        };
        found.into_iter().map(place).collect()
    }

    /// Gives those of some passages that have no vector yet.
    pub fn without_vectors(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<StoredPassage>> {
        self.catalogue.without_vectors(namespace, passages)
    }

    /// Gives up to `limit` passages that have no vector yet, the longest waiting first.
    pub fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        self.catalogue.passages_without_vectors(namespace, limit)
    }

    /// Gives passages their vectors and tells how many there were; see
    /// [`Catalogue::set_vectors`].
    pub fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        let n_set = self.catalogue.set_vectors(namespace, vectors)?;
        if n_set > 0 {
            self.follow(namespace, None)?;
        }
        Ok(n_set)
    }

    /// Stores a blob with each passage (token vectors) and tells how many were stored; a passage
    /// that is gone is passed over. The store does not look inside.
    pub fn set_blobs(
        &self,
        namespace: &NamespaceId,
        blobs: &[(PassageId, Vec<u8>)],
    ) -> Result<usize> {
        self.catalogue.set_blobs(namespace, blobs)
    }

    /// Gives the blobs of passages, in the order asked; nothing where there is none.
    pub fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.catalogue.blobs(namespace, passages)
    }

    /// Gives for how long what other servers write may have been missing here: the time since the
    /// last [`Store::follow_others`] that came to its end. Nothing where it was never called.
    pub fn follower_lag(&self) -> Option<Duration> {
        self.followed_at.lock().map(|at| at.elapsed())
    }

    /// Tells whether changes may be made, or every one is refused.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Counts the changes of these namespaces that are stored and that no search sees, in a store
    /// whose indexes may not be written and therefore do not follow. None in any other: there a
    /// search sees what was stored before it began.
    ///
    /// # Errors
    ///
    /// When an index or the catalogue cannot be read.
    pub fn unseen_changes<'a>(
        &self,
        namespaces: impl IntoIterator<Item = &'a NamespaceId>,
    ) -> Result<u64> {
        if self.access == Access::Write {
            return Ok(0);
        }
        let mut numbers = vec![];
        for namespace in namespaces {
            numbers.extend(self.catalogue.namespace(namespace)?.map(|state| state.number));
        }
        health::lag(&*self.catalogue, &*self.engine, |number| numbers.contains(&number))
    }

    /// Counts what the catalogue has: an engine may be behind.
    pub fn counts(&self, namespace: &NamespaceId) -> Result<Counts> {
        Ok(state_of(&*self.catalogue, namespace)?.counts)
    }

    /// Gives the languages that documents of the namespace were cut in, for the analysis of
    /// questions. May name a language whose last document is gone.
    pub fn languages(&self, namespace: &NamespaceId) -> Result<LanguageSet> {
        Ok(state_of(&*self.catalogue, namespace)?.languages)
    }

    /// Gives what BM25 needs to know about some index terms.
    pub fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        self.engine.term_statistics(namespace, terms)
    }

    /// Lets the engine follow. What it could not take now goes with the next change.
    fn follow(&self, namespace: &NamespaceId, fresh: Option<&Fresh<'_>>) -> Result<()> {
        let Err(error) = self.engine.follow(Changes::Of { namespace, fresh }) else {
            self.behind.lock().remove(namespace);
            return Ok(());
        };
        // Whatever went wrong does not matter when the namespace was dropped meanwhile.
        let is_gone = matches!(error, Error::UnknownNamespace { .. })
            || matches!(self.catalogue.namespace(namespace), Ok(None));
        if is_gone {
            self.behind.lock().remove(namespace);
            return Err(Error::UnknownNamespace { namespace: namespace.clone() });
        }
        self.behind.lock().insert(namespace.clone(), error.to_string());
        if matches!(error, Error::ManifestMismatch { .. } | Error::CatalogueBehind { .. }) {
            return Err(error);
        }
        Err(Error::IndexBehind { namespace: namespace.clone(), source: Box::new(error) })
    }

    /// Erases what is left of namespaces that were dropped, in the engine and in the catalogue;
    /// the inner result is the engine's.
    fn erase_dropped(&self) -> Result<Result<()>> {
        let mut erased = Ok(());
        for dropped in self.catalogue.dropped()? {
            if let Err(error) = self.engine.erase(Erased::Namespace(&dropped)) {
                erased = Err(error);
            }
            self.catalogue.erase_dropped(&dropped)?;
        }
        Ok(erased)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(error = &error as &dyn std::error::Error, "store could not be closed");
        }
    }
}

/// Gives what a catalogue knows of a namespace.
///
/// # Errors
///
/// [`Error::UnknownNamespace`] when there is none.
pub fn state_of(catalogue: &dyn Catalogue, namespace: &NamespaceId) -> Result<NamespaceState> {
    catalogue
        .namespace(namespace)?
        .ok_or_else(|| Error::UnknownNamespace { namespace: namespace.clone() })
}

/// Gives what a catalogue knows of a namespace that this program can search.
///
/// # Errors
///
/// [`Error::UnknownNamespace`] when there is none, [`Error::ManifestMismatch`] when it was made with
/// another analyser or index format: servers of two versions may share a catalogue for a while.
pub fn current_state(catalogue: &dyn Catalogue, namespace: &NamespaceId) -> Result<NamespaceState> {
    let state = state_of(catalogue, namespace)?;
    state.info.manifest.check_current(namespace)?;
    Ok(state)
}
