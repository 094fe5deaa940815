//! The data of a chart as separated text.

use crate::charts::chart::Chart;

/// Gives the points of a chart as CSV (RFC 4180): a row for each period, a column for each
/// series. Labels that a spreadsheet would take for a formula are defused.
pub fn render_csv(chart: &Chart) -> String {
    let axis = chart.series.first().filter(|_| !chart.places.is_empty());
    let mut csv = axis.map_or_else(|| "period".to_owned(), |series| field(&series.x_axis.name));
    for series in &chart.series {
        csv.push(',');
        csv.push_str(&field(&format!("{} ({})", series.label, series.y_axis.unit)));
    }
    csv.push_str("\r\n");
    for place in chart.places() {
        csv.push_str(&field(&place.to_string()));
        for series in &chart.series {
            csv.push(',');
            if let Some(point) = series.data_points.iter().find(|point| point.x == place) {
                csv.push_str(&point.y.to_string());
            }
        }
        csv.push_str("\r\n");
    }
    csv
}

fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
