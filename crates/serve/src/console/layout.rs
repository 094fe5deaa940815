//! What every page has in common: its section, its headers, and how errors and empty places look.

use axum::response::{Html, IntoResponse, Response};
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use serde_json::Value;
use tools::{Code, ToolError};

use super::address;
use super::advice::{advice, facts};
use super::bidi;
use super::frame::{bare, document};
use super::viewer::Viewer;

/// Everything comes from this server, no script is inline, and no other page may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");

/// A part of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Search,
    Tables,
    Names,
    Charts,
    Sources,
    Knowledge,
    Contexts,
    Tools,
    Activity,
    Operations,
}

impl Section {
    /// In the order of the menu, in its three groups.
    pub(crate) const GROUPS: [(&'static str, &'static [Section]); 3] = [
        ("Find", &[Section::Search, Section::Tables, Section::Names, Section::Charts]),
        ("Content", &[Section::Sources, Section::Knowledge, Section::Contexts]),
        ("Agents", &[Section::Tools, Section::Activity, Section::Operations]),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Section::Search => "Search",
            Section::Tables => "Tables",
            Section::Names => "Names",
            Section::Charts => "Charts",
            Section::Sources => "Sources",
            Section::Knowledge => "Knowledge",
            Section::Contexts => "Contexts",
            Section::Tools => "Tools",
            Section::Activity => "Activity",
            Section::Operations => "Operations",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Section::Search => "/",
            Section::Tables => "/tables",
            Section::Names => "/names",
            Section::Charts => "/charts",
            Section::Sources => "/sources",
            Section::Knowledge => "/knowledge",
            Section::Contexts => "/contexts",
            Section::Tools => "/tools",
            Section::Activity => "/activity",
            Section::Operations => "/operations",
        }
    }

    /// Tells whether a person may see it at all.
    pub(crate) fn is_for(self, viewer: &Viewer) -> bool {
        self != Section::Operations || viewer.caller.is_admin()
    }

    /// What a person finds there, for the start page.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Section::Search => "One question over everything, as an agent asks it",
            Section::Tables => "Rows with facets, filters and export",
            Section::Names => "Names and codes to filter values, with reasons",
            Section::Charts => "Charts that people and agents made",
            Section::Sources => "Folders and files: what was indexed, what failed and why",
            Section::Knowledge => "Knowledge bases, collections, uploads and clearance",
            Section::Contexts => "Projects over large JSON, their tools, endpoints and keys",
            Section::Tools => "Every tool as a form: request, response, errors, cost",
            Section::Activity => "Who called what, what they got, and what found nothing",
            Section::Operations => "Health, jobs, latency, store, models and settings",
        }
    }

    /// The key after `g` that leads there.
    pub(super) fn key(self) -> char {
        match self {
            Section::Search => 's',
            Section::Tables => 't',
            Section::Names => 'n',
            Section::Charts => 'c',
            Section::Sources => 'f',
            Section::Knowledge => 'k',
            Section::Contexts => 'x',
            Section::Tools => 'p',
            Section::Activity => 'a',
            Section::Operations => 'o',
        }
    }
}

/// A page with its heading.
pub(crate) fn page(viewer: &Viewer, section: Section, title: &str, body: &Markup) -> Response {
    let body = html! { (address::left_out(&viewer.here)) (body) };
    respond(StatusCode::OK, &document(viewer, Some(section), title, &body))
}

/// A page that belongs to no section.
pub(crate) fn page_of_no_section(viewer: &Viewer, title: &str, body: &Markup) -> Response {
    respond(StatusCode::OK, &document(viewer, None, title, body))
}

/// A page of a section on which something went wrong, with the status of the error.
pub(crate) fn failed_page(
    viewer: &Viewer,
    section: Section,
    title: &str,
    error: &ToolError,
    body: &Markup,
) -> Response {
    with_status_of(error, &document(viewer, Some(section), title, body))
}

