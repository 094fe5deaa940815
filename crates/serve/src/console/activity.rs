//! `/activity`: who called what and what they got.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::stream;
use guard::{Audit, Entry, Outcome};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use maud::{Markup, html};
use model::{Identity, Timestamp};
use tools::{Code, ToolError};

use super::address::notes;
use super::judged;
use super::layout::{Section, empty, error_page, page, problem};
use super::params::{Params, encoded};
use super::time::{ago, thousands};
use super::viewer::Viewer;
use super::{activity_cost, activity_judged, activity_weak};

/// Entries that figures and groups are made of, newest first.
const LOOKED_AT: usize = 20_000;

/// Entries of one page.
const SHOWN: usize = 100;

/// Entries that an export reads at a time.
const EXPORTED: usize = 20_000;

/// How far back one can look, with the name of each choice.
pub(super) const PERIODS: [(&str, &str, i64); 4] = [
    ("hour", "the last hour", 3_600_000),
    ("day", "the last day", 86_400_000),
    ("week", "the last week", 7 * 86_400_000),
    ("month", "the last 30 days", 30 * 86_400_000),
];

/// How a call ends.
pub(super) const OUTCOMES: [&str; 4] = ["ok", "refused", "failed", "cancelled"];

/// The calls, newest first, and what can be learnt of them.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let view = params.get("view").unwrap_or("calls").to_owned();
    let view = view.as_str();
    let mut tabs = vec![("calls", "Calls"), ("weak", "Found little or nothing"), ("cost", "Cost")];
    if judged::may_judge(&viewer) {
        tabs.push(("judged", "Judged"));
    }
    let n_entries = if view == "calls" { SHOWN + 1 } else { LOOKED_AT };
    let entries = match view {
        "judged" => Ok(Vec::new()),
        _ => entries(&viewer, &params, n_entries).await,
    };
    let clean = params.without("before").without("view").without("from");
    // A place that is gone from the record, or never was one: the newest calls are shown.
    let is_past = matches!(&entries, Ok(entries) if entries.is_empty()) && view == "calls";
    let (entries, params, said) = match params.get("before") {
        Some(_) if is_past => {
            let newest = params.without("before");
            let said = "`before` is left out: nothing in the record is older than what it names, or it names nothing there.";
            (self::entries(&viewer, &newest, n_entries).await, newest, vec![said.to_owned()])
        }
        _ => (entries, params, vec![]),
    };
    let body = html! {
        div .head { h1 { "Activity" }
            @if view != "judged" {
                a .button.small href=(viewer.link("/activity/export", &clean)) { "Export JSON lines" }
            } }
        nav .tabs aria-label="Views of the activity" {
            @for (name, label) in tabs {
                a href=(viewer.link("/activity", &clean.with("view", name))) aria-current=[(name == view).then_some("page")] { (label) }
            }
        }
        (notes(&said))
        @if view != "judged" { (filters(&viewer, &params, view)) }
        @match &entries {
            Err(error) => (problem(error)),
            Ok(entries) => @match view {
                "weak" => { (activity_weak::groups(&viewer, &params, entries))
                    @if entries.len() == LOOKED_AT { p .note { "Looked at: the newest " (thousands(LOOKED_AT)) " calls that fit." } } },
                "cost" => (activity_cost::figures(&viewer, &params, entries)),
                "judged" => (activity_judged::cases(&viewer, &params).await),
                _ => (rows(&viewer, &params, entries)),
            },
        }
    };
    page(&viewer, Section::Activity, "Activity", &body)
}

/// Tells whether a caller may see a call: an administrator their tenant's, others their own.
fn is_visible(viewer: &Viewer, entry: &Entry) -> bool {
    let caller = &viewer.caller;
    caller.identity == Identity::Local
        || (entry.tenant == caller.tenant.to_string()
            && (caller.is_admin() || entry.caller == caller.subject))
}

