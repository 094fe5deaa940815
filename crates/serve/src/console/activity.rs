//! `/activity`: who called what and what they got; queries that found nothing; what was judged.

use std::collections::BTreeMap;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use guard::{Audit, Entry, Outcome};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use maud::{Markup, html};
use model::{Identity, Timestamp};
use serde_json::Value;
use tools::{Code, ToolError};

use super::cost;
use super::difference::difference;
use super::json_view::json_box;
use super::judged::{self, Judged};
use super::layout::{Section, empty, error_page, page, problem};
use super::params::{Params, encoded};
use super::time::ago;
use super::viewer::Viewer;

/// Entries that are looked at, newest first.
const LOOKED_AT: usize = 50_000;

/// Entries of one page.
const SHOWN: usize = 100;

/// Entries of one export.
const EXPORTED: usize = 50_000;

/// Groups of queries without results.
const SHOWN_GROUPS: usize = 50;

/// The calls, newest first.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let entries = entries(&viewer, &params, LOOKED_AT).await;
    let view = params.get("view").unwrap_or("calls");
    let body = html! {
        div .head { h1 { "Activity" }
            a .button.small href=(viewer.link("/activity/export", &params)) { "Export" } }
        nav .tabs aria-label="Views of the activity" {
            @for (name, label) in [("calls", "Calls"), ("nothing", "Found nothing"), ("cost", "Cost"), ("judged", "Judged")] {
                a href=(viewer.link("/activity", &params.with("view", name))) aria-current=[(name == view).then_some("page")] { (label) }
            }
        }
        @match &entries {
            Err(error) => (problem(error)),
            Ok(entries) => @match view {
                "nothing" => (without_results(&viewer, entries)),
                "cost" => (by_tool(entries)),
                "judged" => (judged_cases(&viewer)),
                _ => { (filters(&viewer, &params)) (rows(&viewer, &params, entries)) }
            },
        }
    };
    page(&viewer, Section::Activity, "Activity", &body)
}

/// Reads what the person may see: an administrator their tenant, others their own calls.
async fn entries(viewer: &Viewer, params: &Params, n: usize) -> Result<Vec<Entry>, ToolError> {
    let folder = viewer.app.console.data_dir.join("audit");
    let caller = viewer.caller.clone();
    let params = params.clone();
    let read = tokio::task::spawn_blocking(move || {
        let text = |name: &str| params.get(name).map(str::to_lowercase);
        let (tool, outcome, who, query) = (text("tool"), text("outcome"), text("who"), text("q"));
        let with_console = params.get("console").is_some();
        Audit::tail(&folder, n, |entry| {
            let is_visible = caller.identity == Identity::Local
                || (entry.tenant == caller.tenant.to_string()
                    && (caller.is_admin() || entry.caller == caller.subject));
            let has = |field: &str, wanted: &Option<String>| {
                wanted.as_ref().is_none_or(|wanted| field.to_lowercase().contains(wanted.as_str()))
            };
            is_visible
                && (with_console || entry.via.is_none())
                && has(&entry.tool, &tool)
                && has(&format!("{}/{}", entry.tenant, entry.caller), &who)
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

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Refused => "refused",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
    }
}

fn filters(viewer: &Viewer, params: &Params) -> Markup {
    let field = |name: &str, label: &str| {
        html! {
            div .field { label for=(format!("by-{name}")) { (label) } input id=(format!("by-{name}")) type="search" name=(name) value=(params.text(name)); }
        }
    };
    html! {
        form .toolbar method="get" action=(viewer.href("/activity")) role="search" {
            (field("tool", "Tool")) (field("who", "Caller")) (field("q", "Query contains"))
            div .field { label for="outcome" { "Outcome" } select #outcome name="outcome" { option value="" { "all" }
                @for name in ["ok", "refused", "failed", "cancelled"] { option value=(name) selected[params.has("outcome", name)] { (name) } } } }
            label { input type="checkbox" name="console" value="1" checked[params.get("console").is_some()]; " with this console" }
            button type="submit" { "Filter" }
        }
    }
}

fn rows(viewer: &Viewer, params: &Params, entries: &[Entry]) -> Markup {
    let from = params.number("from", 0, entries.len());
    let shown = &entries[from..entries.len().min(from + SHOWN)];
    if shown.is_empty() {
        return empty(
            "No call fits.",
            &html! { p { "Agents' calls appear here as they make them. " a href=(viewer.href("/tools")) { "Connect one" } "." } },
        );
    }
    let now = viewer.app.clock.now();
    html! {
        div .scroll tabindex="0" role="region" aria-label="Calls" { table {
            thead { tr { th scope="col" { "When" } th scope="col" { "Tool" } th scope="col" { "Caller" } th scope="col" { "Query" } th scope="col" { "Outcome" } th scope="col" .num { "Results" } th scope="col" .num { "Redacted" } th scope="col" .num { "ms" } } }
            tbody { @for entry in shown { tr {
                td .nowrap { a href=(viewer.href(&format!("/activity/{}?at={}", encoded(&entry.request), entry.at.0))) { (ago(entry.at, now)) } }
                td .nowrap { code { (entry.tool) } @if let Some(via) = &entry.via { " " span .badge { (via) } } }
                td { (entry.tenant) "/" (entry.caller) }
                td .cell { (entry.query.as_deref().unwrap_or("—")) }
                td { span class=(format!("badge {}", outcome_name(entry.outcome))) { (entry.code.as_deref().unwrap_or(outcome_name(entry.outcome))) } }
                td .num { (entry.results) } td .num { (entry.redacted) } td .num { (format!("{:.1}", entry.latency_ms)) }
            } } }
        } }
        div .pager {
            @if from > 0 { a .button rel="prev" href=(viewer.link("/activity", &params.with("from", &from.saturating_sub(SHOWN).to_string()))) { "Newer" } }
            span .note { (from + 1) "–" (from + shown.len()) " of " (entries.len()) }
            @if from + SHOWN < entries.len() { a .button rel="next" href=(viewer.link("/activity", &params.with("from", &(from + SHOWN).to_string()))) { "Older" } }
        }
    }
}

/// Queries that found nothing, the most frequent first.
fn without_results(viewer: &Viewer, entries: &[Entry]) -> Markup {
    let mut groups: BTreeMap<(String, String), (usize, Timestamp, String)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.outcome == Outcome::Ok && entry.results == 0) {
        let Some(query) = &entry.query else { continue };
        let group = groups.entry((entry.tool.clone(), text::fold(query.trim()))).or_insert((
            0,
            entry.at,
            query.clone(),
        ));
        group.0 += 1;
        group.1 = group.1.max(entry.at);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (count, at, _))| (std::cmp::Reverse(*count), std::cmp::Reverse(at.0)));
    let now = viewer.app.clock.now();
    if groups.is_empty() {
        return empty(
            "Every query found something.",
            &html! { p { "Queries without results are grouped here." } },
        );
    }
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Query" } th scope="col" { "Tool" } th scope="col" .num { "Times" } th scope="col" { "Last" } th scope="col" { "Next" } } }
            tbody { @for ((tool, _), (count, at, query)) in groups.iter().take(SHOWN_GROUPS) { tr {
                td .cell { (query) } td { code { (tool) } } td .num { (count) } td .nowrap { (ago(*at, now)) }
                td { a href=(viewer.link("/", &Params::default().with("q", query).with("view", "missing"))) { "Why?" } }
            } } }
        } }
    }
}

