//! Endpoints and their keys: made, read, changed, deleted.

use axum::extract::{Path, Request};
use axum::response::Response;
use contexts::{EndpointId, KeyId};
use serde_json::json;

use super::super::context_views::{EndpointView, KeyView};
use super::super::rest::{Reply, Rest};
use super::super::views::GoneView;
use super::super::wire::{EndpointChangeBody, NewEndpointBody};
use super::{json_body, with};
use crate::http::coded;

pub(super) async fn create_endpoint(rest: Rest, request: Request) -> Response {
    let NewEndpointBody(new) = match json_body(&rest, request).await {
        Ok(new) => new,
        Err(refused) => return coded(&refused),
    };
    let uses = rest.app.console.sessions.key_uses();
    let links = rest.app.server.link_base();
    with(rest, "POST /v1/endpoints", move |service, caller, _| {
        let made = service.create_endpoint(caller, &new)?;
        Ok(Reply::created(EndpointView::of(&made.endpoint, &links, &uses, Some(made.api_key))))
    })
    .await
}

pub(super) async fn get_endpoint(rest: Rest, Path(id): Path<EndpointId>) -> Response {
    let uses = rest.app.console.sessions.key_uses();
    let links = rest.app.server.link_base();
    with(rest, "GET /v1/endpoints/{id}", move |service, caller, _| {
        Ok(Reply::ok(EndpointView::of(&service.get_endpoint(caller, &id)?, &links, &uses, None)))
    })
    .await
}

pub(super) async fn update_endpoint(
    rest: Rest,
    Path(id): Path<EndpointId>,
    request: Request,
) -> Response {
    let EndpointChangeBody(change) = match json_body(&rest, request).await {
        Ok(change) => change,
        Err(refused) => return coded(&refused),
    };
    let uses = rest.app.console.sessions.key_uses();
    let links = rest.app.server.link_base();
    with(rest, "PATCH /v1/endpoints/{id}", move |service, caller, _| {
        Ok(Reply::ok(EndpointView::of(
            &service.update_endpoint(caller, &id, &change)?,
            &links,
            &uses,
            None,
        )))
    })
    .await
}

pub(super) async fn delete_endpoint(rest: Rest, Path(id): Path<EndpointId>) -> Response {
    let uses = rest.app.console.sessions.key_uses();
    with(rest, "DELETE /v1/endpoints/{id}", move |service, caller, _| {
        service.delete_endpoint(caller, &id)?;
        uses.forget(id.as_str());
        Ok(Reply::ok(json!(GoneView { id: id.to_string(), deleted: None })))
    })
    .await
}

pub(super) async fn add_key(rest: Rest, Path(id): Path<EndpointId>) -> Response {
    with(rest, "POST /v1/endpoints/{id}/keys", move |service, caller, _| {
        let made = service.add_key(caller, &id)?;
        Ok(Reply::created(json!(KeyView::of(&made.stored, None, Some(made.api_key)))))
    })
    .await
}

pub(super) async fn revoke_key(rest: Rest, Path((id, key)): Path<(EndpointId, KeyId)>) -> Response {
    let uses = rest.app.console.sessions.key_uses();
    let links = rest.app.server.link_base();
    with(rest, "DELETE /v1/endpoints/{id}/keys/{key}", move |service, caller, _| {
        Ok(Reply::ok(EndpointView::of(
            &service.revoke_key(caller, &id, &key)?,
            &links,
            &uses,
            None,
        )))
    })
    .await
}
