//! An open namespace: its derived indexes and the snapshot that searches read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::NamespaceId;
use parking_lot::{Mutex, RwLock};

use super::derived::Derived;
use super::snapshot::Snapshot;
use crate::store::{current_state, state_of};
use crate::{Access, Catalogue, Config, Error, Result, failpoint};

/// A namespace that is open.
pub(super) struct Namespace {
    pub(super) id: NamespaceId,
    pub(super) number: u32,
    pub(super) used_at: AtomicU64,
    /// Held while the indexes change.
    pub(super) derived: Mutex<Derived>,
    snapshot: RwLock<Arc<Snapshot>>,
    max_cached_filters: usize,
}

impl Namespace {
    /// Opens the indexes of a namespace and lets them catch up; one that is missing or damaged
    /// is made anew from the catalogue.
    pub(super) fn open(
        catalogue: &dyn Catalogue,
        root: &Path,
        config: &Config,
        id: &NamespaceId,
    ) -> Result<Self> {
        let state = current_state(catalogue, id)?;
        let number = state.number;
        let folder = folder_of(root, number);
        let space = state.info.manifest.vectors;
        let mut derived = Derived::open(catalogue, number, &folder, config, space)?;
        match config.access {
            Access::Write => derived.catch_up(catalogue)?,
            Access::Read => derived.pass_over(catalogue, state.counts)?,
        }
        let state = state_of(catalogue, id)?;
        if state.number != number {
            // It was dropped and made again meanwhile.
            return Err(Error::UnknownNamespace { namespace: id.clone() });
        }
        let snapshot = derived.snapshot(&state, config.max_cached_filters)?;
        Ok(Namespace {
            id: id.clone(),
            number: state.number,
            used_at: AtomicU64::new(0),
            derived: Mutex::new(derived),
            snapshot: RwLock::new(Arc::new(snapshot)),
            max_cached_filters: config.max_cached_filters,
        })
    }

    /// Gives what a search sees now.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().clone()
    }

    /// Lets searches see what the indexes have committed.
    pub(super) fn publish(&self, derived: &mut Derived, catalogue: &dyn Catalogue) -> Result<()> {
        let state = state_of(catalogue, &self.id)?;
        let snapshot = derived.snapshot(&state, self.max_cached_filters)?;
        *self.snapshot.write() = Arc::new(snapshot);
        failpoint::reach("snapshot published")
    }

    /// Notes that the namespace was used.
    pub(super) fn touch(&self, now: u64) {
        self.used_at.store(now, Ordering::Relaxed);
    }
}

/// Gives the file that says that the indexes of a namespace have to be made anew.
pub(super) fn outdated_note(root: &Path, number: u32) -> PathBuf {
    folder_of(root, number).join("outdated")
}

/// Gives the folder of the indexes of all namespaces.
pub(super) fn all_folders(root: &Path) -> PathBuf {
    root.join("namespaces")
}

/// Gives the folder of a namespace's indexes.
pub(super) fn folder_of(root: &Path, number: u32) -> PathBuf {
    all_folders(root).join(format!("{number:08}"))
}
