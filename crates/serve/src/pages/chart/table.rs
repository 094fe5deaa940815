//! The numbers under the drawing: every point, and a summary of each series.

use std::fmt::Write as _;

use draw::{escape as html, full};
use filters::charts::Chart;

/// Gives the table of points.
pub(crate) fn points(chart: &Chart) -> String {
    let axis = chart.series.first().map_or("Period", |series| series.x_axis.name.as_str());
    let mut table = format!(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="All points"><table><caption>All points</caption><thead><tr><th scope="col">{}</th>"#,
        html(axis)
    );
    for series in &chart.series {
        let _ = write!(
            table,
            r#"<th scope="col">{}<br><span class="unit">{}</span></th>"#,
            html(&series.label),
            html(&series.y_axis.unit)
        );
    }
    table.push_str("</tr></thead><tbody>");
    for place in chart.places() {
        let _ = write!(table, r#"<tr><th scope="row">{}</th>"#, html(&place.to_string()));
        for series in &chart.series {
            let point = series.data_points.iter().find(|point| point.x == place);
            let amount = point.map_or_else(|| "–".to_owned(), |point| full(point.y));
            let _ = write!(table, "<td>{amount}</td>");
        }
        table.push_str("</tr>");
    }
    table.push_str("</tbody></table></div>");
    table
}

/// Gives the table of summaries.
pub(crate) fn statistics(chart: &Chart) -> String {
    let mut table = String::from(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="Summary"><table><caption>Summary</caption><thead><tr><th scope="col">Series</th><th scope="col">Lowest</th><th scope="col">Highest</th><th scope="col">Mean</th><th scope="col">Sum</th><th scope="col">Points</th></tr></thead><tbody>"#,
    );
    for series in &chart.series {
        let statistics = series.statistics;
        let _ = write!(
            table,
            r#"<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"#,
            html(&series.label),
            full(statistics.min),
            full(statistics.max),
            full(statistics.avg),
            full(statistics.sum),
            statistics.count,
        );
    }
    table.push_str("</tbody></table></div>");
    table
}
