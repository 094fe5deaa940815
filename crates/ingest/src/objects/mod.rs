//! What every family with objects of its own needs: refusals, bounds, changes that others may
//! race, jobs and who may see them.

mod bounds;
mod change;
mod jobs;
mod refusal;
mod slot;

pub use bounds::{bounded, named, new_id, room_for};
pub use change::change_object;
pub use jobs::{FamilyJobs, JobRight, Subject, arguments_of};
pub use refusal::{FamilyError, ObjectError, job_failure, shown_id};
pub use slot::{JobService, ServiceSlot};
