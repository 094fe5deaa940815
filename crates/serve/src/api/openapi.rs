//! `GET /v1/openapi.json`: what is under `/v1`, for programs. Tools describe themselves.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tools::Listed;

use super::paging::MAX_LIMIT;
use crate::http::{HttpState, identify};

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/openapi.json", get(document))
}

/// Whoever is known sees the tools that exist for them; the addresses are no secret.
async fn document(State(http_state): State<HttpState>, headers: HeaderMap) -> Response {
    let app = http_state.shared.load();
    let listed = match identify(&app, &headers).await {
        Ok(caller) => app.tools.list(&caller),
        Err(_) => Vec::new(),
    };
    axum::Json(openapi(&listed)).into_response()
}

/// One operation: address, method, what it does, status, and the schema of its body.
type Operation = (&'static str, &'static str, &'static str, u16, Option<&'static str>);

const OPERATIONS: &[Operation] = &[
    ("/v1/knowledge-bases", "get", "List the knowledge bases you may read", 200, None),
    ("/v1/knowledge-bases", "post", "Make a knowledge base", 201, Some("NewKnowledgeBase")),
    ("/v1/knowledge-bases/{id}", "get", "Give a knowledge base", 200, None),
    (
        "/v1/knowledge-bases/{id}",
        "patch",
        "Change a knowledge base",
        200,
        Some("KnowledgeBaseChange"),
    ),
    ("/v1/knowledge-bases/{id}", "delete", "Delete a knowledge base with all in it", 202, None),
    ("/v1/knowledge-bases/{id}/summary", "get", "Summary and statistics", 200, None),
    ("/v1/knowledge-bases/{id}/search", "post", "Search a knowledge base", 200, Some("Search")),
    ("/v1/knowledge-bases/{id}/collections", "get", "List the collections you see", 200, None),
    (
        "/v1/knowledge-bases/{id}/collections",
        "post",
        "Make a collection",
        201,
        Some("NewCollection"),
    ),
    ("/v1/collections/{id}", "get", "Give a collection", 200, None),
    ("/v1/collections/{id}", "patch", "Change a collection", 200, Some("CollectionChange")),
    ("/v1/collections/{id}", "delete", "Delete a collection with its documents", 202, None),
    ("/v1/collections/{id}/summaries", "get", "Versions of the collection's summary", 200, None),
    ("/v1/collections/{id}/documents", "get", "List documents, a page at a time", 200, None),
    ("/v1/collections/{id}/documents", "post", "Add documents: files or text", 202, Some("Upload")),
    ("/v1/documents/{id}", "get", "Give a document", 200, None),
    ("/v1/documents/{id}", "put", "Replace a document's content", 202, Some("Upload")),
    ("/v1/documents/{id}", "patch", "Change title, tags, metadata", 200, Some("DocumentChange")),
    ("/v1/documents/{id}", "delete", "Delete a document", 202, None),
    ("/v1/documents/{id}/original", "get", "Download the file it was made from", 200, None),
    ("/v1/documents/{id}/versions", "get", "What changed from content to content", 200, None),
    ("/v1/chunks/{id}", "get", "Give a chunk by the id that a search gave", 200, None),
    ("/v1/projects", "get", "List the projects you may read", 200, None),
    ("/v1/projects", "post", "Make a project", 201, Some("NewProject")),
    ("/v1/projects/{id}", "get", "Give a project", 200, None),
    ("/v1/projects/{id}", "patch", "Change a project or its members", 200, Some("ProjectChange")),
    ("/v1/projects/{id}", "delete", "Delete a project with all in it", 202, None),
    ("/v1/projects/{id}/tables", "get", "List the tables of a project", 200, None),
    ("/v1/projects/{id}/tables", "post", "Make a table from a document", 201, Some("NewTable")),
    ("/v1/projects/{id}/tools", "get", "List the tools of a project", 200, None),
    ("/v1/projects/{id}/endpoints", "get", "List the endpoints of a project", 200, None),
    ("/v1/tables/{id}", "get", "Give a table", 200, None),
    ("/v1/tables/{id}", "put", "Replace the document of a table", 202, Some("Document")),
    ("/v1/tables/{id}", "patch", "Rename a table", 200, Some("Rename")),
    ("/v1/tables/{id}", "delete", "Delete a table with its tools", 202, None),
    ("/v1/tables/{id}/node", "get", "Read a node: `pointer`, `offset`, `max_chars`", 200, None),
    ("/v1/tools", "post", "Make a tool over a part of a table", 201, Some("NewTool")),
    ("/v1/tools/{id}", "get", "Give a tool with the state of its index", 200, None),
    ("/v1/tools/{id}", "patch", "Change a tool", 200, Some("ToolChange")),
    ("/v1/tools/{id}", "delete", "Delete a tool", 202, None),
    ("/v1/tools/{id}/search", "post", "Search through a tool", 200, Some("ToolSearch")),
    ("/v1/tools/{id}/reindex", "post", "Fill in what is missing in a tool's index", 202, None),
    ("/v1/endpoints", "post", "Make an endpoint; its key is shown once", 201, Some("NewEndpoint")),
    ("/v1/endpoints/{id}", "get", "Give an endpoint", 200, None),
    ("/v1/endpoints/{id}", "patch", "Change name or bindings", 200, Some("EndpointChange")),
    ("/v1/endpoints/{id}", "delete", "Delete an endpoint", 200, None),
    ("/v1/endpoints/{id}/keys", "post", "Make another key, shown once", 201, None),
    ("/v1/endpoints/{id}/keys/{key}", "delete", "Take a key away", 200, None),
    ("/v1/roots", "get", "Folders with what became of their files", 200, None),
    ("/v1/roots/files/{outcome}", "get", "Files that came to an outcome, why", 200, None),
    ("/v1/audit", "get", "List what was called, the latest first", 200, None),
    ("/v1/jobs", "get", "List your jobs, the latest first", 200, None),
    ("/v1/jobs/{id}", "get", "Give a job with its progress", 200, None),
    ("/v1/jobs/{id}", "delete", "Stop a job", 200, None),
    ("/v1/charts", "get", "List the charts that are kept, the newest first", 200, None),
    ("/v1/charts/{id}", "get", "Give a chart with its series", 200, None),
    ("/v1/charts/{id}", "delete", "Forget a chart", 200, None),
    ("/v1/chat", "post", "Ask a question; the answer comes as events", 200, Some("Chat")),
];

