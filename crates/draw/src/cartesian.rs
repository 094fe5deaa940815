//! Lines, areas and bars over periods or other groups.

use std::fmt::Write as _;

use filters::charts::{Chart, ChartType, DataSeries, PeriodType, Place};

use crate::escape::escape as html;
use crate::layout::{FONT_SIZE, Layout, fitted, label_stride, text_width, ticks};
use crate::number::{full, short};

const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;
const RIGHT: f64 = 14.0;
/// Points are marked while there are at most this many of them.
const MAX_MARKED_POINTS: usize = 40;
/// The longest label of the axis.
const MAX_LABEL_CHARS: usize = 18;
/// The sine, and the cosine, of the angle of names that are written aslant.
const ASLANT: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// The least room of a place whose name is written aslant: a line of text.
const LEAST_ASLANT_STEP: f64 = FONT_SIZE / ASLANT;
/// What is free above and below such names.
const ASLANT_GAPS: f64 = 12.0;
/// How far from a point a finger still hits it.
const HIT_RADIUS: f64 = 22.0;
/// How far at least, where points are close to each other.
const LEAST_HIT_RADIUS: f64 = 7.0;
/// The share of a period's room that its bars take.
const BARS_SHARE: f64 = 0.78;

/// Draws the inside of the picture.
pub(crate) fn draw(chart: &Chart, layout: Layout) -> String {
    let frame = Frame::new(chart, layout);
    let mut svg = String::new();
    // All areas lie under the grid and all lines, or the last area would cover what is before it.
    if chart.request.chart_type == ChartType::Area {
        for at in highest_first(&chart.series) {
            let _ = write!(svg, r#"<g class="g{at}">{}</g>"#, frame.area(&chart.series[at], at));
        }
    }
    svg.push_str(&frame.grid(chart));
    for (at, series) in chart.series.iter().enumerate() {
        let drawn = match chart.request.chart_type {
            ChartType::Bar => frame.bars(series, at, chart.series.len()),
            ChartType::Line | ChartType::Area | ChartType::Pie => frame.line(series, at),
        };
        // The legend hides a series by the number of its group.
        let _ = write!(svg, r#"<g class="g{at}">{drawn}</g>"#);
    }
    svg
}

/// Orders series so that a lower one is drawn over a higher one and both are seen.
fn highest_first(series: &[DataSeries]) -> Vec<usize> {
    let height = |at: &usize| -> f64 {
        let points = &series[*at].data_points;
        points.iter().map(|point| point.y.abs()).sum::<f64>() / points.len().max(1) as f64
    };
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by(|one, other| height(other).total_cmp(&height(one)));
    order
}

/// Where a point is drawn, and what it says.
type DrawnPoint<'s> = (f64, f64, &'s Place, f64);

struct Frame {
    layout: Layout,
    left: f64,
    places: Vec<Place>,
    ticks: Vec<f64>,
    is_bars: bool,
    /// What is written under each place.
    labels: Vec<String>,
    /// The room under the axis, where names are written aslant because they find none beside each
    /// other; a bar without its name says nothing, while days and years can be counted.
    aslant: Option<f64>,
}

impl Frame {
    fn new(chart: &Chart, layout: Layout) -> Self {
        let values =
            chart.series.iter().flat_map(|series| &series.data_points).map(|point| point.y);
        let low = values.clone().fold(0.0, f64::min);
        let high = values.fold(0.0, f64::max);
        let ticks = ticks(low, high, if layout.height > 300.0 { 6 } else { 4 });
        let widest = ticks.iter().map(|tick| text_width(&short(*tick))).fold(0.0, f64::max);
        let places = chart.places();
        let labels = places.iter().map(|place| shortened(&axis_label(&place.to_string())));
        let mut frame = Frame {
            layout,
            left: widest + 14.0,
            labels: labels.collect(),
            places,
            ticks,
            is_bars: chart.request.chart_type == ChartType::Bar,
            aslant: None,
        };
        frame.aslant = frame.room_aslant();
        if frame.aslant.is_some() {
            // The first name reaches to the left of its place.
            let reach = frame.widest_label() * ASLANT;
            frame.left = frame.left.max(reach.min(layout.width / 6.0));
        }
        frame
    }

    /// Gives the room that names need which are written aslant, if they have to be and can be.
    fn room_aslant(&self) -> Option<f64> {
        let is_counted = |label: &String| label.starts_with(|char: char| char.is_ascii_digit());
        let find_room = label_stride(&self.labels, self.step()) == 1;
        if find_room || self.labels.iter().all(is_counted) || self.step() < LEAST_ASLANT_STEP {
            return None;
        }
        Some(
            ((self.widest_label() + FONT_SIZE) * ASLANT + ASLANT_GAPS)
                .min(self.layout.height / 3.0),
        )
    }

    fn widest_label(&self) -> f64 {
        self.labels.iter().map(|label| text_width(label)).fold(0.0, f64::max)
    }

    fn right(&self) -> f64 {
        self.layout.width - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.layout.height - self.aslant.unwrap_or(BOTTOM)
    }

    /// The room of one period.
    fn step(&self) -> f64 {
        let n_periods = self.places.len().max(1) as f64;
        if self.is_bars {
            (self.right() - self.left) / n_periods
        } else {
            (self.right() - self.left - 16.0) / (n_periods - 1.0).max(1.0)
        }
    }

    /// The middle of a place.
    fn x(&self, at: usize) -> f64 {
        let at = at as f64;
        if self.is_bars {
            self.left + self.step() * (at + 0.5)
        } else if self.places.len() == 1 {
            (self.left + self.right()) / 2.0
        } else {
            self.left + 8.0 + self.step() * at
        }
    }

    /// The number of a place on the axis.
    fn at(&self, place: &Place) -> usize {
        self.places.iter().position(|known| known == place).unwrap_or(0)
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
        match self.aslant {
            Some(room) => self.names_aslant(room, &mut svg),
            None => self.names(&mut svg),
        }
        svg
    }

    /// Writes every name, rising towards its place.
    fn names_aslant(&self, room: f64, svg: &mut String) {
        let y = self.bottom() + FONT_SIZE;
        for (at, label) in self.labels.iter().enumerate() {
            let x = self.x(at) + FONT_SIZE * ASLANT / 2.0;
            // Neither below the picture nor beyond its left edge.
            let room = ((room - ASLANT_GAPS) / ASLANT - FONT_SIZE + 0.5).min(x / ASLANT);
            let label = fitted(label, FONT_SIZE, room);
            let _ = write!(
                svg,
                r#"<text class="label" x="{x:.1}" y="{y:.1}" text-anchor="end" transform="rotate(-45 {x:.1} {y:.1})">{}</text>"#,
                html(&label),
            );
        }
    }

    /// Writes as many names as find room beside each other.
    fn names(&self, svg: &mut String) {
        let labels = &self.labels;
        let stride = self.round_stride(label_stride(labels, self.step()));
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
            let x = self.x(at).clamp(half.min(most), most);
            let _ = write!(
                svg,
                r#"<text class="label" x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                self.layout.height - 9.0,
                html(label),
            );
        }
    }

    /// Widens a stride so that labels fall on the same months or quarters of each year.
    fn round_stride(&self, least: usize) -> usize {
        let round: &[usize] = match self.places.first().and_then(Place::period_type) {
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
        let is_marked = self.places.len() <= MAX_MARKED_POINTS;
        for (x, y, place, amount) in runs.iter().flatten() {
            let radius = if is_marked || runs.iter().any(|run| run.len() == 1) { 3.5 } else { 2.0 };
            let said = hover(series, place, *amount);
            let reach = (self.step() / 2.0).clamp(LEAST_HIT_RADIUS, HIT_RADIUS);
            let _ = write!(
                svg,
                r#"<g class="mark" tabindex="-1"><title>{}</title><circle class="hit" cx="{x:.1}" cy="{y:.1}" r="{reach:.1}"/><circle class="point s{at}{}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/>{}</g>"#,
                html(&said),
                if is_marked { "" } else { " faint" },
                self.tip(*x, *y, &said),
            );
        }
        svg
    }

    /// What a point says when it is pointed at or touched; the style sheet shows it then.
    fn tip(&self, x: f64, y: f64, said: &str) -> String {
        let half = text_width(said) / 2.0;
        let most = (self.layout.width - half - 2.0).max(half);
        let x = x.clamp(half.min(most), most);
        let y = if y < TOP + 20.0 { y + 24.0 } else { y - 12.0 };
        format!(
            r#"<text class="tip" x="{x:.1}" y="{y:.1}" text-anchor="middle" aria-hidden="true">{}</text>"#,
            html(said)
        )
    }

    /// Fills what is under a series. What is behind is covered first, so that areas over each other
    /// keep their own colours: four colours mixed are grey.
    fn area(&self, series: &DataSeries, at: usize) -> String {
        let mut svg = String::new();
        for run in self.runs(series) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let zero = self.y(0.0);
            let path = self.path(&run);
            let outline = format!("{path}L{:.1},{zero:.1}L{:.1},{zero:.1}Z", last.0, first.0);
            let _ = write!(
                svg,
                r#"<path class="under" d="{outline}"/><path class="area s{at}" d="{outline}"/>"#,
            );
        }
        svg
    }

    fn bars(&self, series: &DataSeries, at: usize, n_series: usize) -> String {
        let mut svg = String::new();
        let width = (self.step() * BARS_SHARE / n_series as f64).max(0.8);
        let gap = if width > 6.0 { 1.0 } else { 0.0 };
        for point in &series.data_points {
            let middle = self.x(self.at(&point.x));
            let x = middle + width * (at as f64 - n_series as f64 / 2.0);
            let (top, bottom) = (self.y(point.y.max(0.0)), self.y(point.y.min(0.0)));
            let said = hover(series, &point.x, point.y);
            // A low bar is hit over the whole height of its place.
            let _ = write!(
                svg,
                r#"<g class="mark" tabindex="-1"><title>{}</title><rect class="hit" x="{x:.1}" y="{TOP}" width="{width:.1}" height="{:.1}"/><rect class="bar s{at}" x="{x:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" rx="{}"/>{}</g>"#,
                html(&said),
                self.bottom() - TOP,
                (width - gap).max(0.8),
                (bottom - top).max(0.0),
                if width > 10.0 { 2 } else { 0 },
                self.tip(middle, top, &said),
            );
        }
        svg
    }

    /// Cuts a series where it skips periods of the chart, so that no line invents them.
    fn runs<'s>(&self, series: &'s DataSeries) -> Vec<Vec<DrawnPoint<'s>>> {
        let mut runs: Vec<Vec<DrawnPoint<'s>>> = Vec::new();
        let mut last_place = None;
        for point in &series.data_points {
            let place = self.at(&point.x);
            let continues = last_place.is_some_and(|last| last + 1 == place);
            last_place = Some(place);
            let drawn = (self.x(place), self.y(point.y), &point.x, point.y);
            match runs.last_mut() {
                Some(run) if continues => run.push(drawn),
                Some(_) | None => runs.push(vec![drawn]),
            }
        }
        runs
    }

    fn path(&self, run: &[DrawnPoint<'_>]) -> String {
        let mut path = String::new();
        for (at, (x, y, _, _)) in run.iter().enumerate() {
            let _ = write!(path, "{}{x:.1},{y:.1}", if at == 0 { "M" } else { "L" });
        }
        path
    }
}

/// Writes an hour without its year and offset, which are the same for most of an axis; the whole
/// name is in the table.
fn axis_label(name: &str) -> String {
    let is_hour = name.len() >= 16
        && name.is_ascii()
        && name.as_bytes()[10] == b'T'
        && name.as_bytes()[13] == b':';
    if is_hour { format!("{} {}", &name[5..10], &name[11..16]) } else { name.to_owned() }
}

/// Cuts the name of a group so that its neighbours find room; the whole name is in the table.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(MAX_LABEL_CHARS) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name.to_owned(),
    }
}

fn hover(series: &DataSeries, place: &Place, amount: f64) -> String {
    format!("{}, {place}: {} {}", series.label, full(amount), series.y_axis.unit)
}
