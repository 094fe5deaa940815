//! The only crate that knows MCP, HTTP and HTML.
//!
//! [`run`] takes a listener, the [`Shared`] application and a shutdown token, and serves until
//! told to stop. [`stdio`] serves the same tools over this process's own pipes. Both lead every
//! call through [`call`] and every reading of a resource through [`read`], behind the same guard.
//!
//! The application can be replaced while it runs ([`Shared::replace`]): calls in progress end on
//! the one they began with.
//!
//! Another program can mount a table of its own with [`table_router`].
#![doc(test(attr(deny(warnings))))]

mod app;
mod config;
mod endpoints;
mod health;

pub mod call;
mod guarded;
pub mod read;
mod slots;

mod api;
mod console;
pub mod front;
mod http;
mod key_uses;
mod mcp;
mod pages;

mod mount;

pub mod bench;

pub use api::{Deleted, What, erase_answers};
pub use app::{App, Endpoints, Opened, Shared};
pub use config::{EndpointConfig, Network, ServerConfig};
pub use console::{Check, ConsoleConfig, ConsoleSettings, Sessions};
pub use endpoints::ContextEndpoints;
pub use health::{Degraded, Health, Readiness};
pub use http::{RunError, answer_unready, run};
pub use mcp::{StdioError, list_cost, session, stdio};
pub use mount::{MountConfig, table_router};
pub use slots::{SlotLimits, Slots};
