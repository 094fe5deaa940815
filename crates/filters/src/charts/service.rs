//! The service behind `generate_chart_data`: sums, units, statistics, and the page's address.

use std::path::PathBuf;

use model::{Access, Caller, Clock, Deadline, Timestamp, Warning};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use crate::charts::chart::{
    Axis, Chart, ChartAnswer, DataPoint, DataSeries, Place, SeriesWords, Statistics, rounded,
};
use crate::charts::config::ChartsConfig;
use crate::charts::facts::Facts;
use crate::charts::kept::{ChartStore, ChartSummary};
use crate::charts::names::in_words;
use crate::charts::period::Period;
use crate::charts::reference::{Population, Rates};
use crate::charts::request::{ChartFilter, ChartRequest, Normalization, SeriesDefinition};
use crate::{Error, Result, Service};

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
    finance: Option<Finance>,
    kept: ChartStore,
    base_url: RwLock<String>,
    clock: Clock,
}

/// The fact table under `generate_chart_data`, and what its sums are divided by.
#[derive(Debug)]
struct Finance {
    config: ChartsConfig,
    facts: Facts,
    population: Option<Population>,
    rates: Option<Rates>,
    dimensions: Service,
}

impl Charts {
    /// Opens the facts, the reference tables and the folder of charts.
    ///
    /// Fails when one cannot be read or lacks a column.
    pub fn open(settings: ChartSettings) -> Result<Self> {
        let ChartSettings { config, folder, data_folder, base_url, clock, dimensions } = settings;
        let finance = match (config, dimensions) {
            (Some(config), Some(dimensions)) => {
                let population = config.population.as_deref();
                let rates = config.rates.as_deref();
                Some(Finance {
                    facts: Facts::open(&folder, &config, &dimensions, &data_folder.join("facts"))?,
                    population: population
                        .map(|name| Population::read(&folder, name))
                        .transpose()?,
                    rates: rates.map(|name| Rates::read(&folder, name)).transpose()?,
                    config,
                    dimensions,
                })
            }
            _ => None,
        };
        let kept = ChartStore::open(&data_folder.join("charts"))?;
        Ok(Charts { finance, kept, base_url: RwLock::new(base_url), clock })
    }

    /// Changes what links start with, once the server knows its address.
    pub fn set_base_url(&self, base_url: impl Into<String>) {
        *self.base_url.write() = base_url.into();
    }

    /// Tells whether charts of the fact table exist for a caller.
    pub fn may_use(&self, caller: &Caller) -> bool {
        self.finance.as_ref().is_some_and(|finance| caller.may_use(&finance.config.allow))
    }

    /// Gives the filter keys of dimensions of one's own that the facts have a column for.
    pub fn own_filter_keys(&self) -> Vec<String> {
        self.finance.as_ref().map_or_else(Vec::new, |finance| finance.facts.own_filter_keys())
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
        let finance = self.finance.as_ref().filter(|_| self.may_use(caller)).ok_or_else(|| {
            Error::NotFound { kind: "tool", id: "generate_chart_data".to_owned() }
        })?;
        request.check()?;
        let mut warnings = Vec::new();
        let series = request
            .series_definitions
            .iter()
            .map(|definition| finance.series(definition, deadline, &mut warnings))
            .collect::<Result<Vec<_>>>()?;
        check_axes(&series)?;
        let words = request
            .series_definitions
            .iter()
            .map(|definition| in_words(&finance.dimensions, caller, definition))
            .collect();
        self.keep(
            caller,
            Drawn {
                request: request.clone(),
                allow: finance.config.allow.clone(),
                places: Vec::new(),
                series,
                words,
                warnings,
            },
        )
    }

