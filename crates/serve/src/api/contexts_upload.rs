//! Uploads of documents: `POST /v1/projects/{id}/tables` and `PUT /v1/tables/{id}`.
//!
//! A document is sent as the body itself with `?name=`, as the part `file` of a form, or as
//! `data` in `{name, data}`. Whatever the form, it goes to a file as it arrives and is read from
//! there, so that its size costs disk and no memory.

use std::cmp::Ordering;
use std::sync::Arc;

use axum::extract::{Path, Request};
use axum::response::Response;
use contexts::{ProjectId, Service, Staged, TableId, Upload};
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use tools::ToolError;
use tools::contexts::error;

use super::context_views::TableView;
use super::contexts::{not_served, with};
use super::rest::{REST_RATE, Reply, Rest};
use super::staging::{self, SizeLimit};
use crate::guarded;
use crate::http::{Parameters, QueryParameters, Takes, coded};

/// What is in the address of an upload.
#[derive(Deserialize)]
pub(super) struct Named {
    name: Option<String>,
}

impl Parameters for Named {
    const TAKEN: &'static [(&'static str, Takes)] = &[("name", Takes::Text)];
}

pub(super) async fn create_table(
    rest: Rest,
    Path(id): Path<ProjectId>,
    QueryParameters(named): QueryParameters<Named>,
    request: Request,
) -> Response {
    let named = match named {
        Ok(named) => named,
        Err(refused) => return coded(&refused),
    };
    let is_form = is_form(&request);
    let (staged, in_form) = match stage(&rest, Target::Project(id.clone()), request).await {
        Ok(staged) => staged,
        Err(refused) => return coded(&refused),
    };
    let named = named.name.or(in_form);
    with(rest, "POST /v1/projects/{id}/tables", move |service, caller, deadline| {
        let table = match named {
            Some(name) => service.create_table(caller, &id, &name, staged.path(), deadline)?,
            None if is_form => {
                let problem = "the form holds no `name`".to_owned();
                return Err(ingest::ObjectError::BadRequest { problem }.into());
            }
            None => {
                let named = service.open_envelope(&staged)?;
                service.create_table(caller, &id, &named, staged.path(), deadline)?
            }
        };
        Ok(Reply::created(TableView::of(&table, None)))
    })
    .await
}

pub(super) async fn replace_table(
    rest: Rest,
    Path(id): Path<TableId>,
    QueryParameters(named): QueryParameters<Named>,
    request: Request,
) -> Response {
    let named = match named {
        Ok(named) => named,
        Err(refused) => return coded(&refused),
    };
    let is_form = is_form(&request);
    let (staged, in_form) = match stage(&rest, Target::Table(id.clone()), request).await {
        Ok(staged) => staged,
        Err(refused) => return coded(&refused),
    };
    let named = named.name.or(in_form);
    with(rest, "PUT /v1/tables/{id}", move |service, caller, deadline| {
        let name = match named {
            Some(name) => Some(name),
            // A file keeps the name that the table has.
            None if is_form => None,
            None => Some(service.open_envelope(&staged)?),
        };
        let (table, job) =
            service.replace_table_as(caller, &id, name.as_deref(), staged.path(), deadline)?;
        Ok(Reply::accepted(TableView::of(&table, job.as_ref())))
    })
    .await
}

enum Target {
    Project(ProjectId),
    Table(TableId),
}

/// Checks that the caller may upload before anything is read, and writes the document to a file.
async fn stage(
    rest: &Rest,
    target: Target,
    request: Request,
) -> Result<(Staged, Option<String>), ToolError> {
    let service: Service = rest.app.contexts.clone().ok_or_else(not_served)?;
    let limit = size_limit(service.settings().max_document_bytes, rest.app.limits.upload_bytes);
    let (call_context, _gone) = rest.call_context(REST_RATE);
    let (caller, app) = (Arc::clone(&rest.caller), Arc::clone(&rest.app));
    let staged = guarded::run(&rest.app, &call_context, move |_| {
        let upload = match &target {
            Target::Project(id) => Upload::NewTable(id),
            Target::Table(id) => Upload::Replacement(id),
        };
        let staged = service.stage(&caller, upload).map_err(error)?;
        staging::refuse_without_writes(&app)?;
        Ok(staged)
    })
    .await?;
    let arrived = staging::receive(request, staged.path(), limit).await?;
    Ok((staged, arrived.name))
}

/// Gives the smaller of two limits, and names what is in the way of a larger document.
fn size_limit(document_bytes: u64, upload_bytes: usize) -> SizeLimit {
    let upload_bytes = upload_bytes as u64;
    let hint = match document_bytes.cmp(&upload_bytes) {
        Ordering::Less => "raise `contexts.max_document_bytes` for documents of this size",
        Ordering::Greater => "raise `limits.upload_bytes` for documents of this size",
        Ordering::Equal => {
            "raise `limits.upload_bytes` and `contexts.max_document_bytes` for documents of this \
             size"
        }
    };
    SizeLimit { n_bytes: document_bytes.min(upload_bytes), hint }
}

fn is_form(request: &Request) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("multipart/form-data"))
}
