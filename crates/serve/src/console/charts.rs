//! `/charts`: the charts that agents made.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use filters::charts::{Chart, render_csv};
use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use maud::{Markup, PreEscaped, html};
use tokio::task::spawn_blocking;
use tools::ToolError;

use super::assets;
use super::confirm::asks;
use super::jobs::short_time;
use super::knowledge::{array, hidden, text};
use super::layout::{Section, empty, error_page, form_token, page, problem};
use super::lists;
use super::params::{Params, encoded};
use super::viewer::Viewer;
use crate::pages::{file_name, render_figure, render_numbers, render_svg};

/// Lists the charts of the caller's tenant, newest first.
pub(super) async fn list(viewer: Viewer, params: Params) -> Response {
    let charts = lists::page_of(&viewer, "/v1/charts", &params).await;
    let body = html! {
        h1 { "Charts" }
        @match &charts {
            Err(error) => (problem(error)),
            Ok(answer) => {
                (lists::begins_anew(answer))
                @let charts = array(&answer["charts"]);
                @if charts.is_empty() {
                    @let made_with = ["chart_table", "generate_chart_data"].into_iter().filter(|name| viewer.app.tools.get(name, &viewer.caller).is_some()).collect::<Vec<_>>();
                    (empty("No charts are stored.", &html! {
                        @if made_with.is_empty() { p { "Nothing here can be charted: add " code { "[[tables]]" } " or a " code { "[charts]" } " section to the configuration." } }
                        @else {
                            @if viewer.app.tools.get("chart_table", &viewer.caller).is_some() { p { "Open a " a href=(viewer.href("/tables")) { "table" } ", filter it, and choose “Chart this view”." } }
                            p { "An agent makes one with " @for (idx, name) in made_with.iter().enumerate() { @if idx > 0 { " or " } a href=(viewer.href(&format!("/tools/{name}"))) { code { (name) } } } "." }
                        }
                    }))
                } @else {
                    div .scroll tabindex="0" { table .stack {
                        thead { tr { th scope="col" { "Title" } th scope="col" { "Made by" } th scope="col" { "Made" } th scope="col" { "Kept until" } th scope="col" { "Data" } th scope="col" { span .visually-hidden { "Actions" } } } }
                        tbody { @for chart in charts {
                            @let id = text(chart, "id");
                            tr {
                                td { a href=(viewer.href(&format!("/charts/{id}"))) { (text(chart, "title")) } }
                                td data-name="Made by" { (text(chart, "made_by")) } td .nowrap data-name="Made" { (short_time(text(chart, "made_at"))) }
                                td .nowrap data-name="Kept until" { (short_time(text(chart, "expires_at"))) }
                                td .nowrap { @for (end, name) in PICTURES { a href=(viewer.href(&format!("/charts/{id}.{end}"))) { (name) } " " } }
                                td { @if viewer.may_change().is_ok() { (deletion(&viewer, id, text(chart, "title"))) } }
                            }
                        } }
                    } }
                }
                (lists::pager(&viewer, "/charts", &params, answer))
                @for warning in array(&answer["warnings"]) { p .note { (super::layout::shown(warning)) } }
            },
        }
    };
    page(&viewer, Section::Charts, "Charts", &body)
}

/// Shows a chart, or gives its numbers where the address ends in `.csv`, and its picture where
/// it ends in `.svg` or `.png`.
pub(super) async fn one(viewer: Viewer, Path(name): Path<String>) -> Response {
    let (id, extension) = match name.rsplit_once('.') {
        Some((id, extension @ ("csv" | "svg" | "png"))) => (id.to_owned(), extension.to_owned()),
        _ => (name, String::new()),
    };
    // REST counts the call, checks rights and writes it down.
    if let Err(error) = viewer.get(&format!("/v1/charts/{}", encoded(&id))).await {
        return error_page(&viewer, &error);
    }
    let (charts, caller, sought) = (viewer.app.charts.clone(), viewer.caller.clone(), id.clone());
    let chart = tokio::task::spawn_blocking(move || {
        charts?.get(&caller, &filters::charts::ChartId::new(&sought)).ok()
    });
    let Ok(Some(chart)) = chart.await else {
        return error_page(&viewer, &crate::api::missing_chart(&id));
    };
    if extension.is_empty() {
        return chart_page(&viewer, &chart);
    }
    if extension == "svg" {
        let headers = [
            (CONTENT_TYPE, "image/svg+xml"),
            (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        return (headers, render_svg(&chart)).into_response();
    }
    if extension == "png" {
        return png(&viewer, chart).await;
    }
    let disposition = format!("attachment; filename=\"{}.csv\"", file_name(&chart.request.title));
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, &disposition),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, render_csv(&chart)).into_response()
}

/// The page of a chart, within the sections.
fn chart_page(viewer: &Viewer, chart: &Chart) -> Response {
    let (id, title) = (chart.id.as_str(), chart.request.title.as_str());
    let style = viewer.href(&assets::address("chart.css"));
    let body = html! {
        link rel="stylesheet" href=(style);
        p .crumbs { a href=(viewer.href("/charts")) { "Charts" } " / " (title) }
        div .drawn {
            div .head { h1 { (title) }
                div .actions {
                    @for (end, name) in PICTURES { a .button.small href=(viewer.href(&format!("/charts/{id}.{end}"))) { (name) } }
                    @if viewer.may_change().is_ok() { (deletion(viewer, id, title)) }
                }
            }
            @if let Some(description) = chart.request.description.as_deref().filter(|text| !text.is_empty()) {
                p .lead { (description) }
            }
            (PreEscaped(render_figure(chart)))
            (PreEscaped(render_numbers(chart)))
        }
    };
    page(viewer, Section::Charts, title, &body)
}

/// The other forms of a chart, by the end of its address.
const PICTURES: [(&str, &str); 3] = [("csv", "CSV"), ("png", "PNG"), ("svg", "SVG")];

fn deletion(viewer: &Viewer, id: &str, title: &str) -> Markup {
    html! {
        form method="post" action=(viewer.href("/do/delete-chart")) data-confirm {
            (asks(&format!("Delete the chart “{title}”?")))
            (form_token(viewer)) (hidden("id", id)) button .small.danger type="submit" { "Delete" }
        }
    }
}

/// Draws on a thread that may be busy for a while: pixels take some ten milliseconds.
async fn png(viewer: &Viewer, chart: Chart) -> Response {
    let drawn = spawn_blocking(move || draw::render_png(&chart, draw::Scale::ForScreens)).await;
    let problem = match drawn {
        Ok(Ok(image)) => {
            let headers = [(CONTENT_TYPE, "image/png"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
            return (headers, image.bytes).into_response();
        }
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(problem, "a chart could not be drawn as PNG");
    error_page(viewer, &ToolError::internal("the picture could not be drawn"))
}
