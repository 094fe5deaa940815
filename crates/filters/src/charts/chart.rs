//! A finished chart: what was asked, what it gave, and its filters in words.

use std::fmt;

use model::{Access, TenantId, Timestamp, Warning};
use serde::{Deserialize, Serialize};

use crate::charts::period::{Period, PeriodType};
use crate::charts::request::ChartRequest;

model::object_id! {
    /// A chart that is kept.
    ChartId
}

/// The answer to `generate_chart_data`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartAnswer {
    /// True; an error has its own shape.
    pub ok: bool,
    /// `chart-data.generated`.
    pub kind: &'static str,
    /// The id under which the chart is kept.
    pub chart_id: ChartId,
    /// The page of the chart.
    pub chart_url: String,
    /// The series, in the order they were asked for.
    pub data_series: Vec<DataSeries>,
    /// What went less than perfectly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A chart as it is kept and drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// A UUID, which the chart's address ends with.
    pub id: ChartId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Who made it.
    pub made_by: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it is forgotten.
    pub expires_at: Timestamp,
    /// What was asked; a chart over a table has no series definitions.
    pub request: ChartRequest,
    /// Who may see it, among those of its tenant: whoever may use the table it was made from.
    #[serde(default, skip_serializing_if = "Access::is_everyone")]
    pub allow: Access,
    /// The places of the axis in their order, for a chart over a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// What it gave.
    pub series: Vec<DataSeries>,
    /// The filters of each series in words.
    pub words: Vec<SeriesWords>,
    /// What went less than perfectly.
    pub warnings: Vec<Warning>,
}

/// A line of the chart, with the figures that it is drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSeries {
    /// The name in the legend.
    pub label: String,
    /// The same for the same filter, whatever the chart.
    pub series_id: String,
    /// What the places of the points mean.
    pub x_axis: Axis,
    /// What their amounts mean.
    pub y_axis: Axis,
    /// A point for every period asked for, in order.
    pub data_points: Vec<DataPoint>,
    /// A summary of the points.
    pub statistics: Statistics,
}

/// What an axis shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// As it is written beside the axis.
    pub name: String,
    /// Such as `RON` or `year`.
    pub unit: String,
}

/// A place on the axis: a period, or a group of any other kind by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// A year, quarter or month.
    Period(Period),
    /// The name of a group.
    Name(String),
}

/// A place on the axis with its amount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataPoint {
    /// Where on the axis.
    pub x: Place,
    /// The amount, 0 where there are no facts.
    pub y: f64,
}

/// A summary of points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub avg: f64,
    /// Of the amounts of all points.
    pub sum: f64,
    /// How many points.
    pub count: usize,
}

/// The filters of one series in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesWords {
    /// That of the series, as the legend has it.
    pub label: String,
    /// One line for each field, such as `units: JUDEȚUL CLUJ`.
    pub lines: Vec<String>,
}

impl Chart {
    /// Gives all places of the axis in order, each once.
    pub fn places(&self) -> Vec<Place> {
        if !self.places.is_empty() {
            return self.places.clone();
        }
        let points = self.series.iter().flat_map(|series| &series.data_points);
        let mut places: Vec<Place> = points.map(|point| point.x.clone()).collect();
        // Periods without a point are gaps, which have a place on the axis.
        let definitions = &self.request.series_definitions;
        let periods =
            definitions.iter().flat_map(|definition| definition.filter.report_period.periods());
        places.extend(periods.map(Place::Period));
        places.sort();
        places.dedup();
        places
    }
}

impl Place {
    /// Gives the length of the period, where it is one.
    pub fn period_type(&self) -> Option<PeriodType> {
        match self {
            Place::Period(period) => Some(period.period_type()),
            Place::Name(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Period(period) => period.fmt(f),
            Place::Name(name) => f.write_str(name),
        }
    }
}

impl Statistics {
    /// Summarises amounts of money; all zeros when there are none.
    pub fn of(points: &[DataPoint]) -> Self {
        Self::with(points, rounded)
    }

    /// Summarises measures of any size: a mean of 0.0034 is not 0.
    pub fn of_measures(points: &[DataPoint]) -> Self {
        Self::with(points, to_digits)
    }

    fn with(points: &[DataPoint], rounded: fn(f64) -> f64) -> Self {
        let values = points.iter().map(|point| point.y);
        let sum: f64 = values.clone().sum();
        if points.is_empty() {
            return Statistics::default();
        }
        Statistics {
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(f64::NEG_INFINITY, f64::max),
            avg: rounded(sum / points.len() as f64),
            sum: rounded(sum),
            count: points.len(),
        }
    }
}

/// Rounds a measure to the digits that a sum of binary fractions has for certain.
fn to_digits(measure: f64) -> f64 {
    const N_DIGITS: i32 = 12;
    if measure == 0.0 || !measure.is_finite() {
        return measure;
    }
    let n_decimals = N_DIGITS - 1 - measure.abs().log10().floor() as i32;
    // Whole numbers beyond these digits are as they are.
    if n_decimals <= 0 {
        return measure;
    }
    let text = format!("{measure:.*}", n_decimals as usize);
    text.parse().unwrap_or(measure)
}

/// Rounds an amount to cents: sums of cents are not exact in binary.
pub(crate) fn rounded(amount: f64) -> f64 {
    (amount * 100.0).round() / 100.0
}
