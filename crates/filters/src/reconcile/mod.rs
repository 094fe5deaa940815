//! Reconciliation over the same dimensions: for people who clean lists in OpenRefine and programs
//! that speak its protocol.
//!
//! Types are categories; an entity's id is `category/value`; properties are the fields of a
//! dimension's metadata. How that is written in the messages of the protocol is the server's.

mod request;
mod service;

#[cfg(test)]
mod tests;

pub use request::{
    PropertyValue, ReconcileCandidate, ReconcileEvidence, ReconcileQuery, WantedProperty,
};
pub use service::{MAX_EXTENDED, MAX_RECONCILE_QUERIES, Reconciliation};
