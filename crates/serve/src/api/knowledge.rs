//! `/v1/knowledge-bases`, `/v1/collections`, `/v1/documents`, `/v1/chunks`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use knowledge::{
    Accepted, BaseChange, Chunk, Collection, CollectionChange, Document, DocumentChange,
    KnowledgeBase, NewBase, NewCollection, Service,
};
use model::{Caller, Deadline, iso};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::knowledge::error;
use tools::{Code, ToolError};

use super::jobs::job_json;
use super::paging::{Page, PageOf, newest_first, oldest_first};
use super::rest::{Reply, Rest};
use super::{body, originals, upload};
use crate::call;
use crate::http::{HttpState, coded};

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/knowledge-bases", get(list_bases).post(create_base))
        .route("/v1/knowledge-bases/{id}", get(get_base).patch(update_base).delete(delete_base))
        .route("/v1/knowledge-bases/{id}/summary", get(summary))
        .route("/v1/knowledge-bases/{id}/search", post(search))
        .route(
            "/v1/knowledge-bases/{id}/collections",
            get(list_collections).post(create_collection),
        )
        .route(
            "/v1/collections/{id}",
            get(get_collection).patch(update_collection).delete(delete_collection),
        )
        .route("/v1/collections/{id}/summaries", get(summaries))
        .route("/v1/collections/{id}/documents", get(list_documents).post(add_documents))
        .route(
            "/v1/documents/{id}",
            get(get_document).put(replace_document).patch(update_document).delete(delete_document),
        )
        .route("/v1/documents/{id}/original", get(originals::download))
        .route("/v1/documents/{id}/versions", get(versions))
        .route("/v1/chunks/{id}", get(get_chunk))
}

async fn list_bases(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/knowledge-bases", move |service, caller, _| {
        let bases = service.list_bases(caller)?;
        let bases =
            bases.iter().map(|base| (oldest_first(base.created_at, &base.id), base_json(base)));
        Ok(page.reply("knowledge_bases", bases.collect()))
    })
    .await
}

async fn create_base(rest: Rest, request: Request) -> Response {
    let new: NewBase = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/knowledge-bases", move |service, caller, _| {
        Ok(Reply::created(base_json(&service.create_base(caller, &new)?)))
    })
    .await
}

async fn get_base(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/knowledge-bases/{id}", move |service, caller, _| {
        Ok(Reply::ok(base_json(&service.get_base(caller, &id)?)))
    })
    .await
}

async fn update_base(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: BaseChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/knowledge-bases/{id}", move |service, caller, _| {
        Ok(Reply::ok(base_json(&service.update_base(caller, &id, &change)?)))
    })
    .await
}

async fn delete_base(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/knowledge-bases/{id}", move |service, caller, _| {
        let job = service.delete_base(caller, &id)?;
        Ok(Reply::accepted(json!({ "id": id, "job": job_json(&job) })))
    })
    .await
}

async fn summary(rest: Rest, Path(id): Path<String>) -> Response {
    let arguments = Map::from_iter([("knowledge_base_id".to_owned(), json!(id))]);
    by_tool(rest, "get_knowledge_base_summary", arguments).await
}

async fn search(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let mut arguments: Map<String, Value> = match json_body(&rest, request).await {
        Ok(arguments) => arguments,
        Err(refused) => return coded(&refused),
    };
    arguments.insert("knowledge_base_id".to_owned(), json!(id));
    by_tool(rest, "search_documents", arguments).await
}

async fn list_collections(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/knowledge-bases/{id}/collections", move |service, caller, _| {
        let found = service.list_collections(caller, &id)?;
        let found =
            found.iter().map(|one| (oldest_first(one.created_at, &one.id), collection_json(one)));
        Ok(page.reply("collections", found.collect()))
    })
    .await
}

async fn create_collection(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let new: NewCollection = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/knowledge-bases/{id}/collections", move |service, caller, _| {
        Ok(Reply::created(collection_json(&service.create_collection(caller, &id, &new)?)))
    })
    .await
}

async fn get_collection(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/collections/{id}", move |service, caller, _| {
        Ok(Reply::ok(collection_json(&service.get_collection(caller, &id)?)))
    })
    .await
}

