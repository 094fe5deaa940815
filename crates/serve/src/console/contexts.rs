//! `/contexts`: projects with their JSON documents, the search tools over them, and the endpoints
//! with keys at which agents find those tools.

use axum::extract::Path;
use axum::response::Response;
use http::HeaderMap;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::confirm::asks;
use super::contexts_change;
use super::jobs::short_time;
use super::json_view::text_box;
use super::knowledge::{ParentPage, array, hidden, input, text};
use super::layout::{Section, empty, error_page, form_token, page, problem, shown};
use super::lists;
use super::once;
use super::params::{Params, encoded};
use super::start::clients;
use super::time::{bytes, counted, thousands};
use super::viewer::Viewer;

/// Lists the projects.
pub(super) async fn list(viewer: Viewer, params: Params) -> Response {
    let projects = lists::page_of(&viewer, "/v1/projects", &params).await;
    let body = html! {
        h1 { "Contexts" }
        p { "Search tools over large JSON, at MCP endpoints with keys of their own." }
        @match &projects {
            Err(error) => (problem(error)),
            Ok(answer) => {
                (lists::begins_anew(answer))
                @if array(&answer["projects"]).is_empty() { (empty("There is no project that you may see.", &html! { p { @if viewer.may_change().is_ok() { "Make one, put a JSON document into it, and a search tool over that." } @else { "Projects appear here when their owners make somebody a member." } } })) }
                ul .cards { @for project in array(&answer["projects"]) { li { a href=(viewer.href(&format!("/contexts/{}", text(project, "id")))) {
                    strong { (text(project, "name")) }
                    span { "Of " (text(project, "owner")) @match array(&project["members"]).len() { 0 => {}, n_members => { " and " (counted(n_members as u64, "member")) } }
                        ", changed " (short_time(text(project, "updated_at"))) } } } } }
                (lists::pager(&viewer, "/contexts", &params, answer))
            },
        }
        @if projects.is_ok() && viewer.may_change().is_ok() {
            h2 { "New project" }
            form .fields method="post" action=(viewer.href("/do/create-project")) { (form_token(&viewer)) (input("new-project", "name", "Name", "", true)) button .primary type="submit" { "Create" } }
        }
    };
    page(&viewer, Section::Contexts, "Contexts", &body)
}

/// One project with everything in it.
pub(super) async fn project(viewer: Viewer, Path(id): Path<String>) -> Response {
    let path = format!("/v1/projects/{}", encoded(&id));
    let project = match viewer.get(&path).await {
        Ok(project) => project,
        Err(error) => return error_page(&viewer, &error),
    };
    let paths = ["tables", "tools", "endpoints"].map(|part| format!("{path}/{part}"));
    let (tables, tools, endpoints) = tokio::join!(
        lists::whole(&viewer, &paths[0], "tables"),
        lists::whole(&viewer, &paths[1], "tools"),
        lists::whole(&viewer, &paths[2], "endpoints")
    );
    let cut = |answer: &Result<Value, tools::ToolError>, name: &str, path: &str| match answer {
        Ok(answer) => lists::cut(answer, name, path),
        Err(_) => html! {},
    };
    let list = |answer: &Result<Value, tools::ToolError>, name: &str| -> Vec<Value> {
        answer.as_ref().map(|answer| array(&answer[name]).to_vec()).unwrap_or_default()
    };
    let (table_list, tool_list) = (list(&tables, "tables"), list(&tools, "tools"));
    let name = text(&project, "name").to_owned();
    let here = format!("/contexts/{id}");
    let (may_change, may_delete) = rights(&viewer, &id).await;
    let place = ParentPage { here: &here, may_change };
    let body = html! {
        p .crumbs { a href=(viewer.href("/contexts")) { "Contexts" } " / " (name) }
        h1 { (name) }
        p .note { "Of " (text(&project, "owner")) @match members(&project).as_str() { "" => "; nobody else is a member", members => { "; members: " (members) } } }
        h2 { "Documents" }
        @if let Err(error) = &tables { (problem(error)) }
        div data-refresh { (table_rows(&viewer, &table_list, &place)) }
        (cut(&tables, "tables", &paths[0]))
        @if may_change {
            (drop_zone(&viewer, &id))
            details { summary { "Paste a JSON document" } (new_table(&viewer, &id, &here)) }
        }
        h2 { "Tools" }
        @if let Err(error) = &tools { (problem(error)) }
        // A document that was just uploaded can have its first tool at once.
        div data-refresh {
            (tool_rows(&viewer, &tool_list, &table_list, &place))
            (cut(&tools, "tools", &paths[1]))
            @if may_change && !table_list.is_empty() { details { summary { "New tool" } (new_tool(&viewer, &table_list, &here)) } }
        }
        h2 { "Endpoints" }
        @match &endpoints { Err(error) => (problem(error)), Ok(answer) => (endpoint_cards(&viewer, array(&answer["endpoints"]), &tool_list, &place)) }
        (cut(&endpoints, "endpoints", &paths[2]))
        @if may_change && !tool_list.is_empty() { details { summary { "New endpoint" } (new_endpoint(&viewer, &id, &tool_list, &here)) } }
        // Its owner alone lets others in.
        @if may_delete {
            hr;
            (contexts_change::project(&viewer, &project, &here))
            form .apart method="post" action=(viewer.href("/do/delete-project")) data-confirm { (asks(&format!("Delete the project {name} with its documents, tools and endpoints?")))
                (form_token(&viewer)) (hidden("id", &id)) button .danger type="submit" { "Delete this project" }
            }
        }
    };
    page(&viewer, Section::Contexts, &name, &body)
}

