//! What a running job may know and say.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use model::with_causes;
use parking_lot::Mutex;
use serde_json::Value;

use super::crashes::Crashes;
use super::job::{Job, JobProgress};
use super::queue::JobQueue;
use crate::progress::GroupLog;
use crate::{Error, Progress};

/// Progress is written to the catalogue at most this often.
const PROGRESS_PERIOD: Duration = Duration::from_millis(500);
/// How long a job waits for its service before it is put back.
const SERVICE_WAIT: Duration = Duration::from_secs(30);
/// How often it looks.
const SERVICE_LOOK: Duration = Duration::from_millis(20);

/// Runs jobs of one kind.
///
/// It should look at [`Progress::is_cancelled`] between steps and return [`Error::Cancelled`]
/// when it is set; whether the job was cancelled for good or only interrupted by a shutdown is
/// not its business.
pub trait Runner: Send + Sync {
    /// Does the work and gives the job's result.
    fn run(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure>;

    /// Tells whether this server can reach what the job is about; where several servers share the
    /// jobs, one that cannot leaves it to the others.
    fn can_run(&self, job: &Job) -> bool {
        let _ = job;
        true
    }
}

impl<F> Runner for F
where
    F: Fn(&Job, &JobContext) -> std::result::Result<Value, JobFailure> + Send + Sync,
{
    fn run(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        self(job, context)
    }
}

/// Why a job did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobFailure {
    /// Trying again cannot help.
    Final(String),
    /// Trying again may help: a server was down, a file was busy.
    Passing(String),
    /// It was asked to stop.
    Cancelled,
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => JobFailure::Cancelled,
            Error::Store(_)
            | Error::Embedder(_)
            | Error::QueueFull { .. }
            | Error::Busy
            | Error::Watch(_)
            | Error::Thread(_) => JobFailure::Passing(with_causes(&error)),
            Error::UnknownJob { .. } | Error::UnknownKind { .. } | Error::JobLost { .. } => {
                JobFailure::Final(with_causes(&error))
            }
        }
    }
}

impl From<store::Error> for JobFailure {
    fn from(error: store::Error) -> Self {
        JobFailure::from(Error::from(error))
    }
}

/// The line from a running job to the queue.
pub struct JobContext {
    pub(super) queue: Arc<JobQueue>,
    pub(super) job: Mutex<Job>,
    progress: Progress,
}

impl JobContext {
    pub(super) fn new(queue: Arc<JobQueue>, job: Job) -> Arc<Self> {
        Arc::new_cyclic(|context: &Weak<JobContext>| {
            let (context, of_groups) = (context.clone(), context.clone());
            let crashes = job.crashes.clone();
            // What is over soon needs no word of its progress in the catalogue.
            let last_written = Mutex::new(Instant::now());
            let progress = Progress::watched(move |stage, n_done, n_total| {
                let Some(context) = context.upgrade() else { return };
                let progress = JobProgress {
                    stage: stage.as_str().to_owned(),
                    n_done,
                    n_total: (n_total > 0).then_some(n_total),
                    ..JobProgress::default()
                };
                let is_due = {
                    let mut last_written = last_written.lock();
                    let is_due = last_written.elapsed() >= PROGRESS_PERIOD;
                    if is_due {
                        *last_written = Instant::now();
                    }
                    is_due
                };
                context.tell(progress, is_due);
            });
            let progress = match job.crashes.need_groups() {
                true => progress.in_groups(GroupsOfJob { context: of_groups, crashes }),
                false => progress,
            };
            JobContext { queue, job: Mutex::new(job), progress }
        })
    }

    /// Gives the handle that stages report to and are stopped by.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Waits for what the job needs and what the process may still be starting. A process that
    /// ends without ever having started it, as a command does, is not held up.
    ///
    /// # Errors
    ///
    /// [`JobFailure::Cancelled`] when the process ends, [`JobFailure::Passing`] when it does not
    /// come.
    pub fn wait_for<T>(&self, find: impl Fn() -> Option<T>) -> std::result::Result<T, JobFailure> {
        let begun = Instant::now();
        loop {
            if let Some(found) = find() {
                return Ok(found);
            }
            if self.progress.is_cancelled() {
                return Err(JobFailure::Cancelled);
            }
            if begun.elapsed() > SERVICE_WAIT {
                return Err(JobFailure::Passing("the service has not started yet".to_owned()));
            }
            std::thread::sleep(SERVICE_LOOK);
        }
    }

    /// Gives what an earlier attempt wrote down; null when there is nothing. No job of a family
    /// needs it: the catalogue says how far each of them is.
    #[cfg(test)]
    pub(super) fn checkpoint(&self) -> Value {
        self.job.lock().checkpoint.clone()
    }

    /// Writes down where to go on after a restart; durable when this returns.
    #[cfg(test)]
    pub(super) fn save_checkpoint(&self, checkpoint: Value) -> crate::Result<()> {
        let job = {
            let mut job = self.job.lock();
            job.checkpoint = checkpoint;
            job.clone()
        };
        self.queue.keep(&job)
    }

    fn tell(&self, mut progress: JobProgress, is_due: bool) {
        (progress.warnings, progress.n_warnings) = self.progress.warnings();
        let job = {
            let mut job = self.job.lock();
            job.progress = progress;
            job.clone()
        };
        // One that was let wait while it was stopping must not be written as running again.
        let is_running = self.queue.note(&job);
        if is_running
            && is_due
            && let Err(error) = self.queue.keep(&job)
        {
            tracing::warn!(
                job = %job.id,
                error = &error as &dyn std::error::Error,
                "progress could not be written"
            );
        }
    }
}

/// Writes down which documents a job works on, in the job itself.
struct GroupsOfJob {
    context: Weak<JobContext>,
    crashes: Crashes,
}

impl GroupLog for GroupsOfJob {
    fn crashes(&self) -> &Crashes {
        &self.crashes
    }

    fn begin(&self, documents: Vec<String>) -> crate::Result<()> {
        let Some(context) = self.context.upgrade() else { return Ok(()) };
        let job = {
            let mut job = context.job.lock();
            job.crashes.working_on = documents;
            job.clone()
        };
        context.queue.keep(&job)
    }
}
