//! `/contexts/documents/{id}`: a JSON document as a tree, one node at a time and of a large node one
//! page at a time, so that every member and every character can be reached.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::contexts::rights;
use super::contexts_change;
use super::knowledge::{array, text};
use super::layout::{Section, error_page, page, problem};
use super::params::{Params, encoded};
use super::time::{counted, thousands};
use super::viewer::Viewer;

/// Members of a node that a page shows.
const SHOWN_MEMBERS: usize = 200;

/// Characters of a node that are asked for.
const NODE_CHARS: usize = 20_000;

/// Characters of a member that are shown beside its name.
const SHOWN_CHARS: usize = 100;

/// A document's nodes as a tree, one level at a time.
pub(super) async fn document(viewer: Viewer, Path(id): Path<String>, params: Params) -> Response {
    let pointer = params.text("pointer").to_owned();
    let offset = params.number("offset", 0, usize::MAX);
    let table_path = format!("/v1/tables/{}", encoded(&id));
    let node_path = format!(
        "{table_path}/node?view=members&pointer={}&offset={offset}&max_chars={NODE_CHARS}",
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
        above.push((model::pointer_name(token).into_owned(), so_far.clone()));
    }
    let may_change = pointer.is_empty() && rights(&viewer, text(&table, "project_id")).await.0;
    let project =
        viewer.get(&format!("/v1/projects/{}", encoded(text(&table, "project_id")))).await;
    let project_name = project.as_ref().map_or("project", |project| text(project, "name"));
    let body = html! {
        p .crumbs { a href=(viewer.href("/contexts")) { "Contexts" } " / "
            a href=(viewer.href(&format!("/contexts/{}", text(&table, "project_id")))) { (project_name) } " / "
            a href=(at("")) { (name) } @for (token, pointer) in &above { " / " a href=(at(pointer)) { (token) } } }
        h1 { (name) }
        p .note { @if pointer.is_empty() { "The whole document; its pointer is empty." } @else { "Pointer " code { (pointer) } } }
        @if may_change { (contexts_change::document(&viewer, &table, &here)) }
        div data-refresh { @match &node {
            Err(error) => (problem(error)),
            Ok(node) => {
                (node_view(node, offset, |token| at(&format!("{pointer}/{token}"))))
                (pager(&viewer, &here, &params, next_of(node, offset)))
            },
        } }
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

/// A member of a list or object, as its page shows it.
struct Member {
    /// Its name in a pointer.
    name: String,
    /// Its value, or the beginning of it.
    value: Value,
    /// How much it holds, in words; nothing where that is seen.
    size: Option<String>,
}

/// The members of a node that its page shows; nothing for a node that has none.
fn members(node: &Value, offset: usize) -> Vec<Member> {
    let named: Vec<(String, Value)> = match serde_json::from_str(text(node, "text")) {
        Ok(Value::Object(members)) if node["type"] == "object" => members.into_iter().collect(),
        Ok(Value::Array(elements)) if node["type"] == "array" => {
            let named = |(at, value): (usize, Value)| ((offset + at).to_string(), value);
            elements.into_iter().enumerate().map(named).collect()
        }
        _ => Vec::new(),
    };
    // Names that were redacted may have become the same: then nothing tells whose size is whose.
    let sizes = array(&node["members"]);
    let sizes = if sizes.len() == named.len() { sizes } else { &[] };
    let with_size = |(at, (name, value)): (usize, (String, Value))| {
        let size = sizes.get(at).and_then(said_size);
        Member { name, value, size }
    };
    named.into_iter().enumerate().map(with_size).take(SHOWN_MEMBERS).collect()
}

/// How much a member holds, in words.
fn said_size(member: &Value) -> Option<String> {
    let size = member["size"].as_u64()?;
    let at_least = if member["counted"] == false { "at least " } else { "" };
    let kind = match text(member, "type") {
        "array" => counted(size, "element"),
        "object" => counted(size, "member"),
        // The whole of a short string is there to be seen.
        _ if size <= SHOWN_CHARS as u64 => return None,
        _ => counted(size, "character"),
    };
    Some(format!("{at_least}{kind}"))
}

/// Where a page of the node goes on.
fn next_of(node: &Value, offset: usize) -> Option<usize> {
    let next = node["next"].as_str().and_then(|next| next.parse().ok());
    let n_given = array(&node["members"]).len();
    if n_given > SHOWN_MEMBERS { Some(offset + SHOWN_MEMBERS) } else { next }
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
            ul .tree { @for member in &members { li {
                // A name without letters could not be seen, nor clicked.
                a href=(link(&model::pointer_token(&member.name))) {
                    @if member.name.trim().is_empty() { (format!("{:?}", member.name)) } @else { (member.name) } }
                " " span .size { (member.size.as_deref().unwrap_or_default()) }
                " " span .note { (beginning(&member.value)) } } } }
        }
    }
}

/// The beginning of a value, on one line.
fn beginning(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        // The mark of what was left out needs no name.
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string().replace("\"…\":\"…\"", "…").replace("\"…\"", "…"),
    };
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A node as the server gives it, of elements from `offset` on.
    fn node(offset: usize, n_given: usize, n_elements: usize) -> Value {
        let end = (offset + n_given).min(n_elements);
        let given: Vec<Value> = (offset..end).map(Value::from).collect();
        let sizes: Vec<Value> =
            given.iter().map(|_| json!({ "type": "number", "counted": true })).collect();
        let mut node =
            json!({ "type": "array", "text": json!(given).to_string(), "members": sizes });
        if end < n_elements {
            node["next"] = json!(end.to_string());
        }
        node
    }

    proptest::proptest! {
        #[test]
        fn every_element_is_on_one_page(n_elements in 0_usize..900, n_given in 1_usize..500) {
            let (mut offset, mut seen) = (0, Vec::new());
            loop {
                let node = node(offset, n_given, n_elements);
                seen.extend(members(&node, offset).into_iter().map(|member| member.name));
                match next_of(&node, offset) {
                    Some(next) => offset = next,
                    None => break,
                }
            }
            let wanted: Vec<String> = (0..n_elements).map(|n| n.to_string()).collect();
            proptest::prop_assert_eq!(seen, wanted);
        }
    }

    #[test]
    fn text_that_looks_like_json_is_text() {
        let own = json!({ "type": "string", "text": "[1, 2]", "next": "", "truncated": false });
        assert!(members(&own, 0).is_empty());
    }

    #[test]
    fn members_say_how_much_they_hold() {
        let node = json!({
            "type": "object", "text": r#"{"large":[{"id":0,"…":"…"},"…"],"":{},"s":"x","n":1}"#,
            "members": [
                { "type": "array", "size": 120_000, "counted": true },
                { "type": "object", "size": 0, "counted": true },
                { "type": "string", "size": 1, "counted": true },
                { "type": "number", "size": null, "counted": true },
            ],
        });
        let sizes: Vec<Option<String>> = members(&node, 0).into_iter().map(|m| m.size).collect();
        let words = |text: &str| Some(text.to_owned());
        assert_eq!(sizes, [words("120\u{202f}000 elements"), words("0 members"), None, None]);
        let shown = node_view(&node, 0, |token| format!("/{token}")).0;
        assert!(shown.contains(r#"<a href="/">&quot;&quot;</a>"#), "{shown}");
        assert!(shown.contains("[{&quot;id&quot;:0,…},…]"), "{shown}");
        assert_eq!(
            said_size(&json!({ "type": "array", "size": 1, "counted": false })),
            words("at least 1 element")
        );
    }
}
