//! A clean stop: stores are closed when a command ends, whoever still holds a part of them.
//!
//! Services, queues and runners refer to each other, so that the end of a command does not always
//! drop the store; without this the write-ahead log stayed behind, with up to 59 MB.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use store::Store;

static OPEN: Mutex<Vec<Weak<Store>>> = Mutex::new(Vec::new());

/// Remembers a store that has to be closed.
pub(super) fn remember(store: &Arc<Store>) {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(store));
}

/// Closes every store that is still open, so that each is one whole file.
pub(crate) fn close_stores() {
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    for store in open {
        let Some(store) = store.upgrade() else { continue };
        if let Err(error) = store.stop() {
            tracing::warn!(error = &error as &dyn std::error::Error, "store could not be closed");
        }
    }
}
