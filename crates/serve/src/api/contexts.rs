//! `/v1/projects`, `/v1/tables`, `/v1/tools`, `/v1/endpoints`.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request};
use axum::response::Response;
use axum::routing::{delete, get, post};
use contexts::limits::{DEFAULT_NODE_CHARS, DEFAULT_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K};
use contexts::{
    EndpointChange, NewEndpoint, NewProject, NewTool, NodeRequest, ProjectChange, Service,
    ToolChange,
};
use ingest::Job;
use model::{Caller, Deadline};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::contexts::{error, read_node};
use tools::{Code, Filled, ToolError, fill};

use super::body;
use super::contexts_json::{endpoint_json, key_json, project_json, table_json, tool_json};
use super::contexts_upload;
use super::jobs::job_json;
use super::paging::{Page, PageOf};
use super::rest::{Reply, Rest};
use crate::http::{HttpState, coded};

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/projects", get(list_projects).post(create_project))
        .route("/v1/projects/{id}", get(get_project).patch(update_project).delete(delete_project))
        .route("/v1/projects/{id}/tables", get(list_tables).post(contexts_upload::create_table))
        .route("/v1/projects/{id}/tools", get(list_tools))
        .route("/v1/projects/{id}/endpoints", get(list_endpoints))
        .route(
            "/v1/tables/{id}",
            get(get_table)
                .put(contexts_upload::replace_table)
                .patch(rename_table)
                .delete(delete_table),
        )
        .route("/v1/tables/{id}/node", get(get_node))
        .route("/v1/tools", post(create_tool))
        .route("/v1/tools/{id}", get(get_tool).patch(update_tool).delete(delete_tool))
        .route("/v1/tools/{id}/search", post(search))
        .route("/v1/tools/{id}/reindex", post(reindex_tool))
        .route("/v1/endpoints", post(create_endpoint))
        .route(
            "/v1/endpoints/{id}",
            get(get_endpoint).patch(update_endpoint).delete(delete_endpoint),
        )
        .route("/v1/endpoints/{id}/keys", post(add_key))
        .route("/v1/endpoints/{id}/keys/{key}", delete(revoke_key))
}

async fn list_projects(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects", move |service, caller, _| {
        let found = service.list_projects(caller)?;
        let found = found.iter().map(|one| (one.id.clone(), project_json(one)));
        Ok(page.reply("projects", found.collect()))
    })
    .await
}

async fn create_project(rest: Rest, request: Request) -> Response {
    let new: NewProject = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/projects", move |service, caller, _| {
        Ok(Reply::created(project_json(&service.create_project(caller, &new)?)))
    })
    .await
}

async fn get_project(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/projects/{id}", move |service, caller, _| {
        Ok(Reply::ok(project_json(&service.get_project(caller, &id)?)))
    })
    .await
}

async fn update_project(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: ProjectChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/projects/{id}", move |service, caller, _| {
        Ok(Reply::ok(project_json(&service.update_project(caller, &id, &change)?)))
    })
    .await
}

async fn delete_project(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/projects/{id}", move |service, caller, _| {
        let job = service.delete_project(caller, &id)?;
        Ok(Reply::accepted(json!({ "id": id, "job": job_json(&job) })))
    })
    .await
}

async fn list_tables(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects/{id}/tables", move |service, caller, _| {
        let found = service.list_tables(caller, &id)?;
        let found = found.iter().map(|one| (one.id.clone(), table_json(one)));
        Ok(page.reply("tables", found.collect()))
    })
    .await
}

async fn list_tools(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/projects/{id}/tools", move |service, caller, _| {
        let found = service.list_tools(caller, &id)?;
        let found = found.iter().map(|one| (one.id.clone(), tool_json(one)));
        Ok(page.reply("tools", found.collect()))
    })
    .await
}

async fn list_endpoints(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    let links = rest.app.server.link_base();
    with(rest, "GET /v1/projects/{id}/endpoints", move |service, caller, _| {
        let found = service.list_endpoints(caller, &id)?;
        let found = found.iter().map(|one| (one.id.clone(), endpoint_json(one, &links)));
        Ok(page.reply("endpoints", found.collect()))
    })
    .await
}

async fn get_table(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/tables/{id}", move |service, caller, _| {
        Ok(Reply::ok(table_json(&service.get_table(caller, &id)?)))
    })
    .await
}

/// A new name for a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    name: String,
}

async fn rename_table(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: Rename = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/tables/{id}", move |service, caller, _| {
        Ok(Reply::ok(table_json(&service.rename_table(caller, &id, &change.name)?)))
    })
    .await
}

async fn delete_table(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/tables/{id}", move |service, caller, _| {
        let job = service.delete_table(caller, &id)?;
        Ok(Reply::accepted(json!({ "id": id, "job": job_json(&job) })))
    })
    .await
}

/// Which node is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeOf {
    #[serde(default)]
    pointer: String,
    #[serde(default)]
    offset: usize,
    max_chars: Option<usize>,
}

