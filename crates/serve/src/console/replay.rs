//! `/activity/{request}`: one call as it was: what the agent saw, and how today's answer differs.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use model::{Timestamp, iso};
use serde_json::Value;

use super::activity::{find, outcome_name};
use super::cost;
use super::difference::difference;
use super::jobs::short_time;
use super::json_view::json_box;
use super::layout::{Section, error_page, page, problem};
use super::params::Params;
use super::time::thousands;
use super::viewer::Viewer;

/// Shows one call.
pub(super) async fn one(viewer: Viewer, Path(request): Path<String>, params: Params) -> Response {
    let at = Timestamp(params.text("at").parse().unwrap_or_default());
    let entry = match find(&viewer, &request, at.0).await {
        Ok(entry) => entry,
        Err(error) => return error_page(&viewer, &error),
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
            dt { "When" } dd { (short_time(&iso(entry.at))) " UTC" }
            dt { "Outcome" } dd { span class=(format!("badge {}", outcome_name(entry.outcome))) { (outcome_name(entry.outcome)) } " " (entry.code.as_deref().unwrap_or_default()) }
            dt { "Results" } dd { (entry.results) ", " (entry.redacted) " pieces redacted"
                @if let Some(best) = entry.best_score { ", best score " (format!("{best:.2}")) } }
            @if let Some(tokens) = entry.tokens { dt { "Cost" } dd { (thousands(tokens as usize)) " tokens" } }
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
                dl .facts {
                    dt { "SHA-256" } dd { code { (kept.hash) } }
                    dt { "Results" } dd { @if kept.ids.is_empty() { "none" } @else { (kept.ids.join(", ")) } }
                    dt { "Generation" } dd { (generation(viewer, kept)) }
                } }
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
            section aria-labelledby="then" { h2 #then { "What the agent saw" }
                p .cost { strong { (thousands(cost::tokens(&answer.to_string()))) } " tokens, index generation " (generation(viewer, kept)) }
                (json_box("kept-json", answer)) }
            section aria-labelledby="today" { h2 #today { "Today" }
                @match &today {
                    None => p .note { "Only tools of this server that change nothing are called again." },
                    Some(Err(error)) => (problem(error)),
                    Some(Ok(reply)) => { p .cost { strong { (thousands(cost::tokens(&reply.text))) } " tokens" } (difference(answer, &reply.value)) },
                } }
        }
        h2 { "Asked with" }
        (json_box("kept-arguments", &Value::Object(arguments)))
    }
}

/// The generation of the index that an answer was made from, beside that of now.
fn generation(viewer: &Viewer, kept: &guard::KeptAnswer) -> String {
    let now = (viewer.app.console.generation)();
    match (kept.generation, now) {
        (None, _) => "not known".to_owned(),
        (Some(then), Some(now)) if then == now => format!("{then}, unchanged since"),
        (Some(then), Some(now)) => format!("{then}, now {now}"),
        (Some(then), None) => then.to_string(),
    }
}