    /// Keeps a chart and gives its answer.
    pub(super) fn keep(&self, caller: &Caller, drawn: Drawn) -> Result<ChartAnswer> {
        let now = self.clock.now();
        let keep_days =
            self.finance.as_ref().map_or(DEFAULT_KEEP_DAYS, |finance| finance.config.keep_days);
        let chart = Chart {
            id: uuid::Uuid::new_v4().to_string(),
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
        self.kept.put(&chart, now)?;
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
    pub fn get(&self, caller: &Caller, id: &str) -> Result<Chart> {
        self.kept.get(caller, id, self.clock.now())
    }

    /// Gives the address of a chart's page.
    pub fn url_of(&self, id: &str) -> String {
        format!("{}/charts/{id}", self.base_url.read().trim_end_matches('/'))
    }

    /// Lists the charts that the caller may see, newest first.
    pub fn list(&self, caller: &Caller) -> Vec<ChartSummary> {
        self.kept.list(caller, self.clock.now())
    }

    /// Forgets a chart.
    ///
    /// Fails when it does not exist for the caller.
    pub fn delete(&self, caller: &Caller, id: &str) -> Result<()> {
        self.kept.delete(caller, id, self.clock.now())
    }
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

    /// Names the part of a filter without which there would be facts.
    fn nearest_with_facts(&self, filter: &ChartFilter, deadline: &Deadline) -> String {
        let mut without: Vec<(String, ChartFilter)> = Vec::new();
        for key in filter.only.own.keys() {
            let mut wider = filter.clone();
            wider.only.own.remove(key);
            without.push((key.clone(), wider));
        }
        let mut add = |name: &str, change: fn(&mut ChartFilter)| {
            let mut wider = filter.clone();
            change(&mut wider);
            if wider != *filter {
                without.push((name.to_owned(), wider));
            }
        };
        add("economic_prefixes", |filter| filter.only.economic_prefixes.clear());
        add("economic_codes", |filter| filter.only.economic_codes.clear());
        add("functional_prefixes", |filter| filter.only.functional_prefixes.clear());
        add("functional_codes", |filter| filter.only.functional_codes.clear());
        add("entity_cuis", |filter| filter.only.entity_cuis.clear());
        add("uat_ids", |filter| filter.only.uat_ids.clear());
        add("county_codes", |filter| filter.only.county_codes.clear());
        for (name, wider) in without {
            let periods = wider.report_period.periods();
            let has_facts = self
                .facts
                .sums(&wider, deadline)
                .is_ok_and(|sums| periods.iter().any(|period| sums.by_period.contains_key(period)));
            if has_facts {
                return format!("; without `{name}` there are facts");
            }
        }
        String::new()
    }

    fn unit_name(&self, normalization: Normalization) -> String {
        let currency = if normalization.is_euro() { "EUR" } else { self.config.currency.as_str() };
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

/// Lists periods, the first few by name.
pub(super) fn listed(periods: &[String]) -> String {
    const NAMED: usize = 6;
    if periods.len() <= NAMED {
        return periods.join(", ");
    }
    format!("{} and {} more", periods[..NAMED].join(", "), periods.len() - NAMED)
}

/// What sums are divided by.
struct Unit<'a> {
    inhabitants: Option<(&'a Population, Whose)>,
    rates: Option<&'a Rates>,
}

/// Whose inhabitants are counted.
enum Whose {
    Units(Vec<String>),
    Counties(Vec<String>),
    All,
}

impl<'a> Unit<'a> {
    fn of(charts: &'a Finance, filter: &ChartFilter, deadline: &Deadline) -> Result<Self> {
        let normalization = filter.normalization;
        let unavailable = |reason| Error::NotAvailable { name: "normalization".to_owned(), reason };
        let mut unit = Unit { inhabitants: None, rates: None };
        if normalization.is_per_capita() {
            let population = charts
                .population
                .as_ref()
                .ok_or_else(|| unavailable("no population table is configured, use `total`"))?;
            let only = &filter.only;
            let whose = if !only.uat_ids.is_empty() {
                Whose::Units(only.uat_ids.clone())
            } else if !only.entity_cuis.is_empty() {
                Whose::Units(charts.facts.units_of(&only.entity_cuis, deadline)?)
            } else if !only.county_codes.is_empty() {
                Whose::Counties(only.county_codes.clone())
            } else {
                Whose::All
            };
            unit.inhabitants = Some((population, whose));
        }
        if normalization.is_euro() {
            unit.rates = Some(charts.rates.as_ref().ok_or_else(|| {
                unavailable("no table of exchange rates is configured, use `total`")
            })?);
        }
        Ok(unit)
    }

    fn divisor(&self, period: Period) -> Option<f64> {
        let inhabitants = match &self.inhabitants {
            None => 1.0,
            Some((population, Whose::Units(units))) => population.of_units(units, period.year())?,
            Some((population, Whose::Counties(counties))) => {
                population.of_counties(counties, period.year())?
            }
            Some((population, Whose::All)) => population.of_all(period.year())?,
        };
        let rate = match self.rates {
            None => 1.0,
            Some(rates) => rates.of(period)?,
        };
        Some(inhabitants * rate)
    }
}

/// Gives the same id for the same filter, whatever the chart.
fn series_id(filter: &ChartFilter) -> String {
    let text = serde_json::to_vec(filter).expect("a filter has string keys");
    let digest = Sha256::digest(&text);
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
