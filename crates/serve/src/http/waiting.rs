//! What is answered while the server cannot begin, since its catalogue is elsewhere and away: that it
//! lives, that it is not ready and why, and everything else with 503 and when to come back.

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tools::{Code, ToolError};

use super::connections::{ACCEPT_PAUSE, OVER_LIMIT_HEAD_TIMEOUT, RETRY_AFTER_SECONDS};
use super::errors::coded;
use super::wellknown;
use crate::{Health, Readiness};

/// Connections that are answered at the same time.
const MAX_CONNECTIONS: usize = 128;

/// What is said of the store that documents are in, as by a server that has begun.
const AWAY: &str = "Failed to connect to api-admin service";

/// Answers for as long as it is polled: a server that begins drops it and takes the listener.
pub async fn answer_unready(listener: &TcpListener, readiness: Readiness) {
    let router = Router::new()
        .route("/healthz", get(wellknown::healthz))
        .route("/readyz", get(move || std::future::ready(unready(&readiness()))))
        .fallback(|| async { unavailable() });
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(OVER_LIMIT_HEAD_TIMEOUT)
            // The next request is for the server, which may have begun.
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
}

fn unready(health: &Health) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, axum::Json(wellknown::body_of(health))).into_response()
}

fn unavailable() -> Response {
    coded(
        &ToolError::new(Code::Unavailable, AWAY)
            .with_detail("retry_after_seconds", RETRY_AFTER_SECONDS)
            .with_hint("try again later"),
    )
}
