//! Documents of a collection: listed, added, read, replaced, changed, deleted.

use axum::extract::{Path, Request};
use axum::response::Response;
use knowledge::{Accepted, CollectionId, KnowledgeBaseId, KnowledgeDocumentId, Service};
use model::{Caller, iso};
use serde_json::{Value, json};
use tools::ToolError;

use super::super::erasure::{Deleted, What};
use super::super::paging::{Page, PageOf, newest_first};
use super::super::rest::{Reply, Rest};
use super::super::upload;
use super::super::views::{DeletedView, DocumentView, JobView, VersionView};
use super::super::wire::DocumentChangeBody;
use super::{json_body, with};
use crate::http::coded;

pub(super) async fn list_documents(
    rest: Rest,
    Path(id): Path<CollectionId>,
    page: PageOf,
) -> Response {
    let page = match Page::read("documents", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/collections/{id}/documents", move |service, caller, _| {
        let found = service.list_documents(caller, &id, page.after(), page.n_asked())?;
        let base = found.first().map(|one| one.knowledge_base_id.clone());
        let places = base.map_or(&[] as &[_], |base| hidden_from(service, caller, &base, LISTED));
        let found = found.iter().map(|one| (one.id.to_string(), DocumentView::of(one)));
        Ok(page.reply(found.collect()).with_source_text(places))
    })
    .await
}

pub(super) async fn add_documents(
    rest: Rest,
    Path(id): Path<CollectionId>,
    request: Request,
) -> Response {
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

pub(super) async fn get_document(rest: Rest, Path(id): Path<KnowledgeDocumentId>) -> Response {
    with(rest, "GET /v1/documents/{id}", move |service, caller, _| {
        let document = service.get_document(caller, &id)?;
        let places = hidden_from(service, caller, &document.knowledge_base_id, ONE);
        Ok(Reply::ok(DocumentView::of(&document)).with_source_text(places))
    })
    .await
}

/// Where a document has what its owner wrote.
const ONE: &[&str] = &["/title", "/metadata/**", "/tags/*"];

/// The same in a list.
const LISTED: &[&str] = &["/documents/*/title", "/documents/*/metadata/**", "/documents/*/tags/*"];

/// Gives the places that are redacted for a caller: what an owner wrote of a document is text of a
/// source, as in searches. Those who may change the document see what is there, since they would
/// otherwise write marks back in its place.
pub(super) fn hidden_from(
    service: &Service,
    caller: &Caller,
    base: &KnowledgeBaseId,
    places: &'static [&'static str],
) -> &'static [&'static str] {
    if service.may_change(caller, base) { &[] } else { places }
}

pub(super) async fn replace_document(
    rest: Rest,
    Path(id): Path<KnowledgeDocumentId>,
    request: Request,
) -> Response {
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

pub(super) async fn update_document(
    rest: Rest,
    Path(id): Path<KnowledgeDocumentId>,
    request: Request,
) -> Response {
    let DocumentChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/documents/{id}", move |service, caller, _| {
        Ok(Reply::ok(DocumentView::of(&service.update_document(caller, &id, &change)?)))
    })
    .await
}

pub(super) async fn versions(
    rest: Rest,
    Path(id): Path<KnowledgeDocumentId>,
    page: PageOf,
) -> Response {
    let page = match Page::read("versions", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/documents/{id}/versions", move |service, caller, _| {
        let versions = service.document_versions(caller, &id)?;
        let versions = versions.iter().map(|one| {
            let value = json!(VersionView {
                version: one.version,
                indexed_at: iso(one.indexed_at),
                file_name: one.file_name.clone(),
                bytes: one.n_bytes,
                sha256: one.sha256.clone(),
                chunk_count: one.n_chunks,
                lines_added: one.n_lines_added,
                lines_removed: one.n_lines_removed,
                difference: one.difference.clone(),
                truncated: one.is_cut,
            });
            let order = format!("{:020}", u64::MAX - one.version);
            (newest_first(one.indexed_at, &order), value)
        });
        let reply = page.reply(versions.collect());
        Ok(reply.with_source_text(&["/versions/*/difference"]))
    })
    .await
}

pub(super) async fn delete_document(rest: Rest, Path(id): Path<KnowledgeDocumentId>) -> Response {
    with(rest, "DELETE /v1/documents/{id}", move |service, caller, _| {
        let document = service.get_document(caller, &id).ok();
        let job = service.delete_document(caller, &id)?;
        let deleted = document.map(|document| Deleted {
            since: document.created_at,
            what: What::Document {
                base: document.knowledge_base_id.to_string(),
                id: id.to_string(),
            },
        });
        Ok(Reply::accepted(DeletedView::of(&id, Some(&job))).with_deleted(deleted))
    })
    .await
}

fn accepted(accepted: &Accepted) -> Reply {
    let job = json!(JobView::of(&accepted.job));
    let documents: Vec<Value> = accepted.documents.iter().map(DocumentView::of).collect();
    let ids: Vec<&str> = accepted.documents.iter().map(|document| document.id.as_str()).collect();
    // A list of one is a list too: `ids` is always there.
    let mut value = match documents.as_slice() {
        [document] => json!({ "id": ids.first(), "ids": ids, "job": job, "document": document }),
        _ => json!({ "ids": ids, "job": job, "documents": documents }),
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
