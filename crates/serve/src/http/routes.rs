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
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;

use super::errors::coded;
use super::middleware::{RequestId, enter, identify, refuse_login};
use super::wellknown;
use crate::Shared;
use crate::front::Front;
use crate::mcp::{Visit, serve_post};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct HttpState {
    pub(crate) shared: Shared,
    streams_end: CancellationToken,
    front: Option<Arc<dyn Front>>,
}

/// Puts the addresses together.
pub(crate) fn router(
    shared: Shared,
    streams_end: CancellationToken,
    front: Option<Arc<dyn Front>>,
) -> Router {
    let http_state = HttpState { shared: shared.clone(), streams_end, front };
    let api = crate::api::routes().with_state(http_state.clone());
    let router = Router::new()
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
        .merge(crate::console::routes(api.clone()))
        .fallback(move |State(http_state), request| not_found(http_state, api.clone(), request))
        .with_state(http_state)
        .layer(from_fn_with_state(shared.clone(), enter))
        .layer(CatchPanicLayer::new());
    below_base_path(shared, router)
}

/// Takes the path of `public_url` off requests that carry it, so that a proxy may pass on whole
/// addresses as well as shortened ones.
fn below_base_path(shared: Shared, router: Router) -> Router {
    Router::new().fallback(move |mut request: Request| {
        let base = shared.load().server.base_path();
        if let Some(shortened) = without_base(request.uri(), &base) {
            *request.uri_mut() = shortened;
        }
        router.clone().oneshot(request)
    })
}

fn without_base(uri: &http::Uri, base: &str) -> Option<http::Uri> {
    let rest = uri.path().strip_prefix(base).filter(|_| !base.is_empty())?;
    let path = match rest {
        "" => "/",
        rest if rest.starts_with('/') => rest,
        _ => return None,
    };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{path}{query}").parse().ok()
}

async fn main_tools(State(http_state): State<HttpState>, request: Request) -> Response {
    let app = http_state.shared.load();
    let caller = match identify(&app, request.headers()).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let registry = app.tools.clone();
    let visit = Visit { registry, caller, request_id: id_of(&request), app };
    match &http_state.front {
        Some(front) => front.serve(visit, request, http_state.streams_end).await,
        None => serve_post(visit, request, http_state.streams_end).await,
    }
}

async fn first_table(State(http_state): State<HttpState>, request: Request) -> Response {
    let app = http_state.shared.load();
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
    serve_post(visit, request, http_state.streams_end).await
}

async fn endpoint(
    State(http_state): State<HttpState>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let app = http_state.shared.load();
    if let Some(registry) = app.exposed.get(&name).cloned() {
        let caller = match identify(&app, request.headers()).await {
            Ok(caller) => caller,
            Err(refusal) => return refusal,
        };
        let visit = Visit { registry, caller, request_id: id_of(&request), app };
        return serve_post(visit, request, http_state.streams_end).await;
    }
    let key = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(guard::bearer)
        .map(str::to_owned);
    let opened = match app.endpoints.clone() {
        None => None,
        Some(endpoints) => {
            let (uses, now) = (app.console.sessions.key_uses(), app.clock.now());
            let opened = tokio::task::spawn_blocking(move || {
                let opened = endpoints.open(&name, key.as_deref())?;
                uses.note(&name, key.as_deref().unwrap_or_default(), now);
                Some(opened)
            });
            opened.await.ok().flatten()
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
    serve_post(visit, request, http_state.streams_end).await
}

async fn not_found(http_state: HttpState, api: Router, request: Request) -> Response {
    if crate::console::reads_pages(&request) {
        return crate::console::not_found(&http_state, api, request).await;
    }
    let path: String = request.uri().path().chars().take(200).collect();
    coded(
        &ToolError::new(Code::NotFound, format!("not found: no page or endpoint at `{path}`"))
            .with_hint("MCP clients connect to `/mcp`"),
    )
}

fn id_of(request: &Request) -> String {
    request.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default()
}