/// Calls, latencies and results by tool, over what is looked at.
fn by_tool(entries: &[Entry]) -> Markup {
    let mut tools: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        tools.entry(&entry.tool).or_default().push(entry);
    }
    html! {
        p .note { "Over the newest " (entries.len()) " calls. What one answer costs in tokens is on the page of each call and each tool." }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Tool" } th scope="col" .num { "Calls" } th scope="col" .num { "Callers" } th scope="col" .num { "Refused or failed" } th scope="col" .num { "Results each" } th scope="col" .num { "p50 ms" } th scope="col" .num { "p95 ms" } th scope="col" .num { "p99 ms" } } }
            tbody { @for (tool, entries) in &tools {
                @let latencies = latencies(entries);
                @let callers: std::collections::BTreeSet<&str> = entries.iter().map(|entry| entry.caller.as_str()).collect();
                tr { td { code { (tool) } } td .num { (entries.len()) } td .num { (callers.len()) }
                    td .num { (entries.iter().filter(|entry| entry.outcome != Outcome::Ok).count()) }
                    td .num { (format!("{:.1}", entries.iter().map(|entry| entry.results as f64).sum::<f64>() / entries.len() as f64)) }
                    @for share in [0.5, 0.95, 0.99] { td .num { (format!("{:.1}", percentile(&latencies, share))) } } }
            } }
        } }
    }
}

