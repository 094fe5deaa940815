//! MCP over this process's own pipes. Stdout belongs to the protocol; whoever started the
//! process is its local administrator.

use std::sync::Arc;

use model::Caller;
use rmcp::service::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::handler::Visit;
use crate::Shared;

/// The session over pipes ended badly.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client did not get through the handshake.
    #[error("the client did not complete the handshake")]
    Handshake(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The session stopped unexpectedly.
    #[error("the session stopped unexpectedly")]
    Session(#[source] tokio::task::JoinError),
}

/// Serves one client over this process's pipes until it closes them or `shutdown` is cancelled.
pub async fn stdio(shared: &Shared, shutdown: CancellationToken) -> Result<(), StdioError> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    session(shared, reader, writer, shutdown).await
}

/// Serves one client over a pair of streams until it leaves or `shutdown` is cancelled. Whoever
/// holds the other end is the local administrator.
pub async fn session(
    shared: &Shared,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    let app = shared.load();
    let visit = Visit {
        registry: app.tools.clone(),
        caller: Arc::new(Caller::local_admin()),
        request_id: "stdio".to_owned(),
        app,
    };
    let running = match visit.serve_with_ct((reader, writer), shutdown).await {
        Ok(running) => running,
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Handshake(Box::new(error))),
    };
    running.waiting().await.map(|_| ()).map_err(StdioError::Session)
}