/// Reads the newest calls that the person may see and that the address asks for.
pub(super) async fn entries(
    viewer: &Viewer,
    params: &Params,
    n_entries: usize,
) -> Result<Vec<Entry>, ToolError> {
    let folder = viewer.app.console.data_dir.join("audit");
    let (viewer, params) = (viewer.clone(), params.clone());
    let read = tokio::task::spawn_blocking(move || {
        let text = |name: &str| params.get(name).map(str::to_lowercase);
        let (tool, outcome, who, query) = (text("tool"), text("outcome"), text("who"), text("q"));
        let with_console = params.get("console").is_some();
        let period = PERIODS.iter().find(|(name, ..)| params.get("since") == Some(*name));
        let since = period.map(|(_, _, millis)| viewer.app.clock.now().0 - millis);
        Audit::before(&folder, params.get("before"), n_entries, |entry| {
            let has = |field: &str, wanted: &Option<String>| {
                wanted.as_ref().is_none_or(|wanted| field.to_lowercase().contains(wanted.as_str()))
            };
            is_visible(&viewer, entry)
                && (with_console || entry.via.is_none())
                && since.is_none_or(|since| entry.at.0 >= since)
                && has(&entry.tool, &tool)
                && has(&who_of(entry), &who)
                && has(entry.query.as_deref().unwrap_or_default(), &query)
                && outcome.as_ref().is_none_or(|wanted| outcome_name(entry.outcome) == wanted)
        })
    });
    let mut entries = match read.await {
        Ok(Ok(entries)) => entries,
        Ok(Err(error)) => {
            return Err(ToolError::new(
                Code::Unavailable,
                format!("the audit cannot be read: {error}"),
            ));
        }
        Err(_) => return Err(ToolError::new(Code::InternalError, "the audit cannot be read")),
    };
    entries.reverse();
    Ok(entries)
}

/// Finds one call by the id that its answer had as `x-request-id`. Callers may choose that, so an
/// address says which moment it means; without one it is the newest call.
pub(super) async fn find(
    viewer: &Viewer,
    request: &str,
    at: Option<Timestamp>,
) -> Result<Entry, ToolError> {
    let folder = viewer.app.console.data_dir.join("audit");
    let (looking, wanted) = (viewer.clone(), request.to_owned());
    let read = tokio::task::spawn_blocking(move || {
        Audit::tail(&folder, 1, |entry| {
            entry.request == wanted
                && at.is_none_or(|at| entry.at == at)
                && is_visible(&looking, entry)
        })
    });
    let found = read.await.ok().and_then(Result::ok).and_then(|mut found| found.pop());
    found.ok_or_else(|| {
        let shown: String = request.chars().take(80).collect();
        let message = format!("the call `{shown}` is not in the record, or is not yours to see");
        ToolError::new(Code::NotFound, message)
            .with_hint("the page Activity lists the recorded calls")
    })
}

/// Who called, and as whom they looked.
fn who_of(entry: &Entry) -> String {
    let seen = entry.viewing_as.as_ref().map(|seen| format!(" viewing as {seen}"));
    format!("{}/{}{}", entry.tenant, entry.caller, seen.unwrap_or_default())
}

pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Refused => "refused",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
    }
}

fn filters(viewer: &Viewer, params: &Params, view: &str) -> Markup {
    let field = |name: &str, label: &str| {
        html! {
            div .field { label for=(format!("by-{name}")) { (label) } input id=(format!("by-{name}")) type="search" name=(name) value=(params.text(name)); }
        }
    };
    html! {
        form .toolbar method="get" action=(viewer.href("/activity")) role="search" {
            input type="hidden" name="view" value=(view);
            (field("tool", "Tool")) (field("who", "Caller")) (field("q", "Query contains"))
            div .field { label for="outcome" { "Outcome" } select #outcome name="outcome" { option value="" { "all" }
                @for name in OUTCOMES { option value=(name) selected[params.has("outcome", name)] { (name) } } } }
            div .field { label for="since" { "Since" } select #since name="since" { option value="" { "the beginning" }
                @for (name, label, _) in PERIODS { option value=(name) selected[params.has("since", name)] { (label) } } } }
            label .check { input type="checkbox" name="console" value="1" checked[params.get("console").is_some()]; "calls of this console too" }
            button type="submit" { "Filter" }
        }
    }
}

/// Where the page of a call is.
pub(super) fn address(viewer: &Viewer, entry: &Entry) -> String {
    viewer.href(&path_of(&entry.request, entry.at))
}

/// Last parts of addresses that are no ids of calls.
const NAMES: [&str; 4] = ["call", "export", "forget", "judge"];

