//! The service behind `search_filters`: who may search what, and the answer in its shape.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use lookup::{Meaning, Request};
use model::{Caller, Warning};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::config::{DimensionConfig, Engine, FiltersConfig};
use crate::dimension::Dimension;
use crate::postgres::Candidates;
use crate::request::{MAX_BATCH, SearchRequest, check_names, object};
use crate::response::{BatchResponse, ResultExplanation, SearchResponse};
use crate::source::{Source, Table, Version};
use crate::{Error, Result};

/// Files are looked at for changes no more often than this.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// What the service needs to start.
#[derive(Debug)]
pub struct Settings {
    /// Relative sources start here.
    pub folder: PathBuf,
    /// When a best match is given.
    pub filters: FiltersConfig,
    /// The dimensions.
    pub dimensions: Vec<DimensionConfig>,
    /// An embedder, where the server has one.
    pub meaning: Option<Arc<dyn Meaning>>,
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
    meaning: Option<Arc<dyn Meaning>>,
    last_check: Mutex<Instant>,
    is_reloading: AtomicBool,
}

/// A dimension and where it came from.
#[derive(Debug)]
struct Loaded {
    source: Source,
    snapshot: ArcSwap<Snapshot>,
}

#[derive(Debug)]
struct Snapshot {
    /// All entries; none when they stay in the database.
    dimension: Arc<Dimension>,
    /// Where entries are found that stay in the database.
    candidates: Option<Arc<Candidates>>,
    version: Option<Version>,
    /// Whether the source has changed into something that cannot be read.
    is_stale: bool,
}

/// What a caller may know of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DimensionInfo {
    /// The name by which it is asked for.
    pub category: String,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many entries it has.
    pub n_entries: usize,
    /// Languages of its names, the default first; empty when there is one only.
    pub locales: Vec<String>,
    /// Whether it has hierarchical codes.
    pub has_codes: bool,
    /// Whether meaning can find what letters do not.
    pub has_meaning: bool,
    /// What is not perfect about its source.
    pub warnings: Vec<Warning>,
}

impl Service {
    /// Loads every dimension.
    ///
    /// Fails when one cannot be read or its configuration does not fit it.
    pub fn open(settings: Settings) -> Result<Self> {
        let mut loaded: Vec<Loaded> = Vec::with_capacity(settings.dimensions.len());
        for config in settings.dimensions {
            let is_taken = loaded.iter().any(|other| other.category() == config.category);
            if is_taken {
                return Err(Error::DuplicateCategory { category: config.category });
            }
            let source = Source::parse(&settings.folder, &config.source);
            let snapshot = Snapshot::load(&config, &source, settings.meaning.clone())?;
            loaded.push(Loaded { source, snapshot: ArcSwap::from_pointee(snapshot) });
        }
        Ok(Service {
            shared: Arc::new(Shared {
                filters: settings.filters,
                loaded,
                meaning: settings.meaning,
                last_check: Mutex::new(Instant::now()),
                is_reloading: AtomicBool::new(false),
            }),
        })
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
        request.check()?;
        self.reload_in_background();
        let snapshot = self.snapshot(caller, &request.category)?;
        snapshot.search(request, self.shared.filters)
    }

    /// Answers the arguments of a call: one lookup, or `{queries: [...]}` for many.
    ///
    /// Fails as [`Service::search`] does; inside a batch a failed lookup fails alone.
    pub fn call(&self, caller: &Caller, arguments: &Value) -> Result<Value> {
        let categories = self.categories(caller);
        if object(arguments)?.contains_key("queries") {
            check_names(object(arguments)?, &["queries"])?;
            let requests: Vec<Result<SearchRequest>> = arguments["queries"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .map(|query| SearchRequest::from_json(query, &categories))
                .collect();
            return Ok(to_value(&self.search_many(caller, requests)?));
        }
        let request = SearchRequest::from_json(arguments, &categories)?;
        Ok(to_value(&self.search(caller, &request)?))
    }

    /// Looks many texts up; each answer stands at the place of its request.
    ///
    /// Fails when there are none or too many.
    pub fn search_many(
        &self,
        caller: &Caller,
        requests: Vec<Result<SearchRequest>>,
    ) -> Result<BatchResponse> {
        if requests.is_empty() || requests.len() > MAX_BATCH {
            return Err(Error::BadBatch { n_received: requests.len(), most: MAX_BATCH });
        }
        let responses = requests
            .into_iter()
            .map(|request| match request.and_then(|request| self.search(caller, &request)) {
                Ok(response) => to_value(&response),
                Err(error) => error.to_json(),
            })
            .collect();
        Ok(BatchResponse { ok: true, responses })
    }

    /// Reads sources that changed since they were read, and gives the categories reloaded.
    ///
    /// A source that cannot be read leaves its last good state in use, and answers say so.
    pub fn reload_changed(&self) -> Vec<String> {
        let mut reloaded = Vec::new();
        for loaded in &self.shared.loaded {
            let before = loaded.snapshot.load_full();
            let version = loaded.source.version();
            if before.candidates.is_some() || version == before.version {
                continue;
            }
            let config = before.dimension.config.clone();
            let category = config.category.clone();
            match Snapshot::load(&config, &loaded.source, self.shared.meaning.clone()) {
                Ok(snapshot) => {
                    loaded.snapshot.store(Arc::new(snapshot));
                    reloaded.push(category);
                }
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
                let entry = dimension.index.find_value(value)?;
                Some(dimension.name(entry, None))
            })
    }

    /// Tells whether a best score can be taken without asking, given the second.
    pub(crate) fn is_sure(&self, best: f64, second: f64) -> bool {
        self.shared.filters.is_sure(best, second)
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
                if received.trim().is_empty() {
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
            snapshot.candidates.is_none() && loaded.source.version() != snapshot.version
        });
        if !has_changed || self.shared.is_reloading.swap(true, Ordering::AcqRel) {
            return;
        }
        let service = self.clone();
        let reload = move || {
            service.reload_changed();
            service.shared.is_reloading.store(false, Ordering::Release);
        };
        if std::thread::Builder::new().name("filters-reload".to_owned()).spawn(reload).is_err() {
            self.shared.is_reloading.store(false, Ordering::Release);
        }
    }
}

