//! `/charts/{id}`: a chart that an agent made.

use axum::extract::{Path, State};
use axum::response::Response;
use filters::charts::render_page;
use http::HeaderMap;
use tools::{Code, ToolError};

use super::frame::{for_caller, html};
use crate::http::Doors;

/// Shows a chart.
pub(super) async fn page(
    State(doors): State<Doors>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let app = doors.shared.load();
    let charts = app.charts.clone();
    let page = for_caller(&app, &headers, "charts", None, move |caller, _| {
        let missing = || ToolError::new(Code::NotFound, "this chart does not exist");
        let charts = charts.ok_or_else(missing)?;
        charts.get(caller, &id).map(|chart| render_page(&chart)).map_err(|_| missing())
    });
    match page.await {
        Ok(page) => html(page),
        Err(refusal) => refusal,
    }
}
