//! One POST to an MCP address.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::Full;
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::envelope::{self, Checked};
use super::handler::Visit;
use super::plain::PlainCall;
use crate::http::body::{self, BodyError};

/// The header that names the version of the protocol.
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Serves one request of a client statelessly: JSON unless the call reports progress.
pub(crate) async fn serve_post(
    visit: Visit,
    request: Request<Body>,
    shutdown: CancellationToken,
) -> Response {
    let limit = visit.app.limits.body_bytes;
    let (parts, checked) = match receive(request, limit).await {
        Ok(received) => received,
        Err(refusal) => return refusal,
    };
    match PlainCall::of(checked.message, &parts.headers, &visit) {
        Some(plain) => plain.answer(visit, shutdown).await,
        None => {
            let request = Request::from_parts(parts, Full::new(checked.body));
            by_library(visit, request, limit, shutdown).await
        }
    }
}

/// Serves one request with any handler.
pub(crate) async fn serve_handler(
    handler: impl ServerHandler + Clone,
    request: Request<Body>,
    limit: usize,
    shutdown: CancellationToken,
) -> Response {
    match prepare(request, limit).await {
        Ok(request) => by_library(handler, request, limit, shutdown).await,
        Err(refusal) => refusal,
    }
}

async fn by_library(
    handler: impl ServerHandler + Clone,
    request: Request<Full<Bytes>>,
    limit: usize,
    shutdown: CancellationToken,
) -> Response {
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        transport(limit, shutdown),
    );
    service.handle(request).await.map(Body::new)
}

/// Sets the protocol library up. Host and Origin were checked by the middleware, for every
/// address alike, so that it need not.
pub fn transport(limit: usize, shutdown: CancellationToken) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(shutdown)
        .with_max_request_body_bytes(limit)
}

/// Reads the body within its limit, checks the message's outer form, and completes headers that
/// short scripts leave out.
///
/// # Errors
///
/// What cannot be taken becomes its answer.
pub async fn prepare(
    request: Request<Body>,
    limit: usize,
) -> Result<Request<Full<Bytes>>, Response> {
    let (parts, checked) = receive(request, limit).await?;
    Ok(Request::from_parts(parts, Full::new(checked.body)))
}

/// Does the same, and gives the message as it was parsed for the check.
async fn receive(request: Request<Body>, limit: usize) -> Result<(Parts, Checked), Response> {
    let (mut parts, body) = request.into_parts();
    if parts.method != http::Method::POST {
        let allow = [(http::header::ALLOW, "POST")];
        let hint = "send a POST with one JSON-RPC message";
        return Err((StatusCode::METHOD_NOT_ALLOWED, allow, hint).into_response());
    }
    let body = body::read(body, limit).await.map_err(|error| refused_body(&error))?;
    let version = parts.headers.get(PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
    let version = version.map(str::to_owned);
    let checked = body::with_json(body, move |body| envelope::check(body, version.as_deref()))
        .await
        .map_err(|error| refused_body(&error))?
        .map_err(|refused| (refused.status, axum::Json(refused.body)).into_response())?;
    // A client that accepts anything accepts both forms of an answer; the library wants to see
    // them spelled out.
    widen_accept(&mut parts.headers);
    if !parts.headers.contains_key(CONTENT_TYPE) {
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Ok((parts, checked))
}

fn refused_body(error: &BodyError) -> Response {
    let (status, code) = match error {
        BodyError::TooSlow(_) => (StatusCode::REQUEST_TIMEOUT, -32600),
        BodyError::BrokeOff | BodyError::Form(_) => (StatusCode::BAD_REQUEST, -32700),
        BodyError::NoSpace => (StatusCode::SERVICE_UNAVAILABLE, -32000),
        BodyError::TooLarge { .. } | BodyError::TooManyValues => {
            (StatusCode::PAYLOAD_TOO_LARGE, -32600)
        }
    };
    json_rpc(status, code, &error.to_string())
}

fn widen_accept(headers: &mut http::HeaderMap) {
    const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
    let accepts_anything = match headers.get(ACCEPT).map(HeaderValue::to_str) {
        None => true,
        Some(Ok(accept)) => accept.contains("*/*") || accept.contains("application/*"),
        Some(Err(_)) => false,
    };
    let accepts_json = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("application/json"));
    if accepts_anything || accepts_json {
        headers.insert(ACCEPT, BOTH);
    }
}

fn json_rpc(status: StatusCode, code: i64, message: &str) -> Response {
    let body = serde_json::json!({
        "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message },
    });
    (status, axum::Json(body)).into_response()
}
