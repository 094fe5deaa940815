//! An engine whose words and vectors live in turbopuffer.
//!
//! A namespace of turbopuffer is derived from the catalogue and follows its log, so that a crash,
//! a time-out or a half-sent batch costs a repetition and never a passage. Every row carries the
//! text of its passage, so the namespace is whole by itself. What has to be remembered about
//! turbopuffer's namespaces is in objects of the catalogue.
//!
//! Turbopuffer finds candidates (BM25 over words that our analyser cut, nearest neighbours by
//! cosine, filters inside); scores are computed here from the rows it gives back, so that a score
//! means the same as with the embedded engine.

mod client;
mod config;
mod naming;

mod filter;
mod row;
mod words;

mod following;
mod ledger;
mod namespace;

mod engine;
mod maintenance;
mod search;
mod statistics;

pub use config::TurbopufferConfig;
pub use engine::TurbopufferEngine;
