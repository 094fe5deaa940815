//! HTTP: connections, the door that every request passes, and the addresses behind it.

mod connections;

mod door;
mod errors;

mod routes;
mod wellknown;

pub use connections::{RunError, run};

pub(crate) use door::{RequestId, identify, refuse_foreign, request_id_of};
pub(crate) use errors::coded;
pub(crate) use routes::Doors;
