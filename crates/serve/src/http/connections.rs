//! Accepts connections within a limit, and ends them gracefully.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::routes;
use crate::Shared;

/// A connection that has not sent the head of a request by then is closed.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// Calls in progress have this long to end after shutdown begins.
const GRACE: Duration = Duration::from_secs(20);

/// How long to wait after the system refuses a connection for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The server cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The listener has no address.
    #[error("the listening address is not known")]
    Address(#[source] std::io::Error),
}

/// Serves until `shutdown` is cancelled; then lets calls in progress end, within limits.
pub async fn run(
    listener: TcpListener,
    shared: Shared,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    let limit = shared.load().limits.connections;
    let slots = Arc::new(Semaphore::new(limit));
    // Streams are told to end only after the grace, so that calls in progress can answer.
    let streams_end = CancellationToken::new();
    let router = routes::router(shared, streams_end.clone());
    let graceful = GracefulShutdown::new();
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => match slot {
                Ok(slot) => slot,
                Err(_) => break,
            },
            () = shutdown.cancelled() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without this every streamed answer waits for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(slot);
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(GRACE) => {
            tracing::warn!("calls were still in progress when the grace was over");
        }
    }
    streams_end.cancel();
    Ok(())
}
