//! `/tables`: rows with facets, filters as chips, sorting, paging, fields and export. Every view
//! is an address, and the export gives exactly what the view shows.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use maud::{Markup, html};
use model::Timestamp;
use serde_json::{Map, Value, json};
use tools::{Code, ToolError};

use super::bars;
use super::jobs::short_time;
use super::layout::{Section, empty, error_page, page, problem, shown};
use super::params::{Params, encoded};
use super::time::thousands;
use super::viewer::Viewer;

/// Rows of one page.
const PAGE_SIZE: usize = 50;

/// Rows of one page of an export.
const EXPORT_PAGE: usize = 500;

/// Rows of one export; larger sets are exported with narrower filters.
const EXPORT_ROWS: usize = 100_000;

/// Cells up to this length stay on one line.
const SHORT_CELL: usize = 48;

/// Values of a facet that are shown.
const SHOWN_VALUES: usize = 12;

/// Lists the tables, or goes to the only one.
pub(super) async fn list(viewer: Viewer) -> Response {
    let names = names(&viewer).await;
    let body = html! {
        h1 { "Tables" }
        @if names.is_empty() {
            (empty("No table is configured.", &html! { p { "Add one to " code { "dowse.toml" } " with " code { "[[tables]]" } ": CSV, JSON lines, Parquet, SQLite or PostgreSQL." } }))
        } @else {
            ul .cards { @for name in &names {
                li { a href=(viewer.href(&format!("/tables/{}", encoded(name)))) { strong { (name) } span { "Rows, facets, fields" } } }
            } }
        }
    };
    page(&viewer, Section::Tables, "Tables", &body)
}

/// The tables that the caller may see: named in the tool's schema, or the only one.
async fn names(viewer: &Viewer) -> Vec<String> {
    let Some(tool) = viewer.app.tools.get("query_table", &viewer.caller) else { return Vec::new() };
    let listed: Vec<String> = table_names(&tool.spec.input);
    if !listed.is_empty() {
        return listed;
    }
    let described = viewer.tool("describe_schema", json!({})).await;
    described
        .ok()
        .and_then(|reply| reply.value["table"].as_str().map(str::to_owned))
        .into_iter()
        .collect()
}

