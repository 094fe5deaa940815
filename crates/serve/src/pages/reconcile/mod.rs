//! `/reconcile`: lists of names against dimensions, as OpenRefine and others ask.
//!
//! Specification, version 0.2:
//! <https://www.w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410/>.

mod messages;
mod read;
mod routes;

#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

pub(super) use routes::{preview, propose, service, service_post, suggest};
