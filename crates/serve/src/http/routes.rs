//! Every address of the server, in reading order.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, get};
use guard::Denied;
use http::header::AUTHORIZATION;
use tokio_util::sync::CancellationToken;
use tools::{Code, ToolError};
use tower_http::catch_panic::CatchPanicLayer;

use super::errors::coded;
use super::middleware::{RequestId, enter, identify, refuse_login};
use super::wellknown;
use crate::Shared;
use crate::mcp::{Visit, serve_post};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Doors {
    pub(crate) shared: Shared,
    streams_end: CancellationToken,
    #[cfg(feature = "conformance")]
    fixtures: crate::mcp::conformance::Desk,
}

/// Puts the addresses together.
pub(crate) fn router(shared: Shared, streams_end: CancellationToken) -> Router {
    let doors = Doors {
        shared: shared.clone(),
        streams_end,
        #[cfg(feature = "conformance")]
        fixtures: crate::mcp::conformance::Desk::default(),
    };
    Router::new()
        .route("/mcp", any(main_tools))
        .route("/api/mcp", any(first_table))
        .route("/mcp/{endpoint}", any(endpoint))
        .merge(crate::api::routes())
        .route("/healthz", get(wellknown::healthz))
        .route("/readyz", get(wellknown::readyz))
        .route("/metrics", get(wellknown::metrics))
        .route("/.well-known/oauth-protected-resource", get(wellknown::protected_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(wellknown::protected_resource))
        .merge(crate::pages::routes())
        .fallback(not_found)
        .with_state(doors)
        .layer(from_fn_with_state(shared, enter))
        .layer(CatchPanicLayer::new())
}

async fn main_tools(State(doors): State<Doors>, request: Request) -> Response {
    let app = doors.shared.load();
    let caller = match identify(&app, request.headers()).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let registry = app.tools.clone();
    let visit = Visit { registry, caller, request_id: id_of(&request), app };
    #[cfg(feature = "conformance")]
    return doors.fixtures.serve(visit, request, doors.streams_end).await;
    #[cfg(not(feature = "conformance"))]
    serve_post(visit, request, doors.streams_end).await
}

async fn first_table(State(doors): State<Doors>, request: Request) -> Response {
    let app = doors.shared.load();
    let caller = match identify(&app, request.headers()).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let Some(registry) = app.first_table.clone() else {
        return coded(
            &ToolError::new(Code::NotFound, "no table is configured")
                .with_hint("add a `[[tables]]` section to the configuration"),
        );
    };
    let visit = Visit { registry, caller, request_id: id_of(&request), app };
    serve_post(visit, request, doors.streams_end).await
}

async fn endpoint(
    State(doors): State<Doors>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let app = doors.shared.load();
    let key = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(guard::bearer)
        .map(str::to_owned);
    let opened = match app.endpoints.clone() {
        None => None,
        Some(endpoints) => {
            tokio::task::spawn_blocking(move || endpoints.open(&name, key.as_deref()))
                .await
                .ok()
                .flatten()
        }
    };
    let Some(opened) = opened else {
        let denied = Denied::Invalid { reason: "no endpoint has this key" };
        return refuse_login(&app, &denied).await;
    };
    let visit = Visit {
        registry: opened.tools,
        caller: Arc::new(opened.caller),
        request_id: id_of(&request),
        app,
    };
    serve_post(visit, request, doors.streams_end).await
}

async fn not_found(request: Request) -> Response {
    let path: String = request.uri().path().chars().take(200).collect();
    coded(
        &ToolError::new(Code::NotFound, format!("not found: no page or endpoint at `{path}`"))
            .with_hint("MCP clients connect to `/mcp`"),
    )
}

fn id_of(request: &Request) -> String {
    request.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default()
}
