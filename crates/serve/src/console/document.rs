//! `/open/{id}` and `/files?path=`: a document as it was extracted, with the borders of its
//! passages, the hit in its place, and what is before and after it.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use model::{Passage, ReadOutcome};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::jobs::short_time;
use super::knowledge;
use super::layout::{Section, error_page, page, problem, shown};
use super::locate::file_at;
use super::marked::marked;
use super::originals;
use super::params::{Params, encoded};
use super::passages::{Piece, hit_at, piece_of, redacted_pieces};
use super::time::counted;
use super::viewer::Viewer;

/// Passages of one page; the hit is among them.
const SHOWN: usize = 60;

/// Characters of a document without passages of its own that one page shows.
const SHOWN_CHARS: usize = 60_000;

/// Shows what a result of `search` comes from.
pub(super) async fn open(viewer: Viewer, Path(id): Path<String>, params: Params) -> Response {
    let fetched = match viewer.tool("fetch", json!({ "id": id })).await {
        Ok(fetched) => fetched.value,
        Err(error) => return error_page(&viewer, &error),
    };
    let title = fetched["title"].as_str().unwrap_or("Document").to_owned();
    let metadata = &fetched["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default();
    let body = if let Some(path) = metadata["path"].as_str() {
        match file_body(&viewer, path, &params).await {
            Ok(body) => body,
            Err(error) => problem(&error),
        }
    } else if let Some(document) = metadata["document_id"].as_str() {
        chunks_body(&viewer, document, text("chunk_id"), &params).await
    } else {
        html! { (elsewhere(&viewer, metadata)) (whole_body(&fetched, params.text("q"))) }
    };
    let above = match (&metadata["path"], &metadata["document_id"]) {
        (Value::String(_), _) => home(&viewer, Section::Sources),
        (_, Value::String(_)) => home(&viewer, Section::Knowledge),
        _ => home(&viewer, Section::Search),
    };
    let body = html! {
        (heading(&viewer, &title, metadata, &params, &above))
        (body)
    };
    page(&viewer, Section::Search, &title, &body)
}

/// The page of the console where a thing of another family is at home.
fn elsewhere(viewer: &Viewer, metadata: &Value) -> Markup {
    let text = |name: &str| metadata[name].as_str().unwrap_or_default();
    let (path, label) = match text("source") {
        "contexts" => {
            let at = Params::default().with("pointer", text("json_pointer"));
            let path = format!("/contexts/documents/{}", encoded(text("table_id")));
            (format!("{path}{}", at.to_query()), "Open it in its JSON document")
        }
        "tables" => (format!("/tables/{}", encoded(text("table"))), "Open the table"),
        "filters" => ("/names".to_owned(), "Look up names"),
        _ => return html! {},
    };
    html! { p { a .button href=(viewer.href(&path)) { (label) } } }
}

/// Shows a file of the index by its path.
pub(super) async fn file(viewer: Viewer, params: Params) -> Response {
    let Some(path) = params.get("path").map(str::to_owned) else {
        return error_page(&viewer, &ToolError::bad_request("`path` is missing in the address"));
    };
    let title = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let shown = match file_body(&viewer, &path, &params).await {
        Ok(shown) => shown,
        Err(error) => return error_page(&viewer, &error),
    };
    let above = home(&viewer, Section::Sources);
    let body = html! {
        (heading(&viewer, &title, &json!({ "path": path, "source": "files" }), &params, &above))
        (shown)
    };
    page(&viewer, Section::Sources, &title, &body)
}

/// Shows a document of a knowledge base by its id.
pub(super) async fn of_knowledge(
    viewer: Viewer,
    Path(id): Path<String>,
    params: Params,
) -> Response {
    let record = match viewer.get(&format!("/v1/documents/{}", encoded(&id))).await {
        Ok(record) => record,
        Err(error) => return error_page(&viewer, &error),
    };
    let title = record["title"].as_str().unwrap_or("Document").to_owned();
    let facts = json!({
        "file": record["file_name"], "state": record["status"], "version": record["version"],
        "tags": record["tags"], "changed": record["updated_at"].as_str().map(short_time), "problem": record["error"],
    });
    let versions = viewer.get(&format!("/v1/documents/{}/versions", encoded(&id))).await;
    let collection = record["collection_id"].as_str().unwrap_or_default();
    let above = html! {
        (home(&viewer, Section::Knowledge)) " / "
        a href=(viewer.href(&format!("/knowledge/collections/{}", encoded(collection)))) { "collection" }
    };
    let base = record["knowledge_base_id"].as_str().unwrap_or_default();
    let may_change = knowledge::may_change(&viewer, base).await;
    let body = html! {
        div data-refresh { (heading(&viewer, &title, &facts, &params, &above)) (unfinished(&record)) }
        (originals::link_of_document(&viewer, &id, &record))
        @if may_change { (replacement(&viewer, &id)) }
        div data-refresh {
            @if let Ok(versions) = &versions { (versions_of(versions)) }
            (chunks_body(&viewer, &id, "", &params).await)
        }
    };
    page(&viewer, Section::Knowledge, &title, &body)
}

/// That the content is still on its way, or did not arrive.
fn unfinished(record: &Value) -> Markup {
    html! {
        @match record["status"].as_str() {
            Some(state @ ("pending" | "indexing")) => p { span class=(format!("badge {state}")) { (state) } " Its content is being indexed." },
            Some("failed") => p { span .badge.failed { "failed" } " " (shown(&record["error"])) },
            _ => {},
        }
    }
}

/// A place for the file that takes the place of a document's content.
fn replacement(viewer: &Viewer, id: &str) -> Markup {
    html! {
        details { summary { "Replace its content" }
            div .drop data-done="replaced" data-upload=(viewer.href(&format!("/replace/{}", encoded(id)))) data-token=(viewer.form_token()) {
                label for="files" { "Drop a file here, or choose it" }
                div { input #files type="file"; }
                ul data-uploads aria-live="polite" {}
                p .note { "The document keeps its address and its earlier versions." }
                noscript { p .note { "Uploading a file needs a script; " code { "PUT /v1/documents/" (id) } " takes one without." } }
            }
        }
    }
}

/// What changed from content to content, where there was more than one.
fn versions_of(answer: &Value) -> Markup {
    let versions = answer["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        @if versions.len() > 1 {
            details {
                summary { (versions.len()) " versions" }
                @for version in versions {
                    h2 { "Version " (shown(&version["version"])) }
                    p .note { (shown(&version["indexed_at"])) ": " (shown(&version["lines_added"])) " lines added, "
                        (shown(&version["lines_removed"])) " removed"
                        @if version["truncated"] == true { "; only the beginning is shown" } }
                    pre { (version["difference"].as_str().unwrap_or_default()) }
                }
            }
        }
    }
}

/// The link to the section where a thing is at home.
fn home(viewer: &Viewer, section: Section) -> Markup {
    html! { a href=(viewer.href(section.path())) { (section.name()) } }
}

/// The title with what is known; `above` is where the thing is, unless one came from a search.
fn heading(
    viewer: &Viewer,
    title: &str,
    metadata: &Value,
    params: &Params,
    above: &Markup,
) -> Markup {
    let query = params.text("q");
    let facts = metadata.as_object().into_iter().flatten();
    html! {
        p .crumbs {
            @if query.is_empty() { (above) " / " (title) }
            @else { a href=(viewer.link("/", &Params::default().with("q", query))) { "Results for “" (query) "”" } }
        }
        h1 { (title) }
        dl .facts { @for (name, value) in facts.into_iter().filter(|(_, value)| !is_nothing(value)) { dt { (name) } dd { (shown(value)) } } }
    }
}

/// Tells whether there is nothing to say of a fact.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// A file: its passages around the hit.
///
/// Fails when there is no such file for the viewer.
async fn file_body(viewer: &Viewer, path: &str, params: &Params) -> Result<Markup, ToolError> {
    let Some(service) = viewer.app.files.clone() else {
        let message = format!("`{path}` cannot be shown: no folder is configured");
        return Err(ToolError::new(Code::NotFound, message)
            .with_hint("add a folder on the page Sources, or with `[[files.roots]]`"));
    };
    let state = file_at(viewer, path).await.map(|file| (file.outcome, file.reason));
    let unread = state.filter(|(outcome, _)| *outcome != ReadOutcome::Indexed);
    // The tool checks rights and that the file is still there; the passages come after it. A file
    // that could not be read is in the index by its name, and the tool refuses to open it.
    let opened = viewer.tool("openFile", json!({ "path": path })).await;
    if let (Err(error), None) = (&opened, &unread) {
        let mut error = error.clone();
        // Whoever may not see a file is told what they are told of one that is not there.
        if error.code == Code::Forbidden {
            error.code = Code::NotFound;
        }
        return Err(error);
    }
    let (caller, owned) = (viewer.caller.clone(), path.to_owned());
    let passages = tokio::task::spawn_blocking(move || service.passages(&caller, &owned)).await;
    match passages {
        Ok(Ok(passages)) => Ok(html! {
            @if passages.is_empty() { (without_text(unread)) }
            @else { (file_passages(viewer, path, &passages, params)) }
        }),
        Ok(Err(error)) => Err(not_shown(&error)),
        Err(_) => Err(ToolError::new(Code::InternalError, "the file could not be shown")),
    }
}

/// Why there is nothing to read of a file, in the words of Sources.
fn without_text(unread: Option<(ReadOutcome, Option<String>)>) -> Markup {
    html! {
        @match unread {
            Some((outcome, reason)) => p { "No text of this file is in the index: " strong { (outcome.code().replace('_', " ")) }
                @if let Some(reason) = reason { " (" (reason) ")" } ". It is found by its name alone." },
            None => p .note { "No text of this file is in the index: it is found by its name alone." },
        }
    }
}

/// What may be said of a file that cannot be shown.
pub(super) fn not_shown(error: &files::Error) -> ToolError {
    let error: &dyn std::error::Error = error;
    tracing::debug!(error, "a file could not be shown");
    ToolError::new(Code::NotFound, error.to_string())
        .with_hint("search again: the file may have been moved, renamed or deleted")
}

fn file_passages(viewer: &Viewer, path: &str, passages: &[Passage], params: &Params) -> Markup {
    let at = params.get("at");
    let hit = at.and_then(|at| hit_at(passages, at, params.text("q")));
    let from = match params.get("from") {
        Some(_) => params.number("from", 0, passages.len().saturating_sub(1)),
        None => hit.unwrap_or_default().saturating_sub(SHOWN / 3),
    };
    let until = (from + SHOWN).min(passages.len());
    let pieces = redacted_pieces(passages, from, until, hit);
    let base = Params::default()
        .with("path", path)
        .with("q", params.text("q"))
        .with("at", at.unwrap_or_default());
    html! {
        p .note { (counted(passages.len() as u64, "passage")) "; a line at the left is one passage, as it is searched. "
            @if hit.is_some() { a href="#hit" { "Go to the hit" } } }
        (neighbours(viewer, "/files", &base, from, until, passages.len()))
        div .reading { @for piece in &pieces { (piece_of(piece, params.text("q"))) } }
        (neighbours(viewer, "/files", &base, from, until, passages.len()))
    }
}

fn neighbours(
    viewer: &Viewer,
    page: &str,
    base: &Params,
    from: usize,
    until: usize,
    n: usize,
) -> Markup {
    let link = |from: usize| viewer.link(page, &base.with("from", &from.to_string()));
    html! {
        @if from > 0 || until < n {
            div .pager {
                @if from > 0 { a .button rel="prev" href=(link(from.saturating_sub(SHOWN))) { "Earlier passages" } }
                span .note { (from + 1) "–" (until) " of " (n) }
                @if until < n { a .button rel="next" href=(link(until)) { "Later passages" } }
            }
        }
    }
}

/// A document of a knowledge base: its chunks around the hit, as REST gives them.
async fn chunks_body(viewer: &Viewer, document: &str, hit: &str, params: &Params) -> Markup {
    let record = match viewer.get(&format!("/v1/documents/{}", encoded(document))).await {
        Ok(record) => record,
        Err(error) => return problem(&error),
    };
    let n_chunks = record["chunk_count"].as_u64().unwrap_or_default() as usize;
    let hit_at: Option<usize> = hit.rsplit_once(':').and_then(|(_, at)| at.parse().ok());
    let from = match params.get("from") {
        Some(_) => params.number("from", 0, n_chunks.saturating_sub(1)),
        None => hit_at.unwrap_or_default().saturating_sub(SHOWN / 3),
    };
    let until = n_chunks.min(from + SHOWN);
    let page = format!("/knowledge/documents/{}", encoded(document));
    let base = Params::default().with("q", params.text("q"));
    let mut pieces = Vec::new();
    let mut shown_until = 0;
    for ordinal in from..until {
        let path = format!("/v1/chunks/{}:{ordinal}", encoded(document));
        let Ok(chunk) = viewer.get(&path).await else { continue };
        let number = |name: &str| chunk["span"][name].as_u64().unwrap_or_default() as usize;
        let (start, end) = (number("start"), number("end"));
        let n_overlap = shown_until.min(end).saturating_sub(start);
        let content = chunk["content"].as_str().unwrap_or_default();
        // A redacted text no longer has the length of its span: it is shown whole.
        let is_redacted = content.chars().count() != end.saturating_sub(start);
        let n_cut = if is_redacted { 0 } else { n_overlap };
        shown_until = shown_until.max(end);
        pieces.push(Piece {
            ordinal,
            pointer: chunk["pointer"].as_str().unwrap_or_default().to_owned(),
            n_chars: end.saturating_sub(start),
            n_overlap: n_cut,
            text: content.chars().skip(n_cut).collect(),
            is_hit: hit_at == Some(ordinal),
        });
    }
    html! {
        p .note { (counted(n_chunks as u64, "passage")) "; a line at the left is one passage, as it is searched. "
            @if hit_at.is_some() { a href="#hit" { "Go to the hit" } " · " }
            a href=(viewer.href(&format!("/knowledge/collections/{}", encoded(record["collection_id"].as_str().unwrap_or_default())))) { "Its collection" } }
        (neighbours(viewer, &page, &base, from, until, n_chunks))
        div .reading { @for piece in &pieces { (piece_of(piece, params.text("q"))) } }
        (neighbours(viewer, &page, &base, from, until, n_chunks))
    }
}

/// Anything else: the text that `fetch` gives.
fn whole_body(fetched: &Value, query: &str) -> Markup {
    let text = fetched["text"].as_str().unwrap_or_default();
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    html! {
        div .reading { div .passage { (marked(&shown, query)) } }
        @if shown.len() < text.len() { p .note { "Only the beginning is shown." } }
    }
}
