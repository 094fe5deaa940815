//! Who is let in, and who is waited for at the end.
//!
//! A process that ends lets nobody in first, and answers whoever is inside. Who was not let in has
//! asked for nothing yet, and opens the data itself as soon as the process is gone: nothing is done
//! twice, and nothing is cut off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long nobody is let in while those inside are waited for; others wait longer.
const CLOSED_FOR: Duration = Duration::from_secs(5);

/// How long others are let in again beside a long command, unless it ends before.
const OPEN_FOR: Duration = Duration::from_secs(30);

/// The connections that were let in.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    n_inside: usize,
    entry: Entry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Entry {
    #[default]
    Open,
    Closed,
}

/// One that was let in; it leaves with this.
pub(super) struct Pass(Arc<Gate>);

impl Gate {
    /// Lets one in; nobody where it is closed.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Pass> {
        let mut state = self.state.lock();
        if state.entry == Entry::Closed {
            return None;
        }
        state.n_inside += 1;
        Some(Pass(Arc::clone(self)))
    }

    /// Lets nobody in any more, and waits for those inside, so long at most.
    pub(super) fn close(&self, limit: Duration) {
        self.empties(Entry::Closed, limit);
    }

    /// Lets nobody in any more once all have left, however long that takes. Beside a long command
    /// others are let in again from time to time: they would wait as long as it runs.
    pub(super) fn close_when_empty(&self) {
        while !self.empties(Entry::Closed, CLOSED_FOR) && !self.empties(Entry::Open, OPEN_FOR) {}
    }

    /// Waits until all have left, and tells whether they have; then it is closed.
    fn empties(&self, entry: Entry, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut state = self.state.lock();
        state.entry = entry;
        while state.n_inside > 0 {
            if self.left.wait_until(&mut state, until).timed_out() && state.n_inside > 0 {
                return false;
            }
        }
        state.entry = Entry::Closed;
        true
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.state.lock().n_inside -= 1;
        self.0.left.notify_all();
    }
}
