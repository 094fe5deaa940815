//! `/contexts/documents/{id}`: a JSON document as a tree, one node at a time and of a large node one
//! page at a time, so that every member and every character can be reached.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::knowledge::text;
use super::layout::{Section, error_page, page, problem};
use super::params::{Params, encoded};
use super::time::thousands;
use super::viewer::Viewer;

/// Members of a node that a page shows.
const SHOWN_MEMBERS: usize = 200;

/// Characters of a node that are asked for.
const NODE_CHARS: usize = 20_000;

/// What stands for the rest of a list or object that does not fit.
const REST: &str = "…";

/// A document's nodes as a tree, one level at a time.
pub(super) async fn document(viewer: Viewer, Path(id): Path<String>, params: Params) -> Response {
    let pointer = params.text("pointer").to_owned();
    let offset = params.number("offset", 0, usize::MAX);
    let table_path = format!("/v1/tables/{}", encoded(&id));
    let node_path = format!(
        "{table_path}/node?pointer={}&offset={offset}&max_chars={NODE_CHARS}",
        encoded(&pointer)
    );
    let (table, node) = tokio::join!(viewer.get(&table_path), viewer.get(&node_path));
    let table = match table {
        Ok(table) => table,
        Err(error) => return error_page(&viewer, &error),
    };
    let name = text(&table, "name").to_owned();
    let here = format!("/contexts/documents/{}", encoded(&id));
    let at = |pointer: &str| viewer.link(&here, &Params::default().with("pointer", pointer));
    let mut above: Vec<(String, String)> = Vec::new();
    let mut so_far = String::new();
    for token in pointer.split('/').skip(1) {
        so_far.push('/');
        so_far.push_str(token);
        above.push((token.replace("~1", "/").replace("~0", "~"), so_far.clone()));
    }
    let body = html! {
        p .crumbs { a href=(viewer.href(&format!("/contexts/{}", text(&table, "project_id")))) { "Project" } " / "
            a href=(at("")) { (name) } @for (token, pointer) in &above { " / " a href=(at(pointer)) { (token) } } }
        h1 { (name) }
        p .note { "Pointer " code { (if pointer.is_empty() { "(the whole document)" } else { &pointer }) } }
        @match &node {
            Err(error) => (problem(error)),
            Ok(node) => {
                (node_view(node, offset, |token| at(&format!("{pointer}/{token}"))))
                (pager(&viewer, &here, &params, next_of(node, offset)))
            },
        }
    };
    page(&viewer, Section::Contexts, &name, &body)
}

fn pager(viewer: &Viewer, here: &str, params: &Params, next: Option<usize>) -> Markup {
    let is_later = params.get("offset").is_some();
    html! {
        @if is_later || next.is_some() {
            div .pager {
                @if is_later { a .button rel="first" href=(viewer.link(here, &params.without("offset"))) { "From the beginning" } }
                @if let Some(next) = next { a .button rel="next" href=(viewer.link(here, &params.with("offset", &next.to_string()))) { "What follows" } }
            }
        }
    }
}

/// The members of a node that its page shows, with their names in a pointer; nothing for a node
/// that has none.
fn members(node: &Value, offset: usize) -> Vec<(String, Value)> {
    let goes_on = server_next(node).is_some();
    let mut members: Vec<(String, Value)> = match serde_json::from_str(text(node, "text")) {
        Ok(Value::Object(members)) if node["type"] == "object" => members.into_iter().collect(),
        Ok(Value::Array(elements)) if node["type"] == "array" => {
            let named = |(at, value): (usize, Value)| ((offset + at).to_string(), value);
            elements.into_iter().enumerate().map(named).collect()
        }
        _ => Vec::new(),
    };
    // The mark at the end is no member; a member of that name has others after it, or nothing.
    if goes_on && members.last().is_some_and(|(_, value)| value == REST) {
        members.pop();
    }
    members.truncate(SHOWN_MEMBERS);
    members
}

/// Where the node goes on as the server has given it.
fn server_next(node: &Value) -> Option<usize> {
    node["next"].as_str()?.parse().ok()
}

