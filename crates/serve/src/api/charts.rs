//! `/v1/charts`: the charts that are kept for the caller's tenant.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::response::Response;
use axum::routing::get;
use filters::charts::{ChartSummary, Charts};
use model::iso;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::paging::{Page, PageOf, newest_first};
use super::rest::{Reply, Rest};
use crate::App;
use crate::http::HttpState;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/charts", get(list)).route("/v1/charts/{id}", get(one).delete(delete))
}

async fn list(rest: Rest, page: PageOf) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("GET /v1/charts", move |caller, _| {
        let page = Page::read(page, app.caps())?;
        let base = app.server.link_base();
        let charts = charts_of(&app)?.list(caller);
        let charts = charts
            .iter()
            .map(|chart| (newest_first(chart.made_at, &chart.id), summary(&base, chart)));
        Ok(page.reply("charts", charts.collect()))
    })
    .await
}

/// Which points of a chart are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointsOf {
    after: Option<String>,
}

async fn one(
    rest: Rest,
    Path(id): Path<String>,
    points: Result<Query<PointsOf>, QueryRejection>,
) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("GET /v1/charts/{id}", move |caller, _| {
        let Query(points) = points.map_err(|wrong| ToolError::bad_request(wrong.body_text()))?;
        let begin = match points.after.as_deref().filter(|after| !after.is_empty()) {
            None => 0,
            Some(after) => begin_of(&id, after)?,
        };
        let chart = charts_of(&app)?.get(caller, &id).map_err(|_| missing())?;
        let value = json!({
            "id": chart.id,
            "url": format!("{}/charts/{}", app.server.link_base(), chart.id),
            "made_by": chart.made_by,
            "made_at": iso(chart.made_at),
            "expires_at": iso(chart.expires_at),
            "request": chart.request,
            "data_series": chart.series,
            "warnings": chart.warnings.iter().map(|warning| &warning.message).collect::<Vec<_>>(),
        });
        let budget = app.caps().before_redaction();
        Ok(Reply::ok(tools::filters::points_within(value, &id, begin, &budget)))
    })
    .await
}

/// Reads `next` of the answer before: the chart and how many points of it were given.
fn begin_of(id: &str, after: &str) -> Result<usize, ToolError> {
    let position = after.strip_prefix(id).and_then(|rest| rest.strip_prefix(':')?.parse().ok());
    position.ok_or_else(|| {
        let shown: String = after.chars().take(100).collect();
        ToolError::bad_request(format!("`after` is no cursor of this chart: `{shown}`"))
            .with_detail("argument", "after")
            .with_hint("pass `next` of the answer before, or leave it out to begin again")
    })
}

async fn delete(rest: Rest, Path(id): Path<String>) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("DELETE /v1/charts/{id}", move |caller, _| {
        charts_of(&app)?.delete(caller, &id).map_err(|_| missing())?;
        Ok(Reply::ok(json!({ "id": id, "deleted": true })))
    })
    .await
}

fn summary(base: &str, chart: &ChartSummary) -> Value {
    json!({
        "id": chart.id,
        "title": chart.title,
        "url": format!("{base}/charts/{}", chart.id),
        "made_by": chart.made_by,
        "made_at": iso(chart.made_at),
        "expires_at": iso(chart.expires_at),
    })
}

fn charts_of(app: &App) -> Result<&Charts, ToolError> {
    app.charts.as_deref().ok_or_else(|| {
        ToolError::new(Code::NotFound, "no facts for charts are configured")
            .with_hint("add a `[charts]` section to the configuration")
    })
}

fn missing() -> ToolError {
    ToolError::new(Code::NotFound, "this chart does not exist")
        .with_hint("`GET /v1/charts` lists those that do")
}
