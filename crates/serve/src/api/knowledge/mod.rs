//! `/v1/knowledge-bases`, `/v1/collections`, `/v1/documents`, `/v1/chunks`.

mod documents;

use std::sync::Arc;

use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use knowledge::{CollectionId, KnowledgeBaseId, Service};
use model::{Caller, Deadline, PassageId, iso};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::knowledge::error;
use tools::{Code, ToolError};

use super::erasure::{Deleted, What};
use super::operation::{Api, Doc};
use super::paging::{Page, PageOf, newest_first, oldest_first};
use super::rest::{Reply, Rest};
use super::views::{
    AcceptedView, BaseView, ChunkView, CollectionView, DeletedView, DocumentView, SummaryView,
    ToolAnswer, VersionView,
};
use super::wire::{
    BaseChangeBody, CollectionChangeBody, DocumentChangeBody, FileUploadBody, NewBaseBody,
    NewCollectionBody, SearchBody, UploadBody,
};
use super::{body, originals};
use crate::call;
use crate::http::coded;

use documents::{
    add_documents, delete_document, get_document, list_documents, replace_document,
    update_document, versions,
};

pub(super) fn routes() -> Api {
    const TAG: &str = "knowledge";
    Api::default()
        .get(
            "/v1/knowledge-bases",
            list_bases,
            Doc::page::<BaseView>(TAG, "List the knowledge bases you may read", "knowledge_bases"),
        )
        .post(
            "/v1/knowledge-bases",
            create_base,
            Doc::new::<BaseView>(TAG, "Make a knowledge base")
                .created()
                .with_body::<NewBaseBody>()
                .with_example(json!({ "name": "Handbook", "description": "Rules of the house" })),
        )
        .get(
            "/v1/knowledge-bases/{id}",
            get_base,
            Doc::new::<BaseView>(TAG, "Give a knowledge base"),
        )
        .patch(
            "/v1/knowledge-bases/{id}",
            update_base,
            Doc::new::<BaseView>(TAG, "Change a knowledge base")
                .with_body::<BaseChangeBody>()
                .with_example(json!({ "visibility": "public" })),
        )
        .delete(
            "/v1/knowledge-bases/{id}",
            delete_base,
            Doc::new::<DeletedView>(TAG, "Delete a knowledge base with all in it").accepted(),
        )
        .get(
            "/v1/knowledge-bases/{id}/summary",
            summary,
            Doc::new::<ToolAnswer>(TAG, "Summary and statistics"),
        )
        .post(
            "/v1/knowledge-bases/{id}/search",
            search,
            Doc::new::<ToolAnswer>(TAG, "Search a knowledge base")
                .with_body::<SearchBody>()
                .with_example(json!({ "query": "remote work allowance", "threshold": 0.5 })),
        )
        .get(
            "/v1/knowledge-bases/{id}/collections",
            list_collections,
            Doc::page::<CollectionView>(TAG, "List the collections you see", "collections"),
        )
        .post(
            "/v1/knowledge-bases/{id}/collections",
            create_collection,
            Doc::new::<CollectionView>(TAG, "Make a collection")
                .created()
                .with_body::<NewCollectionBody>()
                .with_example(json!({ "name": "Contracts", "clearance": "confidential" })),
        )
        .get(
            "/v1/collections/{id}",
            get_collection,
            Doc::new::<CollectionView>(TAG, "Give a collection"),
        )
        .patch(
            "/v1/collections/{id}",
            update_collection,
            Doc::new::<CollectionView>(TAG, "Change a collection; 202 where passages must move")
                .at_once_or_accepted()
                .with_body::<CollectionChangeBody>()
                .with_example(json!({ "department": "legal" })),
        )
        .delete(
            "/v1/collections/{id}",
            delete_collection,
            Doc::new::<DeletedView>(TAG, "Delete a collection with its documents").accepted(),
        )
        .get(
            "/v1/collections/{id}/summaries",
            summaries,
            Doc::page::<SummaryView>(TAG, "Versions of the collection's summary", "versions"),
        )
        .get(
            "/v1/collections/{id}/documents",
            list_documents,
            Doc::page::<DocumentView>(TAG, "List documents, a page at a time", "documents"),
        )
        .post(
            "/v1/collections/{id}/documents",
            add_documents,
            Doc::new::<AcceptedView>(TAG, "Add documents: files or text")
                .accepted()
                .with_body::<UploadBody>()
                .with_media::<FileUploadBody>("multipart/form-data")
                .with_example(
                    json!({ "title": "Leave", "text": "30 days", "metadata": { "year": 2026 } }),
                ),
        )
        .get("/v1/documents/{id}", get_document, Doc::new::<DocumentView>(TAG, "Give a document"))
        .put(
            "/v1/documents/{id}",
            replace_document,
            Doc::new::<AcceptedView>(TAG, "Replace a document's content")
                .accepted()
                .with_body::<UploadBody>()
                .with_media::<FileUploadBody>("multipart/form-data")
                .with_example(json!({ "title": "Leave", "text": "31 days" })),
        )
        .patch(
            "/v1/documents/{id}",
            update_document,
            Doc::new::<DocumentView>(TAG, "Change title, tags or metadata")
                .with_body::<DocumentChangeBody>()
                .with_example(json!({ "tags": ["hr"], "metadata": { "year": 2026 } })),
        )
        .get(
            "/v1/documents/{id}/original",
            originals::of_document,
            Doc::media(TAG, "Download the file it was made from", "application/octet-stream"),
        )
        .get(
            "/v1/documents/{id}/versions",
            versions,
            Doc::page::<VersionView>(TAG, "What changed from content to content", "versions"),
        )
        .delete(
            "/v1/documents/{id}",
            delete_document,
            Doc::new::<DeletedView>(TAG, "Delete a document").accepted(),
        )
        .get(
            "/v1/chunks/{id}",
            get_chunk,
            Doc::new::<ChunkView>(TAG, "Give a chunk by the id that a search gave"),
        )
}

