//! `/v1/projects`, `/v1/tables`, `/v1/tools`, `/v1/endpoints`.

mod endpoints;

use axum::extract::{Path, Request};
use axum::response::Response;
use contexts::limits::{DEFAULT_NODE_CHARS, DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K};
use contexts::{NodeRequest, ProjectId, Service, TableId, ToolId};
use model::{Caller, Deadline};
use serde_json::json;
use tools::contexts::{ChunksAsked, error, page_of_chunks, read_node};
use tools::{Code, ToolError};

use super::body;
use super::context_views::{EndpointView, KeyView, NodeView, ProjectView, TableView, ToolView};
use super::contexts_upload;
use super::erasure::{Deleted, What};
use super::operation::{Api, Doc};
use super::paging::{Page, PageOf};
use super::rest::{Reply, Rest};
use super::views::{DeletedView, GoneView, ToolAnswer};
use super::wire::{
    EndpointChangeBody, FileUploadBody, NameParameter, NewEndpointBody, NewProjectBody,
    NewToolBody, NodeParameters, ProjectChangeBody, RenameBody, TableBody, ToolChangeBody,
    ToolSearchBody,
};
use crate::http::{QueryParameters, coded};

use endpoints::{
    add_key, create_endpoint, delete_endpoint, get_endpoint, revoke_key, update_endpoint,
};