/// Describes every address of this crate.
pub(super) fn openapi(listed: &[Listed]) -> Value {
    let mut paths = Map::new();
    for tool in listed {
        paths.insert(
            format!("/v1/call/{}", tool.spec.name),
            json!({ "post": tool_operation(tool) }),
        );
    }
    for (path, method, summary, status, body) in OPERATIONS {
        let mut operation = json!({
            "tags": [path.split('/').nth(2).unwrap_or_default()],
            "summary": summary,
            "operationId": operation_id(method, path),
            "responses": {
                status.to_string(): {
                    "description": "success",
                    "content": { "application/json": { "schema": { "type": "object" } } },
                },
                "default": {
                    "description": "an error",
                    "content": {
                        "application/json": { "schema": { "$ref": "#/components/schemas/Error" } },
                    },
                },
            },
        });
        let names = ["id", "key", "outcome"]
            .into_iter()
            .filter(|name| path.contains(&format!("{{{name}}}")));
        let mut parameters: Vec<Value> = names
            .map(|name| {
                let schema = json!({ "type": "string" });
                json!({ "name": name, "in": "path", "required": true, "schema": schema })
            })
            .collect();
        if LISTS.contains(path) && *method == "get" {
            let limit = json!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT });
            let after = "`next` of the page before";
            parameters.extend([
                json!({ "name": "after", "in": "query", "description": after, "schema": { "type": "string" } }),
                json!({ "name": "limit", "in": "query", "schema": limit }),
            ]);
            let page = json!({
                "type": "object",
                "required": ["next"],
                "properties": { "next": { "type": ["string", "null"] } },
            });
            operation["responses"]["200"]["content"]["application/json"]["schema"] = page;
        }
        if !parameters.is_empty() {
            operation["parameters"] = json!(parameters);
        }
        if let Some(schema) = body {
            let reference = json!({ "$ref": format!("#/components/schemas/{schema}") });
            let mut content = json!({ "application/json": { "schema": reference } });
            if *schema == "Upload" {
                content["multipart/form-data"] =
                    json!({ "schema": { "$ref": "#/components/schemas/FileUpload" } });
            }
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        let entry = paths.entry((*path).to_owned()).or_insert_with(|| json!({}));
        entry[*method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Dowse", "version": env!("CARGO_PKG_VERSION") },
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(),
        },
    })
}

/// The addresses that give a page of a list.
const LISTS: &[&str] = &[
    "/v1/knowledge-bases",
    "/v1/knowledge-bases/{id}/collections",
    "/v1/collections/{id}/summaries",
    "/v1/collections/{id}/documents",
    "/v1/documents/{id}/versions",
    "/v1/projects",
    "/v1/projects/{id}/tables",
    "/v1/projects/{id}/tools",
    "/v1/projects/{id}/endpoints",
    "/v1/roots",
    "/v1/roots/files/{outcome}",
    "/v1/audit",
    "/v1/jobs",
    "/v1/charts",
];

/// Describes the call of a tool with the tool's own schemas.
fn tool_operation(tool: &Listed) -> Value {
    let spec = &tool.spec;
    json!({
        "tags": ["tools"],
        "summary": spec.title,
        "description": spec.description,
        "operationId": format!("call_{}", spec.name),
        "requestBody": {
            "content": { "application/json": { "schema": *spec.input.shared() } },
        },
        "responses": {
            "200": {
                "description": "success",
                "content": { "application/json": { "schema": *spec.output } },
            },
            "default": {
                "description": "an error",
                "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/Error" } },
                },
            },
        },
    })
}

