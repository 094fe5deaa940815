//! What machines ask a server: is it alive, is it ready, how is it doing, who gives tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;
use tools::{Code, ToolError};

use super::errors::coded;
use super::middleware::identify;
use super::routes::HttpState;
use crate::{App, Health};

/// How long the store may take to say how it is.
const READY_LIMIT: Duration = Duration::from_secs(5);

/// Looks at the store at the same time. Anybody may ask, and a store that hangs keeps a thread
/// for each look.
const MAX_LOOKS: usize = 8;

static LOOKS: Semaphore = Semaphore::const_new(MAX_LOOKS);

/// The process is alive.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// The server can answer questions, or says what is missing: 200 while reads work, with what is
/// degraded in the body; 503 when they do not.
///
/// Probes have no credentials. With authentication they learn which parts are degraded; names
/// of sources, folders and what went wrong are for administrators.
pub(crate) async fn readyz(State(http_state): State<HttpState>, headers: HeaderMap) -> Response {
    let app = http_state.shared.load();
    let mut health = look(&app).await.unwrap_or_else(|| {
        let problem = format!("the store did not answer within {READY_LIMIT:?}");
        Health::good()
            .with("catalogue", problem, "look at the log, and at the load of the machine")
            .without_reads()
    });
    if !health.degraded.is_empty() && !may_see_details(&app, &headers).await {
        health = health.without_details();
    }
    let code = if health.reads { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, axum::Json(body_of(&health))).into_response()
}

/// Gives the body of `/readyz`.
pub(super) fn body_of(health: &Health) -> serde_json::Value {
    json!({
        "status": health.status(),
        "reads": health.reads,
        "writes": health.writes,
        "lag": health.lag,
        "degraded": health.degraded,
    })
}

/// Asks the store how it is; nothing when it does not say so in time.
async fn look(app: &App) -> Option<Health> {
    let readiness = Arc::clone(&app.readiness);
    let looked = async {
        let look = LOOKS.acquire().await.ok()?;
        let looked = tokio::task::spawn_blocking(move || {
            let health = readiness();
            drop(look);
            health
        });
        looked.await.ok()
    };
    tokio::time::timeout(READY_LIMIT, looked).await.ok().flatten()
}

async fn may_see_details(app: &Arc<App>, headers: &HeaderMap) -> bool {
    if !app.authenticator.is_required() {
        return true;
    }
    if !headers.contains_key(AUTHORIZATION) {
        return false;
    }
    identify(app, headers).await.is_ok_and(|caller| caller.is_admin())
}

/// Counts and latencies for Prometheus. With authentication they are for administrators and for
/// the key of `auth.metrics_key_env`, from loopback too: they tell what everybody does.
pub(crate) async fn metrics(State(http_state): State<HttpState>, headers: HeaderMap) -> Response {
    let app = http_state.shared.load();
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
    exposition(&app).await
}

/// Everything that is counted, with what only a look can tell.
pub(crate) async fn exposition(app: &App) -> Response {
    if let Some(queue) = &app.queue {
        let (n_waiting, n_running) = queue.counts();
        app.metrics.set_jobs("waiting", n_waiting);
        app.metrics.set_jobs("running", n_running);
    }
    // A store that does not answer says nothing of its lag: the gauges keep what they had.
    if let Some(health) = look(app).await {
        app.metrics.set_lag(health.lag, health.follower_lag.unwrap_or_default());
    }
    if let Some(files) = app.files.clone() {
        // All roots, whoever may use them: only outcomes are named.
        let counted =
            tokio::task::spawn_blocking(move || files.outcomes(&model::Caller::local_admin()));
        if let Ok(Ok(roots)) = counted.await {
            for outcome in model::ReadOutcome::ALL {
                let counts = roots.iter().filter_map(|root| root.counts.get(&outcome));
                app.metrics.set_files(outcome.code(), counts.sum());
            }
        }
    }
    let text = app.metrics.render();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}

/// How a client proves itself to this server, and who gives it a token (RFC 9728).
pub(crate) async fn protected_resource(State(http_state): State<HttpState>) -> Response {
    let app = http_state.shared.load();
    if !app.authenticator.is_required() {
        let hint = "connect without a token, or set `auth.keys` or `auth.oauth` on the server";
        return coded(&ToolError::new(Code::NotFound, "authentication is off").with_hint(hint));
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
