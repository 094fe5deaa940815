//! The threads that run jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};

use super::context::JobFailure;
use super::job::Priority;
use super::queue::JobQueue;
use crate::{Error, Result};

/// Threads that run the jobs of a queue until this is dropped.
///
/// Dropping it asks running jobs to stop and waits for them; they wait in the catalogue and go
/// on from their checkpoints the next time.
pub struct Workers {
    queue: Arc<JobQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(queue: &Arc<JobQueue>) -> Result<Self> {
        let mut workers = Workers { queue: queue.clone(), threads: vec![] };
        let n_workers = queue.config.n_workers.max(1);
        // What can wait never has all of them: a summary waits for a model that may not answer.
        let any = (0..n_workers).map(|number| match number {
            0 if n_workers > 1 => Priority::Normal,
            _ => Priority::Low,
        });
        let high = std::iter::repeat_n(Priority::High, queue.config.n_high_priority_workers);
        for (number, least) in any.chain(high).enumerate() {
            let queue = queue.clone();
            let thread = Builder::new()
                .name(format!("job-{number}"))
                .spawn(move || work(&queue, least))
                .map_err(Error::Thread)?;
            workers.threads.push(thread);
        }
        if queue.sharing.is_some() {
            let queue = queue.clone();
            let thread = Builder::new()
                .name("job-sharing".to_owned())
                .spawn(move || queue.share())
                .map_err(Error::Thread)?;
            workers.threads.push(thread);
        }
        queue.has_workers.store(true, Ordering::Relaxed);
        Ok(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            // A thread only panics where a job's panic was not caught, which is logged already.
            let _ = thread.join();
        }
        self.queue.leave();
    }
}

fn work(queue: &Arc<JobQueue>, least: Priority) {
    while let Some((context, runner)) = queue.next(least) {
        let job = context.job.lock().clone();
        // One bad job must not take the thread, and with it the queue, down.
        let outcome = catch_unwind(AssertUnwindSafe(|| runner.run(&job, &context)));
        let outcome = outcome.unwrap_or_else(|_| {
            Err(JobFailure::Final("the job ended by an error in the program".to_owned()))
        });
        let mut job = context.job.lock().clone();
        job.is_cancelled = queue.is_cancelled(&job.id);
        (job.progress.warnings, job.progress.n_warnings) = context.progress().warnings();
        queue.end_surely(job, outcome);
    }
}
