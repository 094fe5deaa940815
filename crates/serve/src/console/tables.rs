//! `/tables`: rows with facets, filters as chips, sorting, paging, fields and export. Every view
//! is an address, and the export gives exactly what the view shows.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use model::Timestamp;
use serde_json::{Map, Value, json};
use tools::{Code, ToolError};

use super::bars;
use super::jobs::short_time;
use super::layout::{Section, empty, error_page, no_tool, page, problem, shown};
use super::params::{Params, encoded};
use super::table_chart;
use super::table_chips::chips;
use super::table_export::FORMATS;
use super::table_filters::{filter_side, read_each, read_filters};
use super::table_refused::{Refused, refused};
use super::time::{counted, thousands};
use super::viewer::Viewer;

/// Rows of one page.
const PAGE_SIZE: usize = 50;

/// Cells up to this length stay on one line.
const SHORT_CELL: usize = 48;

/// Lists the tables, or goes to the only one.
pub(super) async fn list(viewer: Viewer) -> Response {
    let names = names(&viewer).await;
    let about = about(&viewer, &names).await;
    let body = html! {
        h1 { "Tables" }
        @if names.is_empty() && !viewer.has_tool("query_table") { (no_tool("query_table")) }
        @else if names.is_empty() {
            (empty("No table is configured.", &html! { p { "Add one to " code { "dowse.toml" } " with " code { "[[tables]]" } ": CSV, JSON lines, Parquet, SQLite or PostgreSQL." } }))
        } @else {
            ul .cards { @for (position, name) in names.iter().enumerate() {
                @let about = about.get(position);
                li { a href=(viewer.href(&format!("/tables/{}", encoded(name)))) {
                    strong { (name) @if let Some(About { n_rows: Some(n_rows), .. }) = about { small { (counted(*n_rows, "row")) } } }
                    span { @match about {
                        Some(About { problem: Some(problem), .. }) => (problem),
                        Some(About { fields, .. }) if !fields.is_empty() => (fields),
                        _ => "Rows, facets, fields",
                    } } } }
            } }
        }
    };
    page(&viewer, Section::Tables, "Tables", &body)
}

/// Tables of which the list says how large they are: each is asked for it.
const DESCRIBED: usize = 24;

/// Fields that the list names of a table.
const NAMED_FIELDS: usize = 6;

/// What the list says of a table.
struct About {
    n_rows: Option<u64>,
    /// The names of its first fields.
    fields: String,
    /// Why nothing is known of it.
    problem: Option<String>,
}

/// Asks the first tables what they hold, side by side.
async fn about(viewer: &Viewer, names: &[String]) -> Vec<About> {
    let is_named = n_named(viewer) > 0;
    let asked = names.iter().take(DESCRIBED).map(|name| {
        let arguments = if is_named { json!({ "table": name }) } else { json!({}) };
        async move { said_about(viewer.tool("describe_schema", arguments).await) }
    });
    futures::future::join_all(asked).await
}

fn said_about(described: Result<super::viewer::ToolReply, ToolError>) -> About {
    let described = match described {
        Ok(reply) => reply.value,
        Err(error) => {
            return About { n_rows: None, fields: String::new(), problem: Some(error.message) };
        }
    };
    let fields = described["schema"]["properties"].as_object();
    let mut named: Vec<&str> =
        fields.into_iter().flat_map(Map::keys).map(String::as_str).take(NAMED_FIELDS + 1).collect();
    if named.len() > NAMED_FIELDS {
        named[NAMED_FIELDS] = "…";
    }
    About { n_rows: described["total"].as_u64(), fields: named.join(", "), problem: None }
}

/// How many tables the schema of the tool names; none where there is only one.
fn n_named(viewer: &Viewer) -> usize {
    let tool = viewer.app.tools.get("query_table", &viewer.caller);
    tool.map_or(0, |tool| table_names(&tool.spec.input).len())
}