/// Who works on a project beside its owner, in words.
fn members(project: &Value) -> String {
    let said = |member: &Value| match text(member, "role") {
        "editor" => format!("{} (reads and changes)", text(member, "subject")),
        _ => format!("{} (reads)", text(member, "subject")),
    };
    array(&project["members"]).iter().map(said).collect::<Vec<_>>().join(", ")
}

/// Tells whether the person may change what is in a project now, and delete it.
pub(super) async fn rights(viewer: &Viewer, project: &str) -> (bool, bool) {
    let Some(service) = viewer.app.contexts.clone().filter(|_| viewer.may_change().is_ok()) else {
        return (false, false);
    };
    let (caller, project) = (viewer.caller.clone(), project.to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        (
            service.may_edit(&caller, &contexts::ProjectId::new(&project)),
            service.may_delete(&caller, &contexts::ProjectId::new(&project)),
        )
    });
    looked.await.unwrap_or_default()
}

fn table_rows(viewer: &Viewer, tables: &[Value], place: &ParentPage<'_>) -> Markup {
    html! { @if tables.is_empty() { (empty("No document yet.", &html! { p { @if place.may_change { "Add a JSON document: an API description, a manual, an export." } @else { "Those who may change the project add JSON documents." } } })) } @else {
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Document" } th scope="col" .num { "Size" } th scope="col" .num { "Nodes" } th scope="col" .num { "Texts" } th scope="col" .num { "Depth" } th scope="col" { "Changed" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for table in tables { tr {
                td { a href=(viewer.href(&format!("/contexts/documents/{}", text(table, "id")))) { (text(table, "name")) } }
                td .num data-name="Size" { (bytes(table["bytes"].as_u64().unwrap_or_default())) } td .num data-name="Nodes" { (thousands(table["nodes"].as_u64().unwrap_or_default() as usize)) }
                td .num data-name="Texts" { (thousands(table["strings"].as_u64().unwrap_or_default() as usize)) } td .num data-name="Depth" { (shown(&table["depth"])) } td .nowrap data-name="Changed" { (short_time(text(table, "updated_at"))) }
                td { @if place.may_change { form method="post" action=(viewer.href("/do/delete-table")) data-confirm { (asks(&format!("Delete the document {}?", text(table, "name"))))
                    (form_token(viewer)) (hidden("id", text(table, "id"))) (hidden("next", place.here)) button .small.danger type="submit" { "Delete" } } } }
            } } }
        } }
    } }
}

