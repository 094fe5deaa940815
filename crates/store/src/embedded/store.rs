//! The embedded store as a whole: the folder, the catalogue, and the namespaces that are open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Clock, NamespaceId};
use parking_lot::Mutex;

use super::Config;
use super::namespace::Namespace;
use super::writing;
use crate::truth::{CATALOGUE, Database, FolderLock};
use crate::{Catalogue, Result};

/// The passage store and catalogue in one folder, for one process.
pub struct EmbeddedStore {
    pub(super) root: PathBuf,
    pub(super) database: Arc<Database>,
    pub(super) config: Config,
    pub(super) clock: Clock,
    slots: Mutex<HashMap<NamespaceId, Arc<Slot>>>,
    n_uses: AtomicU64,
    // Dropped last, so that the folder is free only when everything in it is closed.
    _lock: FolderLock,
}

/// A place for an open namespace; whoever opens it holds the lock meanwhile.
type Slot = Mutex<Option<Arc<Namespace>>>;

impl EmbeddedStore {
    /// Opens a data folder, or makes an empty one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Locked`] when another process has it open,
    /// [`crate::Error::ReadOnly`] when it cannot be written,
    /// [`crate::Error::FormatTooNew`] when a later program wrote it.
    pub fn open(folder: &Path, config: &Config, clock: Clock) -> Result<Self> {
        let lock = FolderLock::take(folder)?;
        let database = Arc::new(Database::open(&folder.join(CATALOGUE), config)?);
        let store = EmbeddedStore {
            root: folder.to_owned(),
            database,
            config: config.clone(),
            clock,
            slots: Mutex::default(),
            n_uses: AtomicU64::new(0),
            _lock: lock,
        };
        writing::erase_dropped(&store)?;
        Ok(store)
    }

    /// Gives the catalogue of the families' objects, which lives in the same file.
    pub fn catalogue(&self) -> Arc<dyn Catalogue> {
        self.database.clone()
    }

    /// Counts the namespaces that are open.
    pub fn n_open(&self) -> usize {
        self.slots.lock().len()
    }

    /// Gives a namespace, opening it when it is not open yet.
    pub(super) fn namespace_of(&self, id: &NamespaceId) -> Result<Arc<Namespace>> {
        let now = self.n_uses.fetch_add(1, Ordering::Relaxed);
        let slot = self.slots.lock().entry(id.clone()).or_default().clone();
        let mut place = slot.lock();
        let namespace = match &*place {
            Some(namespace) => namespace.clone(),
            None => {
                let opened = Namespace::open(&self.database, &self.root, &self.config, id);
                let namespace = match opened {
                    Ok(namespace) => Arc::new(namespace),
                    Err(error) => {
                        drop(place);
                        drop(slot);
                        self.forget_if_empty(id);
                        return Err(error);
                    }
                };
                namespace.touch(now);
                *place = Some(namespace.clone());
                drop(place);
                self.close_unused();
                return Ok(namespace);
            }
        };
        namespace.touch(now);
        Ok(namespace)
    }

    /// Gives the namespaces that are open now.
    pub(super) fn open_namespaces(&self) -> Vec<Arc<Namespace>> {
        let slots = self.slots.lock();
        slots.values().filter_map(|slot| slot.try_lock().and_then(|place| place.clone())).collect()
    }

    /// Takes a namespace out of those that are open.
    pub(super) fn take_out(&self, id: &NamespaceId) {
        self.slots.lock().remove(id);
    }

    /// Lets go of writers beyond the bound, except the one in use.
    pub(super) fn rest_unused_writers(&self, in_use: &NamespaceId) -> Result<()> {
        let mut writing = self.open_namespaces();
        writing.retain(|namespace| {
            namespace.id != *in_use
                && namespace.derived.try_lock().is_some_and(|derived| derived.is_writing())
        });
        writing.sort_by_key(|namespace| namespace.used_at.load(Ordering::Relaxed));
        let n_over = (writing.len() + 1).saturating_sub(self.config.max_open_writers.max(1));
        for namespace in writing.into_iter().take(n_over) {
            if let Some(mut derived) = namespace.derived.try_lock() {
                derived.rest()?;
            }
        }
        Ok(())
    }

    fn forget_if_empty(&self, id: &NamespaceId) {
        let mut slots = self.slots.lock();
        let is_unused = slots.get(id).is_some_and(|slot| {
            Arc::strong_count(slot) == 1 && slot.try_lock().is_some_and(|place| place.is_none())
        });
        if is_unused {
            slots.remove(id);
        }
    }

    /// Closes the namespaces used longest ago while more are open than the bound allows.
    fn close_unused(&self) {
        let mut slots = self.slots.lock();
        if slots.len() <= self.config.max_open_namespaces {
            return;
        }
        let mut idle: Vec<(u64, NamespaceId)> = slots
            .iter()
            .filter(|(_, slot)| Arc::strong_count(slot) == 1)
            .filter_map(|(id, slot)| {
                let place = slot.try_lock()?;
                let namespace = place.as_ref()?;
                (Arc::strong_count(namespace) == 1)
                    .then(|| (namespace.used_at.load(Ordering::Relaxed), id.clone()))
            })
            .collect();
        idle.sort();
        let n_over = slots.len() - self.config.max_open_namespaces;
        for (_, id) in idle.into_iter().take(n_over) {
            slots.remove(&id);
        }
    }
}
