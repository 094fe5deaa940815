//! The service behind `generate_chart_data`: sums, units, statistics, and the page's address.

mod nearest;
mod unit;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Access, Caller, Clock, Deadline, Timestamp, Warning, with_causes};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use store::Catalogue;

use crate::charts::chart::{
    Axis, Chart, ChartAnswer, ChartId, DataPoint, DataSeries, Place, SeriesWords, Statistics,
    rounded,
};
use crate::charts::config::ChartsConfig;
use crate::charts::facts::{Facts, facts_in};
use crate::charts::names::in_words;
use crate::charts::reference::{Population, Rates};
use crate::charts::request::{
    ChartFilter, ChartRequest, ChartType, Normalization, SeriesDefinition,
};
use crate::charts::saved::{self, ChartStore, ChartSummary};
use crate::{Error, Result, Service};
use unit::Unit;

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What the service needs to start.
#[derive(Debug)]
pub struct ChartSettings {
    /// The `[charts]` table; without it there are charts over tables alone.
    pub config: Option<ChartsConfig>,
    /// Relative sources start here.
    pub folder: PathBuf,
    /// Charts and column files are kept here.
    pub data_folder: PathBuf,
    /// What links to charts start with, such as `http://127.0.0.1:7700`.
    pub base_url: String,
    /// The present time.
    pub clock: Clock,
    /// Dimensions, for names of values.
    pub dimensions: Option<Service>,
}

/// Days after which a chart is forgotten, when the configuration does not say.
pub const DEFAULT_KEEP_DAYS: u32 = 90;

/// Charts that are kept: over one fact table where there is one, and over any other table.
#[derive(Debug)]
pub struct Charts {
    finance: Option<FinanceSource>,
    store: ChartStore,
    base_url: String,
    clock: Clock,
}

/// How long a failure is repeated before the facts are tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The fact table as it is configured: opened when it can be.
#[derive(Debug)]
struct FinanceSource {
    config: ChartsConfig,
    folder: PathBuf,
    cache_folder: PathBuf,
    dimensions: Service,
    own_filter_keys: Vec<String>,
    state: Mutex<FinanceState>,
}

#[derive(Debug)]
enum FinanceState {
    Open(Arc<Finance>),
    Away { since: Instant, reason: String },
}

impl FinanceSource {
    /// Opens the facts, or remembers that they are away.
    ///
    /// Fails on what waiting does not mend: a dimension that is not configured.
    fn open(
        config: ChartsConfig,
        folder: &Path,
        cache_folder: PathBuf,
        dimensions: Service,
    ) -> Result<Self> {
        let own_filter_keys = Facts::own_filter_keys(&config, &dimensions)?;
        let source = FinanceSource {
            config,
            folder: folder.to_owned(),
            cache_folder,
            dimensions,
            own_filter_keys,
            state: Mutex::new(FinanceState::Away { since: Instant::now(), reason: String::new() }),
        };
        *source.state.lock() = source.tried()?;
        Ok(source)
    }

    fn tried(&self) -> Result<FinanceState> {
        match Finance::open(self) {
            Ok(finance) => Ok(FinanceState::Open(Arc::new(finance))),
            Err(error) if error.is_away() => {
                let reason = with_causes(&error);
                tracing::warn!(reason, "the facts of charts cannot be reached and are tried again");
                Ok(FinanceState::Away { since: Instant::now(), reason })
            }
            Err(error) => Err(error),
        }
    }

    fn finance(&self) -> Result<Arc<Finance>> {
        let mut state = self.state.lock();
        let is_due =
            matches!(&*state, FinanceState::Away { since, .. } if since.elapsed() >= RETRY_AFTER);
        if is_due {
            *state = self.tried()?;
        }
        match &*state {
            FinanceState::Open(finance) => Ok(Arc::clone(finance)),
            FinanceState::Away { reason, .. } => Err(Error::FactsAway { reason: reason.clone() }),
        }
    }
}

/// The fact table under `generate_chart_data`, and what its sums are divided by.
#[derive(Debug)]
struct Finance {
    /// The currency of the amounts.
    currency: String,
    facts: Facts,
    population: Option<Population>,
    rates: Option<Rates>,
}

