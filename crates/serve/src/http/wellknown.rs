//! What machines ask a server: is it alive, is it ready, how is it doing, who gives tokens.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde_json::json;
use tools::{Code, ToolError};

use super::errors::coded;
use super::middleware::identify;
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

/// Counts and latencies for Prometheus. With authentication they are for administrators and for
/// the key of `auth.metrics_key_env`, from loopback too: they tell what everybody does.
pub(crate) async fn metrics(State(doors): State<Doors>, headers: HeaderMap) -> Response {
    let app = doors.shared.load();
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if app.authenticator.is_required() && !app.authenticator.is_metrics_key(authorization) {
        match identify(&app, &headers).await {
            Ok(caller) if caller.is_admin() => {}
            Ok(_) => {
                let message = "metrics need the role `admin`, or the metrics key";
                return coded(
                    &ToolError::new(Code::Forbidden, message)
                        .with_hint("set `auth.metrics_key_env` for a scraper"),
                );
            }
            Err(refusal) => return refusal,
        }
    }
    if let Some(queue) = app.queue.clone() {
        let counted = tokio::task::spawn_blocking(move || queue.counts()).await;
        if let Ok(Ok(counts)) = counted {
            app.metrics.set_jobs("waiting", counts.n_waiting);
            app.metrics.set_jobs("running", counts.n_running);
        }
    }
    let text = app.metrics.render();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}

/// How a client proves itself to this server, and who gives it a token (RFC 9728).
pub(crate) async fn protected_resource(State(doors): State<Doors>) -> Response {
    let app = doors.shared.load();
    if !app.authenticator.is_required() {
        return coded(&ToolError::new(Code::NotFound, "authentication is off"));
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
