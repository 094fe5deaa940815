//! Lines, areas and bars over periods.

use std::fmt::Write as _;

use filters::charts::{Chart, ChartType, DataSeries, Period, PeriodType};

use super::layout::{Layout, full, label_stride, short, text_width, ticks};
use crate::pages::escape::escape as html;

const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;
const RIGHT: f64 = 14.0;
/// Points are marked while there are at most this many of them.
const MAX_MARKED_POINTS: usize = 40;
/// Areas are fainter when there are more of them than this.
const MAX_FULL_AREAS: usize = 3;
/// How far from a point a finger still hits it.
const HIT_RADIUS: f64 = 12.0;
/// The share of a period's room that its bars take.
const BARS_SHARE: f64 = 0.78;

/// Draws the inside of the picture.
pub(crate) fn draw(chart: &Chart, layout: Layout) -> String {
    let frame = Frame::new(chart, layout);
    let mut svg = frame.grid(chart);
    // All areas lie under all lines, or the last area would cover the lines before it.
    if chart.request.chart_type == ChartType::Area {
        let is_crowded = chart.series.len() > MAX_FULL_AREAS;
        for (at, series) in chart.series.iter().enumerate() {
            svg.push_str(&frame.area(series, at, if is_crowded { "area thin" } else { "area" }));
        }
    }
    for (at, series) in chart.series.iter().enumerate() {
        svg.push_str(&match chart.request.chart_type {
            ChartType::Bar => frame.bars(series, at, chart.series.len()),
            ChartType::Line | ChartType::Area | ChartType::Pie => frame.line(series, at),
        });
    }
    svg
}

struct Frame {
    layout: Layout,
    left: f64,
    periods: Vec<Period>,
    ticks: Vec<f64>,
    is_bars: bool,
}

impl Frame {
    fn new(chart: &Chart, layout: Layout) -> Self {
        let values =
            chart.series.iter().flat_map(|series| &series.data_points).map(|point| point.y);
        let low = values.clone().fold(0.0, f64::min);
        let high = values.fold(0.0, f64::max);
        let ticks = ticks(low, high, if layout.height > 300.0 { 6 } else { 4 });
        let widest = ticks.iter().map(|tick| text_width(&short(*tick))).fold(0.0, f64::max);
        Frame {
            layout,
            left: widest + 14.0,
            periods: chart.periods(),
            ticks,
            is_bars: chart.request.chart_type == ChartType::Bar,
        }
    }

    fn right(&self) -> f64 {
        self.layout.width - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.layout.height - BOTTOM
    }

    /// The room of one period.
    fn step(&self) -> f64 {
        let n_periods = self.periods.len().max(1) as f64;
        if self.is_bars {
            (self.right() - self.left) / n_periods
        } else {
            (self.right() - self.left - 16.0) / (n_periods - 1.0).max(1.0)
        }
    }

    /// The middle of a period.
    fn x(&self, period: Period) -> f64 {
        let at = self.periods.binary_search(&period).unwrap_or(0) as f64;
        if self.is_bars {
            self.left + self.step() * (at + 0.5)
        } else if self.periods.len() == 1 {
            (self.left + self.right()) / 2.0
        } else {
            self.left + 8.0 + self.step() * at
        }
    }

    fn y(&self, amount: f64) -> f64 {
        let (low, high) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        self.bottom() - (amount - low) / (high - low) * (self.bottom() - TOP)
    }