/// Where a page of the node goes on.
fn next_of(node: &Value, offset: usize) -> Option<usize> {
    let next = server_next(node);
    match members(node, offset).len() {
        SHOWN_MEMBERS if next.is_none_or(|next| next > offset + SHOWN_MEMBERS) => {
            let has_more = next.is_some() || n_given(node) > SHOWN_MEMBERS;
            has_more.then_some(offset + SHOWN_MEMBERS)
        }
        _ => next,
    }
}

fn n_given(node: &Value) -> usize {
    match serde_json::from_str(text(node, "text")) {
        Ok(Value::Object(members)) => members.len(),
        Ok(Value::Array(elements)) => elements.len(),
        _ => 0,
    }
}

fn node_view(node: &Value, offset: usize, link: impl Fn(&str) -> String) -> Markup {
    let members = members(node, offset);
    let is_cut = node["truncated"] == true;
    let total = node["total_chars"].as_u64().filter(|_| is_cut);
    html! {
        @if members.is_empty() {
            pre tabindex="0" { (text(node, "text")) }
            @if let Some(total) = total {
                p .note { "Characters " (thousands(node["char_start"].as_u64().unwrap_or_default() as usize)) " to "
                    (thousands(node["char_end"].as_u64().unwrap_or_default() as usize)) " of " (thousands(total as usize)) "." }
            }
        } @else {
            ul .tree { @for (name, value) in &members { li {
                a href=(link(&name.replace('~', "~0").replace('/', "~1"))) { (name) } " "
                span .note { (described(value, is_cut)) } } } }
        }
    }
}

/// What a member is, in few words. Of a node that was cut a list or object may hold more than
/// came.
fn described(value: &Value, is_cut: bool) -> String {
    match value {
        Value::Object(members) => {
            match is_cut && members.get(REST).is_some_and(|rest| rest == REST) {
                true => format!("{{{} and more}}", members.len() - 1),
                false => format!("{{{}}}", members.len()),
            }
        }
        Value::Array(elements) => {
            match is_cut && elements.last().is_some_and(|last| last == REST) {
                true => format!("[{} and more]", elements.len() - 1),
                false => format!("[{}]", elements.len()),
            }
        }
        Value::String(text) => {
            let mut shown: String = text.chars().take(100).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            shown
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(kind: &str, text: &Value, next: &str) -> Value {
        json!({ "type": kind, "text": text.to_string(), "next": next, "truncated": !next.is_empty() })
    }

    /// Walks as the server does: some members, and the mark where there are more.
    fn walked(n_members: usize, n_at_once: usize) -> Vec<String> {
        let (mut offset, mut seen) = (0, Vec::new());
        loop {
            let end = (offset + n_at_once).min(n_members);
            let mut given: Vec<Value> = (offset..end).map(Value::from).collect();
            let next = if end < n_members { end.to_string() } else { String::new() };
            if end < n_members {
                given.push(json!(REST));
            }
            let node = node("array", &Value::Array(given), &next);
            seen.extend(members(&node, offset).into_iter().map(|(name, _)| name));
            match next_of(&node, offset) {
                Some(next) => offset = next,
                None => return seen,
            }
        }
    }

    #[test]
    fn every_member_is_shown_once() {
        for n_members in [1, 2, 199, 200, 201, 400, 401, 1_000] {
            for n_at_once in [1, 7, 199, 200, 201, 333, 5_000] {
                let all: Vec<String> = (0..n_members).map(|n| n.to_string()).collect();
                assert_eq!(walked(n_members, n_at_once), all, "{n_members} by {n_at_once}");
            }
        }
    }

    #[test]
    fn the_mark_for_the_rest_is_no_member() {
        let cut = node("object", &json!({ "a": { "x": 1, "…": "…" }, "…": "…" }), "1");
        let names: Vec<String> = members(&cut, 0).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a"]);
        let page = node_view(&cut, 0, |name| format!("?{name}")).into_string();
        assert!(page.contains("{1 and more}") && !page.contains("href=\"?…"), "{page}");
        let own = node("object", &json!({ "…": "…" }), "");
        assert_eq!(members(&own, 0).len(), 1, "a member may be called so");
    }

    #[test]
    fn text_that_looks_like_json_is_text() {
        let own = json!({ "type": "string", "text": "[1, 2]", "next": "", "truncated": false });
        assert!(members(&own, 0).is_empty());
    }
}
