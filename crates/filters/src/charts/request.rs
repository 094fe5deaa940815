//! What a chart is made of; what types cannot say is checked, and named with its place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::charts::period::{Period, PeriodType};
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
    #[serde(default)]
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
    /// Counties, such as `CJ`.
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
    /// Values of dimensions of one's own, by their filter key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<String, Vec<String>>,
}

/// When.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPeriod {
    /// The length of each period.
    #[serde(rename = "type")]
    pub period_type: PeriodType,
    /// An interval, or single periods.
    pub selection: Selection,
}

/// How the periods of a chart are named.
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

/// The fields of a filter that every chart has.
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
        self.fields().next().is_none()
    }

    /// Gives the fields that have values.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let known = FIELDS.into_iter();
        let fields = known.chain(self.own.keys().map(String::as_str));
        fields.filter(|field| !self.values(field).is_empty())
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
            own => self.own.get(own).map_or(&[], Vec::as_slice),
        }
    }
}

impl ChartRequest {
    /// Checks what types cannot say, and names the place of a mistake.
    ///
    /// Fails when there are too many or too few of something, periods do not fit their type,
    /// or a prefix does not end in a dot.
    pub fn check(&self) -> Result<()> {
        check_text("title", &self.title)?;
        check_count("series_definitions", self.series_definitions.len(), 1, MAX_SERIES, "series")?;
        for (at, definition) in self.series_definitions.iter().enumerate() {
            let place = format!("series_definitions[{at}]");
            check_text(&format!("{place}.label"), &definition.label)?;
            let filter = &definition.filter;
            let place = format!("{place}.filter");
            filter.report_period.check(&format!("{place}.report_period"))?;
            filter.only.check(&place)?;
            filter.exclude.check(&format!("{place}.exclude"))?;
        }
        Ok(())
    }
}

impl ReportPeriod {
    /// Reads all periods from one to another, both included; `place` names the interval in
    /// errors.
    pub fn interval(period_type: PeriodType, start: &str, end: &str, place: &str) -> Result<Self> {
        let start = period(start, period_type, &format!("{place}.start"))?;
        let end = period(end, period_type, &format!("{place}.end"))?;
        Ok(ReportPeriod { period_type, selection: Selection::Interval { start, end } })
    }

    /// Reads the given periods; `place` names the list in errors.
    pub fn dates(period_type: PeriodType, dates: &[String], place: &str) -> Result<Self> {
        let dates = dates.iter().enumerate();
        let dates = dates
            .map(|(at, date)| period(date, period_type, &format!("{place}[{at}]")))
            .collect::<Result<_>>()?;
        Ok(ReportPeriod { period_type, selection: Selection::Dates(dates) })
    }

    fn check(&self, place: &str) -> Result<()> {
        let place = format!("{place}.selection");
        let of_type = |one: Period, place: String| {
            if one.period_type() == self.period_type {
                return Ok(());
            }
            Err(bad_period(&one.to_string(), self.period_type, place))
        };
        match &self.selection {
            Selection::Interval { start, end } => {
                let place = format!("{place}.interval");
                of_type(*start, format!("{place}.start"))?;
                of_type(*end, format!("{place}.end"))?;
                if start > end {
                    return Err(Error::IntervalReversed {
                        name: place,
                        start: start.to_string(),
                        end: end.to_string(),
                    });
                }
                check_count(&place, start.n_through(*end), 1, MAX_POINTS, "periods")
            }
            Selection::Dates(dates) => {
                let place = format!("{place}.dates");
                check_count(&place, dates.len(), 1, MAX_POINTS, "periods")?;
                let mut dates = dates.iter().enumerate();
                dates.try_for_each(|(at, date)| of_type(*date, format!("{place}[{at}]")))
            }
        }
    }
}

impl Exclusion {
    fn check(&self, place: &str) -> Result<()> {
        for field in self.fields() {
            let values = self.values(field);
            let place = format!("{place}.{field}");
            check_count(&place, values.len(), 0, MAX_FILTER_VALUES, "values")?;
            for (at, value) in values.iter().enumerate() {
                if FIELDS.contains(&field) && field.ends_with("_prefixes") && !value.ends_with('.')
                {
                    let name = format!("{place}[{at}]");
                    return Err(Error::PrefixWithoutDot { name, received: value.clone() });
                }
            }
        }
        Ok(())
    }
}

fn period(text: &str, period_type: PeriodType, place: &str) -> Result<Period> {
    Period::read(text, period_type)
        .filter(|period| period.period_type() == period_type)
        .ok_or_else(|| bad_period(text, period_type, place.to_owned()))
}

fn bad_period(received: &str, period_type: PeriodType, name: String) -> Error {
    Error::BadPeriod {
        name,
        period_type: period_type.as_str(),
        example: period_type.example(),
        received: received.to_owned(),
    }
}

fn check_text(place: &str, text: &str) -> Result<()> {
    if text::is_blank(text) {
        return Err(Error::Required { name: place.to_owned() });
    }
    check_count(place, text.chars().count(), 1, MAX_TEXT_CHARS, "characters")
}

fn check_count(
    place: &str,
    n_received: usize,
    least: usize,
    most: usize,
    unit: &'static str,
) -> Result<()> {
    if (least..=most).contains(&n_received) {
        return Ok(());
    }
    Err(Error::OutOfRange { name: place.to_owned(), n_received, least, most, unit })
}
