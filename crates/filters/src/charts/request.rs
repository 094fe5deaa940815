//! What a chart is made of, checked by hand so that every mistake is named with its place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::charts::period::{Period, PeriodType};
use crate::request::{bad, check_names, object, text};
use crate::{Error, Result};

/// The most series of one chart.
pub const MAX_SERIES: usize = 10;

/// The most points of one series.
pub const MAX_POINTS: usize = 600;

/// The most values of one filter field.
pub const MAX_FILTER_VALUES: usize = 1000;

/// The most characters of titles, labels and descriptions.
const MAX_TEXT_CHARS: usize = 2000;

/// A chart as it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartRequest {
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it is drawn.
    pub chart_type: ChartType,
    /// What it shows.
    pub series_definitions: Vec<SeriesDefinition>,
}

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartType {
    /// A line for each series.
    Line,
    /// Bars side by side.
    Bar,
    /// A filled line for each series.
    Area,
    /// A share for each series, or for each period of a single one.
    Pie,
}

/// One series as it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesDefinition {
    /// The name in the legend.
    pub label: String,
    /// What is summed.
    pub filter: ChartFilter,
}

/// What is summed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartFilter {
    /// When.
    pub report_period: ReportPeriod,
    /// Spending or revenue.
    pub account_category: AccountCategory,
    /// Of whom and on what.
    #[serde(flatten)]
    pub only: Exclusion,
    /// In which unit.
    #[serde(default)]
    pub normalization: Normalization,
    /// What is left out.
    #[serde(default, skip_serializing_if = "Exclusion::is_empty")]
    pub exclude: Exclusion,
}

/// Values by field: those to keep, or those to leave out. Empty fields do not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exclusion {
    /// Institutions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entity_cuis: Vec<String>,
    /// Administrative units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uat_ids: Vec<String>,
    /// Counties.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub county_codes: Vec<String>,
    /// Codes by function, with all under them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functional_prefixes: Vec<String>,
    /// Codes by function, alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functional_codes: Vec<String>,
    /// Codes by nature, with all under them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub economic_prefixes: Vec<String>,
    /// Codes by nature, alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub economic_codes: Vec<String>,
}

/// When.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPeriod {
    /// The length of each period.
    #[serde(rename = "type")]
    pub period_type: PeriodType,
    /// Which periods.
    pub selection: Selection,
}

/// Which periods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// All from start to end, both included.
    Interval {
        /// The first.
        start: Period,
        /// The last.
        end: Period,
    },
    /// These alone.
    Dates(Vec<Period>),
}

/// Spending or revenue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountCategory {
    /// Spending (cheltuieli).
    Ch,
    /// Revenue (venituri).
    Vn,
}

/// In which unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalization {
    /// The sum in the currency of the facts.
    #[default]
    Total,
    /// For each inhabitant.
    PerCapita,
    /// The sum in euro.
    TotalEuro,
    /// For each inhabitant, in euro.
    PerCapitaEuro,
}

impl Normalization {
    /// Tells whether the sum is divided by inhabitants.
    pub fn is_per_capita(self) -> bool {
        matches!(self, Normalization::PerCapita | Normalization::PerCapitaEuro)
    }

    /// Tells whether the sum is in euro.
    pub fn is_euro(self) -> bool {
        matches!(self, Normalization::TotalEuro | Normalization::PerCapitaEuro)
    }
}

impl ReportPeriod {
    /// Gives the periods in order, each once.
    pub(crate) fn periods(&self) -> Vec<Period> {
        match &self.selection {
            Selection::Interval { start, end } => start.through(*end).collect(),
            Selection::Dates(dates) => {
                let mut dates = dates.clone();
                dates.sort();
                dates.dedup();
                dates
            }
        }
    }
}

/// The fields of a filter that hold values, with what they select.
pub(crate) const FIELDS: [&str; 7] = [
    "entity_cuis",
    "uat_ids",
    "county_codes",
    "functional_prefixes",
    "functional_codes",
    "economic_prefixes",
    "economic_codes",
];

impl Exclusion {
    /// Tells whether nothing is named.
    pub fn is_empty(&self) -> bool {
        FIELDS.iter().all(|field| self.values(field).is_empty())
    }

    /// Gives the values of a field by its name.
    pub(crate) fn values(&self, field: &str) -> &[String] {
        match field {
            "entity_cuis" => &self.entity_cuis,
            "uat_ids" => &self.uat_ids,
            "county_codes" => &self.county_codes,
            "functional_prefixes" => &self.functional_prefixes,
            "functional_codes" => &self.functional_codes,
            "economic_prefixes" => &self.economic_prefixes,
            "economic_codes" => &self.economic_codes,
            _ => &[],
        }
    }
}

