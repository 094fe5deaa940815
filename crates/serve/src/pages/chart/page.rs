//! The whole page around the drawing.

use std::fmt::Write as _;

use draw::{Layout, NARROW, WIDE, escape as html, full, keys, marks};
use filters::charts::{Chart, ChartType, render_csv};

use super::style::STYLE;
use super::table;
use crate::pages::escape::percent_encode as percent;

/// Draws the page of a chart: title, picture, legend, numbers, filters in words, download.
///
/// The page needs nothing else: no script, no font, no picture from anywhere. Every text of the
/// chart is escaped.
pub(crate) fn render_page(chart: &Chart) -> String {
    let title = html(&chart.request.title);
    let description = chart.request.description.as_deref().unwrap_or_default();
    let lead = if description.is_empty() {
        String::new()
    } else {
        format!(r#"<p class="lead">{}</p>"#, html(description))
    };
    format!(
        r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>{title}</title><style>{STYLE}</style></head>
<body><main><p class="above"><a href="../charts" target="_top">Charts</a> / {title}</p><h1>{title}</h1>{lead}
<figure>{wide}{narrow}<figcaption>{legend}</figcaption></figure>
{notes}
<p class="data"><a download="{file}.csv" href="data:text/csv;charset=utf-8,{csv}">Download the data (CSV)</a> · Picture: <a href="{id}.png">PNG</a>, <a href="{id}.svg">SVG</a></p>
<h2>Numbers</h2>
{points}{statistics}
<h2>What is counted</h2>
{words}
<footer>Chart {id}, made {made}, kept until {until}.</footer>
</main></body></html>
"#,
        wide = drawing(chart, WIDE),
        narrow = drawing(chart, NARROW),
        legend = legend(chart),
        notes = notes(chart),
        file = file_name(&chart.request.title),
        csv = percent(&render_csv(chart)),
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
fn file_name(title: &str) -> String {
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
            let page = render_page(&chart);
            assert!(!page.contains("<script"), "{chart_type}");
            assert!(!page.contains("NaN") && !page.contains("inf"), "{chart_type}");
            for part in [
                "role=\"img\"",
                "<title",
                "<desc",
                "<table>",
                "download=",
                "prefers-color-scheme",
                "What is counted",
            ] {
                assert!(page.contains(part), "{chart_type} lacks {part}");
            }
            assert!(render_csv(&chart).starts_with("period,\"'=cmd"));
        }
    }
}
