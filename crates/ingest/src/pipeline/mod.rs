//! Source → extract → cut → store, with bounded queues between the stages.

mod cut;
mod hooks;

mod batch;
mod changes;
mod groups;
mod in_flight;
mod known;
mod report;
mod run;
mod scope;
mod secret_headings;

pub use changes::Changes;
pub use cut::Cut;
pub use hooks::{Hooks, Outcome, Prepared, Target};
pub use report::IngestReport;
pub use run::{Gone, Pipeline, Unchanged};
pub use scope::Scope;
