//! The whole server in this process, over real sockets, with tools that a test holds in its hand:
//! what a real binary cannot be made to do at the right moment.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod test_server;

mod few_tokens;
mod in_flight;
mod mounted;
mod plain_calls;
mod reading;
mod store_down;
