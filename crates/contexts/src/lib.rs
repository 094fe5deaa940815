//! Search tools that users make over big JSON, and the MCP endpoints that agents find them at.
//!
//! A project holds tables; a table is one JSON document of up to hundreds of megabytes; a tool
//! searches or reads a part of it, named by a pointer; an endpoint is an MCP address with keys of
//! its own, to which tools are bound. Every call of [`Service`] takes the caller. Another
//! tenant's object does not exist; inside a tenant, owner and members of a project decide.
//!
//! Documents are read front to back with bounded memory ([`json`]) and kept in the catalogue.
//! The long strings that tools cover are cut into chunks, which the store holds under
//! deterministic ids: a run of the index touches what changed and nothing else, tools that
//! overlap share chunks, and what no tool covers any more is erased.
//!
//! Schemas and error codes are those of `tools`, redaction is the guard's, transport is `serve`'s.
//!
//! ```
//! use contexts::json::{Event, Kind, Walk};
//!
//! let mut walk = Walk::new(r#"{"a/b": [1, "two"]}"#.as_bytes());
//! while let Some(event) = walk.next().unwrap() {
//!     if event == Event::Leaf(Kind::String) {
//!         assert_eq!((walk.pointer(), walk.text()), ("/a~1b/1", "two"));
//!     }
//! }
//! ```
#![doc(test(attr(deny(warnings))))]

pub mod bench;
mod config;
mod error;
pub mod limits;

pub mod json;

mod access;
mod ids;
mod keys;
mod object_ids;
mod objects;

mod document;
mod endpoints;
mod envelope;
mod locks;
mod marks;
mod projects;
mod reader;
mod seek;
mod service;
mod short;
mod tables;
mod tools;

mod jobs;
mod recover;

mod coverage;
mod headings;
mod index;
mod scopes;
mod source;

mod node;
mod outline;
mod search;

#[cfg(test)]
mod tests;

pub use config::ContextsConfig;
pub use endpoints::{EndpointChange, NewEndpoint, OpenEndpoint, WithKey};
pub use error::{Error, Result};
pub use index::Changes;
pub use jobs::{INDEX_JOB, JOBS, PURGE_JOB, VECTORS_JOB};
pub use locks::Locks;
pub use node::{Node, NodeRequest};
pub use object_ids::{EndpointId, KeyId, ProjectId, TableId, ToolId};
pub use objects::{
    Endpoint, IndexStatus, Member, Project, Role, SearchIndex, ShortStringsUse, StoredKey, Table,
    Tool, ToolKind,
};
pub use outline::MemberSize;
pub use projects::{NewProject, ProjectChange};
pub use search::{Chunk, ChunkHit, ChunkOrder, SearchResults, TableHits};
pub use service::{Service, ServiceConfig};
pub use tables::{Staged, Upload};
pub use tools::{NewTool, ToolChange};

/// The service of the family as the job queue sees it.
pub type ServiceSlot = ingest::ServiceSlot<Service>;
