//! Forms that change what a project has: its name, its tools, and which of them an endpoint serves.
//! An endpoint keeps its address and its keys, so that agents go on.

use maud::{Markup, html};
use serde_json::Value;

use super::knowledge::{ParentPage, array, hidden, input, text};
use super::layout::form_token;
use super::params::encoded;
use super::sharing::member_fields;
use super::viewer::Viewer;

/// Another name for a project, and who works on it.
pub(super) fn project(viewer: &Viewer, project: &Value, here: &str) -> Markup {
    html! {
        details { summary { "Change its name or members" }
            form .fields method="post" action=(viewer.href("/do/update-project")) {
                (form_token(viewer)) (hidden("id", text(project, "id"))) (hidden("next", here))
                (input("change-project", "name", "Name", text(project, "name"), true))
                (member_fields("change-project", array(&project["members"])))
                button type="submit" { "Save" }
            }
        }
    }
}

/// What an agent is told of a tool, and the part of the document that it is over.
pub(super) fn tool(viewer: &Viewer, tool: &Value, place: &ParentPage<'_>) -> Markup {
    let id = text(tool, "id");
    let form = format!("change-{id}");
    html! {
        details { summary { "Change" }
            form .fields method="post" action=(viewer.href("/do/update-tool")) {
                (form_token(viewer)) (hidden("id", id)) (hidden("next", place.here))
                (input(&form, "name", "Name for agents", text(tool, "name"), true))
                (input(&form, "description", "What an agent is told", text(tool, "description"), false))
                (input(&form, "json_path", "Pointer of the part (all when empty)", text(tool, "json_path"), false))
                button type="submit" { "Save" }
            }
        }
    }
}

/// The name of an endpoint and the tools that it serves.
pub(super) fn endpoint(
    viewer: &Viewer,
    endpoint: &Value,
    tools: &[Value],
    place: &ParentPage<'_>,
) -> Markup {
    let id = text(endpoint, "id");
    let is_bound = |tool: &Value| array(&endpoint["tool_ids"]).contains(&tool["id"]);
    html! {
        details { summary { "Change its name or tools" }
            form .fields method="post" action=(viewer.href("/do/update-endpoint")) {
                (form_token(viewer)) (hidden("id", id)) (hidden("next", place.here))
                (input(&format!("change-{id}"), "name", "Name", text(endpoint, "name"), true))
                (choice_of_tools(tools, is_bound))
                button type="submit" { "Save" }
            }
        }
    }
}

/// The tools of a project, to choose from.
pub(super) fn choice_of_tools(tools: &[Value], is_chosen: impl Fn(&Value) -> bool) -> Markup {
    html! {
        fieldset { legend { "Tools" } @for tool in tools { div { label {
            input type="checkbox" name="tool_ids" value=(text(tool, "id")) checked[is_chosen(tool)]; " " code { (text(tool, "name")) } } } } }
    }
}

/// Another content for a document, which keeps its address, its name and its tools.
pub(super) fn document(viewer: &Viewer, table: &Value, here: &str) -> Markup {
    let id = text(table, "id");
    html! {
        details { summary { "Change this document" }
            div .drop data-done="replaced" data-upload=(viewer.href(&format!("/replace-json/{}", encoded(id)))) data-token=(viewer.form_token()) {
                label for="files" { "Drop a JSON file here, or choose it: it replaces the content" }
                div { input #files type="file" accept=".json,application/json"; }
                ul data-uploads aria-live="polite" {}
                noscript { p .note { "Uploading a file needs a script; " code { "PUT /v1/tables/" (id) } " takes one without." } }
            }
            form .fields method="post" action=(viewer.href("/do/update-table")) {
                (form_token(viewer)) (hidden("id", id)) (hidden("next", here))
                (input("change-document", "name", "Name", text(table, "name"), true))
                button type="submit" { "Rename" }
            }
        }
    }
}