/// The address of a call below the base. Whoever calls may choose the id, and some would lead
/// elsewhere: to another page of this section, or, as `..`, out of it.
fn path_of(request: &str, at: Timestamp) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let at = at.0;
    match !request.is_empty() && request.chars().all(is_plain) && !NAMES.contains(&request) {
        true => format!("/activity/{request}?at={at}"),
        false => format!("/activity/call?request={}&at={at}", encoded(request)),
    }
}

fn rows(viewer: &Viewer, params: &Params, entries: &[Entry]) -> Markup {
    let shown = &entries[..entries.len().min(SHOWN)];
    let Some(last) = shown.last() else {
        return empty(
            "No call fits.",
            &html! { p { "Agents' calls appear here as they make them. " a href=(viewer.href("/tools")) { "Connect one" } "." } },
        );
    };
    let now = viewer.app.clock.now();
    html! {
        div .scroll tabindex="0" role="region" aria-label="Calls" { table .stack {
            thead { tr { th scope="col" { "When" } th scope="col" { "Tool" } th scope="col" { "Caller" } th scope="col" { "Query" } th scope="col" { "Outcome" } th scope="col" .num { "Results" } th scope="col" .num { "Best score" } th scope="col" .num { "Tokens" } th scope="col" .num { "Redacted" } th scope="col" .num { "ms" } } }
            tbody { @for entry in shown { tr {
                td .nowrap { a href=(address(viewer, entry)) { (ago(entry.at, now)) } }
                td .nowrap { code { (entry.tool) } @if let Some(via) = &entry.via { " " span .badge { (via) } } }
                td .nowrap { (entry.tenant) "/" (entry.caller)
                    @if let Some(seen) = &entry.viewing_as { br; span .note { "viewing as " (seen) } } }
                td .cell { (entry.query.as_deref().unwrap_or("—")) }
                td { span class=(format!("badge {}", outcome_name(entry.outcome))) { (entry.code.as_deref().unwrap_or(outcome_name(entry.outcome))) } }
                td .num data-name="Results" { (entry.results) }
                td .num data-name="Best score" { @if let Some(score) = entry.best_score { (format!("{score:.2}")) } @else { "—" } }
                td .num data-name="Tokens" { @if let Some(tokens) = entry.tokens { (thousands(tokens as usize)) } @else { "—" } }
                td .num data-name="Redacted" { (entry.redacted) } td .num data-name="ms" { (format!("{:.1}", entry.latency_ms)) }
            } } }
        } }
        div .pager {
            @if params.get("before").is_some() { a .button rel="first" href=(viewer.link("/activity", &params.without("before"))) { "Newest" } }
            @if entries.len() > SHOWN { a .button rel="next" href=(viewer.link("/activity", &params.with("before", &last.mark()))) { "Older" } }
        }
    }
}

/// Gives the calls that fit as JSON lines, the newest first, as many as there are.
pub(super) async fn export(viewer: Viewer, params: Params) -> Response {
    let first = match entries(&viewer, &params, EXPORTED).await {
        Ok(entries) => entries,
        Err(error) => return error_page(&viewer, &error),
    };
    let parts = stream::unfold(Some(Ok::<_, ToolError>(first)), move |entries| {
        let (viewer, params) = (viewer.clone(), params.clone());
        async move {
            let entries: Vec<Entry> = match entries? {
                Ok(entries) => entries,
                // A download that breaks off says that it is not whole.
                Err(error) => return Some((Err(std::io::Error::other(error.message)), None)),
            };
            let last = entries.last().filter(|_| entries.len() == EXPORTED).map(Entry::mark);
            let next = match last {
                Some(mark) => {
                    Some(self::entries(&viewer, &params.with("before", &mark), EXPORTED).await)
                }
                None => None,
            };
            Some((Ok(json_lines(&entries)), next))
        }
    });
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"audit.jsonl\""),
    ];
    (headers, Body::from_stream(parts)).into_response()
}

fn json_lines(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if let Ok(line) = serde_json::to_string(entry) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call whose id was `export` or `..` could not be looked at.
    #[test]
    fn no_id_leads_away_from_its_call() {
        let path = |request: &str| path_of(request, Timestamp(7));
        assert_eq!(path("550138eb-464c"), "/activity/550138eb-464c?at=7");
        for request in ["", ".", "..", "export", "judge", "forget", "call", "judged.jsonl", "a/b"] {
            let expected = format!("/activity/call?request={}&at=7", encoded(request));
            assert_eq!(path(request), expected);
        }
    }
}