async fn list_bases(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read("knowledge_bases", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/knowledge-bases", move |service, caller, _| {
        let bases = service.list_bases(caller)?;
        let is_own = bases.iter().all(|base| service.may_change(caller, &base.id));
        let bases = bases
            .iter()
            .map(|base| (oldest_first(base.created_at, base.id.as_str()), BaseView::of(base)));
        let places: &'static [&'static str] =
            if is_own { &[] } else { &["/knowledge_bases/*/description"] };
        Ok(page.reply(bases.collect()).with_source_text(places))
    })
    .await
}

async fn create_base(rest: Rest, request: Request) -> Response {
    let NewBaseBody(new) = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/knowledge-bases", move |service, caller, _| {
        Ok(Reply::created(BaseView::of(&service.create_base(caller, &new)?)))
    })
    .await
}

async fn get_base(rest: Rest, Path(id): Path<KnowledgeBaseId>) -> Response {
    with(rest, "GET /v1/knowledge-bases/{id}", move |service, caller, _| {
        let base = service.get_base(caller, &id)?;
        let places = documents::hidden_from(service, caller, &id, &["/description"]);
        Ok(Reply::ok(BaseView::of(&base)).with_source_text(places))
    })
    .await
}

async fn update_base(rest: Rest, Path(id): Path<KnowledgeBaseId>, request: Request) -> Response {
    let BaseChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/knowledge-bases/{id}", move |service, caller, _| {
        Ok(Reply::ok(BaseView::of(&service.update_base(caller, &id, &change)?)))
    })
    .await
}

async fn delete_base(rest: Rest, Path(id): Path<KnowledgeBaseId>) -> Response {
    with(rest, "DELETE /v1/knowledge-bases/{id}", move |service, caller, _| {
        let deleted = of_base(service, caller, &id, None).ok();
        let job = service.delete_base(caller, &id)?;
        Ok(Reply::accepted(DeletedView::of(&id, Some(&job))).with_deleted(deleted))
    })
    .await
}

async fn summary(rest: Rest, Path(id): Path<KnowledgeBaseId>) -> Response {
    let arguments = Map::from_iter([("knowledge_base_id".to_owned(), json!(id))]);
    by_tool(rest, "get_knowledge_base_summary", arguments).await
}

async fn search(rest: Rest, Path(id): Path<KnowledgeBaseId>, request: Request) -> Response {
    let mut arguments: Map<String, Value> = match json_body(&rest, request).await {
        Ok(arguments) => arguments,
        Err(refused) => return coded(&refused),
    };
    arguments.insert("knowledge_base_id".to_owned(), json!(id));
    by_tool(rest, "search_documents", arguments).await
}

async fn list_collections(rest: Rest, Path(id): Path<KnowledgeBaseId>, page: PageOf) -> Response {
    let page = match Page::read("collections", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/knowledge-bases/{id}/collections", move |service, caller, _| {
        let found = service.list_collections(caller, &id)?;
        let found = found.iter().map(|one| {
            (oldest_first(one.created_at, one.id.as_str()), CollectionView::of(one, None))
        });
        let places = documents::hidden_from(service, caller, &id, &["/collections/*/description"]);
        Ok(page.reply(found.collect()).with_source_text(places))
    })
    .await
}

