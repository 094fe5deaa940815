//! The end of a queue: what runs is told to stop, and waits in the catalogue for the next process.

use std::time::{Duration, Instant};

use super::job::Job;
use super::queue::JobQueue;

impl JobQueue {
    /// Tells running jobs to stop and lets no other begin.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closing = true;
        state.running.values().for_each(|(_, progress)| progress.cancel());
        drop(state);
        self.changed.notify_all();
    }

    /// Asks running jobs to stop, lets no other begin, and waits for them, so long at most. They wait
    /// in the catalogue and go on the next time; one that is not done in time waits too, since a
    /// process that was told to end is none that a document has ended.
    pub fn stop_within(&self, limit: Duration) {
        self.close();
        let deadline = Instant::now() + limit;
        let late: Vec<Job> = {
            let mut state = self.state.lock();
            while !state.running.is_empty() || !state.beginning.is_empty() {
                if self.changed.wait_until(&mut state, deadline).timed_out() {
                    break;
                }
            }
            state.running.drain().map(|(_, (job, _))| job).collect()
        };
        for mut job in late {
            job.n_attempts = job.n_attempts.saturating_sub(1);
            if let Err(error) = self.wait_again(&mut job) {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(job = %job.id, error, "a job that was stopped could not be written");
            }
        }
    }
}