fn latencies(entries: &[&Entry]) -> Vec<f64> {
    let mut latencies: Vec<f64> = entries.iter().map(|entry| entry.latency_ms).collect();
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// The value below which a share of sorted values lies.
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn judged_cases(viewer: &Viewer) -> Markup {
    let path = judged::file(viewer);
    let judged = match Judged::read(&path) {
        Ok(judged) => judged,
        Err(error) => return problem(&ToolError::new(Code::Unavailable, error.to_string())),
    };
    if judged.queries.is_empty() {
        return empty(
            "No result was judged yet.",
            &html! { p { "Press Right or Wrong beside a result of a search. The cases measure the order: " code { "dowse eval " (path.display()) } } },
        );
    }
    html! {
        p { (judged.queries.len()) " judged queries over " (judged.documents.len()) " documents. Measure with " code { "dowse eval " (path.display()) }
            "; with " code { "--baseline" } " a change that breaks them is refused." }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Query" } th scope="col" { "Right" } th scope="col" { "Wrong" } } }
            tbody { @for (query, grades) in &judged.queries {
                @let titles = |grade: u32| grades.iter().filter(|(_, given)| **given == grade).filter_map(|(id, _)| judged.documents.get(id).map(|(title, _)| title.as_str())).collect::<Vec<_>>().join(", ");
                tr { td { a href=(viewer.link("/", &Params::default().with("q", query))) { (query) } } td { (titles(1)) } td { (titles(0)) } }
            } }
        } }
    }
}

/// Gives the calls that fit as JSON lines.
pub(super) async fn export(viewer: Viewer, params: Params) -> Response {
    let entries = match entries(&viewer, &params, EXPORTED).await {
        Ok(entries) => entries,
        Err(error) => return error_page(&viewer, &error),
    };
    let mut text = String::new();
    for entry in &entries {
        if let Ok(line) = serde_json::to_string(entry) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"audit.jsonl\""),
    ];
    (headers, text).into_response()
}

/// One call: what the agent saw, and how today's answer differs.
pub(super) async fn one(viewer: Viewer, Path(request): Path<String>, params: Params) -> Response {
    let at = Timestamp(params.text("at").parse().unwrap_or_default());
    let wanted = Params::default().with("console", "1");
    let entry = match entries(&viewer, &wanted, LOOKED_AT).await {
        Ok(entries) => entries.into_iter().find(|entry| entry.request == request && entry.at == at),
        Err(error) => return error_page(&viewer, &error),
    };
    let Some(entry) = entry else {
        let shown: String = request.chars().take(80).collect();
        let message = format!("the call `{shown}` is not in the record, or is not yours to see");
        let missing = ToolError::new(Code::NotFound, message)
            .with_hint("the page Activity lists the calls that are kept");
        return error_page(&viewer, &missing);
    };
    let (answers, id) = (viewer.app.answers.clone(), request.clone());
    let kept = tokio::task::spawn_blocking(move || answers.find(&id, at)).await;
    let kept = kept.ok().and_then(Result::ok).flatten();
    let body = html! {
        p .crumbs { a href=(viewer.href("/activity")) { "Activity" } " / " (request) }
        h1 { code { (entry.tool) } }
        dl .facts {
            dt { "Query" } dd { (entry.query.as_deref().unwrap_or("—")) }
            dt { "Caller" } dd { (entry.tenant) "/" (entry.caller) }
            dt { "Outcome" } dd { (outcome_name(entry.outcome)) " " (entry.code.as_deref().unwrap_or_default()) }
            dt { "Results" } dd { (entry.results) " (" (entry.redacted) " pieces redacted)" }
            dt { "Took" } dd { (format!("{:.1} ms", entry.latency_ms)) }
        }
        @match kept {
            None => p .note { "The answer was not kept: calls of this console, refused calls and answers of resources are not. See " code { "audit.keep_answers_days" } "." },
            Some(kept) => (replay(&viewer, &kept).await),
        }
    };
    page(&viewer, Section::Activity, "Call", &body)
}

async fn replay(viewer: &Viewer, kept: &guard::KeptAnswer) -> Markup {
    let Some(answer) = &kept.answer else {
        let why = if kept.is_erased {
            "It was erased together with a source that it held text of."
        } else {
            "It is older than answers are kept."
        };
        return html! {
            section .card { h2 { "The answer is gone" } p { (why) " What remains:" }
                dl .facts { dt { "SHA-256" } dd { code { (kept.hash) } } dt { "Results" } dd { (kept.ids.join(", ")) } } }
        };
    };
    let arguments = kept.arguments.clone().unwrap_or_default();
    let today = match viewer.app.tools.get(&kept.tool, &viewer.caller) {
        Some(tool) if tool.spec.effect == tools::Effect::ReadOnly => {
            Some(viewer.call(tool, Value::Object(arguments.clone())).await)
        }
        _ => None,
    };
    html! {
        div .halves {
            section { h2 { "What the agent saw" }
                p .cost { strong { (cost::tokens(&answer.to_string())) } " tokens" }
                (json_box("kept-json", answer)) }
            section { h2 { "Today" }
                @match &today {
                    None => p .note { "Only tools of this server that change nothing are called again." },
                    Some(Err(error)) => (problem(error)),
                    Some(Ok(reply)) => { p .cost { strong { (cost::tokens(&reply.text)) } " tokens" } (difference(answer, &reply.value)) },
                } }
        }
        h2 { "Asked with" }
        (json_box("kept-arguments", &Value::Object(arguments)))
    }
}
