//! The bytes of documents that are between two stages: a source of large files waits here, and so
//! do readers of long texts, so that memory has a bound however large the files and texts are.

use parking_lot::{Condvar, Mutex};

use crate::{Progress, limits};

/// Counts bytes that one stage has given and the next has not taken yet.
pub(super) struct InFlight {
    max_bytes: usize,
    n_bytes: Mutex<usize>,
    fewer: Condvar,
}

impl InFlight {
    /// Lets so many bytes wait.
    pub(super) fn up_to(max_bytes: usize) -> Self {
        InFlight { max_bytes, n_bytes: Mutex::default(), fewer: Condvar::new() }
    }

    /// Waits until there is space for more, or the run is cancelled. One document always passes,
    /// however large.
    pub(super) fn enter(&self, n_bytes: usize, progress: &Progress) {
        let mut in_flight = self.n_bytes.lock();
        while *in_flight > 0 && *in_flight + n_bytes > self.max_bytes && !progress.is_cancelled() {
            self.fewer.wait_for(&mut in_flight, limits::CANCEL_STEP);
        }
        *in_flight += n_bytes;
    }

    /// Makes space.
    pub(super) fn leave(&self, n_bytes: usize) {
        *self.n_bytes.lock() -= n_bytes;
        self.fewer.notify_all();
    }
}