/// A page that says what went wrong, with the status of the error.
pub(crate) fn error_page(viewer: &Viewer, error: &ToolError) -> Response {
    let title = match error.code {
        Code::NotFound => "Not found",
        Code::Forbidden | Code::Unauthorized => "Not allowed",
        Code::RateLimited => "Too many requests",
        Code::BadRequest | Code::Conflict | Code::TooLarge => "That did not work",
        Code::InternalError | Code::LlmUpstream | Code::Unavailable | Code::DeadlineExceeded => {
            "Something failed"
        }
    };
    if viewer.is_script {
        return error_part(error);
    }
    let section = advice(error).and_then(|advice| advice.section);
    let body = html! {
        h1 { (title) }
        (problem(error))
        p .actions {
            @match viewer.back() {
                Some(back) => a .button href=(viewer.href(back)) { "Back to where you were" },
                None => {
                    @if let Some(section) = section.filter(|section| section.is_for(viewer)) {
                        a .button href=(viewer.href(section.path())) { "Go to " (section.name()) }
                    }
                    a .button href=(viewer.href("/")) { "Go to the start" }
                },
            }
        }
    };
    with_status_of(error, &document(viewer, None, title, &body))
}

/// What went wrong, for a script that shows it in its part of the page.
pub(crate) fn error_part(error: &ToolError) -> Response {
    with_status_of(error, &problem(error))
}

fn with_status_of(error: &ToolError, page: &Markup) -> Response {
    let status =
        StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, page);
    if let Some(seconds) = error.details.get("retry_after_seconds").and_then(Value::as_u64) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// A page without anybody, for what fails before it is known who looks.
pub(crate) fn failed(base: &str, message: &str) -> Response {
    let body = html! { main #main .alone { h1 { "Something failed" } p { (message) } } };
    respond(StatusCode::INTERNAL_SERVER_ERROR, &bare(base, "Something failed", &body))
}

/// Tells whether whoever asks reads pages: a browser says so, programs do not.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("text/html")))
}

/// Tells whether whoever asks takes whatever there is, as `curl` does.
pub(super) fn takes_anything(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("*/*")))
}

/// Tells whether a path is that of a section.
pub(super) fn is_section(path: &str) -> bool {
    Section::GROUPS.iter().flat_map(|(_, sections)| *sections).any(|known| known.path() == path)
}

/// A page for an address that does not exist, with the sections for whoever may see them.
pub(crate) fn missing_page(viewer: &Viewer) -> Response {
    let body = html! {
        h1 { "Not found" }
        p { "There is no page at this address." }
        p { a href=(viewer.href("/")) { "Go to the start" } }
    };
    respond(StatusCode::NOT_FOUND, &document(viewer, None, "Not found", &body))
}

/// A page for an address that does not exist, without anybody.
pub(crate) fn not_found(base: &str) -> Response {
    let body = html! {
        main #main .alone {
            h1 { "Not found" }
            p { "There is no page at this address." }
            p { a href=(format!("{base}/")) { "Go to the start" } }
        }
    };
    respond(StatusCode::NOT_FOUND, &bare(base, "Not found", &body))
}

/// A page for an address that takes forms alone.
pub(crate) fn only_forms(base: &str) -> Response {
    let body = html! {
        main #main .alone {
            h1 { "Nothing to show here" }
            p { "This address takes what a form sends, and nothing was sent. What was sent before has been done." }
            p { a href=(format!("{base}/")) { "Go to the start" } }
        }
    };
    respond(StatusCode::METHOD_NOT_ALLOWED, &bare(base, "Nothing to show here", &body))
}

/// A page without anybody, for a request that is refused before it is known who makes it.
pub(crate) fn refused(base: &str, error: &ToolError) -> Response {
    let body = html! {
        main #main .alone {
            h1 { "Not allowed" }
            (problem(error))
            p { a href=(format!("{base}/")) { "Go to the start" } }
        }
    };
    with_status_of(error, &bare(base, "Not allowed", &body))
}

/// Part of a page, for a script that replaces it.
pub(crate) fn part(body: &Markup) -> Response {
    respond(StatusCode::OK, body)
}

/// Shows an error where its part of the page would be.
pub(crate) fn problem(error: &ToolError) -> Markup {
    let advice = advice(error).map(|advice| advice.text);
    box_of(error, advice.as_deref(), &facts(error))
}

