//! The console: pages for people over the same calls of tools and REST that agents and programs
//! make, behind the same guard. Rendered here, held in the binary; scripts only make it quicker.

mod address;
mod advice;
mod assets;
mod frame;
mod layout;
mod params;
mod seal;
mod session;
mod sessions;
mod settings;
mod viewer;

mod bars;
mod bidi;
mod cost;
mod events;
mod jobs;
mod json_view;
mod lists;
mod marked;
mod stages;
mod time;
mod walk;

mod hits;
mod locate;
mod missing;
mod search;
mod start;

mod actions;
mod activity;
mod activity_cost;
mod activity_judged;
mod activity_weak;
mod charts;
mod confirm;
mod contexts;
mod contexts_change;
mod difference;
mod document;
mod judged;
mod knowledge;
mod latency;
mod names;
mod once;
mod operations;
mod originals;
mod passages;
mod progress;
mod replay;
mod runs;
mod schema_form;
mod sharing;
mod sources;
mod table_chart;
mod table_chips;
mod table_export;
mod table_filters;
mod table_refused;
mod tables;
mod tools;
mod tree;

mod sign_in;
mod view_as;

use axum::Router;
use axum::extract::{Extension, FromRequestParts as _, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use crate::http::HttpState;

pub(crate) use layout::{refused, wants_html};
pub use sessions::Sessions;
pub use settings::{Check, ConsoleConfig, ConsoleSettings};
pub(crate) use viewer::Api;

/// The addresses of the console; `api` is REST, which its pages call.
pub(crate) fn routes(api: Router) -> Router<HttpState> {
    Router::new()
        .route("/", get(search::show))
        .route("/open/{id}", get(document::open))
        .route("/files", get(document::file))
        .route("/sources", get(sources::show))
        .route("/sources.json", get(sources::as_json))
        .route("/sources/index", post(sources::index))
        .route("/sources/retry", post(sources::retry))
        .route("/jobs", get(jobs::show))
        .route("/jobs/cancel", post(sources::cancel))
        .route("/events/jobs", get(progress::jobs))
        .route("/events/folders", get(progress::folders))
        .route("/tables", get(tables::list))
        .route("/tables/{name}", get(tables::one))
        .route("/tables/{name}/export", get(table_export::export))
        .route("/tables/{name}/chart", post(table_chart::draw))
        .route("/names", get(names::show).post(names::batch))
        .route("/charts", get(charts::list))
        .route("/charts/{id}", get(charts::one))
        .route("/knowledge", get(knowledge::list))
        .route("/knowledge/{id}", get(knowledge::base))
        .route("/knowledge/collections/{id}", get(knowledge::collection))
        .route("/knowledge/documents/{id}", get(document::of_knowledge))
        .route("/knowledge/documents/{id}/original", get(originals::of_document))
        .route("/contexts", get(contexts::list))
        .route("/contexts/{id}", get(contexts::project))
        .route("/contexts/documents/{id}", get(tree::document))
        .route("/contexts/new-key", get(contexts::new_key))
        .route("/confirm", get(confirm::show))
        .route("/do/{name}", post(actions::act))
        .route("/activity", get(activity::show))
        .route("/activity/export", get(activity::export))
        .route("/activity/judge", post(judged::judge))
        .route("/activity/judged.jsonl", get(judged::download))
        .route("/activity/forget", post(judged::forget))
        .route("/activity/call", get(replay::named))
        .route("/activity/{request}", get(replay::one))
        .route("/operations", get(operations::show))
        .route("/operations/metrics", get(operations::metrics))
        .merge(uploads())
        .route("/tools", get(tools::list))
        .route("/tools/{name}", get(tools::one).post(tools::post))
        .route("/sign-in", get(sign_in::show).post(sign_in::enter))
        .route("/sign-out", post(sign_in::leave))
        .route("/view-as", get(view_as::show).post(view_as::begin))
        .route("/view-as/stop", post(view_as::stop))
        .route("/assets/{version}/{name}", get(assets::asset))
        .method_not_allowed_fallback(only_forms)
        .layer(Extension(Api(api)))
}

/// Answers whoever opens an address that nothing has: within the sections, for those who may see
/// them.
pub(crate) async fn not_found(http_state: &HttpState, api: Router, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    parts.extensions.insert(Api(api));
    match viewer::Viewer::from_request_parts(&mut parts, http_state).await {
        Ok(viewer) => layout::missing_page(&viewer),
        Err(refusal) if refusal.status() == StatusCode::TOO_MANY_REQUESTS => refusal,
        Err(_) => layout::not_found(&http_state.shared.load().server.base_path()),
    }
}

/// Where programs call: what is not there is said to them as JSON.
const OF_PROGRAMS: [&str; 4] = ["/api", "/v1", "/mcp", "/.well-known"];

/// Tells whether whoever asks for what is not there reads a page about it: whoever says so, and
/// whoever looks at an address that is none of programs and takes any form of answer.
pub(crate) fn reads_pages(request: &Request) -> bool {
    let headers = request.headers();
    let path = request.uri().path();
    let is_of = |start: &&str| {
        path.strip_prefix(*start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_of_programs = OF_PROGRAMS.iter().any(is_of);
    let looks = request.method() == Method::GET || request.method() == Method::HEAD;
    wants_html(headers) || (looks && layout::takes_anything(headers) && !is_of_programs)
}

/// Answers whoever opens the address of a form, by a reload or from the history.
async fn only_forms(State(http_state): State<HttpState>, headers: HeaderMap) -> Response {
    if wants_html(&headers) {
        return layout::only_forms(&http_state.shared.load().server.base_path());
    }
    StatusCode::METHOD_NOT_ALLOWED.into_response()
}

/// Addresses that take files, within the limit that REST has for them.
fn uploads() -> Router<HttpState> {
    Router::new()
        .route("/upload/{id}", post(actions::upload))
        .route("/replace/{id}", post(actions::replace))
        .route("/upload-json/{id}", post(actions::upload_json))
        .route("/replace-json/{id}", post(actions::replace_json))
        .layer(axum::extract::DefaultBodyLimit::disable())
}

/// Where a script goes that sent a form: a browser follows a redirect without telling it.
const NEXT: HeaderName = HeaderName::from_static("x-dowse-next");

/// Sends a browser on to another page, as an answer to a form.
fn go_to(viewer: &viewer::Viewer, path: &str) -> Response {
    use axum::response::Redirect;
    let address = viewer.href(local_path(path));
    match HeaderValue::from_str(&address) {
        Ok(next) if viewer.is_script => ([(NEXT, next)], "").into_response(),
        _ => Redirect::to(&address).into_response(),
    }
}

/// Gives a path of this server as it is, and the start for anything else that a form or an address
/// was given. Browsers take a backslash for a slash and leave tabs and line breaks out, so that
/// `/\t/evil.example` leads elsewhere; other characters than those of addresses break the header.
fn local_path(path: &str) -> &str {
    let is_local = path.starts_with('/')
        && !path.starts_with("//")
        && path.chars().all(|char| char.is_ascii_graphic() && char != '\\');
    if is_local { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for path in ["/", "/activity?view=judged", "/sources#jobs", "/x?q=%09%2F", "/a//b"] {
            assert_eq!(local_path(path), path);
        }
        for path in [
            "",
            "x",
            "//evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/\r\n/evil.example",
            "\t//evil.example",
            "https://evil.example",
            "/a b",
            "/\u{7f}",
            "/\u{85}x",
            "/ș",
        ] {
            assert_eq!(local_path(path), "/", "{path:?}");
        }
    }
}
