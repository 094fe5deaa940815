//! The service behind `search_filters`: who may search what, and the answer in its shape.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use lookup::NameEmbedder;
use model::Caller;
use parking_lot::Mutex;

use crate::config::{DimensionConfig, FilterKeyConfig, FiltersConfig};
use crate::dimension::Dimension;
use crate::request::{MAX_WALKED, SearchRequest};
use crate::response::SearchResponse;
use crate::snapshot::{DimensionInfo, Snapshot};
use crate::source::Source;
use crate::{Error, Result};

/// Files are looked at for changes no more often than this.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// How long after a failure names are given to the embedder again.
const EMBED_AGAIN: Duration = Duration::from_secs(10);

/// What is said while names are on their way to the embedder.
const BEING_EMBEDDED: &str = "names are still being embedded";

/// A dimension with more names and aliases than this is searched by letters alone.
pub const MAX_EMBEDDED_NAMES: usize = 20_000;

/// What the service needs to start.
#[derive(Debug)]
pub struct Settings {
    /// Relative sources start here.
    pub folder: PathBuf,
    /// When a best match is given.
    pub filters: FiltersConfig,
    /// In the order of the configuration; no category twice.
    pub dimensions: Vec<DimensionConfig>,
    /// An embedder, where the server has one.
    pub name_embedder: Option<Arc<dyn NameEmbedder>>,
}

/// Dimensions that can be searched. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Service {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    filters: FiltersConfig,
    loaded: Vec<Loaded>,
    name_embedder: Option<Arc<dyn NameEmbedder>>,
    last_check: Mutex<Instant>,
    is_reloading: AtomicBool,
    last_embedding: Mutex<Option<Instant>>,
    is_embedding: AtomicBool,
}

/// A dimension and where it came from.
#[derive(Debug)]
struct Loaded {
    source: Source,
    snapshot: ArcSwap<Snapshot>,
}

impl Service {
    /// Loads every dimension. Letters can be searched at once; vectors follow in
    /// the background.
    ///
    /// Fails when a configuration does not fit its source. A source that is away stops nothing:
    /// its lookups fail until it is back.
    pub fn open(settings: Settings) -> Result<Self> {
        let mut loaded: Vec<Loaded> = Vec::with_capacity(settings.dimensions.len());
        for config in settings.dimensions {
            let is_taken = loaded.iter().any(|other| other.category() == config.category);
            if is_taken {
                return Err(Error::DuplicateCategory { category: config.category });
            }
            let source = Source::parse(&settings.folder, &config.source);
            let mut snapshot = match Snapshot::load(&config, &source, None) {
                Ok(snapshot) => snapshot,
                // A source that is away stops nothing: it is tried again when it is asked.
                Err(error) if error.is_away() => {
                    let (category, reason) = (&config.category, model::with_causes(&error));
                    tracing::warn!(category, reason, "the source of a dimension cannot be used");
                    Snapshot::away(&config, &error)?
                }
                Err(error) => return Err(error),
            };
            if settings.name_embedder.is_some() {
                snapshot = snapshot.waiting_for_meaning(BEING_EMBEDDED);
            }
            loaded.push(Loaded { source, snapshot: ArcSwap::from_pointee(snapshot) });
        }
        let service = Service {
            shared: Arc::new(Shared {
                filters: settings.filters,
                loaded,
                name_embedder: settings.name_embedder,
                last_check: Mutex::new(Instant::now()),
                is_reloading: AtomicBool::new(false),
                last_embedding: Mutex::new(None),
                is_embedding: AtomicBool::new(false),
            }),
        };
        service.embed_in_background();
        Ok(service)
    }

    /// Lists the dimensions that exist for a caller, in the order of the configuration.
    pub fn dimensions(&self, caller: &Caller) -> Vec<DimensionInfo> {
        self.visible(caller).map(|snapshot| snapshot.info()).collect()
    }

    /// Lists the categories that exist for a caller.
    pub fn categories(&self, caller: &Caller) -> Vec<String> {
        self.visible(caller).map(|snapshot| snapshot.dimension.config.category.clone()).collect()
    }

    /// Looks one text up.
    ///
    /// Fails when the request is out of range or the category does not exist for the caller.
    pub fn search(&self, caller: &Caller, request: &SearchRequest) -> Result<SearchResponse> {
        self.search_to(caller, request, request.limit_or_default())
    }

