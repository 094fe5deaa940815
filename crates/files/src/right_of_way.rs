//! Who writes first: what somebody has just changed goes before what is read in bulk.
//!
//! A commit of many documents takes a while, and a change waits for the one that is under way. It
//! does not wait for the next one too: a run over a whole folder lets changes pass before each of
//! its commits, for a limited time, so that a folder that changes all the time is indexed as well.
//! Nor does it wait until a long document of such a run is read: it has a worker of its own then.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use extract::Pool;
use model::DocumentId;
use parking_lot::{Condvar, Mutex};

/// How long a commit of many documents waits for changes at most.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long a job that was asked for has to begin.
const TO_BEGIN: Duration = Duration::from_secs(2);

/// Lets changes pass.
#[derive(Default)]
pub(crate) struct RightOfWay {
    state: Mutex<State>,
    passed: Condvar,
    /// Keyed anew for each process, so that nobody can prepare two ids that share a hash.
    hasher: RandomState,
}

#[derive(Default)]
struct State {
    /// Until when a job is waited for that was asked for and has not begun.
    coming: Option<Instant>,
    n_passing: usize,
    /// Runs over whole folders.
    n_runs: usize,
    /// Reads for changes while there are such runs.
    beside: Option<Arc<Pool>>,
    /// By their ids, the fingerprints of what changes wrote while there are such runs: hashes.
    written: HashMap<u64, u64>,
}

/// A change that is being written, until the value goes.
pub(crate) struct Passing<'a>(&'a RightOfWay);

/// A run over a whole folder, until the value goes.
pub(crate) struct Running<'a>(&'a RightOfWay);

impl RightOfWay {
    /// A run over a whole folder begins.
    pub(crate) fn run(&self) -> Running<'_> {
        self.state.lock().n_runs += 1;
        Running(self)
    }

    /// Gives what reads a change: the workers of all, or one of its own while a run has them.
    pub(crate) fn pool(&self, pool: &Arc<Pool>) -> Arc<Pool> {
        self.pool_if(pool, pool.is_busy())
    }

    fn pool_if(&self, pool: &Arc<Pool>, is_busy: bool) -> Arc<Pool> {
        let mut state = self.state.lock();
        if state.n_runs == 0 || !is_busy && state.beside.is_none() {
            return Arc::clone(pool);
        }
        Arc::clone(state.beside.get_or_insert_with(|| Arc::new(pool.beside())))
    }

    /// Hears what a change wrote, so that no run reads and writes the same again.
    pub(crate) fn note_written<'a>(
        &self,
        documents: impl Iterator<Item = (&'a DocumentId, &'a str)>,
    ) {
        let mut state = self.state.lock();
        if state.n_runs > 0 {
            let hashed = documents
                .map(|(id, stamp)| (self.hasher.hash_one(id), self.hasher.hash_one(stamp)));
            state.written.extend(hashed);
        }
    }

    /// Hears what left the index.
    pub(crate) fn note_gone(&self, documents: &[DocumentId]) {
        let mut state = self.state.lock();
        for id in documents {
            state.written.remove(&self.hasher.hash_one(id));
        }
    }

    /// Tells whether a change has written a file as it is now while a run is under way.
    pub(crate) fn has_written(&self, id: &DocumentId, fingerprint: &str) -> bool {
        let state = self.state.lock();
        !state.written.is_empty()
            && state.written.get(&self.hasher.hash_one(id))
                == Some(&self.hasher.hash_one(fingerprint))
    }

    /// Hears that a job for a change is asked for.
    pub(crate) fn announce(&self) {
        self.state.lock().coming = Some(Instant::now() + TO_BEGIN);
    }

    /// Hears that the job is not asked for after all.
    pub(crate) fn withdraw(&self) {
        self.state.lock().coming = None;
        self.passed.notify_all();
    }

    /// The job begins.
    pub(crate) fn pass(&self) -> Passing<'_> {
        let mut state = self.state.lock();
        state.coming = None;
        state.n_passing += 1;
        Passing(self)
    }

    /// Waits until no change is on its way, for a limited time.
    pub(crate) fn give_way(&self) {
        self.give_way_for(LONGEST_WAIT);
    }

    fn give_way_for(&self, longest: Duration) {
        let end = Instant::now() + longest;
        let mut state = self.state.lock();
        loop {
            let until = match state.coming {
                _ if state.n_passing > 0 => end,
                Some(coming) => end.min(coming),
                None => return,
            };
            if Instant::now() >= until {
                return;
            }
            self.passed.wait_until(&mut state, until);
        }
    }
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        self.0.state.lock().n_passing -= 1;
        self.0.passed.notify_all();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.n_runs -= 1;
        let is_last = state.n_runs == 0;
        if is_last {
            state.written = HashMap::new();
        }
        let beside = if is_last { state.beside.take() } else { None };
        drop(state);
        // Its process is ended without the lock.
        drop(beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_in_bulk_waits_for_changes_and_not_without_end() {
        let way = RightOfWay::default();
        let long = Duration::from_secs(60);
        let waits_for = |longest: Duration| {
            let begun = Instant::now();
            way.give_way_for(longest);
            begun.elapsed()
        };
        assert!(waits_for(long) < long / 2);
        way.announce();
        assert!(waits_for(Duration::from_millis(50)) >= Duration::from_millis(50));
        // One that does not begin is not waited for any longer.
        assert!(waits_for(long) < long / 2);
        way.announce();
        way.withdraw();
        assert!(waits_for(long) < long / 2);
        way.announce();
        let passing = way.pass();
        assert!(waits_for(Duration::from_millis(50)) >= Duration::from_millis(50));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| waits_for(long));
            drop(passing);
            assert!(waiting.join().unwrap() < long / 2);
        });
    }

    /// A run passes over what a change has written meanwhile, as long as it is that.
    #[test]
    fn what_a_change_wrote_is_known_until_the_runs_are_over() {
        let way = RightOfWay::default();
        let [a, b] = ["a", "b"].map(DocumentId::new);
        way.note_written([(&a, "1")].into_iter());
        assert!(!way.has_written(&a, "1"));
        let run = way.run();
        way.note_written([(&a, "1"), (&b, "1")].into_iter());
        assert!(way.has_written(&a, "1") && !way.has_written(&a, "2"));
        way.note_gone(std::slice::from_ref(&b));
        assert!(!way.has_written(&b, "1"));
        drop(run);
        let _run = way.run();
        assert!(!way.has_written(&a, "1"));
    }

    #[test]
    fn a_change_has_a_worker_of_its_own_while_a_run_has_the_others() {
        let way = RightOfWay::default();
        let config =
            extract::PoolConfig { program: "none".into(), arguments: vec![], n_workers: 2 };
        let pool = Arc::new(Pool::new(config));
        let is_given =
            |given: &Arc<Pool>, is_busy| Arc::ptr_eq(given, &way.pool_if(&pool, is_busy));
        assert!(is_given(&pool, true));
        let runs = (way.run(), way.run());
        assert!(is_given(&pool, false));
        let beside = way.pool_if(&pool, true);
        assert!(!Arc::ptr_eq(&pool, &beside) && is_given(&beside, false));
        drop(runs.0);
        assert!(is_given(&beside, true));
        drop(runs.1);
        assert!(is_given(&pool, true) && !pool.is_busy());
        assert_eq!(Arc::strong_count(&beside), 1);
    }
}