async fn update_collection(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: CollectionChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/collections/{id}", move |service, caller, _| {
        let (collection, job) = service.update_collection(caller, &id, &change)?;
        let mut value = collection_json(&collection);
        let Some(job) = job else { return Ok(Reply::ok(value)) };
        value["job"] = job_json(&job);
        Ok(Reply::accepted(value))
    })
    .await
}

async fn delete_collection(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/collections/{id}", move |service, caller, _| {
        let job = service.delete_collection(caller, &id)?;
        Ok(Reply::accepted(json!({ "id": id, "job": job_json(&job) })))
    })
    .await
}

async fn summaries(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/collections/{id}/summaries", move |service, caller, _| {
        let versions = service.summary_versions(caller, &id)?;
        let versions = versions.iter().map(|version| {
            let value = json!({
                "version": version.version,
                "generated_at": iso(version.generated_at),
                "engine": version.engine,
                "made_from": version.made_from,
                "text": version.text,
            });
            (newest_first(version.generated_at, &version.version.to_string()), value)
        });
        let reply = page.reply("versions", versions.collect());
        Ok(reply.with_source_text(&["/versions/*/text", "/versions/*/made_from/titles/*"]))
    })
    .await
}

async fn list_documents(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/collections/{id}/documents", move |service, caller, _| {
        let found = service.list_documents(caller, &id, page.after(), page.n_asked())?;
        let found = found.iter().map(|one| (one.id.clone(), document_json(one)));
        Ok(page.reply("documents", found.collect()))
    })
    .await
}

async fn add_documents(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let target = upload::Target::Collection(id.clone());
    let upload = match upload::read(&rest, target, request).await {
        Ok(upload) => upload,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/collections/{id}/documents", move |service, caller, _| {
        Ok(accepted(&service.add_documents(caller, &id, upload)?))
    })
    .await
}

async fn get_document(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/documents/{id}", move |service, caller, _| {
        Ok(Reply::ok(document_json(&service.get_document(caller, &id)?)))
    })
    .await
}

async fn replace_document(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let target = upload::Target::Document(id.clone());
    let mut upload = match upload::read(&rest, target, request).await {
        Ok(upload) => upload,
        Err(refused) => return coded(&refused),
    };
    let Some(new) = upload.pop().filter(|_| upload.is_empty()) else {
        return coded(&ToolError::bad_request("a document is replaced by exactly one document"));
    };
    with(rest, "PUT /v1/documents/{id}", move |service, caller, _| {
        Ok(accepted(&service.replace_document(caller, &id, new)?))
    })
    .await
}

async fn update_document(rest: Rest, Path(id): Path<String>, request: Request) -> Response {
    let change: DocumentChange = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/documents/{id}", move |service, caller, _| {
        Ok(Reply::ok(document_json(&service.update_document(caller, &id, &change)?)))
    })
    .await
}

async fn versions(rest: Rest, Path(id): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/documents/{id}/versions", move |service, caller, _| {
        let versions = service.document_versions(caller, &id)?;
        let versions = versions.iter().map(|one| {
            let value = json!({
                "version": one.version,
                "indexed_at": iso(one.indexed_at),
                "file_name": one.file_name,
                "bytes": one.n_bytes,
                "sha256": one.sha256,
                "chunk_count": one.n_chunks,
                "lines_added": one.n_lines_added,
                "lines_removed": one.n_lines_removed,
                "difference": one.difference,
                "truncated": one.is_cut,
            });
            let order = format!("{:020}", u64::MAX - one.version);
            (newest_first(one.indexed_at, &order), value)
        });
        let reply = page.reply("versions", versions.collect());
        Ok(reply.with_source_text(&["/versions/*/difference"]))
    })
    .await
}

async fn delete_document(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "DELETE /v1/documents/{id}", move |service, caller, _| {
        let job = service.delete_document(caller, &id)?;
        Ok(Reply::accepted(json!({ "id": id, "job": job_json(&job) })))
    })
    .await
}

async fn get_chunk(rest: Rest, Path(id): Path<String>) -> Response {
    with(rest, "GET /v1/chunks/{id}", move |service, caller, _| {
        let chunk = service.get_chunk(caller, &id)?;
        let reply = Reply::ok(chunk_json(&chunk)).with_source_text(&["/content"]);
        Ok(reply.with_around(chunk.around.at("/content")))
    })
    .await
}

