//! The tools, prompts and resources that the official conformance suite calls by name.
//!
//! They are linked only with the cargo feature `conformance` of `dowse` and never in a build that
//! is shipped. They are behind the same router, middleware and envelope as everything else at
//! `/mcp`; what they add is the part of the protocol that this server does not use itself:
//! sessions of the older revisions, questions to the client, prompts and subscriptions.

mod handler;
mod session;

mod catalogue;
mod content;
mod notifications;
mod questions;
mod rounds;

mod prompts;
mod resources;

pub use session::Session;
