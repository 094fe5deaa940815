//! Folders watched by the system's events, a few of which are gathered before anybody is told.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, TrySendError, bounded};
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _, WatcherKind};

use crate::{Error, Result, limits};

/// How long nothing must happen before what was gathered is told.
const QUIET: Duration = Duration::from_millis(150);

/// How long events are gathered at most.
const LONGEST: Duration = Duration::from_millis(700);

/// Events are gathered for so many times as long as the last ones were looked at, so that a folder
/// that changes all the time takes a third of it.
const PAUSE_FACTOR: u32 = 2;

/// How often folders are walked until no new one is met.
const MAX_WALKS: usize = 20;

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noticed {
    /// Something at or below some paths.
    Paths(Changed),
    /// More than can be told: everything has to be looked at.
    Everything,
}

/// Paths at or below which something changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// These themselves, and what is below them.
    pub paths: BTreeSet<PathBuf>,
    /// Folders in which more changed than is told one by one: most of what is in them may be as it
    /// was.
    pub crowded: BTreeSet<PathBuf>,
}

impl Changed {
    /// Takes single paths.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Changed { paths: paths.into_iter().collect(), crowded: BTreeSet::new() }
    }

    /// Tells whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.crowded.is_empty()
    }

    /// Adds what changed beside it.
    pub fn append(&mut self, mut other: Changed) {
        self.paths.append(&mut other.paths);
        self.crowded.append(&mut other.crowded);
    }

    /// Makes many paths few: as long as there are too many, the deepest give way to their folders.
    /// Something at or below what stays changed, as before.
    pub fn collapse(&mut self, n_allowed: usize) {
        let depth_of = |path: &Path| path.components().count();
        while self.paths.len() + self.crowded.len() > n_allowed.max(1) {
            let all = self.paths.iter().chain(&self.crowded);
            let Some(deepest) = all.map(|path| depth_of(path)).max() else { return };
            if deepest <= 1 {
                return;
            }
            let is_deepest = |path: &PathBuf| depth_of(path) == deepest;
            let (deep, paths) = std::mem::take(&mut self.paths).into_iter().partition(is_deepest);
            let (deep_folders, crowded) =
                std::mem::take(&mut self.crowded).into_iter().partition(is_deepest);
            (self.paths, self.crowded) = (paths, crowded);
            for path in BTreeSet::into_iter(deep).chain(BTreeSet::into_iter(deep_folders)) {
                self.crowded.extend(path.parent().map(Path::to_owned));
            }
        }
    }
}

/// What the system tells the thread that gathers.
enum Signal {
    Path(PathBuf),
    /// Something happened that the system could not say.
    Lost,
}

/// Watches folders until it is dropped.
pub struct FolderWatch {
    watcher: RecommendedWatcher,
}

impl FolderWatch {
    /// Begins to watch nothing; `on_change` is called from a thread of its own and gives how long
    /// it looked at what changed, without the time that it waited for others. Paths for which
    /// `is_ignored` holds are passed over, before they can wake anybody.
    ///
    /// # Errors
    ///
    /// When the system has no events to give, or no thread.
    pub fn start(
        is_ignored: impl Fn(&Path) -> bool + Send + 'static,
        on_change: impl Fn(Noticed) -> Duration + Send + 'static,
    ) -> Result<Self> {
        let (to_gather, gathering) = bounded::<Signal>(limits::MAX_WAITING_EVENTS);
        let has_lost = Arc::new(AtomicBool::new(false));
        let lost = Arc::clone(&has_lost);
        let on_event = move |event: notify::Result<Event>| {
            let tell = |signal: Signal| {
                // While the channel is full, somebody is about to read it.
                if let Err(TrySendError::Full(_)) = to_gather.try_send(signal) {
                    lost.store(true, Ordering::Relaxed);
                }
            };
            let event = match event {
                Ok(event) if !event.need_rescan() => event,
                _ => return tell(Signal::Lost),
            };
            if !is_change(&event.kind) {
                return;
            }
            event
                .paths
                .into_iter()
                .filter(|path| !is_ignored(path))
                .map(Signal::Path)
                .for_each(tell);
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(on_event, config).map_err(Error::Watch)?;
        std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || gather(&gathering, &has_lost, &on_change))
            .map_err(Error::Thread)?;
        Ok(FolderWatch { watcher })
    }