/// Does work with the service of the moment, behind the guard.
async fn with(
    rest: Rest,
    name: &'static str,
    work: impl FnOnce(&Service, &Caller, &Deadline) -> knowledge::Result<Reply> + Send + 'static,
) -> Response {
    let service = rest.app.knowledge.clone();
    rest.answer(name, move |caller, deadline| {
        let service = service.ok_or_else(|| {
            ToolError::new(Code::Unavailable, "knowledge bases are not served here")
        })?;
        work(&service, caller, deadline).map_err(error)
    })
    .await
}

/// Calls a tool, so that the same rules hold over REST as over MCP.
pub(super) async fn by_tool(rest: Rest, name: &str, arguments: Map<String, Value>) -> Response {
    let Some(tool) = rest.app.tools.get(name, &rest.caller) else {
        return coded(&ToolError::new(Code::NotFound, format!("`{name}` is not served here")));
    };
    let cancelled = CancellationToken::new();
    let _gone = cancelled.clone().drop_guard();
    let (caller, id, via) = (rest.caller, rest.id, rest.via);
    let progress = Arc::new(|_| {});
    let request = call::Request { caller, tool, arguments, id, cancelled, progress };
    match call::call_via(&rest.app, request, via).await {
        Ok(done) => axum::Json(done.outgoing.value).into_response(),
        Err(failed) => coded(&failed.error),
    }
}

async fn json_body<T: serde::de::DeserializeOwned + Send + 'static>(
    rest: &Rest,
    request: Request,
) -> Result<T, ToolError> {
    body::read_json(request, rest.app.limits.body_bytes).await
}

fn accepted(accepted: &Accepted) -> Reply {
    let job = job_json(&accepted.job);
    let documents: Vec<Value> = accepted.documents.iter().map(document_json).collect();
    let mut value = match accepted.documents.as_slice() {
        [document] => json!({ "id": document.id, "job": job, "document": documents.first() }),
        many => {
            let ids: Vec<&str> = many.iter().map(|document| document.id.as_str()).collect();
            json!({ "ids": ids, "job": job, "documents": documents })
        }
    };
    if !accepted.duplicates.is_empty() {
        let duplicates = accepted.duplicates.iter().map(|duplicate| {
            json!({
                "id": duplicate.document,
                "of": {
                    "id": duplicate.of.id,
                    "title": duplicate.of.title,
                    "collection_id": duplicate.of.collection_id,
                },
            })
        });
        value["duplicates"] = duplicates.collect();
        let sentence = "the same content is in another document already: see `duplicates`";
        value["warnings"] = json!([sentence]);
    }
    Reply::accepted(value)
}

fn base_json(base: &KnowledgeBase) -> Value {
    json!({
        "id": base.id,
        "name": base.name,
        "description": base.description,
        "visibility": base.visibility,
        "shared_with": base.shared_with,
        "owner": base.owner,
        "tenant_id": base.tenant,
        "created_at": iso(base.created_at),
        "updated_at": iso(base.updated_at),
    })
}

fn collection_json(collection: &Collection) -> Value {
    json!({
        "id": collection.id,
        "knowledge_base_id": collection.knowledge_base_id,
        "name": collection.name,
        "description": collection.description,
        "department": collection.department,
        "clearance": collection.clearance,
        "shared_with": collection.shared_with,
        "total_documents": collection.n_documents,
        "total_chunks": collection.n_chunks,
        "created_at": iso(collection.created_at),
        "updated_at": iso(collection.updated_at),
    })
}

fn document_json(document: &Document) -> Value {
    json!({
        "id": document.id,
        "collection_id": document.collection_id,
        "knowledge_base_id": document.knowledge_base_id,
        "title": document.title,
        "file_name": document.file_name,
        "metadata": document.metadata,
        "tags": document.tags(),
        "original_bytes": document.original.as_ref().map(|original| original.n_bytes),
        "status": document.state,
        "chunk_count": document.n_chunks,
        "version": document.version,
        "error": document.error,
        "created_at": iso(document.created_at),
        "updated_at": iso(document.updated_at),
    })
}

fn chunk_json(chunk: &Chunk) -> Value {
    json!({
        "id": chunk.id,
        "content": chunk.text,
        "document_id": chunk.document.id,
        "collection_id": chunk.document.collection_id,
        "knowledge_base_id": chunk.document.knowledge_base_id,
        "title": chunk.document.title,
        "chunk_index": chunk.index,
        "pointer": chunk.pointer.to_string(),
        "span": chunk.span,
    })
}