    fn grid(&self, chart: &Chart) -> String {
        let mut svg = String::new();
        let unit = chart.series.first().map_or("", |series| series.y_axis.unit.as_str());
        let same_unit = chart.series.iter().all(|series| series.y_axis.unit == unit);
        if same_unit {
            let _ = write!(svg, r#"<text class="label" x="2" y="12">{}</text>"#, html(unit));
        }
        for tick in &self.ticks {
            let y = self.y(*tick);
            let class = if *tick == 0.0 { "zero" } else { "grid" };
            let _ = write!(
                svg,
                r#"<line class="{class}" x1="{:.1}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}"/><text class="label" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                self.left,
                self.right(),
                self.left - 6.0,
                y + 4.0,
                html(&short(*tick)),
            );
        }
        let labels: Vec<String> = self.periods.iter().map(ToString::to_string).collect();
        let stride = self.round_stride(label_stride(&labels, self.step()));
        let mut labelled: Vec<usize> = (0..labels.len()).step_by(stride).collect();
        // The last period is always named: the label before it makes room where it must.
        let last = labels.len().saturating_sub(1);
        if labelled.last().is_some_and(|at| *at != last) {
            let room = (last - labelled.last().copied().unwrap_or(0)) as f64 * self.step();
            if room < text_width(&labels[last]) + 10.0 && labelled.len() > 1 {
                labelled.pop();
            }
            labelled.push(last);
        }
        for at in labelled {
            let label = &labels[at];
            // Labels are centred under their period, and kept inside the picture.
            let half = text_width(label) / 2.0;
            let most = (self.layout.width - half - 1.0).max(half);
            let x = self.x(self.periods[at]).clamp(half.min(most), most);
            let _ = write!(
                svg,
                r#"<text class="label" x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                self.layout.height - 9.0,
                html(label),
            );
        }
        svg
    }

    /// Widens a stride so that labels fall on the same months or quarters of each year.
    fn round_stride(&self, least: usize) -> usize {
        let round: &[usize] = match self.periods.first().map(|first| first.period_type()) {
            Some(PeriodType::Month) => &[1, 2, 3, 6, 12, 24, 36, 60, 120],
            Some(PeriodType::Quarter) => &[1, 2, 4, 8, 12, 20, 40],
            Some(PeriodType::Year) | None => &[1, 2, 5, 10, 20, 50, 100],
        };
        round.iter().copied().find(|stride| *stride >= least).unwrap_or(least)
    }

    fn line(&self, series: &DataSeries, at: usize) -> String {
        let mut svg = String::new();
        let runs = self.runs(series);
        for run in &runs {
            let path = self.path(run);
            let _ = write!(svg, r#"<path class="line s{at} dash{}" d="{path}"/>"#, at % 5);
        }
        let is_marked = self.periods.len() <= MAX_MARKED_POINTS;
        for (x, y, period, amount) in runs.iter().flatten() {
            let radius = if is_marked || runs.iter().any(|run| run.len() == 1) { 3.5 } else { 2.0 };
            let _ = write!(
                svg,
                r#"<g><title>{}</title><circle class="hit" cx="{x:.1}" cy="{y:.1}" r="{HIT_RADIUS}"/><circle class="point s{at}{}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/></g>"#,
                html(&hover(series, *period, *amount)),
                if is_marked { "" } else { " faint" },
            );
        }
        svg
    }

    fn area(&self, series: &DataSeries, at: usize, class: &str) -> String {
        let mut svg = String::new();
        for run in self.runs(series) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let zero = self.y(0.0);
            let _ = write!(
                svg,
                r#"<path class="{class} s{at}" d="{}L{:.1},{zero:.1}L{:.1},{zero:.1}Z"/>"#,
                self.path(&run),
                last.0,
                first.0,
            );
        }
        svg
    }

    fn bars(&self, series: &DataSeries, at: usize, n_series: usize) -> String {
        let mut svg = String::new();
        let width = (self.step() * BARS_SHARE / n_series as f64).max(0.8);
        let gap = if width > 6.0 { 1.0 } else { 0.0 };
        for point in &series.data_points {
            let middle = self.x(point.x);
            let x = middle + width * (at as f64 - n_series as f64 / 2.0);
            let (top, bottom) = (self.y(point.y.max(0.0)), self.y(point.y.min(0.0)));
            let _ = write!(
                svg,
                r#"<rect class="bar s{at}" x="{x:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" rx="{}"><title>{}</title></rect>"#,
                (width - gap).max(0.8),
                (bottom - top).max(0.0),
                if width > 10.0 { 2 } else { 0 },
                html(&hover(series, point.x, point.y)),
            );
        }
        svg
    }

    /// Cuts a series where it skips periods of the chart, so that no line invents them.
    fn runs(&self, series: &DataSeries) -> Vec<Vec<(f64, f64, Period, f64)>> {
        let mut runs: Vec<Vec<(f64, f64, Period, f64)>> = Vec::new();
        let mut last_place = None;
        for point in &series.data_points {
            let place = self.periods.binary_search(&point.x).unwrap_or(0);
            let continues = last_place.is_some_and(|last| last + 1 == place);
            last_place = Some(place);
            let drawn = (self.x(point.x), self.y(point.y), point.x, point.y);
            match runs.last_mut() {
                Some(run) if continues => run.push(drawn),
                Some(_) | None => runs.push(vec![drawn]),
            }
        }
        runs
    }

    fn path(&self, run: &[(f64, f64, Period, f64)]) -> String {
        let mut path = String::new();
        for (at, (x, y, _, _)) in run.iter().enumerate() {
            let _ = write!(path, "{}{x:.1},{y:.1}", if at == 0 { "M" } else { "L" });
        }
        path
    }
}

fn hover(series: &DataSeries, period: Period, amount: f64) -> String {
    format!("{}, {period}: {} {}", series.label, full(amount), series.y_axis.unit)
}