fn operation_id(method: &str, path: &str) -> String {
    let path = path.trim_start_matches("/v1/").replace("{id}", "one").replace("{key}", "one");
    let path = path.replace("{outcome}", "one");
    let path = path.replace(['/', '-'], "_");
    format!("{method}_{path}")
}

fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let members = || {
        json!({
            "type": "array",
            "items": {
                "type": "object",
                "required": ["subject"],
                "properties": {
                    "subject": { "type": "string" },
                    "role": { "type": "string", "enum": ["reader", "editor"], "default": "reader" },
                },
            },
        })
    };
    let visibility = || json!({ "type": "string", "enum": ["private", "public"] });
    let clearance = || json!({ "type": "string", "enum": model::Clearance::ALL });
    let object = |required: &[&str], properties: Value| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        })
    };
    let short_strings =
        || json!({ "type": "string", "enum": ["auto", "together", "ignore"], "default": "auto" });
    let shared_with = || object(&[], json!({ "users": texts(), "groups": texts() }));
    json!({
        "NewKnowledgeBase": object(&["name"], json!({
            "name": text(),
            "description": text(),
            "visibility": visibility(),
            "shared_with": shared_with(),
        })),
        "KnowledgeBaseChange": object(&[], json!({
            "name": text(),
            "description": text(),
            "visibility": visibility(),
            "shared_with": shared_with(),
        })),
        "NewCollection": object(&["name"], json!({
            "name": text(),
            "description": text(),
            "department": text(),
            "clearance": clearance(),
            "shared_with": shared_with(),
        })),
        "CollectionChange": object(&[], json!({
            "name": text(),
            "description": text(),
            "department": { "type": ["string", "null"] },
            "clearance": clearance(),
            "shared_with": shared_with(),
        })),
        "DocumentChange": object(&[], json!({
            "title": text(), "metadata": { "type": "object" }, "tags": texts(),
        })),
        "Upload": object(&[], json!({
            "title": text(),
            "text": text(),
            "metadata": { "type": "object" },
            "tags": texts(),
            "normalize_ocr": { "type": "boolean", "default": false },
            "documents": {
                "type": "array",
                "maxItems": knowledge::limits::MAX_DOCUMENTS_PER_UPLOAD,
                "items": object(&["text"], json!({
                    "title": text(),
                    "text": text(),
                    "metadata": { "type": "object" },
                    "tags": texts(),
                    "normalize_ocr": { "type": "boolean", "default": false },
                })),
            },
        })),
        "FileUpload": object(&["file"], json!({
            "file": { "type": "string", "format": "binary" },
            "title": text(),
            "metadata": text(),
            "tags": text(),
            "normalize_ocr": text(),
        })),
        "Search": object(&["query"], json!({
            "query": text(),
            "threshold": { "type": "number", "minimum": 0.0, "maximum": 1.0, "default": 0.6 },
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": knowledge::limits::MAX_RESULTS,
                "default": 10,
            },
            "explain": { "type": "boolean", "default": false },
        })),
        "NewProject": object(&["name"], json!({ "name": text(), "members": members() })),
        "ProjectChange": object(&[], json!({ "name": text(), "members": members() })),
        "NewTable": object(&["name", "data"], json!({ "name": text(), "data": {} })),
        "Document": {},
        "Rename": object(&["name"], json!({ "name": text() })),
        "NewTool": object(&["table_id", "name"], json!({
            "type": { "type": "string", "enum": ["search", "get"], "default": "search" },
            "table_id": text(),
            "json_path": text(),
            "name": text(),
            "description": text(),
            "chunk_threshold_chars": { "type": "integer", "minimum": 1 },
            "short_strings": short_strings(),
        })),
        "ToolChange": object(&[], json!({
            "name": text(),
            "description": text(),
            "json_path": text(),
            "chunk_threshold_chars": { "type": "integer", "minimum": 1 },
            "short_strings": short_strings(),
        })),
        "ToolSearch": object(&["query"], json!({
            "query": text(),
            "top_k": {
                "type": "integer",
                "minimum": 1,
                "maximum": contexts::limits::MAX_TOP_K,
                "default": contexts::limits::DEFAULT_TOP_K,
            },
            "cursor": text(),
        })),
        "NewEndpoint": object(&["name"], json!({
            "name": text(), "tool_ids": texts(), "project_id": text(),
        })),
        "EndpointChange": object(&[], json!({ "name": text(), "tool_ids": texts() })),
        "Chat": object(&["query"], json!({
            "query": text(),
            "knowledge_base_id": {
                "type": "string",
                "format": "uuid",
                "description": "one base; all that you may read when absent",
            },
            "force_tool": {
                "type": "string",
                "enum": knowledge::chat::ToolName::ALL.map(knowledge::chat::ToolName::as_str),
            },
            "threshold": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
            "max_results": { "type": "integer", "minimum": 1 },
        })),
        "Error": {
            "type": "object",
            "required": ["error"],
            "properties": {
                "error": {
                    "type": "object",
                    "required": ["code", "message", "details"],
                    "properties": {
                        "code": text(),
                        "message": text(),
                        "details": { "type": "object" },
                    },
                },
            },
        },
    })
}
