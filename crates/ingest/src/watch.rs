//! Folders watched by the system's events, a few of which are gathered before anybody is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, TrySendError, bounded};
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::{Error, Result, limits};

/// How long nothing must happen before what was gathered is told.
const QUIET: Duration = Duration::from_millis(150);

/// How long events are gathered at most.
const LONGEST: Duration = Duration::from_millis(700);

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noticed {
    /// Something at or below these paths.
    Paths(BTreeSet<PathBuf>),
    /// More than can be told: everything has to be looked at.
    Everything,
}

/// Watches folders until it is dropped.
pub struct FolderWatch {
    watcher: RecommendedWatcher,
}

impl FolderWatch {
    /// Begins to watch nothing; `on_change` is called from a thread of its own. Paths for which
    /// `is_ignored` holds are passed over, before they can wake anybody.
    ///
    /// # Errors
    ///
    /// When the system has no events to give, or no thread.
    pub fn start(
        is_ignored: impl Fn(&Path) -> bool + Send + 'static,
        on_change: impl Fn(Noticed) + Send + 'static,
    ) -> Result<Self> {
        let (to_gather, gathering) = bounded::<PathBuf>(limits::MAX_WAITING_EVENTS);
        let has_lost = Arc::new(AtomicBool::new(false));
        let lost = Arc::clone(&has_lost);
        let on_event = move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                lost.store(true, Ordering::Relaxed);
                return;
            };
            if event.need_rescan() {
                lost.store(true, Ordering::Relaxed);
            }
            if !is_change(&event.kind) {
                return;
            }
            for path in event.paths {
                if is_ignored(&path) {
                    continue;
                }
                if let Err(TrySendError::Full(_)) = to_gather.try_send(path) {
                    lost.store(true, Ordering::Relaxed);
                }
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(on_event, config).map_err(Error::Watch)?;
        std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || gather(&gathering, &has_lost, &on_change))
            .map_err(Error::Thread)?;
        Ok(FolderWatch { watcher })
    }

    /// Watches a folder and everything below it.
    ///
    /// # Errors
    ///
    /// When the system refuses: the folder is gone, or it has no watches left.
    pub fn add(&mut self, folder: &Path) -> Result<()> {
        self.watcher.watch(folder, RecursiveMode::Recursive).map_err(Error::Watch)
    }
}

/// Reading changes nothing; a file that is written to is looked at again when it is closed.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

fn gather(gathering: &Receiver<PathBuf>, has_lost: &AtomicBool, on_change: &dyn Fn(Noticed)) {
    while let Ok(first) = gathering.recv() {
        let latest = Instant::now() + LONGEST;
        let mut paths = BTreeSet::from([first]);
        loop {
            match gathering.recv_deadline(latest.min(Instant::now() + QUIET)) {
                Ok(path) => {
                    paths.insert(path);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        let is_much = paths.len() > limits::MAX_CHANGED_PATHS;
        on_change(match has_lost.swap(false, Ordering::Relaxed) || is_much {
            true => Noticed::Everything,
            false => Noticed::Paths(paths),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_noticed_and_an_ignored_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let (sender, receiver) = bounded(100);
        let is_ignored = |path: &Path| path.ends_with("ignored.txt");
        let mut watch = FolderWatch::start(is_ignored, move |noticed| {
            let _ = sender.send(noticed);
        })
        .unwrap();
        watch.add(&root).unwrap();
        fs_err::write(root.join("ignored.txt"), "nobody looks").unwrap();
        fs_err::write(root.join("a.txt"), "text").unwrap();
        let mut seen = BTreeSet::new();
        while !seen.contains(&root.join("a.txt")) {
            match receiver.recv_timeout(Duration::from_secs(60)).unwrap() {
                Noticed::Paths(paths) => seen.extend(paths),
                Noticed::Everything => panic!("nothing was lost"),
            }
        }
        assert!(!seen.contains(&root.join("ignored.txt")));
        // Reading is no change: the next thing that is noticed is the removal.
        fs_err::read(root.join("a.txt")).unwrap();
        fs_err::remove_file(root.join("a.txt")).unwrap();
        let noticed = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(noticed, Noticed::Paths(BTreeSet::from([root.join("a.txt")])));
    }
}