/// Shows an error with the advice that an agent gets, where a person makes an agent's call.
pub(crate) fn problem_of_call(error: &ToolError) -> Markup {
    let hint = error.details.get("hint").and_then(Value::as_str);
    box_of(error, hint, &facts(error))
}

fn box_of(error: &ToolError, advice: Option<&str>, facts: &Markup) -> Markup {
    html! {
        div .problem role="alert" {
            p { (sentence(&with_capital(&error.message))) " " strong .code-of { (error.code.as_str()) } }
            @if let Some(advice) = advice { p .hint { (sentence(&with_capital(advice))) } }
            (facts)
        }
    }
}

/// A sentence as it begins in a page; a name between backticks stays as it is written.
fn with_capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// A sentence with names between backticks, as errors and descriptions of tools have them.
pub(crate) fn sentence(text: &str) -> Markup {
    let pieces: Vec<&str> = text.split('`').collect();
    // The last backtick of an odd number of them is one that was meant.
    let n_paired = if pieces.len() % 2 == 1 { pieces.len() } else { pieces.len() - 1 };
    html! {
        @for (position, piece) in pieces.iter().enumerate() {
            @if position >= n_paired { "`" (piece) }
            @else if position % 2 == 1 { code { (piece) } }
            @else { (piece) }
        }
    }
}

/// Says that a page needs a tool that the person's key has not.
pub(crate) fn no_tool(tool: &str) -> Markup {
    empty(
        "Your key has no tool for this.",
        &html! { p { "This page asks " code { (tool) } ", which " code { "tools" } " or " code { "hidden_tools" } " of your key, or of the server, leave out." } },
    )
}

/// Says what a place is for while nothing is in it.
pub(crate) fn empty(what: &str, next: &Markup) -> Markup {
    html! { div .empty { p .what { (what) } div .next { (next) } } }
}

/// The hidden field that every form carries.
pub(crate) fn form_token(viewer: &Viewer) -> Markup {
    html! { input type="hidden" name="form_token" value=(viewer.form_token()); }
}

/// The picture of a section, sixteen pixels wide.
pub(crate) fn icon(section: Section) -> Markup {
    let path = match section {
        Section::Search => "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14",
        Section::Tables => "M2 3h12v10H2zM2 6.5h12M6.5 6.5V13",
        Section::Names => "M2 8.5V3a1 1 0 0 1 1-1h5.5L14 7.5 7.5 14zM5.2 5.2h.01",
        Section::Charts => "M2 14h12M4 11V8M8 11V3M12 11V6",
        Section::Sources => {
            "M2 4a1 1 0 0 1 1-1h3l1.5 2H13a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z"
        }
        Section::Knowledge => {
            "M8 4C6.5 3 4.500 2.700 2 3v9.500c2.500-.3 4.500 0 6 1 1.500-1 3.500-1.300 6-1V3c-2.500-.3-4.500 0-6 1zM8 4v9.500"
        }
        Section::Contexts => {
            "M6 2H5a1.500 1.500 0 0 0-1.500 1.500v2.800L2 8l1.500 1.700v2.800A1.500 1.500 0 0 0 5 14h1M10 2h1a1.500 1.500 0 0 1 1.500 1.500v2.800L14 8l-1.500 1.700v2.800A1.500 1.500 0 0 1 11 14h-1"
        }
        Section::Tools => "M3 4l3.500 4L3 12M8 12h5",
        Section::Activity => "M1.500 8h3L6.500 3l3 10 2-5h3",
        Section::Operations => {
            "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M3.400 12.600l1.400-1.400M11.200 4.800l1.400-1.400"
        }
    };
    html! { svg .icon viewBox="0 0 16 16" aria-hidden="true" { path d=(path) {} } }
}

/// Writes a value as a person reads it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(elements) => elements.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(_) => value.to_string(),
    }
}

/// Gives HTML with the headers that keep it what it is.
pub(crate) fn respond(status: StatusCode, page: &Markup) -> Response {
    let mut response = (status, Html(bidi::contained(&page.0).into_owned())).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CROSS_ORIGIN_OPENER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
