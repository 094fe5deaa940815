//! What forms of the console change: each action is one call of REST, named in one table.

use axum::extract::{Path, Request};
use axum::response::Response;
use http::Method;
use serde_json::{Value, json};
use tools::ToolError;

use super::confirm;
use super::go_to;
use super::layout::error_page;
use super::params::{Params, encoded};
use super::sharing;
use super::viewer::{FORM_TOKEN_HEADER, Posted, Viewer, check_token};

/// One call of REST and the page that shows what came of it.
struct Action {
    method: Method,
    path: String,
    body: Option<Body>,
    next: String,
}

/// What is sent to REST, always as JSON.
#[derive(Clone)]
enum Body {
    Value(Value),
    /// JSON as a person wrote it.
    Text(String),
}

/// Does what a form asks for.
pub(super) async fn act(Path(name): Path<String>, posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    let action = viewer.may_change().and_then(|()| action(&name, &params, viewer.back()));
    let is_final = matches!(&action, Ok(action) if action.method == Method::DELETE);
    if is_final && let Some(question) = confirm::ask(&viewer, &format!("/do/{name}"), &params) {
        return question;
    }
    let done = match &action {
        Ok(action) => {
            let body = action.body.clone().map(|body| match body {
                Body::Value(value) => value.to_string(),
                Body::Text(text) => text,
            });
            viewer.send(action.method.clone(), &action.path, body).await
        }
        Err(error) => Err(error.clone()),
    };
    match (action, done) {
        (Ok(action), Ok(answer)) => match answer.get("api_key").and_then(Value::as_str) {
            // A key is shown once, on the page that follows, and never in an address.
            Some(key) => super::contexts::show_key(&viewer, &answer, key, params.text("id")),
            None => {
                let made = answer["id"].as_str().unwrap_or_default();
                go_to(&viewer, &action.next.replace("{id}", &encoded(made)))
            }
        },
        (Err(error), _) | (_, Err(error)) => error_page(&viewer, &error),
    }
}

