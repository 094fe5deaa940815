//! Roots watched while the server runs: by the system's events, and by a slow look at everything
//! for what events do not tell, as on network shares.
//!
//! A look only reads. A job is asked for when something changed, so a server with folders in
//! which nothing happens writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ingest::{Changed, FolderWatch, JobId, Noticed};
use parking_lot::{Condvar, Mutex};

use crate::notice::{self, Look, Taken};
use crate::platform::{self, FolderIdentity};
use crate::{Root, Roots, Service, walk};

/// How roots are watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchConfig {
    /// Whether the system is asked for events.
    pub(crate) events: Events,
    /// The time between two looks at a root whose changes the system tells.
    pub(crate) seldom: Duration,
    /// The time between two looks at a root whose changes nobody tells.
    pub(crate) often: Duration,
    /// How often it is asked whether the roots are still the folders that are watched.
    pub(crate) same: Duration,
    /// The same while a root is away.
    pub(crate) back: Duration,
}

/// Whether the system is asked for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Events {
    On,
    /// As on a system that has none to give.
    #[cfg(test)]
    Off,
}

impl WatchConfig {
    pub(crate) const STANDARD: WatchConfig = WatchConfig {
        events: Events::On,
        seldom: Duration::from_secs(15 * 60),
        often: Duration::from_secs(15),
        same: Duration::from_secs(1),
        back: Duration::from_secs(1),
    };
}

/// A look at a root whose changes are told takes at most one part in so many of the time.
const SELDOM_SHARE: u32 = 2_000;

/// A look at a root whose changes nobody tells takes at most one part in so many of the time.
const OFTEN_SHARE: u32 = 50;

/// How often it is asked whether the jobs are over that something waits for.
const AGAIN_STEP: Duration = Duration::from_millis(100);

/// How soon paths that changed are looked at again while a run over their root is under way: it may
/// write what it read of them before.
const BESIDE_RUN: Duration = Duration::from_millis(500);

/// Such looks take at most one part in so many of the time.
const BESIDE_RUN_SHARE: u32 = 20;

/// How long what failed waits before it is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Paths of one root that wait for its jobs.
const MAX_WAITING_PATHS: usize = 500;

/// Watches the roots of a service until it is dropped.
pub struct Watcher {
    watching: Arc<Watching>,
    looking: Option<JoinHandle<()>>,
}

/// What the threads of a watcher share.
struct Watching {
    service: Service,
    config: WatchConfig,
    events: Mutex<Option<FolderWatch>>,
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    is_stopped: bool,
    /// By the names of roots, paths to look at again.
    again: BTreeMap<String, Again>,
    /// When that is tried again after it failed.
    retry_at: Option<Instant>,
    /// Names of roots with folders that the system had no watches left for.
    untold: BTreeSet<String>,
    /// Names of roots that were gone when something changed: what is there next is another folder,
    /// even one that the system has given the same number.
    gone: BTreeSet<String>,
}

/// Paths of a root that are looked at again.
#[derive(Default)]
struct Again {
    /// Those that nobody has looked at since they changed.
    unseen: Changed,
    /// Those that were taken in during a run over the root, which may write what it read before.
    beside_run: BTreeSet<PathBuf>,
    /// When that is looked for, while the run is under way.
    next_look: Option<Instant>,
    /// The same where there are too many to look at them one by one: after the run.
    after_run: Changed,
}

impl Again {
    /// Notes what nobody has looked at.
    fn add_unseen(&mut self, changed: Changed) {
        self.unseen.append(changed);
        self.unseen.collapse(MAX_WAITING_PATHS);
    }

    /// Notes what is looked at again while a run is under way. Folders are not: that would take in,
    /// in front of the run, what it comes to anyway.
    fn add_beside_run(&mut self, changed: Changed, next_look: Instant) {
        self.after_run.append(Changed { crowded: changed.crowded, ..Changed::default() });
        if !changed.paths.is_empty() {
            self.next_look.get_or_insert(next_look);
        }
        self.beside_run.extend(changed.paths);
        if self.beside_run.len() > MAX_WAITING_PATHS {
            self.after_run.paths.append(&mut self.beside_run);
            self.after_run.collapse(MAX_WAITING_PATHS);
        }
    }

