//! The store as a whole, and every change: first the catalogue in one transaction, then the engine.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use model::{Clock, DocumentId, NamespaceId, PassageId};
use parking_lot::Mutex;

use super::TurbopufferConfig;
use super::engine::Engine;
use super::following::Follower;
use super::ledger;
use super::namespace::{Following, Namespace};
use super::row;
use crate::truth::{CATALOGUE, Database, FolderLock, SpaceChange, check_documents};
use crate::{Catalogue, Config, Document, Error, Manifest, Result, Upserted, VectorSpace, limits};

/// A passage store whose words and vectors live in turbopuffer, with its catalogue in one folder.
pub struct TurbopufferStore {
    pub(super) database: Arc<Database>,
    pub(super) engine: Engine,
    config: TurbopufferConfig,
    clock: Clock,
    namespaces: Mutex<HashMap<NamespaceId, Arc<Namespace>>>,
    filling: Mutex<BTreeSet<String>>,
    max_open_namespaces: usize,
    // Dropped last, so that the folder is free only when everything in it is closed.
    _lock: FolderLock,
}

impl TurbopufferStore {
    /// Opens a data folder, or makes an empty one. Nothing is asked of the engine yet, so that a
    /// server starts while the engine cannot be reached.
    ///
    /// A folder that the embedded store wrote is taken over: each namespace is sent to the engine
    /// with its next change or by [`TurbopufferStore::rebuild`].
    ///
    /// # Errors
    ///
    /// [`Error::EngineSettings`] when the settings cannot be used, [`Error::Locked`],
    /// [`Error::ReadOnly`] and [`Error::FormatTooNew`] as for the embedded store.
    pub fn open(
        folder: &Path,
        config: &Config,
        turbopuffer: &TurbopufferConfig,
        clock: Clock,
    ) -> Result<Self> {
        let engine = Engine::open(turbopuffer)?;
        let lock = FolderLock::take(folder)?;
        let database = Arc::new(Database::open(&folder.join(CATALOGUE), config)?);
        ledger::prepare(&database)?;
        let store = TurbopufferStore {
            database,
            engine,
            config: turbopuffer.clone(),
            clock,
            namespaces: Mutex::default(),
            filling: Mutex::default(),
            max_open_namespaces: config.max_open_namespaces,
            _lock: lock,
        };
        store.erase_dropped()?;
        Ok(store)
    }

    /// Gives the catalogue of the families' objects, which lives in the same file.
    pub fn catalogue(&self) -> Arc<dyn Catalogue> {
        self.database.clone()
    }

    /// Gives a namespace, opening it when it is not open yet.
    pub(super) fn namespace_of(&self, id: &NamespaceId) -> Result<Arc<Namespace>> {
        let mut namespaces = self.namespaces.lock();
        if let Some(namespace) = namespaces.get(id) {
            return Ok(namespace.clone());
        }
        if namespaces.len() >= self.max_open_namespaces {
            // An open namespace is a name and a few attributes; those in use stay.
            namespaces.retain(|_, namespace| Arc::strong_count(namespace) > 1);
        }
        let namespace = Arc::new(Namespace::open(&self.database, id)?);
        namespaces.insert(id.clone(), namespace.clone());
        Ok(namespace)
    }

    pub(super) fn follower(&self) -> Follower<'_> {
        Follower {
            database: &self.database,
            engine: &self.engine,
            config: &self.config,
            filling: &self.filling,
        }
    }

    pub(super) fn create(&self, id: &NamespaceId, manifest: &Manifest) -> Result<()> {
        match self.database.create(id, manifest, self.clock.now())? {
            SpaceChange::None => Ok(()),
            SpaceChange::TakeOn => self.change_space(id, manifest.vectors.as_ref()),
        }
    }

    pub(super) fn change_space(&self, id: &NamespaceId, space: Option<&VectorSpace>) -> Result<()> {
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        if self.database.change_space(id, namespace.number, space)? {
            self.follow(&namespace, &mut following)?;
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
        let following = open.as_ref().map(|namespace| namespace.following.lock());
        self.database.mark_dropped(id)?;
        self.namespaces.lock().remove(id);
        drop(following);
        self.erase_dropped()?;
        // The freed pages and the log still hold what was erased until they are given back.
        self.database.give_back_erased()?;
        match ledger::erasures(&self.database)?.first() {
            None => Ok(true),
            Some(name) => self.engine.erase(name).map(|()| true),
        }
    }

    pub(super) fn write_documents(
        &self,
        id: &NamespaceId,
        documents: &[Document],
    ) -> Result<Upserted> {
        check_documents(documents)?;
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        let space = self.database.row_of(id)?.info.manifest.vectors;
        for document in documents {
            check_size(document, space.as_ref())?;
        }
        let (seen, now) = (following.seen(), self.clock.now());
        let outcome = self.database.upsert(id, namespace.number, documents, seen, now)?;
        self.follow(&namespace, &mut following)?;
        self.database.purge(namespace.number, following.seen())?;
        Ok(outcome.upserted)
    }

    pub(super) fn delete_documents(
        &self,
        id: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<usize> {
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        let seen = following.seen();
        let n_deleted = self.database.delete(id, namespace.number, documents, seen)?;
        if n_deleted > 0 {
            self.follow(&namespace, &mut following)?;
            self.database.purge(namespace.number, following.seen())?;
        }
        Ok(n_deleted)
    }

    pub(super) fn write_vectors(
        &self,
        id: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        let seen = following.seen();
        let n_set = self.database.set_vectors(id, namespace.number, vectors, seen)?;
        if n_set > 0 {
            self.follow(&namespace, &mut following)?;
        }
        Ok(n_set)
    }

    /// Lets the engine follow the catalogue. What it could not take now goes with the next change.
    fn follow(&self, namespace: &Namespace, following: &mut Following) -> Result<()> {
        self.follower().catch_up(namespace, following).map_err(|source| Error::IndexBehind {
            namespace: namespace.id.clone(),
            source: Box::new(source),
        })
    }

    /// Erases what is left of namespaces that were dropped, here and in the engine. The engine's
    /// part is tried again later when it cannot be reached: its name is not used meanwhile.
    fn erase_dropped(&self) -> Result<()> {
        while let Some(number) = self.database.next_dropped()? {
            ledger::let_go(&self.database, number)?;
            self.database.erase_namespace(number)?;
        }
        self.follower().erase_leftovers();
        Ok(())
    }
}

/// A document goes to the engine in one request, so that it is seen as a whole or not at all.
fn check_size(document: &Document, space: Option<&VectorSpace>) -> Result<()> {
    let dimensions = space.map(|space| space.dimensions);
    let received: usize = document
        .passages
        .iter()
        .map(|passage| row::weight(passage.text.len() + document.title.len(), dimensions))
        .sum();
    let allowed = limits::MAX_ENGINE_DOCUMENT_BYTES;
    if received > allowed {
        return Err(Error::TooLarge {
            what: "a document on its way to turbopuffer",
            received,
            allowed,
        });
    }
    Ok(())
}
