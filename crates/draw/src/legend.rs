//! What the colours and dashes of a drawing mean.

use filters::charts::{Chart, ChartType};

use crate::pie::{self, N_COLOURS};

/// The width of a sample, in the drawing's pixels.
pub(crate) const SAMPLE_WIDTH: f64 = 26.0;
pub(crate) const SAMPLE_HEIGHT: f64 = 12.0;

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// What is drawn like this; with its share where the chart shows shares.
    pub label: String,
    /// The inside of an SVG of 26 × 12 pixels.
    pub sample: String,
    /// Whether it is a series that can be shown and hidden.
    pub is_series: bool,
}

/// Gives the legend of a chart.
pub fn keys(chart: &Chart) -> Vec<Key> {
    let filled = |at: usize| {
        format!(
            r#"<rect class="bar s{}" width="{SAMPLE_WIDTH}" height="{SAMPLE_HEIGHT}" rx="3"/>"#,
            at % N_COLOURS
        )
    };
    if chart.request.chart_type == ChartType::Pie {
        let slices = pie::slices(chart).into_iter().enumerate();
        return slices
            .map(|(at, slice)| Key {
                label: format!("{}: {:.1} %", slice.label, slice.share * 100.0),
                sample: filled(at),
                is_series: false,
            })
            .collect();
    }
    let series = chart.series.iter().enumerate();
    series
        .map(|(at, series)| Key {
            label: series.label.clone(),
            sample: match chart.request.chart_type {
                ChartType::Line | ChartType::Area => {
                    format!(r#"<path class="line s{at} dash{}" d="M1,6L25,6"/>"#, at % 5)
                }
                ChartType::Bar | ChartType::Pie => filled(at),
            },
            is_series: true,
        })
        .collect()
}
