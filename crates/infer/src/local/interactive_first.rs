//! Queries go first: a pass over passages stops for a moment while someone waits for a query.
//!
//! Without this a query shares the cores with the threads that index, and takes several times as
//! long. A long pass asks every millisecond or so whether it should let others through, and sleeps
//! until they are done. It never waits for more than half of its time (and a short while more), so
//! many queries slow indexing down and do not stop it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long a pass may wait beyond half of its time: a few queries one after another.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether someone waits for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// A person or an agent does.
    Interactive,
    /// Nobody does: others may go first.
    Background,
}

/// The queries under way, in the whole process: they all share its cores.
pub(crate) static RIGHT_OF_WAY: InteractiveFirst = InteractiveFirst::new();

/// Counts who goes first, and wakes who let them.
#[derive(Debug)]
pub(crate) struct InteractiveFirst {
    n_interactive: AtomicUsize,
    lock: Mutex<()>,
    is_free: Condvar,
}

/// Someone who goes first, until this value is dropped.
pub(crate) struct Interactive<'a>(&'a InteractiveFirst);

impl InteractiveFirst {
    pub(crate) const fn new() -> Self {
        InteractiveFirst {
            n_interactive: AtomicUsize::new(0),
            lock: Mutex::new(()),
            is_free: Condvar::new(),
        }
    }

    /// Goes first.
    pub(crate) fn enter(&self) -> Interactive<'_> {
        self.n_interactive.fetch_add(1, Ordering::SeqCst);
        Interactive(self)
    }

    fn is_taken(&self) -> bool {
        self.n_interactive.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Interactive<'_> {
    fn drop(&mut self) {
        if self.0.n_interactive.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Taking the lock makes sure that nobody is between asking and sleeping.
            drop(self.0.lock.lock());
            self.0.is_free.notify_all();
        }
    }
}

/// One pass that lets others through.
pub(crate) struct Polite<'a> {
    interactive_first: &'a InteractiveFirst,
    began: Instant,
    waited: Cell<Duration>,
}

impl<'a> Polite<'a> {
    pub(crate) fn new(interactive_first: &'a InteractiveFirst) -> Self {
        Polite { interactive_first, began: Instant::now(), waited: Cell::new(Duration::ZERO) }
    }

    /// Sleeps while others go first, unless this pass has waited enough.
    pub(crate) fn give_way(&self) {
        if !self.interactive_first.is_taken() {
            return;
        }
        let began = Instant::now();
        let allowed = PATIENCE + began.duration_since(self.began) / 2;
        let until = began + allowed.saturating_sub(self.waited.get());
        let mut guard = self.interactive_first.lock.lock();
        while self.interactive_first.is_taken() {
            if self.interactive_first.is_free.wait_until(&mut guard, until).timed_out() {
                break;
            }
        }
        drop(guard);
        self.waited.set(self.waited.get() + began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_waits_for_a_query_and_no_longer_than_half_of_its_time() {
        let interactive_first = InteractiveFirst::new();
        let polite = Polite::new(&interactive_first);
        polite.give_way();
        assert_eq!(polite.waited.get(), Duration::ZERO, "nobody is there");
        let query = interactive_first.enter();
        std::thread::scope(|scope| {
            let pass = scope.spawn(|| {
                let polite = Polite::new(&interactive_first);
                polite.give_way();
                polite.waited.get()
            });
            drop(query);
            assert!(pass.join().unwrap() <= PATIENCE * 2);
        });
        // A query that never ends: the pass goes on by itself.
        let _query = interactive_first.enter();
        let polite = Polite::new(&interactive_first);
        for _ in 0..3 {
            polite.give_way();
        }
        let waited = polite.waited.get();
        let allowed = PATIENCE + polite.began.elapsed() / 2;
        assert!(waited >= PATIENCE, "{waited:?}");
        assert!(waited <= allowed + PATIENCE, "{waited:?} {allowed:?}");
    }
}
