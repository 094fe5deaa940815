//! The reconciliation API, version 0.2, over the same dimensions: for people who clean lists in
//! OpenRefine and programs that speak its protocol.
//!
//! Types are categories; an entity's id is `category/value`; properties are the fields of a
//! dimension's metadata. Everything here is JSON in and JSON out: the server mounts it.
//! Specification: <https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/>.

mod query;
mod service;

#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

pub use service::{MAX_EXTENDED, MAX_RECONCILE_QUERIES, Reconciliation};
