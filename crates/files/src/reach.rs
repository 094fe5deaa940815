//! Whether a root can be reached: asked in a thread of its own, since a network share that hangs
//! cannot be asked with a time limit in any other way.
//!
//! The last answer is remembered, so that a search says at once that a share is away. A root that
//! hangs has one thread waiting for it and never a second one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a root may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks whether a folder is there; may hang for as long as it likes.
type Probe = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// What is known of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootReach {
    /// It answered.
    There,
    /// It answered that there is no such folder, or none that may be read.
    Away,
    /// It has not answered yet, after a long time.
    Hangs,
}

/// Remembers which roots can be reached.
#[derive(Clone)]
pub(crate) struct Reach {
    known: Arc<Mutex<HashMap<PathBuf, RootReach>>>,
    probe: Probe,
    patience: Duration,
}

impl Reach {
    /// Asks the disk.
    pub(crate) fn of_disk() -> Self {
        Reach::new(Arc::new(can_be_read), PATIENCE)
    }

    fn new(probe: Probe, patience: Duration) -> Self {
        Reach { known: Arc::default(), probe, patience }
    }

    /// Tells whether a root could be reached when it was asked last; yes when it never was.
    pub(crate) fn was_there(&self, root: &Path) -> bool {
        lock(&self.known).get(root).is_none_or(|known| *known == RootReach::There)
    }

    /// Asks a root, for a limited time.
    pub(crate) fn ask(&self, root: &Path) -> bool {
        if lock(&self.known).get(root) == Some(&RootReach::Hangs) {
            return false;
        }
        let (sender, receiver) = sync_channel(1);
        let (probe, known, path) =
            (Arc::clone(&self.probe), Arc::clone(&self.known), root.to_owned());
        let thread = std::thread::Builder::new().name("reach".to_owned()).spawn(move || {
            let state = if probe(&path) { RootReach::There } else { RootReach::Away };
            // A late answer is kept as well: the share has come back.
            lock(&known).insert(path, state);
            let _ = sender.send(state);
        });
        if thread.is_err() {
            // Without a thread to spare the root is taken as it was.
            return self.was_there(root);
        }
        match receiver.recv_timeout(self.patience) {
            Ok(state) => state == RootReach::There,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let mut known = lock(&self.known);
                // The answer may have come between the time-out and the lock.
                match receiver.try_recv() {
                    Ok(state) => state == RootReach::There,
                    Err(_) => {
                        known.insert(root.to_owned(), RootReach::Hangs);
                        false
                    }
                }
            }
        }
    }
}

/// Tells whether a folder is there, and may be listed and entered.
fn can_be_read(folder: &Path) -> bool {
    fs_err::read_dir(folder).is_ok() && folder.join(".").is_dir()
}

fn lock(known: &Mutex<HashMap<PathBuf, RootReach>>) -> MutexGuard<'_, HashMap<PathBuf, RootReach>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_folder_is_there_or_away() {
        let folder = tempfile::tempdir().unwrap();
        let reach = Reach::of_disk();
        let gone = folder.path().join("gone");
        assert!(reach.was_there(&gone), "nothing is known yet");
        assert!(reach.ask(folder.path()) && reach.was_there(folder.path()));
        assert!(!reach.ask(&gone) && !reach.was_there(&gone));
        fs_err::create_dir(&gone).unwrap();
        assert!(reach.ask(&gone) && reach.was_there(&gone));
    }

    #[test]
    fn a_share_that_hangs_is_waited_for_by_one_thread_and_may_come_back() {
        let (let_go, hold) = channel::<()>();
        let hold = Mutex::new(hold);
        let n_asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_asked);
        let probe: Probe = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            hold.lock().unwrap().recv().is_ok()
        });
        let reach = Reach::new(probe, Duration::from_millis(10));
        let share = Path::new("/share");
        for _ in 0..3 {
            assert!(!reach.ask(share) && !reach.was_there(share));
        }
        assert_eq!(n_asked.load(Ordering::SeqCst), 1);
        let_go.send(()).unwrap();
        while !reach.was_there(share) {
            std::thread::yield_now();
        }
    }
}
