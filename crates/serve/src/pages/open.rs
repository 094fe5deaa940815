//! `/open/{id}`: something that `search` found, as a page to read.

use axum::extract::{Path, State};
use axum::response::Response;
use guard::release_text;
use http::HeaderMap;

use super::escape::escape;
use super::frame::{for_caller, html};
use crate::http::Doors;

/// The longest text of a page, in characters.
const MAX_SHOWN_CHARS: usize = 60_000;

/// Shows the text behind an id, redacted and cut like every answer.
pub(super) async fn page(
    State(doors): State<Doors>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let app = doors.shared.load();
    let across = app.across.clone();
    let caps = app.caps();
    let page = for_caller(&app, &headers, "open", None, move |caller, _| {
        let part = across::Part { offset: None, max_chars: MAX_SHOWN_CHARS };
        let (source, fetched) =
            across.fetch(caller, &id, &part).map_err(tools::everywhere::error)?;
        let title = release_text(&fetched.title, &caps);
        let outgoing = release_text(&fetched.text, &caps);
        let n_redacted = title.n_redacted + outgoing.n_redacted;
        Ok(written(source, &title.text, &outgoing.text, n_redacted))
    });
    match page.await {
        Ok(page) => html(page),
        Err(refusal) => refusal,
    }
}

fn written(source: &str, title: &str, text: &str, n_redacted: usize) -> String {
    let note = match n_redacted {
        0 => String::new(),
        n => format!("<p class=\"note\">{n} private pieces are left out.</p>"),
    };
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui;max-width:46rem;\
         margin:2rem auto;padding:0 1rem}}pre{{white-space:pre-wrap;font:inherit}}\
         .note{{opacity:.7}}</style>\
         <h1>{title}</h1><p class=\"note\">{source}</p>{note}<pre>{text}</pre></html>",
        title = escape(title),
        source = escape(source),
        text = escape(text),
    )
}
