//! Jobs that the catalogue has and that nobody here waits for or runs.
//!
//! Such a job would never run, and whoever asks for one of its kind and subject would join it for
//! ever. Whatever let go of it, the catalogue is the truth: what waits there waits here.

use store::{Lookup, TypedObject};

use super::job::{Job, JobState};
use super::queue::{JobQueue, turn_of};
use crate::Result;

impl JobQueue {
    /// Lets the jobs wait that the catalogue has as waiting or running and that this process does
    /// not know, and gives how many there were. Called now and then; where several servers share the
    /// jobs, each of them looks every second anyway.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn take_up_lost(&self) -> Result<usize> {
        if self.sharing.is_some() || !self.is_worked() {
            return Ok(0);
        }
        let mut unknown = vec![];
        for job_state in [JobState::Queued, JobState::Running] {
            let lookup = Lookup::new("state", job_state.as_str());
            for object in self.catalogue.find(Job::KIND, &lookup)? {
                unknown.push(Job::from_object(object)?);
            }
        }
        let mut state = self.state.lock();
        unknown.retain(|job| {
            let turn = turn_of(job);
            !(state.running.contains_key(&job.id)
                || state.beginning.contains(&job.id)
                || state.waiting.contains_key(&turn)
                || state.resting.contains_key(&turn))
        });
        if state.is_closing {
            return Ok(0);
        }
        // One that has ended since it was read is passed over when its turn comes.
        for job in &unknown {
            state.waiting.insert(turn_of(job), job.id.clone());
        }
        drop(state);
        if unknown.is_empty() {
            return Ok(0);
        }
        self.changed.notify_all();
        let mut n_lost = 0;
        for job in &unknown {
            if self.get(&job.id).is_ok_and(|job| !job.state.is_final()) {
                tracing::warn!(
                    job = %job.id, kind = job.kind, subject = job.subject,
                    "no worker had this job; it is started"
                );
                n_lost += 1;
            }
        }
        Ok(n_lost)
    }
}