async fn create_collection(
    rest: Rest,
    Path(id): Path<KnowledgeBaseId>,
    request: Request,
) -> Response {
    let NewCollectionBody(new) = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    with(rest, "POST /v1/knowledge-bases/{id}/collections", move |service, caller, _| {
        Ok(Reply::created(CollectionView::of(&service.create_collection(caller, &id, &new)?, None)))
    })
    .await
}

async fn get_collection(rest: Rest, Path(id): Path<CollectionId>) -> Response {
    with(rest, "GET /v1/collections/{id}", move |service, caller, _| {
        let collection = service.get_collection(caller, &id)?;
        let base = &collection.knowledge_base_id;
        let places = documents::hidden_from(service, caller, base, &["/description"]);
        Ok(Reply::ok(CollectionView::of(&collection, None)).with_source_text(places))
    })
    .await
}

async fn update_collection(rest: Rest, Path(id): Path<CollectionId>, request: Request) -> Response {
    let CollectionChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    with(rest, "PATCH /v1/collections/{id}", move |service, caller, _| {
        let (collection, job) = service.update_collection(caller, &id, &change)?;
        let value = CollectionView::of(&collection, job.as_ref());
        Ok(if job.is_some() { Reply::accepted(value) } else { Reply::ok(value) })
    })
    .await
}

async fn delete_collection(rest: Rest, Path(id): Path<CollectionId>) -> Response {
    with(rest, "DELETE /v1/collections/{id}", move |service, caller, _| {
        let deleted = service.get_collection(caller, &id).and_then(|collection| {
            of_base(service, caller, &collection.knowledge_base_id, Some(&id))
        });
        let job = service.delete_collection(caller, &id)?;
        Ok(Reply::accepted(DeletedView::of(&id, Some(&job))).with_deleted(deleted.ok()))
    })
    .await
}

async fn summaries(rest: Rest, Path(id): Path<CollectionId>, page: PageOf) -> Response {
    let page = match Page::read("versions", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    with(rest, "GET /v1/collections/{id}/summaries", move |service, caller, _| {
        let versions = service.summary_versions(caller, &id)?;
        let versions = versions.iter().map(|version| {
            let value = json!(SummaryView {
                version: version.version,
                generated_at: iso(version.generated_at),
                engine: version.engine.clone(),
                made_from: json!(version.made_from),
                text: version.text.clone(),
            });
            (newest_first(version.generated_at, &version.version.to_string()), value)
        });
        let reply = page.reply(versions.collect());
        Ok(reply.with_source_text(&["/versions/*/text", "/versions/*/made_from/titles/*"]))
    })
    .await
}

async fn get_chunk(rest: Rest, Path(id): Path<PassageId>) -> Response {
    with(rest, "GET /v1/chunks/{id}", move |service, caller, _| {
        let chunk = service.get_chunk(caller, &id)?;
        let reply = Reply::ok(ChunkView::of(&chunk)).with_source_text(&["/content"]);
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

/// Says what goes with a knowledge base, or with one collection of it. Collections that the caller
/// may not see count as well: they go with their base.
fn of_base(
    service: &Service,
    caller: &Caller,
    base: &KnowledgeBaseId,
    collection: Option<&CollectionId>,
) -> knowledge::Result<Deleted> {
    let since = service.get_base(caller, base)?.created_at;
    let everything = Caller { tenant: caller.tenant.clone(), ..Caller::local_admin() };
    let is_empty = service
        .list_collections(&everything, base)?
        .iter()
        .filter(|one| collection.is_none_or(|id| one.id == *id))
        .all(|one| one.n_documents == 0 && one.n_chunks == 0);
    let what = match is_empty {
        true => What::Nothing,
        false => What::OfBase { base: base.to_string() },
    };
    Ok(Deleted { since, what })
}

/// Says that a tool is not there for a caller, and which are.
pub(in crate::api) fn not_served(rest: &Rest, name: &str) -> ToolError {
    let listed = rest.app.tools.list(&rest.caller);
    let names: Vec<&str> = listed.iter().map(|listed| listed.spec.name.as_str()).collect();
    ToolError::new(Code::NotFound, format!("the tool `{name}` is not served here"))
        .with_detail("allowed", names)
        .with_hint("the server has no source for it, or your key does not name it")
}

/// Calls a tool, so that the same rules hold over REST as over MCP.
pub(super) async fn by_tool(rest: Rest, name: &str, arguments: Map<String, Value>) -> Response {
    let Some(tool) = rest.app.tools.get(name, &rest.caller) else {
        return coded(&not_served(&rest, name));
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