pub(super) fn routes() -> Api {
    const TAG: &str = "contexts";
    Api::default()
        .get(
            "/v1/projects",
            list_projects,
            Doc::page::<ProjectView>(TAG, "List the projects you may read", "projects"),
        )
        .post(
            "/v1/projects",
            create_project,
            Doc::new::<ProjectView>(TAG, "Make a project")
                .created()
                .with_body::<NewProjectBody>()
                .with_example(json!({ "name": "Manuals" })),
        )
        .get("/v1/projects/{id}", get_project, Doc::new::<ProjectView>(TAG, "Give a project"))
        .patch(
            "/v1/projects/{id}",
            update_project,
            Doc::new::<ProjectView>(TAG, "Change a project or its members")
                .with_body::<ProjectChangeBody>()
                .with_example(json!({ "members": [{ "subject": "ann", "role": "editor" }] })),
        )
        .delete(
            "/v1/projects/{id}",
            delete_project,
            Doc::new::<DeletedView>(TAG, "Delete a project with all in it").accepted(),
        )
        .get(
            "/v1/projects/{id}/tables",
            list_tables,
            Doc::page::<TableView>(TAG, "List the tables of a project", "tables"),
        )
        .post(
            "/v1/projects/{id}/tables",
            contexts_upload::create_table,
            Doc::new::<TableView>(TAG, "Make a table from a document")
                .created()
                .with_query::<NameParameter>()
                .with_body::<TableBody>()
                .with_media::<FileUploadBody>("multipart/form-data")
                .with_example(json!({ "name": "manual", "data": { "chapters": ["…"] } })),
        )
        .get(
            "/v1/projects/{id}/tools",
            list_tools,
            Doc::page::<ToolView>(TAG, "List the tools of a project", "tools"),
        )
        .get(
            "/v1/projects/{id}/endpoints",
            list_endpoints,
            Doc::page::<EndpointView>(TAG, "List the endpoints of a project", "endpoints"),
        )
        .get("/v1/tables/{id}", get_table, Doc::new::<TableView>(TAG, "Give a table"))
        .put(
            "/v1/tables/{id}",
            contexts_upload::replace_table,
            Doc::new::<TableView>(TAG, "Replace the document of a table")
                .accepted()
                .with_query::<NameParameter>()
                .with_body::<TableBody>()
                .with_media::<FileUploadBody>("multipart/form-data")
                .with_example(json!({ "name": "manual", "data": { "chapters": [] } })),
        )
        .patch(
            "/v1/tables/{id}",
            rename_table,
            Doc::new::<TableView>(TAG, "Rename a table")
                .with_body::<RenameBody>()
                .with_example(json!({ "name": "handbook" })),
        )
        .delete(
            "/v1/tables/{id}",
            delete_table,
            Doc::new::<DeletedView>(TAG, "Delete a table with its tools").accepted(),
        )
        .get(
            "/v1/tables/{id}/node",
            get_node,
            Doc::new::<NodeView>(TAG, "Read a node of a document").with_query::<NodeParameters>(),
        )
        .post(
            "/v1/tools",
            create_tool,
            Doc::new::<ToolView>(TAG, "Make a tool over a part of a table")
                .created()
                .with_body::<NewToolBody>()
                .with_example(json!({
                    "type": "search", "table_id": "…", "json_path": "/chapters", "name": "find_in_manual",
                })),
        )
        .get(
            "/v1/tools/{id}",
            get_tool,
            Doc::new::<ToolView>(TAG, "Give a tool with the state of its index"),
        )
        .patch(
            "/v1/tools/{id}",
            update_tool,
            Doc::new::<ToolView>(TAG, "Change a tool")
                .with_body::<ToolChangeBody>()
                .with_example(json!({ "description": "Search the manual" })),
        )
        .delete(
            "/v1/tools/{id}",
            delete_tool,
            Doc::new::<DeletedView>(TAG, "Delete a tool").accepted(),
        )
        .post(
            "/v1/tools/{id}/search",
            search,
            Doc::new::<ToolAnswer>(TAG, "Search through a tool")
                .with_body::<ToolSearchBody>()
                .with_example(json!({ "query": "zero drift", "top_k": 5 })),
        )
        .post(
            "/v1/tools/{id}/reindex",
            reindex_tool,
            Doc::new::<ToolView>(TAG, "Fill in what is missing in a tool's index").accepted(),
        )
        .post(
            "/v1/endpoints",
            create_endpoint,
            Doc::new::<EndpointView>(TAG, "Make an endpoint; its key is shown once")
                .created()
                .with_body::<NewEndpointBody>()
                .with_example(json!({ "name": "Support", "tool_ids": [] , "project_id": "…" })),
        )
        .get("/v1/endpoints/{id}", get_endpoint, Doc::new::<EndpointView>(TAG, "Give an endpoint"))
        .patch(
            "/v1/endpoints/{id}",
            update_endpoint,
            Doc::new::<EndpointView>(TAG, "Change name or bindings")
                .with_body::<EndpointChangeBody>()
                .with_example(json!({ "name": "Help" })),
        )
        .delete("/v1/endpoints/{id}", delete_endpoint, Doc::new::<GoneView>(TAG, "Delete an endpoint"))
        .post(
            "/v1/endpoints/{id}/keys",
            add_key,
            Doc::new::<KeyView>(TAG, "Make another key, shown once").created(),
        )
        .delete(
            "/v1/endpoints/{id}/keys/{key}",
            revoke_key,
            Doc::new::<EndpointView>(TAG, "Revoke a key"),
        )
}

async fn list_projects(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read("projects", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects", move |service, caller, _| {
        let found = service.list_projects(caller)?;
        let found = found.iter().map(|one| (one.id.to_string(), ProjectView::of(one)));
        Ok(page.reply(found.collect()))
    })
    .await
}

async fn create_project(rest: Rest, request: Request) -> Response {
    let NewProjectBody(new) = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/projects", move |service, caller, _| {
        Ok(Reply::created(ProjectView::of(&service.create_project(caller, &new)?)))
    })
    .await
}

async fn get_project(rest: Rest, Path(id): Path<ProjectId>) -> Response {
    with(rest, "GET /v1/projects/{id}", move |service, caller, _| {
        Ok(Reply::ok(ProjectView::of(&service.get_project(caller, &id)?)))
    })
    .await
}

async fn update_project(rest: Rest, Path(id): Path<ProjectId>, request: Request) -> Response {
    let ProjectChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/projects/{id}", move |service, caller, _| {
        Ok(Reply::ok(ProjectView::of(&service.update_project(caller, &id, &change)?)))
    })
    .await
}

