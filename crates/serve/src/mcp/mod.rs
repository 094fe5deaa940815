//! The Model Context Protocol, both eras of it, over HTTP and over pipes.

mod envelope;
mod handler;
mod plain;
mod progress;
mod reading;
pub(crate) mod translate;

mod cost;
mod http;
mod pipes;

pub use cost::list_cost;
pub(crate) use cost::list_estimate;
pub use pipes::{StdioError, session, stdio};

pub use handler::Visit;
pub use http::{prepare, transport};
pub(crate) use http::{serve_handler, serve_post};
