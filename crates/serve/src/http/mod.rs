//! HTTP: connections, the middleware that every request passes, bodies, and the addresses.

mod connections;
mod forwarded;
mod pace;
mod peers;

mod bodies;
pub(crate) mod body;
mod errors;
pub(crate) mod form;
mod leftover;
mod middleware;
mod parameters;

mod routes;
mod waiting;
mod wellknown;

pub use connections::{RunError, run, run_with};
pub use waiting::answer_unready;

pub(crate) use errors::coded;
pub(crate) use middleware::{RequestId, identify, refuse_foreign, request_id_of};
pub(crate) use parameters::{Parameters, QueryParameters, Takes};
pub(crate) use routes::HttpState;
pub(crate) use wellknown::exposition;
