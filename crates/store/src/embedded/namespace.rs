//! An open namespace: its derived indexes and the snapshot that searches read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::NamespaceId;
use parking_lot::{Mutex, RwLock};

use super::Config;
use super::derived::Derived;
use super::snapshot::Snapshot;
use crate::truth::Database;
use crate::{Error, Manifest, Result, failpoint};

/// A namespace that is open.
pub(super) struct Namespace {
    pub(super) id: NamespaceId,
    pub(super) number: u32,
    pub(super) used_at: AtomicU64,
    /// Held for the whole of a write: the catalogue's part and the indexes' part.
    pub(super) derived: Mutex<Derived>,
    snapshot: RwLock<Arc<Snapshot>>,
    max_cached_filters: usize,
}

impl Namespace {
    /// Opens the indexes of a namespace and lets them catch up; one that is missing or damaged
    /// is made anew from the catalogue.
    pub(super) fn open(
        database: &Database,
        root: &Path,
        config: &Config,
        id: &NamespaceId,
    ) -> Result<Self> {
        let row = database.row_of(id)?;
        let mut wanted = Manifest::current(row.info.manifest.vectors.clone());
        if row.info.manifest != wanted {
            let kept = Box::new(row.info.manifest);
            wanted.vectors = kept.vectors.clone();
            return Err(Error::ManifestMismatch {
                namespace: id.clone(),
                kept,
                wanted: Box::new(wanted),
            });
        }
        let folder = folder_of(root, row.number);
        let space = row.info.manifest.vectors;
        let mut derived = Derived::open(database, row.number, &folder, config, space)?;
        derived.catch_up(database)?;
        derived.purge(database)?;
        let snapshot = derived.snapshot(database, id, config.max_cached_filters)?;
        Ok(Namespace {
            id: id.clone(),
            number: row.number,
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
    pub(super) fn publish(&self, derived: &mut Derived, database: &Database) -> Result<()> {
        let snapshot = derived.snapshot(database, &self.id, self.max_cached_filters)?;
        *self.snapshot.write() = Arc::new(snapshot);
        failpoint::reach("snapshot published")
    }

    /// Notes that the namespace was used.
    pub(super) fn touch(&self, now: u64) {
        self.used_at.store(now, Ordering::Relaxed);
    }
}

/// Gives the folder of a namespace's indexes.
pub(super) fn folder_of(root: &Path, number: u32) -> PathBuf {
    root.join("namespaces").join(format!("{number:08}"))
}
