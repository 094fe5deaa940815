//! A handler in front of the tools at `/mcp`: how tests of the protocol add what the product does
//! not use, behind the same router and middleware.

use std::pin::Pin;

use axum::body::Body;
use axum::response::Response;
use http::Request;
use tokio_util::sync::CancellationToken;

pub use crate::http::run_with;
pub use crate::mcp::{Visit, prepare, transport};

/// An answer that is being made.
pub type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Answers requests at `/mcp` in place of the server; the visit answers what is not its own.
pub trait Front: Send + Sync {
    /// Answers one request of a caller who is known. `shutdown` is cancelled when streams must end.
    fn serve(&self, visit: Visit, request: Request<Body>, shutdown: CancellationToken)
    -> Answering;
}