impl ChartRequest {
    /// Reads the arguments of a call.
    ///
    /// Fails when one is missing, unknown, of the wrong type or out of range, and says where.
    pub fn from_json(arguments: &Value) -> Result<Self> {
        let arguments = object(arguments)?;
        check_names(arguments, &["title", "description", "chart_type", "series_definitions"])?;
        let title = required_text(arguments, "title", "title")?;
        let description = text(arguments, "description")?;
        let chart_type = one_of(
            arguments,
            "chart_type",
            "chart_type",
            "`line`, `bar`, `area` or `pie`",
            |name| match name {
                "line" => Some(ChartType::Line),
                "bar" => Some(ChartType::Bar),
                "area" => Some(ChartType::Area),
                "pie" => Some(ChartType::Pie),
                _ => None,
            },
        )?;
        let definitions = match arguments.get("series_definitions") {
            None | Some(Value::Null) => return Err(required("series_definitions")),
            Some(Value::Array(definitions)) => definitions,
            Some(other) => return Err(bad("series_definitions", "a list of series", other)),
        };
        if definitions.is_empty() || definitions.len() > MAX_SERIES {
            return Err(Error::OutOfRange {
                name: "series_definitions".to_owned(),
                n_received: definitions.len(),
                least: 1,
                most: MAX_SERIES,
                unit: "series",
            });
        }
        let series_definitions = definitions
            .iter()
            .enumerate()
            .map(|(at, definition)| series(definition, &format!("series_definitions[{at}]")))
            .collect::<Result<_>>()?;
        Ok(ChartRequest { title, description, chart_type, series_definitions })
    }
}

fn series(definition: &Value, place: &str) -> Result<SeriesDefinition> {
    let definition = definition
        .as_object()
        .ok_or_else(|| bad(place, "an object with label and filter", definition))?;
    check_names(definition, &["label", "filter"])?;
    let label = required_text(definition, "label", &format!("{place}.label"))?;
    let place = format!("{place}.filter");
    let filter = match definition.get("filter") {
        None | Some(Value::Null) => return Err(required(&place)),
        Some(Value::Object(filter)) => filter,
        Some(other) => return Err(bad(&place, "an object", other)),
    };
    Ok(SeriesDefinition { label, filter: chart_filter(filter, &place)? })
}

fn chart_filter(filter: &Map<String, Value>, place: &str) -> Result<ChartFilter> {
    let mut names = vec!["report_period", "account_category"];
    names.extend(FIELDS);
    names.extend(["normalization", "exclude"]);
    check_names(filter, &names)?;
    let report_period = report_period(filter, &format!("{place}.report_period"))?;
    let account_category = one_of(
        filter,
        "account_category",
        &format!("{place}.account_category"),
        "`ch` for spending or `vn` for revenue",
        |name| match name {
            "ch" => Some(AccountCategory::Ch),
            "vn" => Some(AccountCategory::Vn),
            _ => None,
        },
    )?;
    let normalization = if filter.get("normalization").is_none_or(Value::is_null) {
        Normalization::Total
    } else {
        one_of(
            filter,
            "normalization",
            &format!("{place}.normalization"),
            "`total`, `per_capita`, `total_euro` or `per_capita_euro`",
            |name| match name {
                "total" => Some(Normalization::Total),
                "per_capita" => Some(Normalization::PerCapita),
                "total_euro" => Some(Normalization::TotalEuro),
                "per_capita_euro" => Some(Normalization::PerCapitaEuro),
                _ => None,
            },
        )?
    };
    let only = fields(filter, place)?;
    let place = format!("{place}.exclude");
    let exclude = match filter.get("exclude") {
        None | Some(Value::Null) => Exclusion::default(),
        Some(Value::Object(exclude)) => {
            check_names(exclude, &FIELDS)?;
            fields(exclude, &place)?
        }
        Some(other) => return Err(bad(&place, "an object", other)),
    };
    Ok(ChartFilter { report_period, account_category, only, normalization, exclude })
}