async fn get_node(
    rest: Rest,
    Path(id): Path<String>,
    node: Result<Query<NodeOf>, QueryRejection>,
) -> Response {
    let Query(node) = match node {
        Ok(node) => node,
        Err(wrong) => return coded(&ToolError::bad_request(wrong.body_text())),
    };
    let budget = rest.app.caps().before_redaction();
    with(rest, "GET /v1/tables/{id}/node", move |service, caller, deadline| {
        let request = NodeRequest {
            json_path: node.pointer,
            offset: node.offset,
            max_chars: node.max_chars.unwrap_or(DEFAULT_NODE_CHARS),
        };
        let (value, around) = read_node(request, &budget, |request| {
            service.get_node(caller, &id, request, deadline)
        })?;
        Ok(Reply::ok(value).with_source_text(&["/text"]).with_around(around))
    })
    .await
}

async fn create_tool(rest: Rest, request: Request) -> Response {
    let new: NewTool = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/tools", move |service, caller, _| {
        let (tool, job) = service.create_tool(caller, &new)?;
        Ok(Reply::created(with_job(tool_json(&tool), job.as_ref())))
    })
    .await
}

async fn get_tool(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/tools/{id}", move |service, caller, _| {
        Ok(Reply::ok(tool_json(&service.get_tool(caller, &id)?)))
    })
    .await
}

async fn update_tool(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: ToolChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/tools/{id}", move |service, caller, _| {
        let (tool, job) = service.update_tool(caller, &id, &change)?;
        Ok(Reply::ok(with_job(tool_json(&tool), job.as_ref())))
    })
    .await
}

async fn reindex_tool(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "POST /v1/tools/{id}/reindex", move |service, caller, _| {
        let (tool, job) = service.reindex_tool(caller, &id)?;
        Ok(Reply::accepted(with_job(tool_json(&tool), job.as_ref())))
    })
    .await
}

async fn delete_tool(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/tools/{id}", move |service, caller, _| {
        let job = service.delete_tool(caller, &id)?;
        Ok(Reply::accepted(with_job(json!({ "id": id }), job.as_ref())))
    })
    .await
}

/// A question to a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
    top_k: Option<usize>,
    /// `next` of the answer before.
    cursor: Option<String>,
}

async fn search(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let question: Question = match json_body(&rest, request).await {
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
    let begin = match tools::position(question.cursor.as_deref()) {
        Ok(begin) => begin,
        Err(refused) => return coded(&refused),
    };
    let budget = rest.app.caps().before_redaction();
    with(rest, "POST /v1/tools/{id}/search", move |service, caller, deadline| {
        let found = service.search(caller, &id, &question.query, top_k, deadline)?;
        let warnings: Vec<&str> =
            found.warnings.iter().map(|warning| warning.message.as_str()).collect();
        let mut value = json!({ "query": found.query, "results": [] });
        if !warnings.is_empty() {
            value["warnings"] = json!(warnings);
        }
        let rest: Vec<Value> =
            found.results.iter().skip(begin).map(|result| json!(result)).collect();
        let n_rest = rest.len();
        let Filled { mut value, n_kept } = fill(value, "results", rest, &budget);
        if n_kept < n_rest {
            value["next"] = json!((begin + n_kept).to_string());
        }
        Ok(Reply::ok(value)
            .with_n_results(n_kept)
            .with_source_text(&["/results/*/chunk/chunk_text"]))
    })
    .await
}

async fn create_endpoint(rest: Rest, request: Request) -> Response {
    let new: NewEndpoint = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    let links = rest.app.server.link_base();
    with(rest, "POST /v1/endpoints", move |service, caller, _| {
        let made = service.create_endpoint(caller, &new)?;
        let mut value = endpoint_json(&made.endpoint, &links);
        value["api_key"] = json!(made.api_key);
        Ok(Reply::created(value))
    })
    .await
}

async fn get_endpoint(rest: Rest, Path(id): Path<String>) -> Response {
    let links = rest.app.server.link_base();
    with(rest, "GET /v1/endpoints/{id}", move |service, caller, _| {
        Ok(Reply::ok(endpoint_json(&service.get_endpoint(caller, &id)?, &links)))
    })
    .await
}

async fn update_endpoint(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: EndpointChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    let links = rest.app.server.link_base();
    with(rest, "PATCH /v1/endpoints/{id}", move |service, caller, _| {
        Ok(Reply::ok(endpoint_json(&service.update_endpoint(caller, &id, &change)?, &links)))
    })
    .await
}

async fn delete_endpoint(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/endpoints/{id}", move |service, caller, _| {
        service.delete_endpoint(caller, &id)?;
        Ok(Reply::ok(json!({ "id": id })))
    })
    .await
}

async fn add_key(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "POST /v1/endpoints/{id}/keys", move |service, caller, _| {
        let made = service.add_key(caller, &id)?;
        let mut value = key_json(&made.kept);
        value["api_key"] = json!(made.api_key);
        Ok(Reply::created(value))
    })
    .await
}

async fn revoke_key(rest: Rest, Path((id, key)): Path<(String, String)>) -> Response {
    let links = rest.app.server.link_base();
    with(rest, "DELETE /v1/endpoints/{id}/keys/{key}", move |service, caller, _| {
        Ok(Reply::ok(endpoint_json(&service.revoke_key(caller, &id, &key)?, &links)))
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

pub(super) fn with_job(mut value: Value, job: Option<&Job>) -> Value {
    if let Some(job) = job {
        value["job"] = job_json(job);
    }
    value
}

async fn json_body<T: serde::de::DeserializeOwned + Send + 'static>(
    rest: &Rest,
    request: Request,
) -> Result<T, ToolError> {
    body::read_json(request, rest.app.limits.body_bytes).await
}
