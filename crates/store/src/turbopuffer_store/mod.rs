//! A store whose words and vectors live in turbopuffer.
//!
//! The catalogue stays the truth, in the same SQLite file as for the embedded engine; a namespace
//! of turbopuffer is derived from it and follows the same log, so that a crash, a time-out or a
//! half-sent batch costs a repetition and never a passage. Every row carries the text of its
//! passage, so the namespace is whole by itself.
//!
//! The engine finds candidates (BM25 over words that our analyser cut, nearest neighbours by
//! cosine, filters inside); scores are computed here from the rows it gives back, so that a score
//! means the same as with the embedded engine.

mod config;
mod engine;
mod naming;

mod filter;
mod row;
mod scoring;
mod words;

mod following;
mod ledger;
mod namespace;

mod reading;
mod search;
mod store;
mod upkeep;

pub use config::TurbopufferConfig;
pub use store::TurbopufferStore;