/// Reads what a form asks for; `back` is the page that it was on.
fn action(name: &str, params: &Params, back: Option<&str>) -> Result<Action, ToolError> {
    let text = |name: &str| params.text(name).trim().to_owned();
    let id = encoded(&text("id"));
    let parent = encoded(&text("parent"));
    let next = params.get("next").or(back).unwrap_or("/").to_owned();
    let department = params.get("department").map(|name| name.trim().to_owned());
    let sharing = sharing::shared_with(params);
    let delete = |path: String, next: &str| (Method::DELETE, path, None, next.to_owned());
    let (method, path, body, next) = match name {
        "create-base" => (
            Method::POST,
            "/v1/knowledge-bases".to_owned(),
            Some(with(
                json!({ "name": text("name"), "description": text("description"), "visibility": visibility(params) }),
                "shared_with",
                sharing,
            )),
            "/knowledge/{id}".to_owned(),
        ),
        "update-base" => (
            Method::PATCH,
            format!("/v1/knowledge-bases/{id}"),
            Some(with(
                json!({ "name": text("name"), "description": text("description"), "visibility": visibility(params) }),
                "shared_with",
                sharing,
            )),
            next,
        ),
        "delete-base" => delete(format!("/v1/knowledge-bases/{id}"), "/knowledge"),
        "create-collection" => (
            Method::POST,
            format!("/v1/knowledge-bases/{parent}/collections"),
            Some(with(
                json!({ "name": text("name"), "description": text("description"), "department": department, "clearance": text("clearance") }),
                "shared_with",
                sharing,
            )),
            "/knowledge/collections/{id}".to_owned(),
        ),
        "update-collection" => (
            Method::PATCH,
            format!("/v1/collections/{id}"),
            Some({
                let mut change = json!({ "name": text("name"), "description": text("description"), "clearance": text("clearance") });
                // An empty field means all departments; a form without it leaves the department.
                if params.pairs().any(|(name, _)| name == "department") {
                    change["department"] = json!(department);
                }
                with(change, "shared_with", sharing)
            }),
            next,
        ),
        "delete-collection" => delete(format!("/v1/collections/{id}"), &next),
        "add-text" => (
            Method::POST,
            format!("/v1/collections/{parent}/documents"),
            // Browsers end the lines of a form as Windows does.
            Some(
                json!({ "title": text("title"), "text": params.text("text").replace("\r\n", "\n") }),
            ),
            next,
        ),
        "delete-document" => delete(format!("/v1/documents/{id}"), &next),
        "create-project" => (
            Method::POST,
            "/v1/projects".to_owned(),
            Some(with(json!({ "name": text("name") }), "members", sharing::members(params))),
            "/contexts/{id}".to_owned(),
        ),
        "update-project" => (
            Method::PATCH,
            format!("/v1/projects/{id}"),
            Some(with(json!({ "name": text("name") }), "members", sharing::members(params))),
            next,
        ),
        "delete-project" => delete(format!("/v1/projects/{id}"), "/contexts"),
        // As it was written: reading it here would lose digits and keys that occur twice.
        "create-table" => {
            let path = format!("/v1/projects/{parent}/tables?name={}", encoded(&text("name")));
            let body = Some(Body::Text(params.text("data").to_owned()));
            return Ok(Action { method: Method::POST, path, body, next });
        }
        "update-table" => {
            (Method::PATCH, format!("/v1/tables/{id}"), Some(json!({ "name": text("name") })), next)
        }
        "delete-table" => delete(format!("/v1/tables/{id}"), &next),
        "create-tool" => (
            Method::POST,
            "/v1/tools".to_owned(),
            Some(json!({
                "type": text("type"), "table_id": text("table_id"), "json_path": text("json_path"),
                "name": text("name"), "description": text("description"),
            })),
            next,
        ),
        "update-tool" => (
            Method::PATCH,
            format!("/v1/tools/{id}"),
            Some(
                json!({ "name": text("name"), "description": text("description"), "json_path": text("json_path") }),
            ),
            next,
        ),
        "reindex-tool" => (Method::POST, format!("/v1/tools/{id}/reindex"), None, next),
        "delete-tool" => delete(format!("/v1/tools/{id}"), &next),
        "create-endpoint" => {
            let tools: Vec<&str> = params.all("tool_ids").collect();
            (
                Method::POST,
                "/v1/endpoints".to_owned(),
                Some(
                    json!({ "name": text("name"), "tool_ids": tools, "project_id": text("parent") }),
                ),
                next,
            )
        }
        "update-endpoint" => {
            let tools: Vec<&str> = params.all("tool_ids").collect();
            let change = json!({ "name": text("name"), "tool_ids": tools });
            (Method::PATCH, format!("/v1/endpoints/{id}"), Some(change), next)
        }
        "delete-endpoint" => delete(format!("/v1/endpoints/{id}"), &next),
        "add-key" => (Method::POST, format!("/v1/endpoints/{id}/keys"), None, next),
        "revoke-key" => delete(format!("/v1/endpoints/{parent}/keys/{id}"), &next),
        "delete-chart" => delete(format!("/v1/charts/{id}"), "/charts"),
        other => return Err(ToolError::bad_request(format!("there is no action `{other}`"))),
    };
    Ok(Action { method, path, body: body.map(Body::Value), next })
}

/// A body with a member more, where the form asks for it.
fn with(mut body: Value, name: &str, value: Option<Value>) -> Value {
    if let Some(value) = value {
        body[name] = value;
    }
    body
}

fn visibility(params: &Params) -> &str {
    params.get("visibility").unwrap_or("private")
}

/// Passes files on to a collection.
pub(super) async fn upload(viewer: Viewer, Path(id): Path<String>, request: Request) -> Response {
    let path = format!("/v1/collections/{}/documents", encoded(&id));
    pass_on(viewer, Method::POST, &path, request).await
}

/// Passes on the file that takes the place of a document.
pub(super) async fn replace(viewer: Viewer, Path(id): Path<String>, request: Request) -> Response {
    pass_on(viewer, Method::PUT, &format!("/v1/documents/{}", encoded(&id)), request).await
}

/// Passes a JSON document on to a project.
pub(super) async fn upload_json(
    viewer: Viewer,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let path = format!("/v1/projects/{}/tables", encoded(&id));
    pass_on(viewer, Method::POST, &path, request).await
}

/// Passes on the file that takes the place of a JSON document.
pub(super) async fn replace_json(
    viewer: Viewer,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    pass_on(viewer, Method::PUT, &format!("/v1/tables/{}", encoded(&id)), request).await
}

async fn pass_on(viewer: Viewer, method: Method, path: &str, mut request: Request) -> Response {
    let token = request.headers().get(FORM_TOKEN_HEADER).and_then(|token| token.to_str().ok());
    if let Err(refusal) = check_token(&viewer, token.unwrap_or_default()) {
        return refusal;
    }
    if let Err(error) = viewer.may_change() {
        return crate::http::coded(&error);
    }
    *request.method_mut() = method;
    match path.parse() {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return crate::http::coded(&ToolError::bad_request("the address is not right")),
    }
    viewer.forward(request).await
}
