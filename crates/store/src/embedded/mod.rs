//! The engine in this process: for each namespace a folder with a full-text index and a vector
//! file, derived from any catalogue.
//!
//! Several servers over one catalogue each have such a folder of their own and follow the log.

mod derived;
mod following;
mod namespace;
mod snapshot;

mod engine;
mod maintenance;
mod search;

pub use engine::EmbeddedEngine;