impl Charts {
    /// Opens the facts, the reference tables and the folder of charts.
    ///
    /// Fails when the configuration cannot be right. Facts that cannot be read stop nothing:
    /// charts of them fail until they can.
    pub fn open(settings: ChartSettings) -> Result<Self> {
        let ChartSettings { config, folder, data_folder, base_url, clock, dimensions } = settings;
        let finance = match (config, dimensions) {
            (Some(config), Some(dimensions)) => {
                let cache_folder = facts_in(&data_folder);
                Some(FinanceSource::open(config, &folder, cache_folder, dimensions)?)
            }
            _ => None,
        };
        let store = ChartStore::in_folder(&charts_in(&data_folder))?;
        Ok(Charts { finance, store, base_url, clock })
    }

    /// Keeps charts in the catalogue that several servers share, those of the folder too: their pages
    /// open on all of them.
    ///
    /// Fails when the catalogue does not answer.
    pub fn kept_in(self, catalogue: Arc<dyn Catalogue>) -> Result<Self> {
        Ok(Charts { store: self.store.taken_into(catalogue)?, ..self })
    }

    /// Lists the fact table where it is away, with the reason: for the operator.
    pub fn away(&self) -> Vec<(String, String)> {
        let state = self.finance.as_ref().map(|finance| finance.state.lock());
        match state.as_deref() {
            Some(FinanceState::Away { reason, .. }) => vec![("facts".to_owned(), reason.clone())],
            Some(FinanceState::Open(_)) | None => Vec::new(),
        }
    }

    /// Tells whether charts of the fact table exist for a caller.
    pub fn may_use(&self, caller: &Caller) -> bool {
        self.finance.as_ref().is_some_and(|finance| caller.may_use(&finance.config.allow))
    }

    /// Gives the filter keys of dimensions of one's own that the facts have a column for.
    pub fn own_filter_keys(&self) -> Vec<String> {
        self.finance.as_ref().map_or_else(Vec::new, |finance| finance.own_filter_keys.clone())
    }

    /// Sums the series, keeps the chart, and gives both.
    ///
    /// Fails when the request does not check, the facts lack what a filter or unit needs, or on
    /// the deadline.
    pub fn generate(
        &self,
        caller: &Caller,
        request: &ChartRequest,
        deadline: &Deadline,
    ) -> Result<ChartAnswer> {
        let source = self.finance.as_ref().filter(|_| self.may_use(caller)).ok_or_else(|| {
            Error::NotFound { kind: "tool", id: "generate_chart_data".to_owned() }
        })?;
        request.check()?;
        let finance = source.finance()?;
        let mut warnings = Vec::new();
        let series = request
            .series_definitions
            .iter()
            .map(|definition| finance.series(definition, deadline, &mut warnings))
            .collect::<Result<Vec<_>>>()?;
        check_axes(&series)?;
        check_parts(request.chart_type, &series)?;
        let words = request
            .series_definitions
            .iter()
            .map(|definition| in_words(&source.dimensions, caller, definition))
            .collect();
        self.keep(
            caller,
            Drawn {
                request: request.clone(),
                allow: source.config.allow.clone(),
                places: Vec::new(),
                series,
                words,
                warnings,
            },
        )
    }

    pub(super) fn keep(&self, caller: &Caller, drawn: Drawn) -> Result<ChartAnswer> {
        let now = self.clock.now();
        let keep_days =
            self.finance.as_ref().map_or(DEFAULT_KEEP_DAYS, |finance| finance.config.keep_days);
        let chart = Chart {
            id: ChartId::new(uuid::Uuid::new_v4().to_string()),
            tenant: caller.tenant.clone(),
            made_by: caller.subject.clone(),
            made_at: now,
            expires_at: Timestamp(now.millis() + i64::from(keep_days) * MILLIS_PER_DAY),
            request: drawn.request,
            allow: drawn.allow,
            places: drawn.places,
            series: drawn.series,
            words: drawn.words,
            warnings: drawn.warnings,
        };
        self.store.put(&chart, now)?;
        Ok(ChartAnswer {
            ok: true,
            kind: "chart-data.generated",
            chart_url: self.url_of(&chart.id),
            chart_id: chart.id,
            data_series: chart.series,
            warnings: chart.warnings,
        })
    }