async fn delete_project(rest: Rest, Path(id): Path<ProjectId>) -> Response {
    with(rest, "DELETE /v1/projects/{id}", move |service, caller, _| {
        let project = service.get_project(caller, &id).ok();
        let is_empty = service.list_tables(caller, &id).is_ok_and(|tables| tables.is_empty());
        let job = service.delete_project(caller, &id)?;
        let what = if is_empty { What::Nothing } else { What::OfProject };
        let deleted = project.map(|project| Deleted { since: project.created_at, what });
        Ok(Reply::accepted(DeletedView::of(&id, Some(&job))).with_deleted(deleted))
    })
    .await
}

async fn list_tables(rest: Rest, Path(id): Path<ProjectId>, page: PageOf) -> Response {
    let page = match Page::read("tables", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects/{id}/tables", move |service, caller, _| {
        let found = service.list_tables(caller, &id)?;
        let found = found.iter().map(|one| (one.id.to_string(), TableView::of(one, None)));
        Ok(page.reply(found.collect()))
    })
    .await
}

async fn list_tools(rest: Rest, Path(id): Path<ProjectId>, page: PageOf) -> Response {
    let page = match Page::read("tools", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects/{id}/tools", move |service, caller, _| {
        let found = service.list_tools(caller, &id)?;
        let found = found.iter().map(|one| (one.id.to_string(), ToolView::of(one, None)));
        Ok(page.reply(found.collect()))
    })
    .await
}

async fn list_endpoints(rest: Rest, Path(id): Path<ProjectId>, page: PageOf) -> Response {
    let page = match Page::read("endpoints", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    let uses = rest.app.console.sessions.key_uses();
    let links = rest.app.server.link_base();
    with(rest, "GET /v1/projects/{id}/endpoints", move |service, caller, _| {
        let found = service.list_endpoints(caller, &id)?;
        let found = found
            .iter()
            .map(|one| (one.id.to_string(), EndpointView::of(one, &links, &uses, None)));
        Ok(page.reply(found.collect()))
    })
    .await
}

async fn get_table(rest: Rest, Path(id): Path<TableId>) -> Response {
    with(rest, "GET /v1/tables/{id}", move |service, caller, _| {
        Ok(Reply::ok(TableView::of(&service.get_table(caller, &id)?, None)))
    })
    .await
}

async fn rename_table(rest: Rest, Path(id): Path<TableId>, request: Request) -> Response {
    let change: RenameBody = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/tables/{id}", move |service, caller, _| {
        Ok(Reply::ok(TableView::of(&service.rename_table(caller, &id, &change.name)?, None)))
    })
    .await
}

async fn delete_table(rest: Rest, Path(id): Path<TableId>) -> Response {
    with(rest, "DELETE /v1/tables/{id}", move |service, caller, _| {
        let table = service.get_table(caller, &id).ok();
        let job = service.delete_table(caller, &id)?;
        let deleted = table.map(|table| Deleted { since: table.created_at, what: What::OfProject });
        Ok(Reply::accepted(DeletedView::of(&id, Some(&job))).with_deleted(deleted))
    })
    .await
}

async fn get_node(
    rest: Rest,
    Path(id): Path<TableId>,
    QueryParameters(node): QueryParameters<NodeParameters>,
) -> Response {
    let node = match node {
        Ok(node) => node,
        Err(refused) => return coded(&refused),
    };
    let lists_members = match node.view.as_str() {
        "" => false,
        "members" => true,
        other => {
            let message = format!("unknown `view`: `{other}`");
            return coded(&ToolError::bad_request(message).with_detail("allowed", ["members"]));
        }
    };
    let budget = rest.app.caps().before_redaction();
    with(rest, "GET /v1/tables/{id}/node", move |service, caller, deadline| {
        let request = NodeRequest {
            json_path: node.pointer,
            offset: node.offset,
            max_chars: node.max_chars.unwrap_or(DEFAULT_NODE_CHARS),
        };
        let (value, around) = read_node(request, &budget, |request| match lists_members {
            true => service.get_members(caller, &id, request, deadline),
            false => service.get_node(caller, &id, request, deadline),
        })?;
        Ok(Reply::ok(value).with_source_text(&["/text"]).with_around(around))
    })
    .await
}

