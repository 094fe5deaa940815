//! PostgreSQL as the engine: names are looked up by pg_trgm and unaccent where the data is,
//! and facts are summed there.
//!
//! The database finds candidates; the score is `lookup`'s, so that a score means the same
//! whatever the engine. Statements are built from the configuration alone, and every value of a
//! caller is a parameter.

mod candidates;
mod database;
mod sums;

pub(crate) use candidates::Candidates;
pub use database::Failure;
pub(crate) use database::{Database, Parameter, quoted};
pub(crate) use sums::{Condition, sums};

#[cfg(test)]
mod tests;
