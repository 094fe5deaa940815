//! Work that outlives a call: queued, run by a few threads, kept in the catalogue.

mod context;
mod crashes;
mod forgetting;
mod job;
mod joining;
mod lost;
mod queue;
mod requests;
mod resting;
mod sharing;
mod space;
mod start;
mod stop;
mod workers;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

pub use context::{JobContext, JobFailure, Runner};
pub use crashes::Crashes;
pub use job::{Job, JobId, JobProgress, JobState, NewJob, Priority};
pub use joining::{JoinableJobs, OpenJob};
pub use queue::{JobQueue, QueueConfig};
pub use space::QueueSpace;
pub use workers::Workers;
