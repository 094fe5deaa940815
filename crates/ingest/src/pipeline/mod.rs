//! Source → extract → cut → store, with bounded queues between the stages.

mod cut;
mod run;

pub use cut::Cut;
pub use run::{Annotate, IngestReport, Pipeline, Unchanged};
