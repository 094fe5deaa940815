//! What machines ask a server: is it alive, is it ready, how is it doing, who gives tokens.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::json;
use tools::{Code, ToolError};

use super::errors::coded;
use super::routes::Doors;

/// The process is alive.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// The server can answer, or says what is missing.
pub(crate) async fn readyz(State(doors): State<Doors>) -> Response {
    match (doors.shared.load().readiness)() {
        Ok(()) => "ready\n".into_response(),
        Err(missing) => (StatusCode::SERVICE_UNAVAILABLE, format!("{missing}\n")).into_response(),
    }
}

/// Counts and latencies for Prometheus.
pub(crate) async fn metrics(State(doors): State<Doors>) -> Response {
    let text = doors.shared.load().metrics.render();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}

/// How a client proves itself to this server, and who gives it a token (RFC 9728).
pub(crate) async fn protected_resource(State(doors): State<Doors>) -> Response {
    let app = doors.shared.load();
    if !app.authenticator.is_required() {
        return coded(&ToolError::new(Code::NotFound, "this server asks nobody who they are"));
    }
    let mut metadata = json!({
        "resource": format!("{}/mcp", app.server.link_base()),
        "bearer_methods_supported": ["header"],
        "resource_name": "Dowse",
    });
    if let Some(issuer) = &app.token_issuer {
        metadata["authorization_servers"] = json!([issuer]);
    }
    axum::Json(metadata).into_response()
}
