//! One HTTP client for every crate that talks to the outside.
//!
//! The rest of the workspace is synchronous, so this crate is too: a call blocks until the answer is
//! there, the [`model::Deadline`] is over or a limit is hit. What it promises for every call:
//!
//! - **Time.** Connecting, one attempt and the whole call have time-outs, and a call never
//!   outlives its deadline. Passing failures (connection lost, 429, 5xx) are tried again with
//!   jitter; `Retry-After` is followed when there is time for it.
//! - **Size.** A body larger than the limit is an error, not a full memory; so is a line of a
//!   stream that never ends.
//! - **Place.** Loopback, private and other special addresses are refused unless the
//!   configuration allows the host. The check looks at the resolved address, not at the name, and
//!   is repeated for every redirect.
//! - **Secrets.** Keys travel as [`Secret`], whose `Debug` shows nothing. They are left out of
//!   every error and log line, and are not sent on when a redirect leads to another origin.
//!
//! [`PostgresPool`] is the one other way out: to a database, encrypted where its address asks.
//!
//! What a status or a body *means* is left to the caller's crate.
//!
//! ```
//! use std::io::{BufRead, BufReader, Write};
//! use std::time::Duration;
//!
//! use model::Deadline;
//! use net::{Client, Config, Reach, Request};
//!
//! // A server that answers one request.
//! let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
//! let address = listener.local_addr().unwrap();
//! let server = std::thread::spawn(move || {
//!     let (stream, _) = listener.accept().unwrap();
//!     let mut lines = BufReader::new(&stream).lines();
//!     while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
//!     (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").unwrap();
//! });
//!
//! let client = Client::new(Config { reach: Reach::Anywhere, ..Config::careful() });
//! let request = Request::get(&format!("http://{address}/")).unwrap();
//! let response = client.send(&request, &Deadline::after(Duration::from_secs(5))).unwrap();
//! assert_eq!(response.body, b"hello");
//! server.join().unwrap();
//! ```
#![doc(test(attr(deny(warnings))))]

mod client;
mod request;
mod response;

mod reach;
mod retry;
mod secret;
mod stream;

mod postgres;

mod error;

#[cfg(test)]
mod tests;

pub use client::{Client, Config};
pub use error::{Error, Result};
pub use postgres::{
    PoolLimits, PooledSession, PostgresAddress, PostgresError, PostgresPool, PostgresSession,
    SessionError, SessionPool, TakeError, TakenSession, wait_at_most, wait_for,
};
pub use reach::{Reach, is_public};
pub use request::{Method, Request};
pub use response::Response;
pub use retry::RetryPolicy;
pub use secret::Secret;
pub use stream::{Events, Lines, ServerEvent, Streaming};
