//! What tests of every crate share: a clock that stands still, callers, temporary folders, free
//! ports, a real server, and small clients for it.
//!
//! Crates use it as a dev-dependency. It knows the outside of the product (the flags of
//! the binary, HTTP, JSON-RPC) and the words of `model`, and nothing else of the workspace, so that a
//! test that goes through it sees what a user sees. It is blocking throughout, and it panics where
//! a library would return an error: a failed set-up should stop the test at the line that asked
//! for it.
//!
//! ```
//! use testkit::{Folder, ManualClock, callers};
//!
//! let clock = ManualClock::new();
//! let before = clock.clock().now();
//! clock.advance(std::time::Duration::from_secs(60));
//! assert_eq!(clock.clock().now().seconds() - before.seconds(), 60);
//!
//! let folder = Folder::new();
//! let report = folder.write("2024/report.md", "# Report");
//! assert!(report.ends_with("2024/report.md"));
//!
//! assert!(!callers::member("acme", &["reader"]).is_admin());
//! ```
//!
//! A server under test is the real binary. In a test of the `dowse` crate:
//!
//! ```no_run
//! use testkit::{Mcp, Server};
//!
//! # fn binary() -> &'static str { "dowse" }
//! // In the `dowse` crate itself: `env!("CARGO_BIN_EXE_dowse")`.
//! let server = Server::start(binary(), &["serve", "--listen", "127.0.0.1:0"]);
//! let tools = Mcp::new(server.http(), "/mcp").list_tools();
//! assert!(tools.iter().any(|tool| tool["name"] == "search"));
//! ```
#![doc(test(attr(deny(warnings))))]

pub mod callers;
mod clock;
pub mod tokens;

mod folder;
pub mod markdown;
pub mod onnx;
mod ports;

pub mod bed;
mod browser;
mod postgres;
mod proxy;
mod qdrant;
mod signals;
mod skew;

mod http;
pub mod loopback;
mod server;
pub mod turbopuffer;

mod mcp;
mod patience;
mod stdio;

pub use browser::{Browser, ColourScheme};
pub use clock::{ManualClock, START, fixed_clock};
pub use folder::Folder;
pub use http::{Http, Request, Response, parse_response};
pub use mcp::{Mcp, ToolResult};
pub use patience::wait_until;
pub use ports::free_port;
pub use postgres::Postgres;
pub use proxy::{Protocol, Proxy};
pub use qdrant::Qdrant;
pub use server::Server;
pub use skew::SkewedClock;
pub use stdio::StdioSession;