    /// Gives a kept chart.
    ///
    /// Fails when it does not exist for the caller, or its time is over.
    pub fn get(&self, caller: &Caller, id: &ChartId) -> Result<Chart> {
        self.store.get(caller, id, self.clock.now())
    }

    /// Gives the address of a chart's page.
    pub fn url_of(&self, id: &ChartId) -> String {
        format!("{}/charts/{id}", self.base_url.trim_end_matches('/'))
    }

    /// Lists the charts that the caller may see, newest first.
    ///
    /// Fails when the catalogue that has them does not answer.
    pub fn list(&self, caller: &Caller) -> Result<Vec<ChartSummary>> {
        self.store.list(caller, self.clock.now())
    }

    /// Forgets a chart.
    ///
    /// Fails when it does not exist for the caller.
    pub fn delete(&self, caller: &Caller, id: &ChartId) -> Result<()> {
        self.store.delete(caller, id, self.clock.now())
    }
}

/// Gives the folder of the charts inside the one that they and column files share.
fn charts_in(data_folder: &Path) -> PathBuf {
    data_folder.join("charts")
}

/// Takes the charts of a folder into a catalogue that several servers share, and out of the folder.
///
/// Fails when one cannot be read or written; those before it have arrived.
pub fn take_charts_into_catalogue(data_folder: &Path, catalogue: &dyn Catalogue) -> Result<()> {
    saved::take_into_catalogue(&charts_in(data_folder), catalogue)
}

/// Takes the charts of a catalogue into a folder, and out of the catalogue.
///
/// Fails when one cannot be read or written; those before it have arrived.
pub fn take_charts_into_folder(
    catalogue: &dyn Catalogue,
    data_folder: &Path,
    now: Timestamp,
) -> Result<()> {
    saved::take_into_folder(catalogue, &charts_in(data_folder), now)
}

/// What is drawn, before it is kept.
pub(super) struct Drawn {
    pub(super) request: ChartRequest,
    pub(super) allow: Access,
    pub(super) places: Vec<Place>,
    pub(super) series: Vec<DataSeries>,
    pub(super) words: Vec<SeriesWords>,
    pub(super) warnings: Vec<Warning>,
}

impl Finance {
    fn open(source: &FinanceSource) -> Result<Self> {
        let FinanceSource { config, folder, cache_folder, dimensions, .. } = source;
        let population = config.population.as_deref();
        let rates = config.rates.as_deref();
        Ok(Finance {
            currency: config.currency.clone(),
            facts: Facts::open(folder, config, dimensions, cache_folder)?,
            population: population.map(|name| Population::read(folder, name)).transpose()?,
            rates: rates.map(|name| Rates::read(folder, name)).transpose()?,
        })
    }

