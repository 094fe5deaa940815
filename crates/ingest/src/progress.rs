//! How far a run is, told to whoever wants to know, and the way to stop it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use model::Warning;
use parking_lot::Mutex;

use crate::{Crashes, Result, limits};

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Documents are read, cut and written.
    Writing,
    /// Vectors are made for passages that have none.
    Embedding,
}

impl Stage {
    /// Gives the word that answers and logs use.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Writing => "writing",
            Stage::Embedding => "embedding",
        }
    }
}

/// A handle on a run, shared between the one who runs and the one who watches. Cheap to clone.
#[derive(Clone)]
pub struct Progress(Arc<Inner>);

struct Inner {
    n_done: AtomicUsize,
    n_total: AtomicUsize,
    n_warnings: AtomicUsize,
    is_cancelled: AtomicBool,
    /// The next stage is more of the one before.
    goes_on: AtomicBool,
    warnings: Mutex<Vec<Warning>>,
    watch: Box<dyn Fn(Stage, usize, usize) + Send + Sync>,
    groups: Option<Box<dyn GroupLog>>,
}

/// Where a run writes down which documents it works on, so that the one that ends the process can
/// be found.
pub(crate) trait GroupLog: Send + Sync {
    /// Gives what is known of earlier runs during which the process ended.
    fn crashes(&self) -> &Crashes;

    /// Writes down which documents are worked on from now on; durable when this returns.
    fn begin(&self, documents: Vec<String>) -> Result<()>;
}

impl Progress {
    /// Tells nobody.
    pub fn silent() -> Self {
        Progress::watched(|_, _, _| {})
    }

    /// Calls `watch` with the stage, what is done and what there is, after each step. A total
    /// of 0 is unknown. The call comes from worker threads and has to be quick.
    pub fn watched(watch: impl Fn(Stage, usize, usize) + Send + Sync + 'static) -> Self {
        Progress(Arc::new(Inner {
            n_done: AtomicUsize::new(0),
            n_total: AtomicUsize::new(0),
            n_warnings: AtomicUsize::new(0),
            is_cancelled: AtomicBool::new(false),
            goes_on: AtomicBool::new(false),
            warnings: Mutex::default(),
            watch: Box::new(watch),
            groups: None,
        }))
    }

    /// Lets the run work in small groups and write each of them down. Called before the value is
    /// shared.
    pub(crate) fn in_groups(self, groups: impl GroupLog + 'static) -> Self {
        let mut inner = self.0;
        if let Some(inner) = Arc::get_mut(&mut inner) {
            inner.groups = Some(Box::new(groups));
        }
        Progress(inner)
    }

    /// Gives where the run writes down its groups, if it has to.
    pub(crate) fn groups(&self) -> Option<&dyn GroupLog> {
        self.0.groups.as_deref()
    }

    /// Begins a stage that has so many steps, as far as is known.
    pub fn begin(&self, stage: Stage, n_total: Option<usize>) {
        if self.0.goes_on.swap(false, Ordering::Relaxed) {
            self.0.n_total.fetch_add(n_total.unwrap_or(0), Ordering::Relaxed);
        } else {
            self.0.n_done.store(0, Ordering::Relaxed);
            self.0.n_total.store(n_total.unwrap_or(0), Ordering::Relaxed);
        }
        self.tell(stage);
    }

    /// Lets the stage that begins next count on: it has more of the same steps.
    pub fn go_on(&self) {
        self.0.goes_on.store(true, Ordering::Relaxed);
    }

    /// Tells how many steps the stage has, once that is known.
    pub fn set_total(&self, stage: Stage, n_total: usize) {
        self.0.n_total.store(n_total, Ordering::Relaxed);
        self.tell(stage);
    }

    /// Tells that some steps are done.
    pub fn advance(&self, stage: Stage, n_steps: usize) {
        self.0.n_done.fetch_add(n_steps, Ordering::Relaxed);
        self.tell(stage);
    }

    /// Keeps a warning; beyond [`limits::MAX_KEPT_WARNINGS`] they are only counted.
    pub fn warn(&self, warning: Warning) {
        self.0.n_warnings.fetch_add(1, Ordering::Relaxed);
        let mut warnings = self.0.warnings.lock();
        if warnings.len() < limits::MAX_KEPT_WARNINGS {
            warnings.push(warning);
        }
    }

    /// Gives the warnings that were kept, and how many there were.
    pub fn warnings(&self) -> (Vec<Warning>, usize) {
        (self.0.warnings.lock().clone(), self.0.n_warnings.load(Ordering::Relaxed))
    }

    /// Asks the run to stop at the next step.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Tells whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }

    fn tell(&self, stage: Stage) {
        let n_done = self.0.n_done.load(Ordering::Relaxed);
        (self.0.watch)(stage, n_done, self.0.n_total.load(Ordering::Relaxed));
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("n_done", &self.0.n_done)
            .field("n_total", &self.0.n_total)
            .finish_non_exhaustive()
    }
}
