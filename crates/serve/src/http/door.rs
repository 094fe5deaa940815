//! The door: every request gets an id, and proves that it was meant for this server.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use guard::Denied;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, HeaderValue};
use model::Caller;
use tools::{Code, ToolError};
use tracing::Instrument;

use super::errors::{coded, unauthorized};
use crate::{App, Shared};

/// The header that carries a request's id, both ways.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Ids given by a client are kept up to this length.
const MAX_REQUEST_ID: usize = 64;

/// A request's id, in its extensions.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// Gives the request an id and refuses what was meant for another host or comes from a page of
/// another origin.
pub(crate) async fn enter(
    State(shared): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = request_id(request.headers());
    let span = tracing::info_span!(
        "request", id = %id, method = %request.method(), path = %request.uri().path()
    );
    request.extensions_mut().insert(RequestId(id.clone()));
    if let Ok(id) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(REQUEST_ID, id);
    }
    let app = shared.load();
    let server = &app.server;
    let foreign = refuse_foreign(&server.allowed_hosts, &server.allowed_origins, request.headers());
    let mut response = match foreign {
        Some(refusal) => refusal,
        None => next.run(request).instrument(span).await,
    };
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Tells who calls. The check may wait for the issuer's keys, so it runs where waiting is fine.
pub(crate) async fn identify(app: &Arc<App>, headers: &HeaderMap) -> Result<Arc<Caller>, Response> {
    if !app.authenticator.is_required() {
        return Ok(Arc::new(Caller::local_admin()));
    }
    let authorization = match headers.get(AUTHORIZATION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(value)) => Some(value.to_owned()),
        Some(Err(_)) => return Err(unauthorized(app, &Denied::NotBearer)),
    };
    let checked = {
        let app = Arc::clone(app);
        tokio::task::spawn_blocking(move || app.authenticator.caller(authorization.as_deref()))
    };
    match checked.await {
        Ok(Ok(caller)) => Ok(Arc::new(caller)),
        Ok(Err(denied)) => Err(unauthorized(app, &denied)),
        Err(_) => Err(coded(&ToolError::new(Code::InternalError, "internal error"))),
    }
}

/// Refuses what was meant for another host, and pages of other origins.
pub(crate) fn refuse_foreign(
    allowed_hosts: &[String],
    allowed_origins: &[String],
    headers: &HeaderMap,
) -> Option<Response> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !guard::hosts::is_own_host(host, allowed_hosts) {
        let error = ToolError::new(Code::Forbidden, format!("host `{host}` is not served here"))
            .with_hint("add it to `server.allowed_hosts`");
        return Some(coded(&error).into_response());
    }
    let origin = headers.get(ORIGIN)?;
    let origin = origin.to_str().unwrap_or("unreadable");
    // A page of this server itself: its host was checked above.
    let is_same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
    if is_same || guard::hosts::is_own_origin(origin, allowed_origins) {
        return None;
    }
    let error = ToolError::new(Code::Forbidden, format!("origin `{origin}` may not call"))
        .with_hint("add it to `server.allowed_origins`");
    Some(coded(&error).into_response())
}

/// Gives the id that the door gave, which stands in the request's headers from then on.
pub(crate) fn request_id_of(headers: &HeaderMap) -> String {
    headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned()
}

fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(|id| {
        (1..=MAX_REQUEST_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    });
    match given {
        Some(id) => id.to_owned(),
        None => uuid::Uuid::new_v4().simple().to_string(),
    }
}
