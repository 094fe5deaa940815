//! The real binary, from outside: what it answers to good callers, to bad ones, and to none.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod house;

mod bad_headers;
mod bad_messages;
mod connections;
mod contexts;
mod identity;
mod knowledge;
mod pipes;
mod records;
mod reload;