/// Files dropped or chosen; a document of any size goes to the server as it is read.
fn drop_zone(viewer: &Viewer, project: &str) -> Markup {
    html! {
        div .drop data-upload=(viewer.href(&format!("/upload-json/{}", encoded(project)))) data-token=(viewer.form_token()) data-named {
            label for="files" { "Drop JSON files here, or choose them" }
            div { input #files type="file" accept=".json,application/json" multiple; }
            ul data-uploads aria-live="polite" {}
            noscript { p .note { "Uploading files needs a script; a document can be pasted below without one." } }
        }
    }
}

fn new_table(viewer: &Viewer, project: &str, here: &str) -> Markup {
    html! {
        form .fields method="post" action=(viewer.href("/do/create-table")) {
            (form_token(viewer)) (hidden("parent", project)) (hidden("next", here)) (input("new-document", "name", "Name", "", true))
            div .field { label for="data" { "JSON" } textarea #data name="data" rows="8" required spellcheck="false" {} }
            button .primary type="submit" { "Add" }
            p .note { "Up to about 2 MB here. Larger documents: " code { "dowse context" } " or " code { "POST /v1/projects/" (project) "/tables" } "." }
        }
    }
}

fn tool_rows(viewer: &Viewer, tools: &[Value], tables: &[Value], place: &ParentPage<'_>) -> Markup {
    let here = place.here;
    let table_name = |id: &str| {
        tables.iter().find(|table| text(table, "id") == id).map_or("", |table| text(table, "name"))
    };
    html! { @if tools.is_empty() { (empty("No tool yet.", &html! { p { "A tool searches a document, or a part of it." @if place.may_change && tables.is_empty() { " Add a document first." } } })) } @else {
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Tool" } th scope="col" { "Does" } th scope="col" { "Over" } th scope="col" { "Index" } th scope="col" { "Passages" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for tool in tools {
                @let index = &tool["metadata"]["search_index"];
                tr {
                    td { a href=(viewer.href(&format!("/tools/{}?made={}", encoded(text(tool, "name")), text(tool, "id")))) { code { (text(tool, "name")) } } br; span .note { (text(tool, "description")) } }
                    td data-name="Does" { (text(tool, "type")) }
                    td data-name="Over" { (table_name(text(tool, "table_id"))) " " code { (text(tool, "json_path")) } }
                    td { @if !index.is_null() { span class=(format!("badge {}", text(index, "status"))) { (text(index, "status")) } @if !index["last_error"].is_null() { br; span .note { (shown(&index["last_error"])) } } } }
                    td .nowrap { @if !index.is_null() { (shown(&index["indexed_chunks_count"])) " of " (shown(&index["chunks_count"])) } }
                    td { @if place.may_change { div .actions {
                        @if !index.is_null() { form method="post" action=(viewer.href("/do/reindex-tool")) { (form_token(viewer)) (hidden("id", text(tool, "id"))) (hidden("next", here)) button .small type="submit" { "Index anew" } } }
                        form method="post" action=(viewer.href("/do/delete-tool")) data-confirm { (asks(&format!("Delete the tool {}?", text(tool, "name")))) (form_token(viewer)) (hidden("id", text(tool, "id"))) (hidden("next", here)) button .small.danger type="submit" { "Delete" } } }
                        (contexts_change::tool(viewer, tool, place)) } }
                }
            } }
        } }
    } }
}