impl Loaded {
    fn category(&self) -> String {
        self.snapshot.load().dimension.config.category.clone()
    }
}

impl Snapshot {
    fn load(
        config: &DimensionConfig,
        source: &Source,
        meaning: Option<Arc<dyn Meaning>>,
    ) -> Result<Self> {
        if config.engine == Engine::Postgres {
            let table = Table { columns: config.columns(), rows: Vec::new() };
            return Ok(Snapshot {
                dimension: Arc::new(Dimension::build(config.clone(), table, None)?),
                candidates: Some(Arc::new(Candidates::open(config)?)),
                version: None,
                is_stale: false,
            });
        }
        // The version is taken first: a change while reading is then seen as one more change.
        let version = source.version();
        let dimension =
            Arc::new(Dimension::build(config.clone(), source.read(&config.columns())?, meaning)?);
        Ok(Snapshot { dimension, candidates: None, version, is_stale: false })
    }

    /// Gives the same entries, marked as older than a source that cannot be read.
    fn failed(&self, version: Option<Version>) -> Self {
        Snapshot {
            dimension: Arc::clone(&self.dimension),
            candidates: None,
            version,
            is_stale: true,
        }
    }

    fn dimension_for(&self, query: &str) -> Result<Arc<Dimension>> {
        match &self.candidates {
            Some(candidates) => Ok(Arc::new(candidates.find(query)?)),
            None => Ok(Arc::clone(&self.dimension)),
        }
    }

    fn info(&self) -> DimensionInfo {
        let dimension = &self.dimension;
        let counted = self.candidates.as_ref().map(|candidates| candidates.count());
        DimensionInfo {
            category: dimension.config.category.clone(),
            description: dimension.config.description.clone(),
            n_entries: counted.and_then(Result::ok).unwrap_or(dimension.index.len()),
            locales: dimension.locales().into_iter().map(str::to_owned).collect(),
            has_codes: dimension.config.code.is_some(),
            has_meaning: dimension.index.has_meaning(),
            warnings: dimension.warnings.clone(),
        }
    }

    fn search(&self, request: &SearchRequest, filters: FiltersConfig) -> Result<SearchResponse> {
        let dimension = self.dimension_for(&request.query)?;
        let limit = request.limit_or_default();
        let answer = dimension.lookup(&Request {
            text: &request.query,
            locale: request.locale.as_deref(),
            hint: request.hint.as_deref(),
            // The margin needs a second match even when one result is asked for.
            limit: limit.max(2),
        });
        let includes_metadata = request.include_metadata.unwrap_or(true);
        let explains = request.explain.unwrap_or(false);
        let mut results: Vec<_> = answer
            .matches
            .iter()
            .map(|found| {
                let mut result = dimension.show(found.entry, request.locale.as_deref());
                result.score = found.score;
                result.metadata = result.metadata.filter(|_| includes_metadata);
                result.explanation = explains.then(|| ResultExplanation {
                    matched: found.matched.clone(),
                    how: found.how,
                    trigram_similarity: (found.trigram_similarity * 1e4).round() / 1e4,
                });
                result
            })
            .collect();
        let top = results.first().map_or(0.0, |result| result.score.rounded());
        let second = results.get(1).map_or(0.0, |result| result.score.rounded());
        let is_sure = filters.is_sure(top, second);
        let best_match = results.first().filter(|_| is_sure).cloned();
        results.truncate(limit);
        Ok(SearchResponse {
            ok: true,
            best_match,
            total_matches: (!results.is_empty()).then_some(answer.n_total),
            results,
            warnings: self.warnings(request, &answer),
        })
    }

    fn warnings(&self, request: &SearchRequest, answer: &lookup::Answer) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let locales = self.dimension.locales();
        if let Some(locale) = &request.locale
            && !locales.is_empty()
            && !locales.contains(&locale.as_str())
        {
            let message = format!(
                "category `{}` has no names in locale `{locale}`: it has {}",
                request.category,
                locales.join(", ")
            );
            warnings.push(Warning::new("unknown_locale", message));
        }
        if !answer.is_total_exact && !answer.matches.is_empty() {
            let message = "totalMatches is an estimate: the query fits very many names";
            warnings.push(Warning::new("total_estimate", message));
        }
        if let Some(reason) = &answer.meaning_failed {
            warnings.push(Warning::new("meaning_unavailable", reason.clone()));
        }
        if self.is_stale {
            let message = format!(
                "the source of category `{}` changed and cannot be read: its last good state is used",
                request.category
            );
            warnings.push(Warning::new("stale_dimension", message));
        }
        warnings
    }
}

fn to_value(response: &impl Serialize) -> Value {
    serde_json::to_value(response).expect("responses have string keys and finite numbers")
}