fn table_names(schema: &Map<String, Value>) -> Vec<String> {
    let names =
        schema.get("properties").and_then(|properties| properties["table"]["enum"].as_array());
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A table as the address describes it.
struct View {
    name: String,
    /// Whether the tools ask for the table's name.
    is_named: bool,
    fields: Vec<(String, Value)>,
    filters: Map<String, Value>,
}

impl View {
    fn arguments(&self) -> Value {
        let mut arguments = json!({ "filters": self.filters });
        if self.is_named {
            arguments["table"] = json!(self.name);
        }
        arguments
    }
}

async fn view(viewer: &Viewer, name: String, params: &Params) -> Result<View, ToolError> {
    let tool = viewer.app.tools.get("query_table", &viewer.caller);
    let listed = tool.map(|tool| table_names(&tool.spec.input)).unwrap_or_default();
    let is_named = !listed.is_empty();
    // Without `detail` the tool says too little for a page: no counts, no ranges, no operators.
    let mut arguments = json!({ "detail": true });
    if is_named {
        arguments["table"] = json!(name);
    }
    let described = viewer.tool("describe_schema", arguments).await?.value;
    if described["table"].as_str() != Some(name.as_str()) {
        return Err(ToolError::new(Code::NotFound, format!("there is no table `{name}`"))
            .with_hint("the page Tables lists those that there are"));
    }
    let fields: Vec<(String, Value)> = described["fields"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| (name.clone(), field.clone()))
        .collect();
    let filters = read_filters(&fields, params);
    Ok(View { name, is_named, fields, filters })
}

fn is_numeric(field: &Value) -> bool {
    matches!(field["type"].as_str(), Some("number" | "timestamp"))
}

fn is_range(field: &Value) -> bool {
    field["match"].as_str().is_some_and(|text| text.contains("range"))
}

/// Reads `f.NAME` (values), `min.NAME` and `max.NAME` of an address.
fn read_filters(fields: &[(String, Value)], params: &Params) -> Map<String, Value> {
    let mut filters = Map::new();
    for (name, field) in fields {
        let value_of = |text: &str| match text.parse::<f64>() {
            Ok(number) if is_numeric(field) => number_value(number),
            _ if field["type"] == "boolean" => json!(text == "true"),
            _ => json!(text),
        };
        if is_range(field) {
            let end = |which: &str| params.get(&format!("{which}.{name}")).map(value_of);
            let (least, most) = (end("min"), end("max"));
            let bound = |which: &str| field.get(which).cloned().unwrap_or(Value::Null);
            match (least, most) {
                (None, None) => {}
                (least, most) => {
                    let range = [
                        least.unwrap_or_else(|| bound("min")),
                        most.unwrap_or_else(|| bound("max")),
                    ];
                    filters.insert(name.clone(), json!(range));
                }
            }
            continue;
        }
        let given_name = format!("f.{name}");
        let given: Vec<Value> = params.all(&given_name).map(value_of).collect();
        if given.is_empty() {
            continue;
        }
        let is_list = field["match"].as_str().is_some_and(|text| text.contains("any of"));
        let value = if is_list {
            Value::Array(given)
        } else {
            given.into_iter().next().unwrap_or_default()
        };
        filters.insert(name.clone(), value);
    }
    filters
}

fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

/// Shows a page of rows.
pub(super) async fn one(viewer: Viewer, Path(name): Path<String>, params: Params) -> Response {
    let view = match view(&viewer, name, &params).await {
        Ok(view) => view,
        Err(error) => return error_page(&viewer, &error),
    };
    let mut rows = view.arguments();
    rows["pageSize"] = json!(PAGE_SIZE);
    if let Some(cursor) = params.get("cursor") {
        rows["cursor"] = json!(cursor);
    }
    if let Some(sort) = params.get("sort") {
        rows["sort"] = json!({ "id": sort, "desc": params.get("desc").is_some() });
    }
    let mut facets = view.arguments();
    facets["format"] = json!("stats");
    let moment = view
        .fields
        .iter()
        .find(|(_, field)| field["type"] == "timestamp")
        .map(|(name, _)| name.clone());
    if let Some(field) = &moment {
        facets["series"] = json!({ "field": field });
    }
    let (rows, facets) =
        tokio::join!(viewer.tool("query_table", rows), viewer.tool("query_table", facets));
    let total =
        rows.as_ref().ok().and_then(|reply| reply.value["total"].as_u64()).unwrap_or_default()
            as usize;
    let body = html! {
        p .crumbs { a href=(viewer.href("/tables")) { "Tables" } " / " (view.name) }
        div .head {
            h1 { (view.name) }
            div .actions {
                span .note { (thousands(total)) " rows" }
                a .button.small href=(export_link(&viewer, &view, &params, "csv")) { "Export CSV" }
                a .button.small href=(export_link(&viewer, &view, &params, "json")) { "Export JSON" }
            }
        }
        (chips(&viewer, &view, &params))
        div .split {
            aside aria-label="Filters" {
                @match &facets {
                    Ok(reply) => (filter_side(&viewer, &view, &params, &reply.value)),
                    Err(error) => (problem(error)),
                }
            }
            div {
                @if let (Ok(reply), Some(field)) = (&facets, &moment) { (series(field, &reply.value)) }
                @match &rows {
                    Ok(reply) => (row_table(&viewer, &view, &params, &reply.value)),
                    Err(error) => (problem(error)),
                }
                h2 { "Fields" }
                (field_table(&view))
            }
        }
    };
    page(&viewer, Section::Tables, &view.name, &body)
}

fn address(viewer: &Viewer, view: &View, params: &Params) -> String {
    viewer.link(&format!("/tables/{}", encoded(&view.name)), params)
}

fn export_link(viewer: &Viewer, view: &View, params: &Params, format: &str) -> String {
    viewer.link(
        &format!("/tables/{}/export", encoded(&view.name)),
        &params.without("cursor").with("format", format),
    )
}

/// A cell as a person reads it: moments without the letters of ISO 8601.
fn cell_text(value: &Value, field: &Value) -> String {
    let text = shown(value);
    if field["type"] == "timestamp" { short_time(&text) } else { text }
}

/// The filters that hold, each with a link that takes it away.
fn chips(viewer: &Viewer, view: &View, params: &Params) -> Markup {
    let params = params.without("cursor");
    html! {
        @if !view.filters.is_empty() {
            ul .chips aria-label="Filters that hold" {
                @for (name, value) in &view.filters {
                    @let without = params.without(&format!("f.{name}")).without(&format!("min.{name}")).without(&format!("max.{name}"));
                    li { a .chip aria-current="true" href=(address(viewer, view, &without)) {
                        (name) ": " (shown(value)) span aria-hidden="true" { "×" } span .visually-hidden { " remove" } } }
                }
                li { a .chip.clear href=(address(viewer, view, &Params::default())) { "Clear all" } }
            }
        }
    }
}

fn filter_side(viewer: &Viewer, view: &View, params: &Params, answer: &Value) -> Markup {
    let clean = params.without("cursor");
    html! {
        div .filters {
            @for (name, field) in &view.fields {
                @let facet = &answer["facets"][name];
                details open[view.filters.contains_key(name) || !is_range(field)] {
                    summary { (name) @if let Some(unit) = field["unit"].as_str() { span .note { " (" (unit) ")" } } }
                    @if is_range(field) { (range_form(viewer, view, params, name, field, facet)) }
                    @else { (values(viewer, view, &clean, name, field, facet)) }
                }
            }
        }
    }
}

fn values(
    viewer: &Viewer,
    view: &View,
    params: &Params,
    name: &str,
    field: &Value,
    facet: &Value,
) -> Markup {
    let rows =
        facet["rows"].as_array().or(field["top"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let key = format!("f.{name}");
    let is_list = field["match"].as_str().is_some_and(|text| text.contains("any of"));
    html! {
        @if !is_list {
            form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
                (kept(params, &key))
                input type="text" name=(key) value=(params.text(&key)) aria-label=(format!("{name} contains")) placeholder="contains";
            }
        }
        ul { @for row in rows.iter().take(SHOWN_VALUES) {
            @let value = shown(&row["value"]);
            @let link = if is_list { params.toggled(&key, &value) } else { params.with(&key, &value) };
            li { a href=(address(viewer, view, &link)) aria-current=[params.has(&key, &value).then_some("true")] {
                span { (value) } span .count { (thousands(row["total"].as_u64().unwrap_or_default() as usize)) } } }
        } }
        @if rows.len() > SHOWN_VALUES { p .note { (rows.len() - SHOWN_VALUES) " more values" } }
    }
}

fn range_form(
    viewer: &Viewer,
    view: &View,
    params: &Params,
    name: &str,
    field: &Value,
    facet: &Value,
) -> Markup {
    let (least, most) = (format!("min.{name}"), format!("max.{name}"));
    let bound = |which: &str| {
        shown(facet.get(which).filter(|value| !value.is_null()).unwrap_or(&field[which]))
    };
    html! {
        form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
            (kept(&params.without("cursor").without(&least).without(&most), ""))
            input type="text" inputmode="numeric" name=(least) value=(params.text(&least)) placeholder=(bound("min")) aria-label=(format!("{name} at least")) size="8";
            input type="text" inputmode="numeric" name=(most) value=(params.text(&most)) placeholder=(bound("max")) aria-label=(format!("{name} at most")) size="8";
            button .small type="submit" { "Apply" }
        }
        @if field["type"] == "timestamp" { p .note { "Milliseconds, or a date as 2024-05-30" } }
    }
}

/// The rest of the address, so that a form adds to it.
fn kept(params: &Params, without: &str) -> Markup {
    html! { @for (name, value) in params.pairs().filter(|(name, _)| *name != without) { input type="hidden" name=(name) value=(value); } }
}

fn row_table(viewer: &Viewer, view: &View, params: &Params, answer: &Value) -> Markup {
    let rows = answer["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sorted = params.get("sort");
    let is_down = params.get("desc").is_some();
    let clean = params.without("cursor");
    html! {
        @for warning in answer["warnings"].as_array().into_iter().flatten() { p .warnings { (shown(warning)) } }
        @if rows.is_empty() { (empty("No row fits.", &html! { p { a href=(address(viewer, view, &Params::default())) { "Clear the filters" } } })) }
        @else {
            div .scroll tabindex="0" role="region" aria-label="Rows" { table {
                thead { tr { @for (name, field) in &view.fields {
                    @let is_this = sorted == Some(name);
                    @let next = match (is_this, is_down) {
                        (true, false) => clean.with("desc", "1"),
                        (true, true) => clean.without("sort").without("desc"),
                        _ => clean.with("sort", name).without("desc"),
                    };
                    th scope="col" .num[field["type"] == "number"] aria-sort=[is_this.then_some(if is_down { "descending" } else { "ascending" })] {
                        a href=(address(viewer, view, &next)) { (name) @if is_this { (if is_down { " ↓" } else { " ↑" }) } } }
                } } }
                tbody { @for row in rows { tr { @for (name, field) in &view.fields {
                    @let text = cell_text(&row[name], field);
                    td .cell .nowrap[text.chars().count() <= SHORT_CELL] .num[field["type"] == "number"] { (text) } } } } }
            } }
            div .pager {
                @if params.get("cursor").is_some() { a .button href=(address(viewer, view, &clean)) { "First page" } }
                @if let Some(next) = answer["next"].as_str() { a .button rel="next" href=(address(viewer, view, &params.with("cursor", next))) { "Next page" } }
            }
        }
    }
}

fn series(field: &str, answer: &Value) -> Markup {
    let points: Vec<(String, f64)> = answer["series"]["points"]
        .as_array()
        .or(answer["series"].as_array())
        .into_iter()
        .flatten()
        .filter_map(|point| {
            let at = point.get("x").or(point.get("at")).or(point.get("start"))?;
            let at = match at.as_i64() {
                Some(millis) => short_time(&model::iso(Timestamp(millis))),
                None => shown(at),
            };
            let count =
                ["y", "value", "count", "total"].iter().find_map(|name| point[*name].as_f64())?;
            Some((at, count))
        })
        .collect();
    html! { @if points.len() > 1 { figure .chart { (bars::bars(&format!("Rows by {field}"), &points)) figcaption { "Rows by " (field) } } } }
}

fn field_table(view: &View) -> Markup {
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Field" } th scope="col" { "Type" } th scope="col" { "How it is filtered" } th scope="col" .num { "Distinct" } th scope="col" { "From" } th scope="col" { "To" } th scope="col" .num { "Cells that did not fit" } } }
            tbody { @for (name, field) in &view.fields { tr {
                td { code { (name) } } td { (shown(&field["type"])) } td { (shown(&field["match"])) }
                td .num { (shown(&field["distinct"])) } td { (shown(&field["min"])) } td { (shown(&field["max"])) }
                td .num { (shown(field.get("misfits").or(field.get("unreadable")).unwrap_or(&json!(0)))) }
            } } }
        } }
    }
}

