//! The bytes of documents that are between two stages: a source of large files waits here, so
//! that memory has a bound however large its files are.

use parking_lot::{Condvar, Mutex};

use crate::{Progress, limits};

/// Counts bytes that were read and are not extracted yet.
#[derive(Default)]
pub(super) struct InFlight {
    n_bytes: Mutex<usize>,
    fewer: Condvar,
}

impl InFlight {
    /// Waits until there is space for more, or the run is cancelled. One document always passes,
    /// however large.
    pub(super) fn enter(&self, n_bytes: usize, progress: &Progress) {
        let mut in_flight = self.n_bytes.lock();
        while *in_flight > 0
            && *in_flight + n_bytes > limits::MAX_WAITING_BYTES
            && !progress.is_cancelled()
        {
            self.fewer.wait_for(&mut in_flight, limits::CANCEL_STEP);
        }
        *in_flight += n_bytes;
    }

    /// Makes space.
    pub(super) fn leave(&self, n_bytes: usize) {
        *self.n_bytes.lock() -= n_bytes;
        self.fewer.notify_one();
    }
}