/// How many tables the caller may see.
pub(super) fn n_tables(viewer: &Viewer) -> usize {
    let has_tables = viewer.app.tools.get("query_table", &viewer.caller).is_some();
    if has_tables { n_named(viewer).max(1) } else { 0 }
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
pub(super) struct View {
    pub(super) name: String,
    /// Whether the tools ask for the table's name.
    pub(super) is_named: bool,
    pub(super) fields: Vec<(String, Value)>,
    pub(super) filters: Map<String, Value>,
    /// What the table says of itself, such as cells that do not fit its schema.
    warnings: Vec<String>,
    /// What of the address cannot be shown.
    pub(super) refused: Option<Refused>,
}

impl View {
    /// The arguments that both tools take for this view.
    pub(super) fn arguments(&self) -> Value {
        let mut arguments = json!({ "filters": self.filters });
        if self.is_named {
            arguments["table"] = json!(self.name);
        }
        arguments
    }

    /// The arguments that give the values to choose from; the rows come with another call.
    pub(super) fn facets(&self) -> Value {
        let mut arguments = self.arguments();
        arguments["format"] = json!("stats");
        arguments["pageSize"] = json!(1);
        arguments
    }
}

/// Reads what the address describes.
///
/// Fails when there is no such table for the viewer, or a filter cannot be read.
pub(super) async fn view(
    viewer: &Viewer,
    name: String,
    params: &Params,
) -> Result<View, ToolError> {
    let mut view = described(viewer, name).await?;
    view.filters = read_filters(&view.fields, params)?;
    Ok(view)
}

/// A table without filters.
async fn described(viewer: &Viewer, name: String) -> Result<View, ToolError> {
    let tool = viewer.app.tools.get("query_table", &viewer.caller);
    let listed = tool.map(|tool| table_names(&tool.spec.input)).unwrap_or_default();
    let is_named = !listed.is_empty();
    // Without `detail` the tool says too little for a page: no counts, no ranges, no operators.
    let mut arguments = json!({ "detail": true });
    if is_named {
        arguments["table"] = json!(name);
    }
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    // A table of very many fields is described in pages.
    loop {
        let described = viewer.tool("describe_schema", arguments.clone()).await?.value;
        if described["table"].as_str() != Some(name.as_str()) {
            return Err(ToolError::new(Code::NotFound, format!("there is no table `{name}`"))
                .with_hint("the page Tables lists those that there are"));
        }
        if fields.is_empty() {
            warnings.extend(described["warnings"].as_array().into_iter().flatten().map(shown));
        }
        let more = described["fields"].as_object().into_iter().flatten();
        let n_before = fields.len();
        fields.extend(more.map(|(name, field)| (name.clone(), field.clone())));
        match described["next"].as_str().filter(|_| fields.len() > n_before) {
            Some(next) => arguments["cursor"] = json!(next),
            None => break,
        }
    }
    Ok(View { name, is_named, fields, filters: Map::new(), warnings, refused: None })
}

/// Shows a page of rows.
pub(super) async fn one(viewer: Viewer, Path(name): Path<String>, params: Params) -> Response {
    let mut view = match described(&viewer, name).await {
        Ok(view) => view,
        Err(error) => return error_page(&viewer, &error),
    };
    let (filters, errors) = read_each(&view.fields, &params);
    if !errors.is_empty() {
        return refused(&viewer, view, &params, errors).await;
    }
    view.filters = filters;
    let mut rows = view.arguments();
    rows["pageSize"] = json!(PAGE_SIZE);
    if let Some(cursor) = params.get("cursor") {
        rows["cursor"] = json!(cursor);
    }
    if let Some(sort) = params.get("sort") {
        rows["sort"] = json!({ "id": sort, "desc": params.get("desc").is_some() });
    }
    let mut facets = view.facets();
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
    let rows = match rows {
        Ok(reply) => reply.value,
        // A sort or cursor of the address that means nothing: no count is shown for it.
        Err(error) => return refused(&viewer, view, &params, vec![error]).await,
    };
    let total = rows["total"].as_u64().unwrap_or_default() as usize;
    let body = html! {
        p .crumbs { a href=(viewer.href("/tables")) { "Tables" } " / " (view.name) }
        div .head {
            h1 { (view.name) }
            div .actions {
                a .button.small.narrow href="#filters" { "Filters" }
                span .note { (counted(total as u64, "row")) ", all of them as" }
                @for (format, label) in FORMATS {
                    a .button.small href=(export_link(&viewer, &view, &params, format)) { (label) }
                }
            }
        }
        (chips(&viewer, &view, &params))
        div .split {
            div {
                @if let (Ok(reply), Some(field)) = (&facets, &moment) { (series(field, &reply.value)) }
                (row_table(&viewer, &view, &params, &rows))
                (table_chart::form(&viewer, &view, &params))
                h2 { "Fields" }
                (field_table(&view))
            }
            aside #filters aria-label="Filters" {
                @match &facets {
                    Ok(reply) => (filter_side(&viewer, &view, &params, &reply.value)),
                    Err(error) => (problem(error)),
                }
            }
        }
    };
    page(&viewer, Section::Tables, &view.name, &body)
}

/// Where a view of a table is.
pub(super) fn address(viewer: &Viewer, view: &View, params: &Params) -> String {
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
    html! { @if points.len() > 1 { figure .chart { (bars::bars(&format!("Rows by {field}"), &points))
    figcaption { "Rows by " (field) span .when-narrow { ": " (bars::in_words(&points)) } } } } }
}

/// The least or greatest value of a field; a moment as the rows show it.
pub(super) fn bound(value: &Value, field: &Value) -> String {
    match value.as_i64().filter(|_| field["type"] == "timestamp") {
        Some(millis) => short_time(&model::iso(Timestamp(millis))),
        None => shown(value),
    }
}

fn count(value: &Value) -> String {
    value.as_u64().map_or_else(|| shown(value), |number| thousands(number as usize))
}

pub(super) fn field_table(view: &View) -> Markup {
    html! {
        @for warning in &view.warnings { p .warnings { (warning) } }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Field" } th scope="col" { "Type" } th scope="col" { "How it is filtered" } th scope="col" .num { "Distinct" } th scope="col" { "From" } th scope="col" { "To" } th scope="col" .num { "Without a value" } } }
            tbody { @for (name, field) in &view.fields { tr {
                td { code { (name) } } td { (shown(&field["type"])) } td { (shown(&field["match"])) }
                td .num { (count(&field["distinct"])) } td .nowrap { (bound(&field["min"], field)) } td .nowrap { (bound(&field["max"], field)) }
                td .num { (count(field.get("null").unwrap_or(&json!(0)))) }
            } } }
        } }
    }
}
