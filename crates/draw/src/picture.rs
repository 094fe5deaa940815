//! The whole picture of a chart as an SVG file: heading, drawing, legend, style.
//!
//! Colours are written out: Inkscape, LibreOffice, librsvg and the renderer of our own PNG know
//! no custom properties, and would draw everything black.

use std::fmt::Write as _;

use filters::charts::{Chart, ChartType};

use crate::escape::escape;
use crate::layout::{Layout, WIDE, fitted, width_at};
use crate::legend::{SAMPLE_HEIGHT, SAMPLE_WIDTH, keys};
use crate::{cartesian, pie};

/// The size of the heading's letters.
const TITLE_SIZE: f64 = 20.0;
/// The size of the legend's letters.
const KEY_SIZE: f64 = 14.0;
/// From one line of the legend to the next.
const KEY_LINE: f64 = 24.0;
/// What is left free around the picture.
const MARGIN: f64 = 16.0;
/// From the top to the drawing.
const HEAD: f64 = 44.0;
/// Between a sample and its words, and between two entries.
const KEY_GAPS: (f64, f64) = (8.0, 22.0);
/// Lines of the legend: with more the picture would be a list.
const MAX_KEY_LINES: usize = 6;

/// The colours of series on a white page.
const COLOURS: [&str; 10] = [
    "#0b6bcb", "#c8500a", "#2a8040", "#8f3fb0", "#b3204d", "#0a7f8c", "#9a7400", "#5a6270",
    "#5b4be0", "#7d5a45",
];

/// What is the same for every series.
const STYLE: &str = "text{font-family:Roboto,'Noto Sans',system-ui,sans-serif}\
.title{font-size:20px;fill:#1a2027}.key{font-size:14px;fill:#1a2027}\
.label{font-size:13px;fill:#55606e}.share{font-size:15px;fill:#fff}\
.grid{stroke:#e1e5ea}.zero{stroke:#8a94a1}\
.line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}\
.dash1{stroke-dasharray:7 4}.dash2{stroke-dasharray:2 4}.dash3{stroke-dasharray:10 4 2 4}.dash4{stroke-dasharray:14 4}\
.point{fill:#fff;stroke-width:2}.faint{display:none}.hit{display:none}.tip{display:none}\
.under{fill:#fff}.area{fill-opacity:.35}.slice{stroke:#fff;stroke-width:2}\
.nothing{fill:none;stroke:#e1e5ea;stroke-width:40}";

/// Draws what is inside a picture: axes and series, with style classes and without colours.
///
/// Classes are `grid`, `zero`, `label`, `share`, `nothing`, `tip`, `hit`; of series also `line`,
/// `point`, `faint`, `area`, `under`, `bar`, `slice` with `sN` for the colour, `dashN` for the
/// dashes, and a group `gN` around all marks of a series.
pub fn marks(chart: &Chart, layout: Layout) -> String {
    match chart.request.chart_type {
        ChartType::Pie => pie::draw(chart, layout),
        ChartType::Line | ChartType::Bar | ChartType::Area => cartesian::draw(chart, layout),
    }
}

/// Draws the chart as a picture that other programs can use, with `description` for those who
/// cannot see it.
pub fn render_svg(chart: &Chart, description: &str) -> String {
    let Layout { width: drawn_width, height: drawn_height, .. } = WIDE;
    let width = drawn_width + 2.0 * MARGIN;
    let legend = legend(chart, drawn_width);
    let foot = HEAD + drawn_height + 12.0;
    let height = foot + legend.height + MARGIN;
    let title = &chart.request.title;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"><title>{}</title><desc>{}</desc><style>{STYLE}{}</style><rect width="{width}" height="{height}" fill="#fff"/><text class="title" x="{MARGIN}" y="30">{}</text><g transform="translate({MARGIN},{HEAD})">{}</g><g transform="translate({MARGIN},{foot})">{}</g></svg>"##,
        escape(title),
        escape(description),
        series_style(),
        escape(&fitted(&one_line(title), TITLE_SIZE, drawn_width)),
        marks(chart, WIDE),
        legend.svg,
    )
}

fn series_style() -> String {
    let mut style = String::new();
    for (at, colour) in COLOURS.iter().enumerate() {
        let _ = write!(
            style,
            ".line.s{at},.point.s{at}{{stroke:{colour}}}\
             .bar.s{at},.area.s{at},.slice.s{at}{{fill:{colour}}}"
        );
    }
    style
}

struct Legend {
    svg: String,
    height: f64,
}

fn legend(chart: &Chart, room: f64) -> Legend {
    let keys = keys(chart);
    // One series whose name is the heading needs no legend.
    let is_needed = keys.iter().any(|key| !key.is_series || key.label != chart.request.title);
    let (mut svg, mut x, mut line) = (String::new(), 0.0, 0_usize);
    if !is_needed {
        return Legend { svg, height: 0.0 };
    }
    let (gap, between) = KEY_GAPS;
    for (at, key) in keys.iter().enumerate() {
        let label = fitted(&one_line(&key.label), KEY_SIZE, room - SAMPLE_WIDTH - gap);
        let width = SAMPLE_WIDTH + gap + width_at(&label, KEY_SIZE);
        if x > 0.0 && x + width > room {
            (x, line) = (0.0, line + 1);
        }
        let y = line as f64 * KEY_LINE;
        if line + 1 >= MAX_KEY_LINES && keys.len() - at > 1 {
            let rest = format!("and {} more", keys.len() - at);
            let _ = write!(svg, r#"<text class="key" x="0" y="{:.1}">{rest}</text>"#, y + 12.0);
            break;
        }
        let _ = write!(
            svg,
            r#"<g transform="translate({x:.1},{y:.1})"><svg width="{SAMPLE_WIDTH}" height="{SAMPLE_HEIGHT}">{}</svg><text class="key" x="{}" y="11">{}</text></g>"#,
            key.sample,
            SAMPLE_WIDTH + gap,
            escape(&label),
        );
        x += width + between;
    }
    Legend { svg, height: (line + 1) as f64 * KEY_LINE }
}

/// A line break in a name is a space in a picture.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
