//! Who works on what: one job at a time on a table, a few uploads.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::object_ids::TableId;

/// Locks that outlive a change of the configuration. Cheap to clone.
#[derive(Clone, Default)]
pub struct Locks(Arc<Inner>);

#[derive(Default)]
struct Inner {
    tables: Mutex<HashSet<TableId>>,
    freed: Condvar,
    n_uploads: Mutex<usize>,
}

impl Locks {
    /// Waits until nobody works on a table, and works on it until the guard is dropped.
    pub(crate) fn table(&self, id: &TableId) -> TableLock {
        let mut tables = self.0.tables.lock();
        while !tables.insert(id.clone()) {
            self.0.freed.wait(&mut tables);
        }
        TableLock { locks: self.clone(), table: id.clone() }
    }

    /// Takes one of the places for uploads; nothing when all are taken.
    pub(crate) fn upload(&self, allowed: usize) -> Option<UploadLock> {
        let mut n_uploads = self.0.n_uploads.lock();
        (*n_uploads < allowed).then(|| {
            *n_uploads += 1;
            UploadLock(self.clone())
        })
    }
}

/// Holds a table.
pub(crate) struct TableLock {
    locks: Locks,
    table: TableId,
}

impl Drop for TableLock {
    fn drop(&mut self) {
        self.locks.0.tables.lock().remove(&self.table);
        self.locks.0.freed.notify_all();
    }
}

/// Holds a place for an upload.
pub(crate) struct UploadLock(Locks);

impl Drop for UploadLock {
    fn drop(&mut self) {
        *self.0.0.n_uploads.lock() -= 1;
    }
}
