//! Lists of REST on a page. A page shows one page of a list and the way to the rest of it; where
//! several lists belong together, all of their elements.

use maud::{Markup, html};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::address::notes;
use super::params::{Params, encoded};
use super::time::thousands;
use super::viewer::Viewer;

/// The part of an address that says after what a list goes on.
const AFTER: &str = "after";

/// Elements of a list that a page shows as a whole.
const MAX_WHOLE: usize = 2_000;

/// Elements that are asked for at a time where all of them are.
const STEP: usize = 500;

/// Asks for the page of a list that an address names; for the first one where it names a place that
/// the list has not, which [`begins_anew`] says.
pub(super) async fn page_of(
    viewer: &Viewer,
    list: &str,
    params: &Params,
) -> Result<Value, ToolError> {
    let Some(after) = params.get(AFTER) else { return viewer.get(list).await };
    let sign = if list.contains('?') { '&' } else { '?' };
    let answer = viewer.get(&format!("{list}{sign}after={}", encoded(after))).await;
    let is_no_place = |error: &ToolError| {
        error.code == Code::BadRequest
            && error.details.get("argument").and_then(Value::as_str) == Some(AFTER)
    };
    match answer {
        Err(error) if is_no_place(&error) => {
            let mut first = viewer.get(list).await?;
            first[ANEW] = true.into();
            Ok(first)
        }
        answer => answer,
    }
}

/// The member of an answer that says that it is the first page for want of the one asked for.
const ANEW: &str = "begins_anew";

/// Says that a list begins anew, where it does.
pub(super) fn begins_anew(answer: &Value) -> Markup {
    let said = "`after` is left out: it is no place in this list, which begins anew.".to_owned();
    notes(if answer[ANEW] == true { std::slice::from_ref(&said) } else { &[] })
}

/// The way to the first page of a list and to the next, where there are some.
pub(super) fn pager(viewer: &Viewer, here: &str, params: &Params, answer: &Value) -> Markup {
    let next = answer["next"].as_str().filter(|next| !next.is_empty());
    let is_later = params.get(AFTER).is_some() && answer[ANEW] != true;
    html! {
        @if is_later || next.is_some() {
            div .pager {
                @if is_later { a .button rel="first" href=(viewer.link(here, &params.without(AFTER))) { "First page" } }
                @if let Some(next) = next { a .button rel="next" href=(viewer.link(here, &params.with(AFTER, next))) { "Next page" } }
            }
        }
    }
}

/// Asks for every element of a list, in the form in which REST gives a page of it. What is over
/// the most that a page shows is left out, and `next` says so.
pub(super) async fn whole(viewer: &Viewer, list: &str, name: &str) -> Result<Value, ToolError> {
    let mut elements: Vec<Value> = Vec::new();
    let mut path = format!("{list}?limit={STEP}");
    loop {
        let mut answer = viewer.get(&path).await?;
        if let Value::Array(some) = answer[name].take() {
            elements.extend(some);
        }
        let next = answer["next"].as_str().filter(|next| !next.is_empty());
        match next {
            Some(next) if elements.len() < MAX_WHOLE => {
                path = format!("{list}?limit={STEP}&after={}", encoded(next));
            }
            next => return Ok(json!({ name: elements, "next": next })),
        }
    }
}

/// Says that a list is longer than what is shown of it, where it is.
pub(super) fn cut(answer: &Value, name: &str, list: &str) -> Markup {
    let n_shown = answer[name].as_array().map_or(0, Vec::len);
    html! {
        @if answer["next"].is_string() {
            p .note { "The first " (thousands(n_shown)) " are shown; " code { "GET " (list) } " lists all." }
        }
    }
}
