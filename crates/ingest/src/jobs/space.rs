//! Space for one job, kept before a change is made that needs the job: whoever deletes a thing
//! cannot take the deletion back when the queue turns out to be full.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::job::{Job, NewJob};
use super::queue::{JobQueue, WAIT_STEP};
use crate::{Error, Result};

/// Space for one job in a queue; given back when it is dropped.
pub struct QueueSpace {
    queue: Arc<JobQueue>,
}

impl QueueSpace {
    /// Waits until one more job may wait, and keeps its place. Whoever comes too fast is slowed
    /// down instead of refused.
    ///
    /// # Errors
    ///
    /// [`Error::QueueFull`] when patience is over.
    pub fn wait(queue: &Arc<JobQueue>, patience: Duration) -> Result<QueueSpace> {
        let until = Instant::now() + patience;
        let allowed = queue.config.max_queued;
        let mut state = queue.state.lock();
        while state.n_taken() >= allowed {
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(Error::QueueFull { allowed });
            }
            queue.changed.wait_for(&mut state, remaining.min(WAIT_STEP));
        }
        state.n_reserved += 1;
        Ok(QueueSpace { queue: Arc::clone(queue) })
    }

    /// Adds the job that the space was kept for; it is durable when this returns.
    ///
    /// # Errors
    ///
    /// Those of [`JobQueue::submit`] but for a full queue.
    pub fn submit(self, new: NewJob) -> Result<Job> {
        self.queue.enqueue(new)
    }

    /// Gives the job of the same kind that waits on the same subject, or adds the one that the
    /// space was kept for; see [`JobQueue::submit_or_join`].
    ///
    /// # Errors
    ///
    /// Those of [`JobQueue::submit`] but for a full queue.
    pub fn submit_or_join(self, new: NewJob) -> Result<Job> {
        self.queue.join_or(new, |new| self.queue.enqueue(new))
    }
}

impl Drop for QueueSpace {
    fn drop(&mut self) {
        self.queue.state.lock().n_reserved -= 1;
        self.queue.changed.notify_all();
    }
}
