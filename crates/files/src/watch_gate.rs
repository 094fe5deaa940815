//! A run over a whole root begins once the root is watched: what changes after the walk has read it
//! is told then, and need not wait until the run is over.
//!
//! Watching a large root takes a moment, and one on a share that hangs is never watched: a run waits
//! for a limited time, and what changed before the root was watched is looked for afterwards.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use model::Timestamp;
use parking_lot::{Condvar, Mutex};

/// How long a run waits for its root to be watched.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long it goes without asking whether it was stopped.
const STEP: Duration = Duration::from_millis(50);

/// Knows which roots are about to be watched.
#[derive(Default)]
pub(crate) struct WatchGate {
    roots: Mutex<HashMap<String, Waiting>>,
    opened: Condvar,
}

struct Waiting {
    /// When it was decided to watch the root.
    since: Timestamp,
    /// Until when runs wait; nothing once it is watched.
    until: Option<Instant>,
}

impl WatchGate {
    /// Lets runs over a root wait until it is watched.
    pub(crate) fn close(&self, root: &str, since: Timestamp) {
        let until = Some(Instant::now() + LONGEST_WAIT);
        self.roots.lock().insert(root.to_owned(), Waiting { since, until });
    }

    /// Hears that a root is watched, or will not be.
    pub(crate) fn open(&self, root: &str) {
        if let Some(waiting) = self.roots.lock().get_mut(root) {
            waiting.until = None;
        }
        self.opened.notify_all();
    }

    /// Gives when it was decided to watch a root.
    pub(crate) fn since(&self, root: &str) -> Option<Timestamp> {
        self.roots.lock().get(root).map(|waiting| waiting.since)
    }

    /// Waits until a root is watched, for a limited time, or until somebody stops the run.
    pub(crate) fn pass(&self, root: &str, is_stopped: impl Fn() -> bool) {
        let mut roots = self.roots.lock();
        while let Some(until) = roots.get(root).and_then(|waiting| waiting.until) {
            let now = Instant::now();
            if until <= now || is_stopped() {
                return;
            }
            self.opened.wait_until(&mut roots, until.min(now + STEP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_waits_for_its_own_root_and_not_without_end() {
        let gate = WatchGate::default();
        let waits_for = |root: &str| {
            let begun = Instant::now();
            gate.pass(root, || false);
            begun.elapsed()
        };
        gate.close("a", Timestamp(7));
        assert!(waits_for("b") < LONGEST_WAIT / 2);
        assert!(waits_for("a") >= LONGEST_WAIT / 2);
        gate.close("a", Timestamp(8));
        assert_eq!((gate.since("a"), gate.since("b")), (Some(Timestamp(8)), None));
        let begun = Instant::now();
        gate.pass("a", || true);
        assert!(begun.elapsed() < LONGEST_WAIT / 2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| waits_for("a"));
            gate.open("a");
            assert!(waiting.join().unwrap() < LONGEST_WAIT / 2);
        });
        assert_eq!(gate.since("a"), Some(Timestamp(8)));
    }
}
