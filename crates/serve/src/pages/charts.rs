//! `/charts`: the charts that agents made, each as a page and as CSV.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use filters::charts::{ChartSummary, render_csv};
use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use knowledge::iso;
use tools::{Code, ToolError};

use super::chart::render_page;
use super::escape::escape;
use super::frame::{for_caller, html};
use crate::http::Doors;

/// Charts of one list.
const MAX_LISTED: usize = 500;

/// Lists the charts of the caller's tenant, newest first.
pub(super) async fn list(State(doors): State<Doors>, headers: HeaderMap) -> Response {
    let app = doors.shared.load();
    let charts = app.charts.clone();
    let page = for_caller(&app, &headers, "charts", None, move |caller, _| {
        Ok(listed(&charts.map(|charts| charts.list(caller)).unwrap_or_default()))
    });
    match page.await {
        Ok(page) => html(page),
        Err(refusal) => refusal,
    }
}

/// Shows a chart, or gives its numbers where the address ends in `.csv`.
pub(super) async fn page(
    State(doors): State<Doors>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let app = doors.shared.load();
    let charts = app.charts.clone();
    let (id, is_csv) = match name.strip_suffix(".csv") {
        Some(id) => (id.to_owned(), true),
        None => (name, false),
    };
    let page = for_caller(&app, &headers, "charts", None, move |caller, _| {
        let missing = || ToolError::new(Code::NotFound, "this chart does not exist");
        let charts = charts.ok_or_else(missing)?;
        let chart = charts.get(caller, &id).map_err(|_| missing())?;
        Ok(if is_csv { render_csv(&chart) } else { render_page(&chart) })
    });
    match page.await {
        Ok(text) if is_csv => csv(text),
        Ok(page) => html(page),
        Err(refusal) => refusal,
    }
}

fn csv(text: String) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"chart.csv\""),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}

fn listed(charts: &[ChartSummary]) -> String {
    let row = |chart: &ChartSummary| {
        let day = |at| iso(at).chars().take(10).collect::<String>();
        format!(
            "<tr><td><a href=\"/charts/{id}\">{title}</a></td><td>{by}</td><td>{made}</td>\
             <td>{until}</td><td><a href=\"/charts/{id}.csv\">CSV</a></td></tr>",
            id = escape(&chart.id),
            title = escape(&chart.title),
            by = escape(&chart.made_by),
            made = day(chart.made_at),
            until = day(chart.expires_at),
        )
    };
    let rows: String = charts.iter().take(MAX_LISTED).map(row).collect();
    let note = match charts.len() {
        0 => "<p class=\"note\">No charts are kept. An agent makes one with \
              <code>generate_chart_data</code>.</p>"
            .to_owned(),
        n if n > MAX_LISTED => {
            format!("<p class=\"note\">{MAX_LISTED} of {n} charts are shown, the newest.</p>")
        }
        _ => String::new(),
    };
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Charts</title>\
         <style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui;max-width:60rem;\
         margin:2rem auto;padding:0 1rem}}table{{border-collapse:collapse;width:100%}}\
         th,td{{text-align:left;padding:.4rem .8rem .4rem 0;border-top:1px solid #8884;\
         overflow-wrap:anywhere}}.note{{opacity:.7}}</style><h1>Charts</h1>{note}\
         <table><thead><tr><th scope=\"col\">Title</th><th scope=\"col\">Made by</th>\
         <th scope=\"col\">Made</th><th scope=\"col\">Kept until</th><th scope=\"col\">Data</th></tr>\
         </thead><tbody>{rows}</tbody></table></html>"
    )
}
