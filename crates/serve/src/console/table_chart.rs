//! A chart over any view of a table: what is counted or summed, by which field. It is drawn by the
//! tool that agents use, `chart_table`, kept like theirs, and opens as a page of its own.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::go_to;
use super::layout::{error_page, form_token};
use super::params::{Params, encoded};
use super::table_chips::in_words;
use super::table_filters::kept;
use super::tables::{View, view};
use super::viewer::{Posted, Viewer};

/// What can be made of the rows of a group.
const MEASURES: [(&str, &str); 8] = [
    ("count", "number of rows"),
    ("sum", "sum of"),
    ("avg", "average of"),
    ("median", "median of"),
    ("p95", "95th percentile of"),
    ("min", "least"),
    ("max", "greatest"),
    ("count_distinct", "different values of"),
];

/// Steps of time.
const BUCKETS: [&str; 7] = ["year", "quarter", "month", "week", "day", "hour", "weekday"];

/// The form; nothing where charts are not served to the viewer.
pub(super) fn form(viewer: &Viewer, view: &View, params: &Params) -> Markup {
    let is_served = viewer.app.tools.get("chart_table", &viewer.caller).is_some();
    if !is_served || viewer.may_change().is_err() {
        return html! {};
    }
    let of_type = |wanted: &[&str]| -> Vec<&String> {
        let is_wanted =
            |field: &Value| field["type"].as_str().is_some_and(|kind| wanted.contains(&kind));
        view.fields.iter().filter(|(_, field)| is_wanted(field)).map(|(name, _)| name).collect()
    };
    let numbers = of_type(&["number"]);
    let is_moment = |field: &Value| field["type"] == "timestamp";
    let moments: Vec<(&String, &str)> = view
        .fields
        .iter()
        .filter(|(_, field)| is_moment(field))
        .map(|(name, field)| (name, usual_bucket(field)))
        .collect();
    let others = view.fields.iter().filter(|(_, field)| !is_moment(field));
    let groups: Vec<&String> = others.map(|(name, _)| name).collect();
    html! {
        details .card {
            summary { "Chart this view" }
            form .toolbar method="post" action=(viewer.href(&format!("/tables/{}/chart", encoded(&view.name)))) {
                (form_token(viewer))
                (kept(&params.without("cursor").without("sort").without("desc"), ""))
                div .field { label for="measure" { "Show the" } select #measure name="measure" {
                    @for (op, label) in MEASURES { option value=(op) { (label) } } } }
                div .field { label for="of" { "of the field" } select #of name="of" { option value="" { "—" }
                    @for name in &numbers { option value=(name) { (name) } } } }
                div .field { label for="by" { "by" } select #by name="by" {
                    @for (name, usual) in &moments { @for bucket in BUCKETS { option value=(format!("{bucket}:{name}")) selected[bucket == *usual] { (name) " by " (bucket) } } }
                    @for name in &groups { option value=(format!(":{name}")) { (name) } } } }
                div .field { label for="split" { "a line for each" } select #split name="split" { option value="" { "—" }
                    @for name in &groups { option value=(name) { (name) } } } }
                div .field { label for="kind" { "as" } select #kind name="kind" {
                    @for kind in ["bar", "line", "area", "pie"] { option value=(kind) { (kind) } } } }
                button .primary type="submit" { "Draw" }
            }
            p .note { "The filters that hold are kept. The chart is listed under " a href=(viewer.href("/charts")) { "Charts" } "." }
        }
    }
}

/// The step of time that makes some ten to a hundred points of what a field holds.
fn usual_bucket(field: &Value) -> &'static str {
    const DAY_MILLIS: i64 = 86_400_000;
    let (Some(min), Some(max)) = (field["min"].as_i64(), field["max"].as_i64()) else {
        return "month";
    };
    match max.saturating_sub(min) / DAY_MILLIS {
        ..=2 => "hour",
        3..=100 => "day",
        101..=2_000 => "month",
        _ => "year",
    }
}

/// The most characters of a title.
const MAX_TITLE_CHARS: usize = 240;

/// What a chart is of: what it measures, and the filters that hold. Two charts of one table are told
/// from each other by it; what does not fit is under the chart.
fn title(head: &str, split: &str, filters: &[String]) -> String {
    let mut title = head.to_owned();
    if !split.is_empty() {
        title.push_str(&format!(" and {split}"));
    }
    for (position, filter) in filters.iter().enumerate() {
        let mark = if position == 0 { ", where " } else { "; " };
        title.push_str(mark);
        title.push_str(filter);
    }
    if title.chars().count() > MAX_TITLE_CHARS {
        title = title.chars().take(MAX_TITLE_CHARS - 1).collect();
        title.push('…');
    }
    title
}

/// Draws the chart and opens it.
pub(super) async fn draw(Path(name): Path<String>, posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    let drawn = match viewer.may_change() {
        Ok(()) => drawn(&viewer, name, &params).await,
        Err(error) => Err(error),
    };
    match drawn {
        Ok(id) => go_to(&viewer, &format!("/charts/{}", encoded(&id))),
        Err(error) => error_page(&viewer, &error),
    }
}

async fn drawn(viewer: &Viewer, name: String, params: &Params) -> Result<String, tools::ToolError> {
    let view = view(viewer, name, params).await?;
    let mut arguments = view.arguments();
    let (bucket, by) = params.text("by").split_once(':').unwrap_or(("", params.text("by")));
    let mut groups = match bucket {
        "" => vec![json!(by)],
        bucket => vec![json!({ "field": by, "bucket": bucket })],
    };
    groups.extend(params.get("split").filter(|split| *split != by).map(|split| json!(split)));
    let measure = params.get("measure").unwrap_or("count");
    let mut measures = json!([{ "op": measure }]);
    let of = params.get("of").filter(|_| measure != "count");
    if let Some(field) = of {
        measures[0]["field"] = json!(field);
    }
    let label = MEASURES.iter().find(|(op, _)| *op == measure).map_or(measure, |(_, label)| *label);
    arguments["group_by"] = json!(groups);
    arguments["measures"] = measures;
    arguments["chart_type"] = json!(params.get("kind").unwrap_or("bar"));
    let split = groups.get(1).and_then(Value::as_str).unwrap_or_default();
    let filters = in_words(&view.fields, &view.filters);
    let head = format!("{}: {label} {} by {by}", view.name, of.unwrap_or_default());
    arguments["title"] = json!(title(&head.replace("  ", " "), split, &filters));
    let reply = viewer.tool("chart_table", arguments).await?;
    Ok(reply.value["chart_id"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_names_the_filters_that_hold() {
        let filters = ["level: error".to_owned(), "host begins with api".to_owned()];
        assert_eq!(title("t: number of rows by day", "", &[]), "t: number of rows by day");
        assert_eq!(
            title("t: number of rows by day", "status", &filters),
            "t: number of rows by day and status, where level: error; host begins with api"
        );
        let long = title("t", "", &["x".repeat(5_000)]);
        assert!(long.chars().count() == MAX_TITLE_CHARS && long.ends_with('…'), "{long}");
    }

    #[test]
    fn a_chart_begins_with_a_step_that_shows_something() {
        let check = |days: i64, expected: &str| {
            let field = json!({ "type": "timestamp", "min": 0, "max": days * 86_400_000 });
            assert_eq!(usual_bucket(&field), expected, "{days} days");
            assert!(BUCKETS.contains(&expected));
        };
        check(0, "hour");
        check(30, "day");
        check(364, "month");
        check(20_000, "year");
        assert_eq!(usual_bucket(&json!({ "min": null })), "month");
    }
}