    /// Looks one text up and gives the first so many results, whatever the limit of the request:
    /// at most [`MAX_WALKED`]. More than [`crate::MAX_RANKED`] are all names that fit, in an order
    /// that may differ from that of fewer.
    ///
    /// Fails as [`Service::search`] does.
    pub fn search_to(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        n_results: usize,
    ) -> Result<SearchResponse> {
        request.check()?;
        self.reload_in_background();
        self.embed_in_background();
        let snapshot = self.snapshot(caller, &request.category)?;
        snapshot.search(request, n_results.min(MAX_WALKED), self.shared.filters)
    }

    /// Finds the value that `is_it` knows by its category and itself, among those that the caller
    /// may use; looks at all that are in memory.
    pub fn find_value(
        &self,
        caller: &Caller,
        is_it: &dyn Fn(&str, &str) -> bool,
    ) -> Option<(String, String)> {
        self.visible(caller).find_map(|snapshot| {
            let category = snapshot.dimension.config.category.as_str();
            let entries = snapshot.dimension.index.entries();
            let entry = entries.iter().find(|entry| is_it(category, &entry.value))?;
            Some((category.to_owned(), entry.value.clone()))
        })
    }

    /// Lists the dimensions whose source is away, each with the reason: for the operator.
    pub fn away(&self) -> Vec<(String, String)> {
        let snapshots = self.shared.loaded.iter().map(|loaded| loaded.snapshot.load());
        snapshots
            .filter_map(|snapshot| {
                let category = snapshot.dimension.config.category.clone();
                Some((category, snapshot.away.clone()?))
            })
            .collect()
    }

    /// Reads sources that changed since they were read, and gives the categories reloaded.
    ///
    /// A source that cannot be read leaves its last good state in use, and answers say so.
    pub fn reload_changed(&self) -> Vec<String> {
        let mut reloaded = Vec::new();
        for loaded in &self.shared.loaded {
            let before = loaded.snapshot.load_full();
            let version = loaded.source.version();
            let is_current = before.candidates.is_some() || version == before.version;
            if is_current && before.away.is_none() {
                continue;
            }
            let config = before.dimension.config.clone();
            let category = config.category.clone();
            match Snapshot::load(&config, &loaded.source, None) {
                // A database says only that time went by; its vectors are still right then. What
                // was away had no rows, and neither has one that is asked where the data is.
                Ok(snapshot)
                    if before.away.is_none()
                        && snapshot.dimension.has_same_rows(&before.dimension) =>
                {
                    loaded.snapshot.store(Arc::new(before.at_version(snapshot.version)));
                }
                Ok(mut snapshot) => {
                    // The new names can be found by letters at once; their vectors follow.
                    if self.shared.name_embedder.is_some() {
                        snapshot = snapshot.waiting_for_meaning(BEING_EMBEDDED);
                    }
                    loaded.snapshot.store(Arc::new(snapshot));
                    reloaded.push(category);
                }
                Err(_) if before.away.is_some() => {}
                Err(error) => {
                    tracing::warn!(category, %error, "a changed dimension cannot be read");
                    loaded.snapshot.store(Arc::new(before.failed(version)));
                }
            }
        }
        reloaded
    }

    /// Gives the name of a value of a filter field, where a dimension the caller may use has it.
    pub fn name_of_value(&self, caller: &Caller, filter_key: &str, value: &str) -> Option<String> {
        self.visible(caller)
            .filter(|snapshot| snapshot.dimension.config.filter_key.holds(filter_key))
            .find_map(|snapshot| {
                let dimension = snapshot.dimension_for(value).ok()?;
                let entry = dimension.find_value(value)?;
                Some(dimension.name(entry, None))
            })
    }

    /// Gives the filter key of a dimension, whoever may use it.
    pub(crate) fn filter_key(&self, category: &str) -> Option<FilterKeyConfig> {
        let snapshots = self.shared.loaded.iter().map(|loaded| loaded.snapshot.load_full());
        let mut named = snapshots.filter(|snapshot| snapshot.dimension.config.category == category);
        named.next().map(|snapshot| snapshot.dimension.config.filter_key.clone())
    }

    /// Lists the categories of all dimensions, whoever may use them: for the operator.
    pub(crate) fn all_categories(&self) -> Vec<String> {
        self.shared.loaded.iter().map(Loaded::category).collect()
    }

    /// Says when a match can be taken without asking.
    pub(crate) fn filters_config(&self) -> FiltersConfig {
        self.shared.filters
    }

    /// Gives a dimension that holds at least what may match a query.
    pub(crate) fn dimension(
        &self,
        caller: &Caller,
        category: &str,
        query: &str,
    ) -> Result<Arc<Dimension>> {
        self.snapshot(caller, category)?.dimension_for(query)
    }

