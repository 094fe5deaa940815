//! The read path: a query in, ranked passages with reasons out, in any language.
//!
//! A [`Retriever`] runs the stages in the order that `pipeline.rs` shows: analyse, candidates by
//! words beside candidates by vector, fuse, re-rank, threshold, group, snippet. Each stage
//! returns a subset or a re-ordering and adds its rank and score to the hit. A stage that cannot
//! run is skipped with a warning, and the stages before it stand.
//!
//! The score that leaves is calibrated relevance between 0 and 1; stage scores stand beside it.
//! Nothing here writes, and nothing here knows a family: who may see what arrives as the filter
//! of a [`Scope`].
#![doc(test(attr(deny(warnings))))]

mod error;
mod request;
mod response;

mod pipeline;

mod candidates;
mod fuse;
mod question;
mod rank;
mod snippet;

pub use error::{Error, Result};
pub use pipeline::{EmbedderSource, Retriever};
pub use request::{Grouping, Pipeline, Request, Scope};
pub use response::{Coverage, Ranked, Response, Snippet, StageTiming, Total};
