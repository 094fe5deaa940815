//! A file as a table that follows the file: a changed file is read again and takes the place of
//! the old state at once, while queries that run keep theirs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use model::Deadline;
use parking_lot::Mutex;

use crate::cache::{self, Stamp};
use crate::load::LoadReport;
use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::{Aggregate, AggregateAnswer, Dataset, Error, Result, TableSpec, Value};

/// A file up to this size is read again by the query that finds it changed; a larger one in
/// the background, while queries see the old state.
pub const INLINE_RELOAD_BYTES: u64 = 16 << 20;
/// How often a file that changes while it is read is tried again.
const MAX_ATTEMPTS: usize = 5;

/// A table over a file. Cheap to clone.
#[derive(Clone)]
pub struct LiveTable(Arc<Inner>);

struct Inner {
    source: PathBuf,
    spec: TableSpec,
    cache_folder: PathBuf,
    state: ArcSwap<State>,
    /// Held while the file is read again, so that one reader does it for all.
    reloading: Mutex<()>,
}

struct State {
    dataset: Arc<Dataset>,
    stamp: Stamp,
    /// Why the last attempt to follow the file failed, and for which state of it.
    failure: Option<(Option<Stamp>, String)>,
}

impl LiveTable {
    /// Opens a file; column files are kept in the cache folder.
    pub fn open(source: &Path, spec: TableSpec, cache_folder: &Path) -> Result<Self> {
        let (dataset, stamp) = load_settled(source, &spec, cache_folder)?;
        let state = State { dataset: Arc::new(dataset), stamp, failure: None };
        Ok(LiveTable(Arc::new(Inner {
            source: source.to_owned(),
            spec,
            cache_folder: cache_folder.to_owned(),
            state: ArcSwap::from_pointee(state),
            reloading: Mutex::new(()),
        })))
    }

    /// Gives the present state; it does not change in the holder's hands.
    pub fn snapshot(&self) -> Arc<Dataset> {
        self.0.state.load().dataset.clone()
    }

    /// Reads the file again if it changed, and waits for it. A failure leaves the old state in
    /// place and is told by [`Table::staleness`].
    pub fn refresh(&self) {
        let _one_at_a_time = self.0.reloading.lock();
        self.0.reload_if_changed();
    }

    /// Follows the file without holding queries up for long.
    pub(crate) fn follow(&self) {
        if !self.0.has_changed() {
            return;
        }
        let is_small =
            Stamp::of(&self.0.source).map_or(true, |stamp| stamp.size <= INLINE_RELOAD_BYTES);
        if is_small {
            // Whoever comes second goes on with the state there is.
            if let Some(_one_at_a_time) = self.0.reloading.try_lock() {
                self.0.reload_if_changed();
            }
            return;
        }
        if self.0.reloading.is_locked() {
            return;
        }
        let table = self.clone();
        let spawned =
            std::thread::Builder::new().name("table-reload".to_owned()).spawn(move || {
                if let Some(_one_at_a_time) = table.0.reloading.try_lock() {
                    table.0.reload_if_changed();
                }
            });
        if let Err(error) = spawned {
            tracing::warn!(%error, "cannot start a thread to read a table again");
        }
    }
}

impl Inner {
    fn has_changed(&self) -> bool {
        let state = self.state.load();
        let now = Stamp::of(&self.source).ok();
        let known_failure = state.failure.as_ref().is_some_and(|(stamp, _)| *stamp == now);
        now.as_ref() != Some(&state.stamp) && !known_failure
    }

    fn reload_if_changed(&self) {
        if !self.has_changed() {
            return;
        }
        let before = Stamp::of(&self.source).ok();
        match load_settled(&self.source, &self.spec, &self.cache_folder) {
            Ok((dataset, stamp)) => {
                tracing::info!(source = %self.source.display(), rows = dataset.n_rows(), "table read again");
                self.state.store(Arc::new(State {
                    dataset: Arc::new(dataset),
                    stamp,
                    failure: None,
                }));
            }
            Err(error) => {
                tracing::warn!(source = %self.source.display(), %error, "cannot read a changed table");
                let state = self.state.load();
                self.state.store(Arc::new(State {
                    dataset: state.dataset.clone(),
                    stamp: state.stamp.clone(),
                    failure: Some((before, error.to_string())),
                }));
            }
        }
    }
}

/// Reads a file whose outside is the same before and after, so that it was whole.
fn load_settled(source: &Path, spec: &TableSpec, cache_folder: &Path) -> Result<(Dataset, Stamp)> {
    for _ in 0..MAX_ATTEMPTS {
        let before = Stamp::of(source)?;
        let dataset = cache::open(source, &before, spec, cache_folder)?;
        if Stamp::of(source)? == before {
            return Ok((dataset, before));
        }
    }
    Err(Error::Unsettled { path: source.to_owned() })
}

impl Table for LiveTable {
    fn columns(&self) -> Vec<ColumnInfo> {
        self.snapshot().columns()
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        self.follow();
        self.snapshot().query(query, deadline)
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        self.follow();
        self.snapshot().aggregate(aggregate, deadline)
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        self.snapshot().nearest_values(column, wanted, limit, deadline)
    }

    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport> {
        self.snapshot().load_report(deadline)
    }

    fn staleness(&self) -> Option<String> {
        let state = self.0.state.load();
        state.failure.as_ref().map(|(_, reason)| {
            format!("the source changed and could not be read again, so this is its last good state: {reason}")
        })
    }
}
