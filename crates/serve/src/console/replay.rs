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
use super::session::ViewAs;
use super::time::{counted, thousands};
use super::viewer::Viewer;

/// Shows the call that the query of the address names.
pub(super) async fn named(viewer: Viewer, params: Params) -> Response {
    // An address from before calls were named so is that of a call with this id.
    let request = params.get("request").unwrap_or("call").to_owned();
    one(viewer, Path(request), params).await
}

/// Shows one call.
pub(super) async fn one(viewer: Viewer, Path(request): Path<String>, params: Params) -> Response {
    let at = params.get("at").map(|at| Timestamp(at.parse().unwrap_or_default()));
    let entry = match find(&viewer, &request, at).await {
        Ok(entry) => entry,
        Err(error) => return error_page(&viewer, &error),
    };
    let (answers, id, at) = (viewer.app.answers.clone(), request.clone(), entry.at);
    let kept = tokio::task::spawn_blocking(move || answers.find(&id, at)).await;
    let kept = kept.ok().and_then(Result::ok).flatten();
    let body = html! {
        p .crumbs { a href=(viewer.href("/activity")) { "Activity" } " / " (request) }
        h1 { code { (entry.tool) } }
        dl .facts {
            dt { "Query" } dd { (entry.query.as_deref().unwrap_or("—")) }
            dt { "Caller" } dd { (entry.tenant) "/" (entry.caller) @if let Some(seen) = &entry.viewing_as { ", viewing as " (seen) } }
            dt { "When" } dd { (short_time(&iso(entry.at))) " UTC" }
            dt { "Outcome" } dd { span class=(format!("badge {}", outcome_name(entry.outcome))) { (outcome_name(entry.outcome)) } " " (entry.code.as_deref().unwrap_or_default()) }
            dt { "Results" } dd { (entry.results) ", " (counted(entry.redacted, "piece")) " redacted"
                @if let Some(best) = entry.best_score { ", best score " (format!("{best:.2}")) } }
            @if let Some(tokens) = entry.tokens { dt { "Cost" } dd { (thousands(tokens as usize)) " tokens" } }
            dt { "Took" } dd { (format!("{:.1} ms", entry.latency_ms)) }
        }
        @match kept {
            None if viewer.app.audit_config.omit_queries => p .note { "No answer is kept, since " code { "audit.omit_queries" } " is set." },
            None => p .note { "The answer was not stored: calls of this console, refused calls and answers of resources are not. See " code { "audit.keep_answers_days" } "." },
            Some(kept) => (replay(&viewer, &kept).await),
        }
    };
    page(&viewer, Section::Activity, "Call", &body)
}

async fn replay(viewer: &Viewer, kept: &guard::StoredAnswer) -> Markup {
    let Some(answer) = &kept.answer else {
        let why = if kept.is_erased {
            "It was erased when a source was deleted that it may have held text of."
        } else {
            "It is older than the answers that are stored."
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
    let (asking, whose) = as_caller(viewer, kept);
    let today = match asking.app.tools.get(&kept.tool, &asking.caller) {
        Some(tool) if tool.spec.effect == tools::Effect::ReadOnly => {
            Some(asking.call(tool, Value::Object(arguments.clone())).await)
        }
        _ => None,
    };
    html! {
        div .halves {
            section aria-labelledby="then" { h2 #then { "What the agent saw" }
                p .cost { strong { (thousands(cost::tokens(&answer.to_string()))) } " tokens, index generation " (generation(viewer, kept)) }
                (json_box("kept-json", answer)) }
            section aria-labelledby="today" { h2 #today { "Today" }
                @if today.is_some() { (whose_rights(whose, kept)) }
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

/// With whose rights today's answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Whoever looks made the call.
    Own,
    /// With the rights that the call was made with.
    Callers,
    /// With those of the administrator who looks.
    Lookers,
}

/// Asks as the one who called, with the rights that the call was made with, where whoever looks has
/// all of them: looking at a call gives nobody more to read.
fn as_caller(viewer: &Viewer, kept: &guard::StoredAnswer) -> (Viewer, Whose) {
    let looker = &viewer.caller;
    if looker.subject == kept.caller && looker.tenant.as_str() == kept.tenant {
        return (viewer.clone(), Whose::Own);
    }
    let Some(rights) = kept.rights.as_ref().filter(|_| !viewer.is_viewing_as()) else {
        return (viewer.clone(), Whose::Lookers);
    };
    let view = ViewAs {
        chosen_by: viewer.signed_in.client_key(),
        subject: kept.caller.clone(),
        tenant: kept.tenant.clone(),
        department: rights.department.clone(),
        clearance: rights.clearance.to_string(),
        roles: rights.roles.iter().cloned().collect(),
    };
    let is_operator = viewer.app.console.is_operator(&viewer.signed_in);
    let caller = view.caller(&viewer.signed_in, is_operator, viewer.identity_of());
    let is_the_same = caller.tenant.as_str() == kept.tenant
        && caller.clearance == rights.clearance
        && caller.roles == rights.roles;
    match is_the_same {
        true => (viewer.seeing_as(caller), Whose::Callers),
        false => (viewer.clone(), Whose::Lookers),
    }
}

fn whose_rights(whose: Whose, kept: &guard::StoredAnswer) -> Markup {
    html! {
        @match whose {
            Whose::Own => {},
            Whose::Callers => p .note { "Asked with the rights that " strong { (kept.caller) } " had." },
            Whose::Lookers => p .note { strong { "Asked with your rights" } ", which are not those of " strong { (kept.caller) } ": a difference may come from that." },
        }
    }
}

/// The generation of the index that an answer was made from, beside that of now.
fn generation(viewer: &Viewer, kept: &guard::StoredAnswer) -> String {
    let now = (viewer.app.console.generation)();
    match (kept.generation, now) {
        (None, _) => "not known".to_owned(),
        (Some(then), Some(now)) if then == now => format!("{then}, unchanged since"),
        (Some(then), Some(now)) => format!("{then}, now {now}"),
        (Some(then), None) => then.to_string(),
    }
}
