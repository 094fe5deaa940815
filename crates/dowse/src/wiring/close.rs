//! A clean stop: stores are closed when a command ends, whoever still holds a part of them.
//!
//! Services, queues and runners refer to each other, so that the end of a command does not always
//! drop the store; without this the write-ahead log stayed behind, with up to 59 MB.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ingest::JobQueue;
use store::Store;
use tempfile::TempDir;

/// How long jobs may take to stop when the process ends; a document that is being read is finished.
const JOBS_GRACE: Duration = Duration::from_secs(5);

static OPEN: Mutex<Vec<Weak<Store>>> = Mutex::new(Vec::new());

static QUEUES: Mutex<Vec<Weak<JobQueue>>> = Mutex::new(Vec::new());

/// Folders that go once the stores in them are closed.
static UNTIL_CLOSED: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// Keeps a folder until the stores are closed, and gives its path: one that went before left a
/// store that could not be closed.
pub(crate) fn until_closed(folder: TempDir) -> PathBuf {
    let path = folder.path().to_owned();
    UNTIL_CLOSED.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    path
}

/// Remembers a store that has to be closed.
pub(super) fn remember(store: &Arc<Store>) {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(store));
}

/// Remembers a queue whose jobs have to stop before its store is closed.
pub(super) fn remember_queue(queue: &Arc<JobQueue>) {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(queue));
}

/// Stops what runs and closes every store that is still open, so that each is one whole file.
pub(crate) fn close_stores() {
    let queues = std::mem::take(&mut *QUEUES.lock().unwrap_or_else(PoisonError::into_inner));
    for queue in queues.iter().filter_map(Weak::upgrade) {
        queue.stop_within(JOBS_GRACE);
    }
    super::presence::leave();
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    for store in open {
        let Some(store) = store.upgrade() else { continue };
        if let Err(error) = store.stop() {
            tracing::warn!(error = &error as &dyn std::error::Error, "store could not be closed");
        }
    }
    UNTIL_CLOSED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