    /// Gives the paths to look at now.
    fn take(&mut self, is_run_over: bool) -> Changed {
        let mut taken = std::mem::take(&mut self.unseen);
        let is_due = self.next_look.is_some_and(|next_look| next_look <= Instant::now());
        if is_run_over || is_due {
            taken.paths.append(&mut self.beside_run);
            self.next_look = None;
        }
        if is_run_over {
            taken.append(std::mem::take(&mut self.after_run));
        }
        taken
    }

    fn is_empty(&self) -> bool {
        self.unseen.is_empty() && self.beside_run.is_empty() && self.after_run.is_empty()
    }
}

/// What is known of a root.
struct Watched {
    root: Root,
    /// Whether the system tells its changes.
    is_told: bool,
    /// Whether it is on a network: then nothing is asked of it that could hang.
    is_on_network: bool,
    /// The folder that was asked for; nothing when it was not there.
    identity: Option<FolderIdentity>,
    next_look: Instant,
    /// The run whose end it waits for.
    run: Option<JobId>,
}

impl Watcher {
    /// Begins to watch. Where the system gives no events, the slow look is made often.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(service: Service) -> std::io::Result<Self> {
        Watcher::start_with(service, WatchConfig::STANDARD)
    }

    pub(crate) fn start_with(service: Service, config: WatchConfig) -> std::io::Result<Self> {
        let watching = Arc::new(Watching {
            service,
            config,
            events: Mutex::default(),
            state: Mutex::default(),
            woken: Condvar::new(),
        });
        if watching.config.events == Events::On {
            watching.start_events();
        }
        let of_thread = Arc::clone(&watching);
        let looking = std::thread::Builder::new()
            .name("look".to_owned())
            .spawn(move || of_thread.look_again())?;
        Ok(Watcher { watching, looking: Some(looking) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watching.state.lock().is_stopped = true;
        self.watching.woken.notify_all();
        // The thread that gathers events holds what it is told by; without it, it ends.
        drop(self.watching.events.lock().take());
        if let Some(looking) = self.looking.take() {
            // A panic of the thread was reported when it happened.
            let _ = looking.join();
        }
    }
}

impl Watching {
    fn start_events(self: &Arc<Self>) {
        let (ignoring, noticing) = (self.service.clone(), Arc::clone(self));
        let started = FolderWatch::start(
            move |path| ignoring.is_ignored(path),
            move |noticed| match noticed {
                Noticed::Paths(changed) => noticing.notice(&changed),
                Noticed::Everything => {
                    let roots = noticing.service.indexer().roots().all();
                    let crowded = roots.iter().map(|root| root.path.clone()).collect();
                    noticing.notice(&Changed { crowded, ..Changed::default() })
                }
            },
        );
        match started {
            Ok(events) => *self.events.lock() = Some(events),
            Err(error) => {
                let error = model::with_causes(&error);
                tracing::warn!(error, "folders are scanned from time to time, not watched");
            }
        }
    }

    /// Takes in what changed at or below some paths, and gives how long it looked at them.
    fn notice(&self, changed: &Changed) -> Duration {
        let begun = Instant::now();
        // Folders that came are watched before they are looked at, so that nothing falls between.
        let concerned = changed.paths.iter().map(|path| notice::concerned(path));
        let came: BTreeSet<PathBuf> = concerned
            .chain(changed.crowded.iter().map(PathBuf::as_path))
            .filter(|path| path.is_dir() && !path.is_symlink())
            .map(Path::to_owned)
            .collect();
        for root in self.service.indexer().roots().all() {
            let mut places = changed.paths.iter().chain(&changed.crowded);
            if places.any(|path| path.starts_with(&root.path))
                && platform::identity(&root.path).is_none()
            {
                self.state.lock().gone.insert(root.name.clone());
            }
            let is_concerned = came.iter().any(|folder| folder.starts_with(&root.path));
            if is_concerned && !self.watch_below(root, &came) {
                self.state.lock().untold.insert(root.name.clone());
            }
        }
        let watched = begun.elapsed();
        let (taken, retry_at) = match self.service.notice(changed) {
            Ok(taken) => (taken, None),
            // What could not be taken in now may be later.
            Err(error) => {
                let error = model::with_causes(&error);
                tracing::warn!(error, "a change in a folder could not be indexed yet");
                let unseen = changed.clone();
                (Taken { unseen, ..Taken::default() }, Some(Instant::now() + RETRY))
            }
        };
        let looked = watched + taken.looked;
        let mut state = self.state.lock();
        state.retry_at = retry_at;
        let roots = self.service.indexer().roots();
        for (name, unseen) in by_root(roots, taken.unseen) {
            state.again.entry(name).or_default().add_unseen(unseen);
        }
        let next_look = Instant::now() + BESIDE_RUN.max(looked * BESIDE_RUN_SHARE);
        for (name, again) in by_root(roots, taken.again) {
            state.again.entry(name).or_default().add_beside_run(again, next_look);
        }
        let has_work = !state.again.is_empty() || !state.gone.is_empty();
        drop(state);
        if has_work {
            self.woken.notify_all();
        }
        looked
    }

    /// Asks the system to tell the changes of folders of a root at or below some paths; tells
    /// whether it will for all of them.
    fn watch_below(&self, root: &Root, paths: &BTreeSet<PathBuf>) -> bool {
        let mut events = self.events.lock();
        let Some(events) = events.as_mut() else { return false };
        let indexer = self.service.indexer();
        if FolderWatch::is_recursive() {
            let own = root.path.clone();
            let is_asked_for = paths.contains(&own);
            let folders = || is_asked_for.then(|| own.clone()).into_iter();
            return events.add_all(folders, |folder, error| self.is_no_loss(root, folder, &error));
        }
        let folders = || {
            let left_out = indexer.left_out(root);
            walk::folders(root, paths.clone(), &indexer.config().files, left_out)
        };
        events.add_all(folders, |folder, error| self.is_no_loss(root, folder, &error))
    }

    /// Tells whether nothing is lost by a folder that the system does not watch. One that is gone
    /// meanwhile, or that nobody may read, has no changes that could be taken in.
    fn is_no_loss(&self, root: &Root, folder: &Path, error: &ingest::Error) -> bool {
        if !error.has_no_watches_left() && folder != root.path {
            return true;
        }
        let hint = match error.has_no_watches_left() {
            true => "raise `fs.inotify.max_user_watches` to watch it",
            false => "",
        };
        let error = model::with_causes(error);
        tracing::warn!(
            root = %root.name, error, hint,
            "a folder cannot be watched: it is scanned from time to time"
        );
        false
    }

    /// Watches the roots, and looks at them when it is time, until the watcher is dropped.
    fn look_again(&self) {
        let roots = self.service.indexer().roots().all();
        let mut watched: Vec<Watched> = roots
            .iter()
            .map(|root| Watched {
                root: root.clone(),
                is_told: false,
                is_on_network: false,
                identity: None,
                next_look: Instant::now(),
                run: None,
            })
            .collect();
        loop {
            // A mistake over one root must not end the watching of all.
            let attended = catch_unwind(AssertUnwindSafe(|| {
                for one in &mut watched {
                    self.attend(one);
                }
                self.take_up_again();
            }));
            self.service.indexer().set_watch_problem(untold(&watched));
            if attended.is_err() {
                let problem = "the folders could not be scanned";
                tracing::error!("{problem}; it is tried again");
                self.service.indexer().set_watch_problem(Some(problem.to_owned()));
                watched.iter_mut().for_each(|one| one.next_look = Instant::now() + RETRY);
            }
            if !self.sleep(&watched) {
                return;
            }
        }
    }

    /// Watches a root that is not watched yet or has become another folder, and looks at it when
    /// it is time.
    fn attend(&self, one: &mut Watched) {
        let identity = match one.is_on_network {
            true => one.identity,
            false => platform::identity(&one.root.path),
        };
        let was_gone = self.state.lock().gone.remove(&one.root.name);
        if was_gone || identity != one.identity {
            self.state.lock().untold.remove(&one.root.name);
            let all = BTreeSet::from([one.root.path.clone()]);
            one.is_on_network = identity.is_some() && platform::is_on_network(&one.root.path);
            one.is_told =
                identity.is_some() && !one.is_on_network && self.watch_below(&one.root, &all);
            self.service.indexer().watch_gate().open(&one.root.name);
            one.identity = identity;
            self.notice_since_run(one);
            // What happened before it was watched nobody has told.
            one.next_look = Instant::now();
        }
        if one.is_told && self.state.lock().untold.contains(&one.root.name) {
            one.is_told = false;
            one.next_look = Instant::now();
        }
        if one.next_look > Instant::now() {
            return;
        }
        let begun = Instant::now();
        let looked = self.service.look_after(&one.root, one.run.take());
        if matches!(looked, Ok(Look::Again)) {
            one.run = self.service.run_of(&one.root);
        }
        let took = begun.elapsed();
        one.next_look = Instant::now()
            + match (&looked, one.is_told) {
                (Ok(Look::Again), _) => AGAIN_STEP,
                (_, true) => self.config.seldom.max(took * SELDOM_SHARE),
                (_, false) => self.config.often.max(took * OFTEN_SHARE),
            };
        if let Err(error) = looked {
            let error = model::with_causes(&error);
            tracing::warn!(error, root = %one.root.name, "a folder could not be scanned");
        }
    }

    /// A run over a root may have begun before this was watched: what changed since is not told.
    fn notice_since_run(&self, one: &Watched) {
        if one.is_told && matches!(self.service.run_beside(&one.root), Ok(Some(_))) {
            let crowded = BTreeSet::from([one.root.path.clone()]);
            self.notice(&Changed { crowded, ..Changed::default() });
        }
    }

    /// Looks at what waited for the jobs of changes that are over, and now and then at what changed
    /// during a run over the whole root, until that is over.
    fn take_up_again(&self) {
        let mut ready = Changed::default();
        if self.state.lock().retry_at.is_some_and(|at| at > Instant::now()) {
            return;
        }
        let roots = self.service.indexer().roots().all();
        self.state.lock().again.retain(|name, again| {
            let root = roots.iter().find(|root| root.name == *name);
            let is_on_the_way = |root| self.service.are_changes_on_the_way(root).unwrap_or(true);
            if !root.is_some_and(is_on_the_way) {
                let is_run_over = !root.is_some_and(|root| self.service.is_being_indexed(root));
                ready.append(again.take(is_run_over));
            }
            !again.is_empty()
        });
        if !ready.is_empty() {
            self.notice(&ready);
        }
    }

    /// Waits until there is something to do; tells whether the watcher is still there.
    fn sleep(&self, watched: &[Watched]) -> bool {
        let is_away = |one: &Watched| one.identity.is_none();
        let ask = match watched.iter().any(is_away) {
            true => self.config.back,
            false => self.config.same,
        };
        let next_look = watched.iter().map(|one| one.next_look).min();
        let ask = Instant::now() + ask;
        let until = next_look.map_or(ask, |next| next.min(ask));
        let mut state = self.state.lock();
        while !state.is_stopped && state.gone.is_empty() {
            let until = match state.again.is_empty() {
                true => until,
                false => until.min(Instant::now() + AGAIN_STEP),
            };
            let timed_out = self.woken.wait_until(&mut state, until).timed_out();
            if timed_out || Instant::now() >= until {
                break;
            }
        }
        !state.is_stopped
    }
}

/// Says of which roots the system does not tell the changes although they are not on a network.
fn untold(watched: &[Watched]) -> Option<String> {
    let is_untold = |one: &&Watched| one.identity.is_some() && !one.is_on_network && !one.is_told;
    let names: Vec<String> =
        watched.iter().filter(is_untold).map(|one| format!("`{}`", one.root.name)).collect();
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!("the system does not tell all changes of {names}: they are looked for instead"))
}

/// Divides what changed by the names of the roots that it is in.
fn by_root(roots: &Roots, changed: Changed) -> BTreeMap<String, Changed> {
    let mut by_root: BTreeMap<String, Changed> = BTreeMap::new();
    for path in changed.paths {
        if let Some(root) = roots.owner_of(&path) {
            by_root.entry(root.name.clone()).or_default().paths.insert(path);
        }
    }
    for folder in changed.crowded {
        if let Some(root) = roots.owner_of(&folder) {
            by_root.entry(root.name.clone()).or_default().crowded.insert(folder);
        }
    }
    by_root
}
