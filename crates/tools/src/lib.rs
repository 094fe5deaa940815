//! What an agent may call: one file for each tool, with its schema, its checks and its answer.
//!
//! A [`Tool`] describes itself with a [`Spec`] (name, schemas, annotations, and where source
//! text is in its answer) and does its work in [`Tool::call`]. The [`Registry`] holds the
//! tools in their fixed order. [`accept`] takes arguments, or refuses them with errors
//! written for an agent, before a tool sees them, and [`Code`] is the one table of everything that can go wrong.
//!
//! [`Resources`] is what an agent reads by its address (`dowse://…`), one implementation for each
//! family that has something to read.
//!
//! There is no transport here: `serve` speaks MCP and HTTP, and `guard` is around each call.
//!
//! ```
//! use model::Caller;
//! use tools::{Registry, accept, knowledge::NormalizeOcrText};
//!
//! let registry = Registry::new(vec![Box::new(NormalizeOcrText::by_rules())]);
//! let tool = registry.get("normalize_ocr_text", &Caller::local_admin()).unwrap();
//! let arguments = serde_json::json!({ "txt": "x" });
//! let error = accept(&tool.spec, arguments.as_object().unwrap().clone()).unwrap_err();
//! assert_eq!(error.code.as_str(), "BAD_REQUEST");
//! ```
#![doc(test(attr(deny(warnings))))]

mod call;
mod disk;
mod error;
mod object_error;
mod spec;
mod unknown;

mod arguments;
#[cfg(test)]
mod contract;
mod exposure;
mod instructions;
mod paging;
mod per_caller;
mod read_on;
mod registry;
mod resources;
mod served;
mod timings;
mod walk;

pub mod contexts;
pub mod everywhere;
pub mod files;
pub mod filters;
pub mod knowledge;
pub mod tables;

pub use arguments::{Accepted, InputSchema, accept};
pub use call::{Answer, Call, Image, Link, Progress, Tool};
pub use disk::disk_full;
pub use error::{Code, STORE_RETRY_SECONDS, ToolError, bounded};
pub use exposure::{Exposure, ToolNames};
pub use instructions::instructions;
pub use paging::{Filled, fill};
pub use registry::{Listed, Registry};
pub use resources::{
    ResourceBody, ResourceContent, ResourceEntry, ResourcePattern, ResourceSet, Resources,
};
pub use served::Served;
pub use spec::{Effect, ErrorShape, OutputShape, Spec};
pub use unknown::unknown_tool;
pub use walk::Walk;