/// Gives every row of the view, in its order, as CSV or JSON lines.
pub(super) async fn export(viewer: Viewer, Path(name): Path<String>, params: Params) -> Response {
    let view = match view(&viewer, name, &params).await {
        Ok(view) => view,
        Err(error) => return error_page(&viewer, &error),
    };
    let is_csv = params.get("format") != Some("json");
    let mut text = String::new();
    let mut cursor: Option<String> = None;
    let mut n_rows = 0;
    loop {
        let mut arguments = view.arguments();
        arguments["pageSize"] = json!(EXPORT_PAGE);
        if let Some(sort) = params.get("sort") {
            arguments["sort"] = json!({ "id": sort, "desc": params.get("desc").is_some() });
        }
        if let Some(cursor) = &cursor {
            arguments["cursor"] = json!(cursor);
        }
        let answer = match viewer.tool("query_table", arguments).await {
            Ok(reply) => reply.value,
            Err(error) => return error_page(&viewer, &error),
        };
        let total = answer["total"].as_u64().unwrap_or_default() as usize;
        if total > EXPORT_ROWS {
            let message =
                format!("{total} rows are more than an export gives: at most {EXPORT_ROWS}");
            return error_page(
                &viewer,
                &ToolError::new(Code::TooLarge, message).with_hint("narrow the filters"),
            );
        }
        if is_csv && n_rows == 0 {
            csv_line(&mut text, view.fields.iter().map(|(name, _)| name.clone()));
        }
        for row in answer["rows"].as_array().into_iter().flatten() {
            if is_csv {
                csv_line(&mut text, view.fields.iter().map(|(name, _)| cell(&row[name])));
            } else {
                text.push_str(&row.to_string());
                text.push('\n');
            }
            n_rows += 1;
        }
        cursor = answer["next"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let (kind, ending) =
        if is_csv { ("text/csv; charset=utf-8", "csv") } else { ("application/x-ndjson", "jsonl") };
    let plain: String = view
        .name
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
        .collect();
    let file = format!("attachment; filename=\"{plain}.{ending}\"");
    (
        [(CONTENT_TYPE, kind), (X_CONTENT_TYPE_OPTIONS, "nosniff")],
        [(CONTENT_DISPOSITION, file)],
        text,
    )
        .into_response()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(elements) => elements.iter().map(cell).collect::<Vec<_>>().join(";"),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            shown(other)
        }
    }
}