fn new_tool(viewer: &Viewer, tables: &[Value], here: &str) -> Markup {
    html! {
        form .fields method="post" action=(viewer.href("/do/create-tool")) {
            (form_token(viewer)) (hidden("next", here))
            div .field { label for="table_id" { "Document" } select #table_id name="table_id" { @for table in tables { option value=(text(table, "id")) { (text(table, "name")) } } } }
            div .field { label for="type" { "What it does" } select #type name="type" { option value="search" { "search" } option value="get" { "read by pointer" } } }
            (input("new-tool", "name", "Name for agents", "", true)) (input("new-tool", "description", "What an agent is told", "", false))
            (input("new-tool", "json_path", "Pointer of the part (all when empty), as /chapters", "", false))
            button .primary type="submit" { "Create" }
        }
    }
}

fn endpoint_cards(
    viewer: &Viewer,
    endpoints: &[Value],
    tools: &[Value],
    place: &ParentPage<'_>,
) -> Markup {
    let here = place.here;
    let tool_name = |id: &Value| {
        tools.iter().find(|tool| tool["id"] == *id).map_or("", |tool| text(tool, "name")).to_owned()
    };
    html! {
        @if endpoints.is_empty() { (empty("No endpoint yet.", &html! { p { "An endpoint is an MCP address with its own key." } })) }
        @for endpoint in endpoints {
            @let id = text(endpoint, "id");
            section .card {
                div .head { h3 { (text(endpoint, "name")) }
                    @if place.may_change { form method="post" action=(viewer.href("/do/delete-endpoint")) data-confirm { (asks(&format!("Delete the endpoint {}?", text(endpoint, "name")))) (form_token(viewer)) (hidden("id", id)) (hidden("next", here)) button .small.danger type="submit" { "Delete" } } } }
                dl .facts { dt { "Address" } dd { code { (text(endpoint, "url")) } }
                    dt { "Tools" } dd { (array(&endpoint["tool_ids"]).iter().map(tool_name).collect::<Vec<_>>().join(", ")) } }
                h3 { "Keys" }
                ul { @for key in array(&endpoint["keys"]) { li .actions {
                    code { (text(key, "begins")) "…" } span .note { "made " (short_time(text(key, "created_at")))
                        @match key["last_used_at"].as_str() { Some(used) => { ", last used " (short_time(used)) }, None => ", not used yet" } }
                    @if place.may_change { form .bare method="post" action=(viewer.href("/do/revoke-key")) data-confirm { (asks("Revoke this key? Agents that use it are shut out at once.")) (form_token(viewer)) (hidden("parent", id)) (hidden("id", text(key, "id"))) (hidden("next", here)) button .small.danger type="submit" { "Revoke" } } }
                } } }
                @if place.may_change { form method="post" action=(viewer.href("/do/add-key")) { (form_token(viewer)) (hidden("id", id)) (hidden("next", here)) button .small type="submit" { "New key" } } }
                @if place.may_change { (contexts_change::endpoint(viewer, endpoint, tools, place)) }
                details { summary { "Lines for clients" } (clients(viewer, text(endpoint, "url"), &plain(text(endpoint, "name")), id, Some("YOUR_KEY"))) }
            }
        }
    }
}

fn plain(name: &str) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
        .collect();
    let plain = plain.trim_matches('-').to_owned();
    if plain.is_empty() { "endpoint".to_owned() } else { plain }
}

fn new_endpoint(viewer: &Viewer, project: &str, tools: &[Value], here: &str) -> Markup {
    html! {
        form .fields method="post" action=(viewer.href("/do/create-endpoint")) {
            (form_token(viewer)) (hidden("parent", project)) (hidden("next", here)) (input("new-endpoint", "name", "Name", "", true))
            (contexts_change::choice_of_tools(tools, |_| true))
            button .primary type="submit" { "Create with a key" }
        }
    }
}

/// A key that was just made, for the page that shows it.
#[derive(Serialize, Deserialize)]
struct NewKey {
    key: String,
    endpoint_id: String,
}

/// Leads to the page that shows a new key: of an endpoint that was just made, or one more of the
/// endpoint with this id, of which the answer says nothing.
pub(super) fn show_key(viewer: &Viewer, answer: &Value, key: &str, endpoint_id: &str) -> Response {
    let endpoint_id = match text(answer, "url") {
        "" => endpoint_id,
        _ => text(answer, "id"),
    };
    let new = NewKey { key: key.to_owned(), endpoint_id: endpoint_id.to_owned() };
    let mut response = super::go_to(viewer, "/contexts/new-key");
    once::hand_on(viewer, &mut response, &new);
    response
}

/// Shows a new key, once.
pub(super) async fn new_key(viewer: Viewer, headers: HeaderMap) -> Response {
    let Some(NewKey { key, endpoint_id }) = once::take(&viewer, &headers) else {
        let body = html! {
            h1 { "The key was shown" }
            p { "A key is shown once, and kept only as a hash. Without a copy of it, make another one and revoke the first." }
            p { a href=(viewer.href("/contexts")) { "Go to the projects" } }
        };
        return page(&viewer, Section::Contexts, "The key was shown", &body);
    };
    // The key exists and is shown in any case.
    let endpoint = viewer.get(&format!("/v1/endpoints/{}", encoded(&endpoint_id))).await;
    let endpoint = endpoint.unwrap_or_default();
    let url = match text(&endpoint, "url") {
        "" => format!("{}/mcp/{}", viewer.app.server.link_base(), encoded(&endpoint_id)),
        url => url.to_owned(),
    };
    let project = text(&endpoint, "project_id");
    let body = html! {
        h1 { "New key" }
        div .good { p { strong { "Copy it now. " } "It is shown this once, and kept only as a hash." } }
        (text_box("new-key", &key))
        h2 { "Connect an agent" }
        (clients(&viewer, &url, &plain(text(&endpoint, "name")), &plain(text(&endpoint, "name")), Some(&key)))
        p { a href=(viewer.href(&if project.is_empty() { "/contexts".to_owned() } else { format!("/contexts/{project}") })) { "Back to the project" } }
    };
    let mut response = page(&viewer, Section::Contexts, "New key", &body);
    once::forget(&viewer, &mut response);
    response
}