fn report_period(filter: &Map<String, Value>, place: &str) -> Result<ReportPeriod> {
    let report = match filter.get("report_period") {
        None | Some(Value::Null) => return Err(required(place)),
        Some(Value::Object(report)) => report,
        Some(other) => return Err(bad(place, "an object with type and selection", other)),
    };
    check_names(report, &["type", "selection"])?;
    let period_type =
        one_of(report, "type", &format!("{place}.type"), "`YEAR`, `QUARTER` or `MONTH`", |name| {
            match name {
                "YEAR" => Some(PeriodType::Year),
                "QUARTER" => Some(PeriodType::Quarter),
                "MONTH" => Some(PeriodType::Month),
                _ => None,
            }
        })?;
    let place = format!("{place}.selection");
    let selection = match report.get("selection") {
        None | Some(Value::Null) => return Err(required(&place)),
        Some(Value::Object(selection)) => selection,
        Some(other) => return Err(bad(&place, "an object with interval or dates", other)),
    };
    check_names(selection, &["interval", "dates"])?;
    let selection = match (selection.get("interval"), selection.get("dates")) {
        (Some(Value::Object(interval)), None | Some(Value::Null)) => {
            check_names(interval, &["start", "end"])?;
            let place = format!("{place}.interval");
            let start = period(interval.get("start"), period_type, &format!("{place}.start"))?;
            let end = period(interval.get("end"), period_type, &format!("{place}.end"))?;
            if start > end {
                return Err(Error::IntervalReversed {
                    name: place,
                    start: start.to_string(),
                    end: end.to_string(),
                });
            }
            check_points(&place, start.n_through(end))?;
            Selection::Interval { start, end }
        }
        (None | Some(Value::Null), Some(Value::Array(dates))) => {
            let place = format!("{place}.dates");
            check_points(&place, dates.len())?;
            let dates = dates
                .iter()
                .enumerate()
                .map(|(at, date)| period(Some(date), period_type, &format!("{place}[{at}]")))
                .collect::<Result<_>>()?;
            Selection::Dates(dates)
        }
        _ => {
            let received = Value::Object(selection.clone());
            return Err(bad(
                &place,
                "either {interval: {start, end}} or {dates: [...]}",
                &received,
            ));
        }
    };
    Ok(ReportPeriod { period_type, selection })
}

fn period(value: Option<&Value>, period_type: PeriodType, place: &str) -> Result<Period> {
    let value = value.filter(|value| !value.is_null()).ok_or_else(|| required(place))?;
    let parsed = value.as_str().and_then(Period::parse);
    parsed.filter(|period| period.period_type() == period_type).ok_or_else(|| Error::BadPeriod {
        name: place.to_owned(),
        period_type: period_type.as_str(),
        example: period_type.example(),
        received: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    })
}

fn check_points(place: &str, n_points: usize) -> Result<()> {
    if (1..=MAX_POINTS).contains(&n_points) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        name: place.to_owned(),
        n_received: n_points,
        least: 1,
        most: MAX_POINTS,
        unit: "periods",
    })
}

fn fields(filter: &Map<String, Value>, place: &str) -> Result<Exclusion> {
    let field = |name: &str| values(filter, name, &format!("{place}.{name}"));
    Ok(Exclusion {
        entity_cuis: field("entity_cuis")?,
        uat_ids: field("uat_ids")?,
        county_codes: field("county_codes")?,
        functional_prefixes: field("functional_prefixes")?,
        functional_codes: field("functional_codes")?,
        economic_prefixes: field("economic_prefixes")?,
        economic_codes: field("economic_codes")?,
    })
}

fn values(filter: &Map<String, Value>, name: &str, place: &str) -> Result<Vec<String>> {
    let values = match filter.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) => values,
        Some(other) => return Err(bad(place, "a list of strings", other)),
    };
    if values.len() > MAX_FILTER_VALUES {
        return Err(Error::OutOfRange {
            name: place.to_owned(),
            n_received: values.len(),
            least: 0,
            most: MAX_FILTER_VALUES,
            unit: "values",
        });
    }
    let is_prefix = name.ends_with("_prefixes");
    values
        .iter()
        .enumerate()
        .map(|(at, value)| {
            let place = format!("{place}[{at}]");
            let text = value.as_str().filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| bad(&place, "a string (ids are strings)", value))?;
            if is_prefix && !text.ends_with('.') {
                return Err(Error::PrefixWithoutDot { name: place, received: text.to_owned() });
            }
            Ok(text.to_owned())
        })
        .collect()
}

fn one_of<T>(
    arguments: &Map<String, Value>,
    name: &str,
    place: &str,
    expected: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T> {
    let value =
        arguments.get(name).filter(|value| !value.is_null()).ok_or_else(|| required(place))?;
    value.as_str().and_then(read).ok_or_else(|| bad(place, expected, value))
}

fn required_text(arguments: &Map<String, Value>, name: &str, place: &str) -> Result<String> {
    let text = match arguments.get(name) {
        None | Some(Value::Null) => return Err(required(place)),
        Some(Value::String(text)) => text.trim(),
        Some(other) => return Err(bad(place, "a string", other)),
    };
    let n_chars = text.chars().count();
    if n_chars == 0 {
        return Err(required(place));
    }
    if n_chars > MAX_TEXT_CHARS {
        return Err(Error::OutOfRange {
            name: place.to_owned(),
            n_received: n_chars,
            least: 1,
            most: MAX_TEXT_CHARS,
            unit: "characters",
        });
    }
    Ok(text.to_owned())
}

fn required(place: &str) -> Error {
    Error::Required { name: place.to_owned() }
}
