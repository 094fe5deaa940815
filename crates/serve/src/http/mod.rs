//! HTTP: connections, the middleware that every request passes, bodies, and the addresses.

mod connections;
mod forwarded;
mod pace;
mod peers;

pub(crate) mod body;
mod errors;
mod middleware;

mod routes;
mod wellknown;

pub use connections::{RunError, run, run_with};

pub(crate) use errors::coded;
pub(crate) use middleware::{RequestId, identify, refuse_foreign, request_id_of};
pub(crate) use routes::HttpState;
pub(crate) use wellknown::exposition;