async fn create_tool(rest: Rest, request: Request) -> Response {
    let NewToolBody(new) = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/tools", move |service, caller, _| {
        let (tool, job) = service.create_tool(caller, &new)?;
        Ok(Reply::created(ToolView::of(&tool, job.as_ref())))
    })
    .await
}

async fn get_tool(rest: Rest, Path(id): Path<ToolId>) -> Response {
    with(rest, "GET /v1/tools/{id}", move |service, caller, _| {
        Ok(Reply::ok(ToolView::of(&service.get_tool(caller, &id)?, None)))
    })
    .await
}

async fn update_tool(rest: Rest, Path(id): Path<ToolId>, request: Request) -> Response {
    let ToolChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/tools/{id}", move |service, caller, _| {
        let (tool, job) = service.update_tool(caller, &id, &change)?;
        Ok(Reply::ok(ToolView::of(&tool, job.as_ref())))
    })
    .await
}

async fn reindex_tool(rest: Rest, Path(id): Path<ToolId>) -> Response {
    with(rest, "POST /v1/tools/{id}/reindex", move |service, caller, _| {
        let (tool, job) = service.reindex_tool(caller, &id)?;
        Ok(Reply::accepted(ToolView::of(&tool, job.as_ref())))
    })
    .await
}

async fn delete_tool(rest: Rest, Path(id): Path<ToolId>) -> Response {
    with(rest, "DELETE /v1/tools/{id}", move |service, caller, _| {
        let job = service.delete_tool(caller, &id)?;
        Ok(Reply::accepted(DeletedView::of(&id, job.as_ref())))
    })
    .await
}

async fn search(rest: Rest, Path(id): Path<ToolId>, request: Request) -> Response {
    let question: ToolSearchBody = match json_body(&rest, request).await {
        Ok(question) => question,
        Err(refused) => return coded(&refused),
    };
    let top_k = question.top_k.unwrap_or(DEFAULT_TOP_K);
    let n_chars = question.query.chars().count();
    let problem = if !(1..=MAX_QUERY_CHARS).contains(&n_chars) {
        Some(format!("`query` must have 1 to {MAX_QUERY_CHARS} characters, received {n_chars}"))
    } else if !(1..=MAX_TOP_K).contains(&top_k) {
        Some(format!("`top_k` must be 1 to {MAX_TOP_K}, received {top_k}"))
    } else {
        None
    };
    if let Some(problem) = problem {
        return coded(&ToolError::bad_request(problem));
    }
    let budget = rest.app.caps().before_redaction();
    let service = rest.app.contexts.clone();
    rest.answer("POST /v1/tools/{id}/search", move |caller, deadline| {
        let service = service.ok_or_else(not_served)?;
        let ToolSearchBody { query, cursor, .. } = question;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let asked = ChunksAsked { tool: &id, query: &query, top_k, cursor };
        let page = page_of_chunks(&service, caller, asked, &budget, deadline)?;
        let mut reply = Reply::ok(page.value)
            .with_n_results(page.arounds.len())
            .with_source_text(&["/results/*/chunk/chunk_text"]);
        for around in page.arounds {
            reply = reply.with_around(around);
        }
        Ok(reply)
    })
    .await
}

/// Does work with the service of the moment, behind the guard.
pub(super) async fn with(
    rest: Rest,
    name: &'static str,
    work: impl FnOnce(&Service, &Caller, &Deadline) -> contexts::Result<Reply> + Send + 'static,
) -> Response {
    let service = rest.app.contexts.clone();
    rest.answer(name, move |caller, deadline| {
        let service = service.ok_or_else(not_served)?;
        work(&service, caller, deadline).map_err(error)
    })
    .await
}

pub(super) fn not_served() -> ToolError {
    ToolError::new(Code::Unavailable, "projects are not served here")
}

async fn json_body<T: serde::de::DeserializeOwned + Send + 'static>(
    rest: &Rest,
    request: Request,
) -> Result<T, ToolError> {
    body::read_json(request, rest.app.limits.body_bytes).await
}