    fn series(
        &self,
        definition: &SeriesDefinition,
        deadline: &Deadline,
        warnings: &mut Vec<Warning>,
    ) -> Result<DataSeries> {
        let filter = &definition.filter;
        let unit = Unit::of(self, filter, deadline)?;
        let sums = self.facts.sums(filter, deadline)?;
        let label = &definition.label;
        if sums.n_too_long > 0 {
            let message = format!(
                "series `{label}`: {} facts cover longer periods than {} and are not counted",
                sums.n_too_long,
                filter.report_period.period_type.as_str()
            );
            warnings.push(Warning::new("facts_not_counted", message));
        }
        if sums.n_without_period > 0 {
            let message = format!(
                "series `{label}`: {} facts have no readable period and are not counted",
                sums.n_without_period
            );
            warnings.push(Warning::new("facts_not_counted", message));
        }
        // A period without facts is a gap and not a zero, unless the series has no facts at all:
        // then it is zeros, by contract, and a warning says so.
        let periods = filter.report_period.periods();
        let is_empty = !periods.iter().any(|period| sums.by_period.contains_key(period));
        let mut without_facts: Vec<String> = Vec::new();
        let mut without_unit: Vec<String> = Vec::new();
        let mut data_points: Vec<DataPoint> = Vec::new();
        for period in periods {
            let sum = sums.by_period.get(&period).copied();
            match (sum, unit.divisor(period)) {
                _ if is_empty => data_points.push(DataPoint { x: Place::Period(period), y: 0.0 }),
                (None, _) => without_facts.push(period.to_string()),
                (Some(_), None) => without_unit.push(period.to_string()),
                (Some(sum), Some(divisor)) => {
                    data_points
                        .push(DataPoint { x: Place::Period(period), y: rounded(sum / divisor) });
                }
            }
        }
        if !without_unit.is_empty() {
            let message = format!(
                "series `{label}`: no population or exchange rate for {}; these periods are gaps",
                listed(&without_unit)
            );
            warnings.push(Warning::new("normalization_incomplete", message));
        }
        if !without_facts.is_empty() {
            let message = format!(
                "series `{label}`: no facts for {}; these periods are gaps, not zeros",
                listed(&without_facts)
            );
            warnings.push(Warning::new("periods_without_facts", message));
        }
        if is_empty {
            let message = format!(
                "series `{label}`: no facts match, all points are 0{}",
                self.nearest_with_facts(filter, deadline)
            );
            warnings.push(Warning::new("empty_series", message));
        }
        Ok(DataSeries {
            label: label.clone(),
            series_id: series_id(filter),
            x_axis: Axis {
                name: filter.report_period.period_type.axis_name().to_owned(),
                unit: filter.report_period.period_type.as_str().to_lowercase(),
            },
            y_axis: Axis { name: "Amount".to_owned(), unit: self.unit_name(filter.normalization) },
            statistics: Statistics::of(&data_points),
            data_points,
        })
    }

    fn unit_name(&self, normalization: Normalization) -> String {
        let currency = if normalization.is_euro() { "EUR" } else { self.currency.as_str() };
        let per = if normalization.is_per_capita() { "/capita" } else { "" };
        format!("{currency}{per}")
    }
}

/// Refuses series that one pair of axes cannot show.
pub(super) fn check_axes(series: &[DataSeries]) -> Result<()> {
    let mut axes: Vec<String> = series
        .iter()
        .map(|series| format!("{} by {}", series.y_axis.unit, series.x_axis.unit))
        .collect();
    axes.sort();
    axes.dedup();
    if axes.len() <= 1 {
        return Ok(());
    }
    Err(Error::BadArgument {
        name: "series_definitions".to_owned(),
        expected: "of one unit and one type of period, so that they share their axes; make one \
                   chart for each",
        received: axes.join(", "),
    })
}

/// Refuses a pie of amounts of which one is negative: it would have no part of the whole.
pub(super) fn check_parts(chart_type: ChartType, series: &[DataSeries]) -> Result<()> {
    let amounts: Vec<(String, f64)> = match series {
        [only] => only.data_points.iter().map(|point| (point.x.to_string(), point.y)).collect(),
        many => many.iter().map(|series| (series.label.clone(), series.statistics.sum)).collect(),
    };
    let negative = amounts.into_iter().find(|(_, amount)| *amount < 0.0);
    match negative.filter(|_| chart_type == ChartType::Pie) {
        None => Ok(()),
        Some((name, amount)) => Err(Error::BadArgument {
            name: "chart_type".to_owned(),
            expected: "line, bar or area where an amount is negative: a pie shows parts of a whole",
            received: format!("pie with {name} at {amount}"),
        }),
    }
}

/// Lists periods, the first few by name.
pub(super) fn listed(periods: &[String]) -> String {
    const NAMED: usize = 6;
    if periods.len() <= NAMED {
        return periods.join(", ");
    }
    format!("{} and {} more", periods[..NAMED].join(", "), periods.len() - NAMED)
}

/// Gives the same id for the same filter, whatever the chart.
fn series_id(filter: &ChartFilter) -> String {
    let text = serde_json::to_vec(filter).expect("a filter has string keys");
    let digest = Sha256::digest(&text);
    model::hex(&digest[..8])
}
