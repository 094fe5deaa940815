//! One question over every family that a caller may see, with one order and no duplicates.
//!
//! Each family is behind the trait [`Source`]. [`Service::search`] asks them all, merges by
//! calibrated score (which means the same in every family), folds results that say the same, and
//! gives each an id that [`Service::fetch`] takes back. An id is opaque and stable, and opens
//! nothing by itself: the family checks the caller again.
#![doc(test(attr(deny(warnings))))]

mod error;
mod id;
mod service;
mod source;

mod duplicates;
mod words;

mod contexts;
mod dimensions;
mod folders;
mod knowledge;
mod tables;

#[cfg(test)]
mod tests;

pub use contexts::Contexts;
pub use dimensions::Dimensions;
pub use error::{Error, Result};
pub use folders::Folders;
pub use id::{document_prefix, file_prefix, is_same_thing};
pub use knowledge::KnowledgeBases;
pub use retrieve::{Given, MAX_NAMED, StageTiming};
pub use service::{Duplicate, Findings, MAX_RESULTS, Merged, Rest, Service};
pub use source::{Explanation, Fetched, Folding, Hit, Part, Same, Source, SourceHits, Stretch};
pub use tables::Tables;
