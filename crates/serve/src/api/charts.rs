//! `/v1/charts`: the charts that are kept for the caller's tenant.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use filters::charts::{ChartId, ChartSummary, Charts};
use model::{Timestamp, iso};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::erasure::{Deleted, What};
use super::operation::{Api, Doc};
use super::paging::{Page, PageOf, newest_first};
use super::rest::{Reply, Rest};
use super::views::{ChartSummaryView, ChartView, GoneView};
use super::wire::PointParameters;
use crate::App;
use crate::http::QueryParameters;

pub(super) fn routes() -> Api {
    const TAG: &str = "charts";
    let what = "List the stored charts, the newest first";
    Api::default()
        .get("/v1/charts", list, Doc::page::<ChartSummaryView>(TAG, what, "charts"))
        .get(
            "/v1/charts/{id}",
            one,
            Doc::new::<ChartView>(TAG, "Give a chart with its series")
                .with_query::<PointParameters>(),
        )
        .delete("/v1/charts/{id}", delete, Doc::new::<GoneView>(TAG, "Forget a chart"))
}

async fn list(rest: Rest, page: PageOf) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("GET /v1/charts", move |caller, _| {
        let page = Page::read("charts", page, app.caps())?;
        let base = app.server.link_base();
        let charts = charts_of(&app)?.list(caller).map_err(|error| failed(&error, ""))?;
        let charts = charts
            .iter()
            .map(|chart| (newest_first(chart.made_at, chart.id.as_str()), summary(&base, chart)));
        Ok(page.reply(charts.collect()))
    })
    .await
}

async fn one(
    rest: Rest,
    Path(id): Path<ChartId>,
    QueryParameters(points): QueryParameters<PointParameters>,
) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("GET /v1/charts/{id}", move |caller, _| {
        let points = points?;
        let begin = match points.after.as_deref().filter(|after| !after.is_empty()) {
            None => 0,
            Some(after) => begin_of(id.as_str(), after)?,
        };
        let chart =
            charts_of(&app)?.get(caller, &id).map_err(|error| failed(&error, id.as_str()))?;
        let warnings = chart.warnings.iter().map(|warning| warning.message.clone());
        let value = json!(ChartView {
            url: format!("{}/charts/{}", app.server.link_base(), chart.id),
            made_at: iso(chart.made_at),
            expires_at: iso(chart.expires_at),
            request: json!(chart.request),
            data_series: json!(chart.series),
            warnings: warnings.collect(),
            made_by: chart.made_by,
            id: chart.id.to_string(),
        });
        let budget = app.caps().before_redaction();
        Ok(Reply::ok(tools::filters::points_within(value, id.as_str(), begin, &budget)))
    })
    .await
}

/// Reads `next` of the answer before: the chart and how many points of it were given.
fn begin_of(id: &str, after: &str) -> Result<usize, ToolError> {
    let position = after.strip_prefix(id).and_then(|rest| rest.strip_prefix(':')?.parse().ok());
    position.ok_or_else(|| {
        let shown: String = after.chars().take(100).collect();
        ToolError::bad_request(format!("`after` is not a cursor of this chart: `{shown}`"))
            .with_detail("argument", "after")
            .with_hint("pass `next` of the answer before, or leave it out to begin again")
    })
}

async fn delete(rest: Rest, Path(id): Path<ChartId>) -> Response {
    let app = Arc::clone(&rest.app);
    rest.answer("DELETE /v1/charts/{id}", move |caller, _| {
        charts_of(&app)?.delete(caller, &id).map_err(|error| failed(&error, id.as_str()))?;
        let deleted = Deleted { since: Timestamp(0), what: What::Chart { id: id.to_string() } };
        Ok(Reply::ok(json!(GoneView { id: id.to_string(), deleted: Some(true) }))
            .with_deleted(Some(deleted)))
    })
    .await
}

fn summary(base: &str, chart: &ChartSummary) -> Value {
    json!(ChartSummaryView {
        id: chart.id.to_string(),
        title: chart.title.clone(),
        url: format!("{base}/charts/{}", chart.id),
        made_by: chart.made_by.clone(),
        made_at: iso(chart.made_at),
        expires_at: iso(chart.expires_at),
    })
}

fn charts_of(app: &App) -> Result<&Charts, ToolError> {
    app.charts.as_deref().ok_or_else(|| {
        ToolError::new(
            Code::NotFound,
            "there is nothing to chart: no tables and no facts are configured",
        )
        .with_hint("add `[[tables]]` or a `[charts]` section to the configuration")
    })
}

/// Says that charts cannot be had now, or that this one is not there.
fn failed(error: &filters::Error, id: &str) -> ToolError {
    if matches!(error, filters::Error::Store(_)) {
        return tools::filters::chart_error(error);
    }
    missing(id)
}

/// Says that a chart is not there, or not for this caller.
pub(crate) fn missing(id: &str) -> ToolError {
    let id = ingest::shown_id(id);
    ToolError::new(Code::NotFound, format!("there is no chart `{id}`"))
        .with_detail("received", id)
        .with_hint("`GET /v1/charts` lists those that you may see; a chart is kept for a time")
}