/// Writes a line as RFC 4180 has it; what a spreadsheet would run as a formula is defused.
fn csv_line(into: &mut String, cells: impl Iterator<Item = String>) {
    for (position, cell) in cells.enumerate() {
        if position > 0 {
            into.push(',');
        }
        let is_number = cell.parse::<f64>().is_ok();
        let cell = if !is_number && cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            format!("'{cell}")
        } else {
            cell
        };
        if cell.contains([',', '"', '\n', '\r']) {
            into.push('"');
            into.push_str(&cell.replace('"', "\"\""));
            into.push('"');
        } else {
            into.push_str(&cell);
        }
    }
    into.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cells_are_quoted_and_formulas_defused() {
        let mut text = String::new();
        let cells = ["a,b", "say \"x\"", "=1+1", "-5", "-x", "", "line\nbreak"];
        csv_line(&mut text, cells.iter().map(|cell| (*cell).to_owned()));
        assert_eq!(text, "\"a,b\",\"say \"\"x\"\"\",'=1+1,-5,'-x,,\"line\nbreak\"\r\n");
    }

    #[test]
    fn filters_are_read_in_the_types_of_their_fields() {
        let fields = vec![
            ("level".to_owned(), json!({ "type": "stringLiteral", "match": "any of" })),
            ("status".to_owned(), json!({ "type": "number", "match": "any of" })),
            ("host".to_owned(), json!({ "type": "string", "match": "contains the text" })),
            (
                "latency".to_owned(),
                json!({ "type": "number", "match": "[value]: equal; [min, max]: inclusive range", "min": 8, "max": 4346 }),
            ),
        ];
        let pairs = [
            ("f.level", "error"),
            ("f.level", "warning"),
            ("f.status", "500"),
            ("f.host", "api"),
            ("min.latency", "100"),
        ];
        let params = Params::new(
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        );
        assert_eq!(
            Value::Object(read_filters(&fields, &params)),
            json!({ "level": ["error", "warning"], "status": [500], "host": "api", "latency": [100, 4346] })
        );
    }
}