    /// Tells whether the system watches everything below a folder by itself. Where it does not,
    /// every folder is added on its own, and those that come later too: then one that nobody may
    /// read, or that is left out, does not keep the others from being watched.
    pub fn is_recursive() -> bool {
        RecommendedWatcher::kind() != WatcherKind::Inotify
    }

    /// Watches a folder, and everything below it where the system does that by itself.
    ///
    /// # Errors
    ///
    /// When the system refuses: the folder is gone, nobody may read it, or there are no watches
    /// left, see [`Error::has_no_watches_left`].
    pub fn add(&mut self, folder: &Path) -> Result<()> {
        let mode = match Self::is_recursive() {
            true => RecursiveMode::Recursive,
            false => RecursiveMode::NonRecursive,
        };
        self.watcher.watch(folder, mode).map_err(Error::Watch)
    }

    /// Watches the folders that walks meet, until one meets no other: a walk lists a folder before
    /// it gives it, so what comes between the list and the watch would be in neither. Tells
    /// whether all of them are watched; `is_no_loss` says so of one that the system refuses.
    pub fn add_all<Folders: Iterator<Item = PathBuf>>(
        &mut self,
        walk: impl Fn() -> Folders,
        is_no_loss: impl Fn(&Path, Error) -> bool,
    ) -> bool {
        let mut met = BTreeSet::new();
        for _ in 0..MAX_WALKS {
            let n_before = met.len();
            for folder in walk() {
                if met.contains(&folder) {
                    continue;
                }
                if let Err(error) = self.add(&folder)
                    && !is_no_loss(&folder, error)
                {
                    return false;
                }
                met.insert(folder);
            }
            if met.len() == n_before {
                return true;
            }
        }
        // They come faster than they can be watched.
        false
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

fn gather(
    gathering: &Receiver<Signal>,
    has_lost: &AtomicBool,
    on_change: &dyn Fn(Noticed) -> Duration,
) {
    // The pause counts from the last time, so that a change after a long peace waits for nothing.
    let mut not_before = Instant::now();
    while let Ok(first) = gathering.recv() {
        let begun = Instant::now();
        let mut changed = Changed::default();
        let mut is_everything = false;
        let mut take = |signal: Signal| match signal {
            Signal::Path(path) => {
                changed.paths.insert(path);
                if changed.paths.len() > 2 * limits::MAX_CHANGED_PATHS {
                    changed.collapse(limits::MAX_CHANGED_PATHS);
                }
            }
            Signal::Lost => is_everything = true,
        };
        take(first);
        loop {
            let until = (begun + LONGEST).min(Instant::now() + QUIET).max(not_before);
            match gathering.recv_deadline(until) {
                Ok(signal) => take(signal),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        changed.collapse(limits::MAX_CHANGED_PATHS);
        is_everything |= has_lost.swap(false, Ordering::Relaxed);
        let noticed = match is_everything {
            true => Noticed::Everything,
            false => Noticed::Paths(changed),
        };
        // A mistake over one path must not end the watching of all folders. What was told is lost,
        // so everything is looked at in its place, once: a second panic waits for the next event.
        let tell = |noticed| catch_unwind(AssertUnwindSafe(|| on_change(noticed))).ok();
        let looked = tell(noticed).or_else(|| {
            tracing::error!("a change in a folder could not be indexed: all folders are scanned");
            tell(Noticed::Everything)
        });
        if looked.is_none() {
            tracing::error!("the folders could not be scanned: the next change tries again");
        }
        not_before =
            Instant::now() + (looked.unwrap_or_default() * PAUSE_FACTOR).min(LONGEST_PAUSE);
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
            Duration::ZERO
        })
        .unwrap();
        watch.add(&root).unwrap();
        fs_err::write(root.join("ignored.txt"), "nobody looks").unwrap();
        fs_err::write(root.join("a.txt"), "text").unwrap();
        let mut seen = BTreeSet::new();
        while !seen.contains(&root.join("a.txt")) {
            match receiver.recv_timeout(Duration::from_secs(60)).unwrap() {
                Noticed::Paths(changed) => seen.extend(changed.paths),
                Noticed::Everything => panic!("nothing was lost"),
            }
        }
        assert!(!seen.contains(&root.join("ignored.txt")));
        // Reading is no change: the next thing that is noticed is the removal.
        fs_err::read(root.join("a.txt")).unwrap();
        fs_err::remove_file(root.join("a.txt")).unwrap();
        let noticed = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(noticed, Noticed::Paths(Changed::of([root.join("a.txt")])));
    }

    #[test]
    fn folders_that_come_while_others_are_added_are_met_by_the_next_walk() {
        let root = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|name| root.path().join(name));
        folders.iter().for_each(|folder| fs_err::create_dir(folder).unwrap());
        let mut watch = FolderWatch::start(|_| false, |_| Duration::ZERO).unwrap();
        let n_walks = std::cell::Cell::new(0);
        let one_more = || {
            n_walks.set(n_walks.get() + 1);
            folders.clone().into_iter().take(n_walks.get())
        };
        assert!(watch.add_all(one_more, |_, _| false));
        assert_eq!(n_walks.get(), 4);
        let gone = || std::iter::once(root.path().join("gone"));
        assert!(!watch.add_all(gone, |_, _| false));
        assert!(watch.add_all(gone, |_, _| true));
        let n_walks = std::cell::Cell::new(0);
        let ever_new = || {
            n_walks.set(n_walks.get() + 1);
            std::iter::once(root.path().join(n_walks.get().to_string()))
        };
        assert!(!watch.add_all(ever_new, |_, _| true));
    }

    #[test]
    fn many_paths_become_few_that_still_hold_them() {
        let all: BTreeSet<PathBuf> = (0..1_000)
            .map(|n| PathBuf::from(format!("/data/{}/deep/{n}.txt", n % 7)))
            .chain([PathBuf::from("/data/a.txt"), PathBuf::from("/data/b/c.txt")])
            .collect();
        for n_allowed in [1, 2, 8, 9, 10, 999] {
            let mut few = Changed::of(all.clone());
            few.collapse(n_allowed);
            assert!(few.paths.len() + few.crowded.len() <= n_allowed, "{n_allowed}: {few:?}");
            let is_held = |path: &PathBuf| {
                few.paths.contains(path) || few.crowded.iter().any(|kept| path.starts_with(kept))
            };
            assert!(all.iter().all(is_held), "{n_allowed}: {few:?}");
            assert!(few.paths.is_subset(&all), "{n_allowed}: {few:?}");
        }
        let mut same = Changed::of(all.clone());
        same.collapse(all.len());
        assert_eq!(same, Changed::of(all));
    }

    /// The thread goes on after a panic, and everything is looked at in place of what was lost.
    #[test]
    fn a_panic_over_one_path_does_not_end_the_watching() {
        let (to_gather, gathering) = bounded(10);
        let (sender, receiver) = bounded(10);
        let thread = std::thread::spawn(move || {
            gather(&gathering, &AtomicBool::new(false), &|noticed| {
                let is_bad = matches!(&noticed, Noticed::Paths(changed)
                    if changed.paths.contains(Path::new("/bad")));
                assert!(!is_bad, "this panic is part of the test");
                sender.send(noticed).unwrap();
                Duration::ZERO
            });
        });
        to_gather.send(Signal::Path(PathBuf::from("/bad"))).unwrap();
        let noticed = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(noticed, Noticed::Everything);
        to_gather.send(Signal::Path(PathBuf::from("/good"))).unwrap();
        let noticed = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(noticed, Noticed::Paths(Changed::of([PathBuf::from("/good")])));
        drop(to_gather);
        thread.join().unwrap();
    }

    /// A loss wakes by itself: no other event need follow it.
    #[test]
    fn what_was_lost_is_told_at_once() {
        let (to_gather, gathering) = bounded(10);
        let (sender, receiver) = bounded(10);
        let thread = std::thread::spawn(move || {
            gather(&gathering, &AtomicBool::new(false), &|noticed| {
                sender.send(noticed).unwrap();
                Duration::ZERO
            });
        });
        to_gather.send(Signal::Lost).unwrap();
        let noticed = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(noticed, Noticed::Everything);
        drop(to_gather);
        thread.join().unwrap();
    }
}
