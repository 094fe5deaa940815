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

/// Where a client gets a token for this server (RFC 9728).
pub(crate) async fn protected_resource(State(doors): State<Doors>) -> Response {
    let app = doors.shared.load();
    let Some(issuer) = &app.token_issuer else {
        return coded(&ToolError::new(Code::NotFound, "this server takes no tokens"));
    };
    axum::Json(json!({
        "resource": format!("{}/mcp", app.server.link_base()),
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Dowse",
    }))
    .into_response()
}
