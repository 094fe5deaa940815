//! Shares of a whole: of each series, or of each period when there is one series only.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use filters::charts::Chart;

use crate::escape::escape as html;
use crate::layout::Layout;
use crate::number::full;

/// A slice from this share on carries its percentage.
const LEAST_LABELLED: f64 = 0.05;

/// The longest label in the hole of a ring.
const MAX_TIP_CHARS: usize = 20;

/// Colours repeat after this many.
pub(crate) const N_COLOURS: usize = 10;

/// One share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slice {
    pub(crate) label: String,
    pub(crate) amount: f64,
    pub(crate) share: f64,
}

/// Gives the shares of a chart; what is negative has none. Where there are more than colours, the
/// small ones are one.
pub(crate) fn slices(chart: &Chart) -> Vec<Slice> {
    together(all_slices(chart))
}

/// Puts the smallest slices together, so that no two have one colour.
fn together(mut slices: Vec<Slice>) -> Vec<Slice> {
    if slices.len() <= N_COLOURS {
        return slices;
    }
    let mut shares: Vec<f64> = slices.iter().map(|slice| slice.share).collect();
    shares.sort_by(|one, other| other.total_cmp(one));
    let least = shares[N_COLOURS - 2];
    let mut n_kept = 0;
    let rest: Vec<Slice> = slices
        .extract_if(.., |slice| {
            let is_kept = slice.share >= least && n_kept < N_COLOURS - 1;
            n_kept += usize::from(is_kept);
            !is_kept
        })
        .collect();
    slices.push(Slice {
        label: format!("{} others", rest.len()),
        amount: rest.iter().map(|slice| slice.amount).sum(),
        share: rest.iter().map(|slice| slice.share).sum(),
    });
    slices
}

fn all_slices(chart: &Chart) -> Vec<Slice> {
    let amounts: Vec<(String, f64)> = match chart.series.as_slice() {
        [only] => only.data_points.iter().map(|point| (point.x.to_string(), point.y)).collect(),
        many => many.iter().map(|series| (series.label.clone(), series.statistics.sum)).collect(),
    };
    let whole: f64 = amounts.iter().map(|(_, amount)| amount.max(0.0)).sum();
    amounts
        .into_iter()
        .map(|(label, amount)| {
            let share = if whole > 0.0 { amount.max(0.0) / whole } else { 0.0 };
            Slice { label, amount, share }
        })
        .collect()
}

/// Draws the inside of the picture.
pub(crate) fn draw(chart: &Chart, layout: Layout) -> String {
    let (x, y) = (layout.width / 2.0, layout.height / 2.0);
    let radius = layout.height / 2.0 - 10.0;
    let hole = radius * 0.52;
    let slices = slices(chart);
    let unit = chart.series.first().map_or("", |series| series.y_axis.unit.as_str());
    let mut svg = String::new();
    if slices.iter().all(|slice| slice.share == 0.0) {
        let _ = write!(
            svg,
            r#"<circle class="nothing" cx="{x:.1}" cy="{y:.1}" r="{:.1}"/><text class="label" x="{x:.1}" y="{:.1}" text-anchor="middle">no amounts</text>"#,
            (radius + hole) / 2.0,
            y + 4.0,
        );
        return svg;
    }
    let mut start = 0.0;
    for (at, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.share > 0.0) {
        let end = start + slice.share;
        let title = html(&format!(
            "{}: {} {unit}, {:.1} %",
            slice.label,
            full(slice.amount),
            slice.share * 100.0
        ));
        let _ = write!(
            svg,
            r#"<g class="mark" tabindex="-1"><title>{title}</title><path class="slice s{}" d="{}"/>{}</g>"#,
            at % N_COLOURS,
            ring(x, y, radius, hole, start, end),
            tip(x, y, slice, unit),
        );
        if slice.share >= LEAST_LABELLED {
            let (label_x, label_y) = on_circle(x, y, (radius + hole) / 2.0, (start + end) / 2.0);
            let _ = write!(
                svg,
                r#"<text class="share" x="{label_x:.1}" y="{:.1}" text-anchor="middle">{:.0} %</text>"#,
                label_y + 4.0,
                slice.share * 100.0,
            );
        }
        start = end;
    }
    svg
}

/// What a slice says when it is pointed at or touched: in the hole, which no slice covers.
fn tip(x: f64, y: f64, slice: &Slice, unit: &str) -> String {
    let mut label: String = slice.label.chars().take(MAX_TIP_CHARS).collect();
    if label.len() < slice.label.len() {
        label.push('…');
    }
    format!(
        r#"<text class="tip" x="{x:.1}" y="{:.1}" text-anchor="middle" aria-hidden="true">{}</text><text class="tip" x="{x:.1}" y="{:.1}" text-anchor="middle" aria-hidden="true">{} {}</text>"#,
        y - 5.0,
        html(&label),
        y + 15.0,
        full(slice.amount),
        html(unit),
    )
}

/// Gives the outline of a part of a ring. A whole ring is drawn as two halves, since an arc
/// from a point to itself is nothing.
fn ring(x: f64, y: f64, radius: f64, hole: f64, start: f64, end: f64) -> String {
    if end - start > 0.999_999 {
        let half = ring(x, y, radius, hole, start, start + 0.5);
        return half + &ring(x, y, radius, hole, start + 0.5, start + 0.999_99);
    }
    let large = u8::from(end - start > 0.5);
    let (outer_start, outer_end) = (on_circle(x, y, radius, start), on_circle(x, y, radius, end));
    let (inner_start, inner_end) = (on_circle(x, y, hole, start), on_circle(x, y, hole, end));
    format!(
        "M{:.2},{:.2}A{radius:.2},{radius:.2} 0 {large} 1 {:.2},{:.2}L{:.2},{:.2}A{hole:.2},{hole:.2} 0 {large} 0 {:.2},{:.2}Z",
        outer_start.0,
        outer_start.1,
        outer_end.0,
        outer_end.1,
        inner_end.0,
        inner_end.1,
        inner_start.0,
        inner_start.1,
    )
}

/// Gives a point on a circle; 0 and 1 are at the top, and it goes with the clock.
fn on_circle(x: f64, y: f64, radius: f64, turn: f64) -> (f64, f64) {
    let angle = turn * TAU;
    (x + radius * angle.sin(), y - radius * angle.cos())
}
