//! Source → extract → cut → store, with bounded queues between the stages.

mod cut;
mod run;

pub use cut::Cut;
pub use run::{IngestReport, Pipeline, Unchanged};
