//! Charts over any table: groups on the axis, measures as series.
//!
//! Groups of time or of numbers are put on a scale, on which those that no row falls into have
//! their place: a gap, or a true zero where rows are counted.

use model::{Access, Caller, Warning};
use sha2::{Digest, Sha256};

use crate::charts::axis::{NO_VALUE, Places, Step, axis};
use crate::charts::chart::{
    Axis, ChartAnswer, DataPoint, DataSeries, Place, SeriesWords, Statistics,
};
use crate::charts::request::{ChartRequest, ChartType, MAX_POINTS, MAX_SERIES};
use crate::charts::service::{Charts, Drawn, check_axes, check_parts, listed};
use crate::{Error, Result};

/// An aggregate of a table, to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct TableChart {
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub description: Option<String>,
    /// How it is drawn.
    pub chart_type: ChartType,
    /// What the axis of groups shows.
    pub axis: String,
    /// How groups follow each other on it.
    pub step: Step,
    /// At least one; each has its own line.
    pub series: Vec<Measured>,
    /// Whether a limit or a condition on measures left groups out: one that is not there may have
    /// rows then.
    pub has_all_groups: bool,
    /// Who may see it: whoever may use the table.
    pub allow: Access,
    /// What is counted, in words, one line for each condition.
    pub words: Vec<String>,
    /// What the aggregate said of itself.
    pub warnings: Vec<Warning>,
}

/// One measure of each group.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The name in the legend.
    pub label: String,
    /// The unit of its numbers.
    pub unit: String,
    /// Groups in their order, with what was measured.
    pub points: Vec<(String, Option<f64>)>,
    /// Whether a group without rows measures zero, as a count does.
    pub is_count: bool,
}

impl Charts {
    /// Keeps a chart of an aggregate.
    ///
    /// Fails when there is nothing to draw or too much, and when series have different units.
    pub fn draw(&self, caller: &Caller, mut chart: TableChart) -> Result<ChartAnswer> {
        without_no_value(&mut chart);
        if !chart.has_all_groups {
            // A group that was left out measures something that is not known here.
            chart.series.iter_mut().for_each(|series| series.is_count = false);
        }
        let wrong = |expected: &'static str, received: String| Error::BadArgument {
            name: "measures".to_owned(),
            expected,
            received,
        };
        if chart.series.is_empty() || chart.series.len() > MAX_SERIES {
            return Err(wrong(
                "of 1 to 10 series: group by fewer values, or filter",
                format!("{} series", chart.series.len()),
            ));
        }
        let mut warnings = chart.warnings;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in chart.series.iter().flat_map(|series| &series.points) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let Places { places, n_filled } = axis(&names, &chart.step);
        if places.len() > MAX_POINTS {
            return Err(wrong(
                "of at most 600 points: use a wider bucket, or filter",
                format!("{} points", places.len()),
            ));
        }
        let series: Vec<DataSeries> = chart
            .series
            .iter()
            .map(|measured| drawn(measured, &chart.axis, &places, &mut warnings))
            .collect();
        if n_filled > 0 && chart.series.iter().any(|series| !series.is_count) {
            let why = if chart.has_all_groups {
                "have no rows"
            } else {
                "have no rows or were left out by `limit` or `having`"
            };
            let message = format!(
                "{n_filled} groups between the first and the last {why}; they are gaps, not zeros"
            );
            warnings.push(Warning::new("periods_without_facts", message));
        }
        let lacking = lacking(&chart.series, names.len());
        if !lacking.is_empty() {
            let why = if chart.has_all_groups {
                "without rows"
            } else {
                "without rows, or left out by `limit` or `having`"
            };
            let message =
                format!("groups of the axis {why}, gaps and not zeros: {}", lacking.join(", "));
            warnings.push(Warning::new("periods_without_facts", message));
        }
        check_axes(&series)?;
        check_parts(chart.chart_type, &series)?;
        let label = chart.title.clone();
        self.keep(
            caller,
            Drawn {
                request: ChartRequest {
                    title: chart.title,
                    description: chart.description,
                    chart_type: chart.chart_type,
                    series_definitions: Vec::new(),
                },
                allow: chart.allow,
                places,
                series,
                words: vec![SeriesWords { label, lines: chart.words }],
                warnings,
            },
        )
    }
}

/// Says of each series how many of the groups that another one has are none of its own.
fn lacking(series: &[Measured], n_groups: usize) -> Vec<String> {
    let of = |measured: &Measured| {
        let n_lacking = n_groups.saturating_sub(measured.points.len());
        let is_gap = n_lacking > 0 && !measured.is_count;
        is_gap.then(|| format!("`{}` lacks {n_lacking} of {n_groups}", measured.label))
    };
    series.iter().filter_map(of).collect()
}

/// Leaves out the groups without a value where the axis is a scale, and says how many rows or
/// what else they measure.
fn without_no_value(chart: &mut TableChart) {
    if !chart.step.is_scale() {
        return;
    }
    let mut n_left_out = 0;
    for series in &mut chart.series {
        let n_before = series.points.len();
        series.points.retain(|(name, _)| name != NO_VALUE);
        n_left_out += n_before - series.points.len();
    }
    chart.series.retain(|series| !series.points.is_empty());
    if n_left_out > 0 {
        let message = format!(
            "rows without a value of `{}` have no place on the axis and are not drawn; \
             `aggregate_table` gives them as the group null",
            chart.axis
        );
        chart.warnings.push(Warning::new("rows_without_place", message));
    }
}

fn drawn(
    measured: &Measured,
    axis: &str,
    places: &[Place],
    warnings: &mut Vec<Warning>,
) -> DataSeries {
    let mut data_points = Vec::new();
    let mut without: Vec<String> = Vec::new();
    for place in places {
        let name = place.to_string();
        let point = measured.points.iter().find(|(known, _)| *known == name);
        match point.map(|(_, value)| *value) {
            Some(Some(y)) => data_points.push(DataPoint { x: place.clone(), y }),
            None if measured.is_count => data_points.push(DataPoint { x: place.clone(), y: 0.0 }),
            Some(None) => without.push(name),
            None => {}
        }
    }
    let label = &measured.label;
    if !without.is_empty() {
        let message = format!(
            "series `{label}`: nothing to measure in {}; a gap, not a zero",
            listed(&without)
        );
        warnings.push(Warning::new("periods_without_facts", message));
    }
    if !data_points.is_empty() && data_points.iter().all(|point| point.y == 0.0) {
        let message = format!("series `{label}`: every point is 0");
        warnings.push(Warning::new("empty_series", message));
    }
    let digest = Sha256::digest(format!("{axis}\n{label}\n{}", measured.unit).as_bytes());
    DataSeries {
        label: label.clone(),
        series_id: model::hex(&digest[..8]),
        x_axis: Axis { name: axis.to_owned(), unit: axis.to_lowercase() },
        y_axis: Axis { name: "Amount".to_owned(), unit: measured.unit.clone() },
        statistics: Statistics::of_measures(&data_points),
        data_points,
    }
}