    fn snapshot(&self, caller: &Caller, category: &str) -> Result<Arc<Snapshot>> {
        self.visible(caller)
            .find(|snapshot| snapshot.dimension.config.category == category)
            .ok_or_else(|| {
                let allowed = self.categories(caller);
                let received = category.to_owned();
                if text::is_blank(&received) {
                    Error::CategoryRequired { allowed }
                } else {
                    Error::UnknownCategory { received, allowed }
                }
            })
    }

    fn visible<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = Arc<Snapshot>> + 'a {
        self.shared
            .loaded
            .iter()
            .map(|loaded| loaded.snapshot.load_full())
            .filter(|snapshot| caller.may_use(&snapshot.dimension.config.allow))
    }

    /// Looks for changed files now and then, and reads them beside the calls being answered.
    fn reload_in_background(&self) {
        {
            let mut last_check = self.shared.last_check.lock();
            if last_check.elapsed() < CHECK_EVERY {
                return;
            }
            *last_check = Instant::now();
        }
        let has_changed = self.shared.loaded.iter().any(|loaded| {
            let snapshot = loaded.snapshot.load();
            snapshot.away.is_some()
                || (snapshot.candidates.is_none() && loaded.source.version() != snapshot.version)
        });
        if has_changed {
            let reloading = self.clone();
            in_background(
                &self.shared,
                |shared| &shared.is_reloading,
                move || {
                    drop(reloading.reload_changed());
                },
            );
        }
    }

    /// Gives names to the embedder where they lack vectors, now and then, beside the calls being
    /// answered.
    fn embed_in_background(&self) {
        let Some(name_embedder) = self.shared.name_embedder.clone() else { return };
        let is_missing = |loaded: &Loaded| loaded.snapshot.load().waits_for_meaning.is_some();
        if !self.shared.loaded.iter().any(is_missing) {
            return;
        }
        {
            let mut last = self.shared.last_embedding.lock();
            if last.is_some_and(|at| at.elapsed() < EMBED_AGAIN) {
                return;
            }
            *last = Some(Instant::now());
        }
        let embedding = self.clone();
        in_background(
            &self.shared,
            |shared| &shared.is_embedding,
            move || {
                embedding.embed(&name_embedder);
                *embedding.shared.last_embedding.lock() = Some(Instant::now());
            },
        );
    }

    /// Gives every dimension its vectors, as far as the embedder can.
    pub(crate) fn embed(&self, name_embedder: &Arc<dyn NameEmbedder>) {
        // A dimension is read again for its vectors, which is not worth it without an embedder.
        let is_there = name_embedder.embed_names(&["name"]).map(drop);
        // Small dimensions do not wait for large ones.
        let mut by_size: Vec<&Loaded> = self.shared.loaded.iter().collect();
        by_size.sort_by_key(|loaded| loaded.snapshot.load().dimension.index.n_names());
        for loaded in by_size {
            let before = loaded.snapshot.load_full();
            if before.waits_for_meaning.is_none() {
                continue;
            }
            let after = match &is_there {
                Err(error) => before.waiting_for_meaning(&error.reason),
                Ok(()) => {
                    let config = &before.dimension.config;
                    match Snapshot::load(config, &loaded.source, Some(Arc::clone(name_embedder))) {
                        Ok(after) if after.dimension.index.has_vectors() => after,
                        Ok(after) => {
                            let said = after.dimension.warnings.last();
                            let said = said.map_or(BEING_EMBEDDED, |said| said.message.as_str());
                            before.waiting_for_meaning(said)
                        }
                        Err(error) => before.waiting_for_meaning(&error.to_string()),
                    }
                }
            };
            // Whoever read a changed source meanwhile knows better; its names come next time.
            let is_current = loaded.snapshot.load().version == after.version;
            if is_current {
                loaded.snapshot.store(Arc::new(after));
            }
        }
    }
}

/// Does one piece of work beside the calls being answered; a second one of its kind waits for
/// another occasion.
fn in_background(
    shared: &Arc<Shared>,
    kind: fn(&Shared) -> &AtomicBool,
    work: impl FnOnce() + Send + 'static,
) {
    if kind(shared).swap(true, Ordering::AcqRel) {
        return;
    }
    let busy = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("filters-background".to_owned());
    let started = thread.spawn(move || {
        work();
        kind(&busy).store(false, Ordering::Release);
    });
    if started.is_err() {
        kind(shared).store(false, Ordering::Release);
    }
}

impl Loaded {
    fn category(&self) -> String {
        self.snapshot.load().dimension.config.category.clone()
    }
}
