//! What is around the drawing: legend, notes, numbers, filters in words.

use std::fmt::Write as _;

use draw::{Layout, NARROW, WIDE, escape as html, full, keys, marks};
use filters::charts::{Chart, ChartType};

use super::table;

/// Draws what the page of a chart shows below its heading: picture, legend and what is to be said of
/// it. It needs nothing but the style sheet; every text of the chart is escaped.
pub(crate) fn render_figure(chart: &Chart) -> String {
    format!(
        "<figure>{wide}{narrow}<figcaption>{legend}</figcaption></figure>{notes}",
        wide = drawing(chart, WIDE),
        narrow = drawing(chart, NARROW),
        legend = legend(chart),
        notes = notes(chart),
    )
}

/// Writes the numbers of a chart, its filters in words, and how long it is kept.
pub(crate) fn render_numbers(chart: &Chart) -> String {
    format!(
        "<h2>Numbers</h2>{points}{statistics}<h2>What is counted</h2>{words}\
         <p class=\"note\">Chart {id}, made {made}, kept until {until}.</p>",
        points = table::points(chart),
        statistics = table::statistics(chart),
        words = words(chart),
        id = html(chart.id.as_str()),
        made = day(chart.made_at),
        until = day(chart.expires_at),
    )
}

/// Draws the chart alone, as a picture that other programs can use.
pub(crate) fn render_svg(chart: &Chart) -> String {
    draw::render_svg(chart, &spoken(chart))
}

fn drawing(chart: &Chart, layout: Layout) -> String {
    let inside = marks(chart, layout);
    let Layout { width, height, class } = layout;
    format!(
        r#"<svg class="{class}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{class}-title {class}-desc"><title id="{class}-title">{}</title><desc id="{class}-desc">{}</desc>{inside}</svg>"#,
        html(&chart.request.title),
        html(&spoken(chart)),
    )
}

/// Says what the picture shows, for those who cannot see it.
fn spoken(chart: &Chart) -> String {
    let kind = match chart.request.chart_type {
        ChartType::Line => "Line chart",
        ChartType::Bar => "Bar chart",
        ChartType::Area => "Area chart",
        ChartType::Pie => "Pie chart",
    };
    let places = chart.places();
    let span = match (places.first(), places.last()) {
        (Some(first), Some(last)) if first == last => format!(" for {first}"),
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    let mut text = format!("{kind} of {} series{span}.", chart.series.len());
    for series in &chart.series {
        let unit = &series.y_axis.unit;
        let _ = match (series.data_points.first(), series.data_points.last()) {
            (Some(first), Some(last)) if first.x != last.x => write!(
                text,
                " {}: {} {unit} in {}, {} {unit} in {}.",
                series.label,
                full(first.y),
                first.x,
                full(last.y),
                last.x
            ),
            (Some(only), _) => {
                write!(text, " {}: {} {unit} in {}.", series.label, full(only.y), only.x)
            }
            (None, _) => write!(text, " {}: no points.", series.label),
        };
    }
    text
}

fn legend(chart: &Chart) -> String {
    let mut legend = String::from(r#"<ul class="legend">"#);
    for (at, key) in keys(chart).iter().enumerate() {
        let sample = format!(r#"<svg viewBox="0 0 26 12" aria-hidden="true">{}</svg>"#, key.sample);
        let label = html(&key.label);
        let _ = if key.is_series {
            let toggle = toggle(at, chart.series.len());
            write!(legend, "<li><label>{toggle}{sample}{label}</label></li>")
        } else {
            write!(legend, "<li>{sample}{label}</li>")
        };
    }
    legend.push_str("</ul>");
    legend
}

/// The box that shows and hides a series; the style sheet does it. One series alone has none.
fn toggle(at: usize, n_series: usize) -> String {
    if n_series < 2 {
        return String::new();
    }
    format!(r#"<input type="checkbox" id="show{at}" autocomplete="off" checked>"#)
}

fn notes(chart: &Chart) -> String {
    if chart.warnings.is_empty() {
        return String::new();
    }
    let items: String = chart
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>", html(&warning.message)))
        .collect();
    format!(r#"<ul class="notes">{items}</ul>"#)
}

fn words(chart: &Chart) -> String {
    let mut list = String::from("<dl>");
    for words in &chart.words {
        let _ = write!(list, "<dt>{}</dt>", html(&words.label));
        for line in &words.lines {
            let _ = write!(list, "<dd>{}</dd>", html(line));
        }
    }
    list.push_str("</dl>");
    list
}

/// Makes a file name of a title: letters and digits, everything else a hyphen.
pub(crate) fn file_name(title: &str) -> String {
    let mut name: String = text::fold(title)
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
        .collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name: String = name.trim_matches('-').chars().take(60).collect();
    if name.is_empty() { "chart".to_owned() } else { name }
}

fn day(at: model::Timestamp) -> String {
    model::iso(at).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_are_whole_and_safe() {
        for chart_type in ["line", "bar", "area", "pie"] {
            let filter = json!({
                "report_period": { "type": "YEAR", "selection": { "dates": ["2023", "2024"] } },
                "account_category": "ch",
            });
            let label = "=cmd|' /C calc'!A0 \"quoted\"";
            let points = json!([{ "x": "2023", "y": 1.5 }, { "x": "2024", "y": 0.0 }]);
            let chart: Chart = serde_json::from_value(json!({
                "id": "c1",
                "tenant": "acme",
                "made_by": "agent",
                "made_at": 1_700_000_000_000_i64,
                "expires_at": 1_800_000_000_000_i64,
                "request": {
                    "title": "<script>alert('x')</script> & more",
                    "chart_type": chart_type,
                    "series_definitions": [{ "label": label, "filter": filter }],
                },
                "series": [{
                    "label": label,
                    "series_id": "s1",
                    "x_axis": { "name": "Year", "unit": "year" },
                    "y_axis": { "name": "Amount", "unit": "RON" },
                    "data_points": points,
                    "statistics": { "min": 0.0, "max": 1.5, "avg": 0.75, "sum": 1.5, "count": 2 },
                }],
                "words": [{ "label": label, "lines": ["Spending"] }],
                "warnings": [],
            }))
            .unwrap();
            let page = format!("{}{}", render_figure(&chart), render_numbers(&chart));
            assert!(!page.contains("<script"), "{chart_type}");
            assert!(!page.contains("NaN") && !page.contains("inf"), "{chart_type}");
            for part in ["role=\"img\"", "<title", "<desc", "<table>", "What is counted"] {
                assert!(page.contains(part), "{chart_type} lacks {part}");
            }
            assert!(!page.contains("style=") && !page.contains("<style"), "{chart_type}");
            assert!(filters::charts::render_csv(&chart).starts_with("period,\"'=cmd"));
        }
    }
}
