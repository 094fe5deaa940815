//! The queue: what waits, what runs, what is known of what is done.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use model::{Clock, Deadline};
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::Value;
use store::{Change, Objects, TypedObject};

use super::context::{JobContext, JobFailure, Runner};
use super::crashes::Crashes;
use super::job::{Job, JobId, JobProgress, JobState, NewJob, Priority};
use super::sharing::Sharing;
use crate::{Error, Progress, Result, limits};

/// The bounds of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueConfig {
    /// Threads that run jobs.
    pub n_workers: usize,
    /// Threads beside them that run jobs of high priority alone: what must be quick does not wait
    /// until something long is done.
    pub n_high_priority_workers: usize,
    /// Jobs that may wait.
    pub max_queued: usize,
    /// How often a job may end by a failure that can pass before it counts as failed.
    pub max_attempts: u32,
    /// Finished jobs that are remembered.
    pub max_finished: usize,
}

impl QueueConfig {
    /// The bounds that suit one machine.
    pub fn for_one_machine() -> Self {
        QueueConfig {
            n_workers: 2,
            n_high_priority_workers: 1,
            max_queued: limits::MAX_QUEUED_JOBS,
            max_attempts: limits::MAX_ATTEMPTS,
            max_finished: limits::MAX_FINISHED_JOBS,
        }
    }
}

/// How long a waiting caller goes without looking at its job.
pub(super) const WAIT_STEP: Duration = Duration::from_millis(50);

/// How long a worker waits before it tries again to write to a catalogue that has no room.
const CATALOGUE_RETRY: Duration = Duration::from_secs(2);

/// Jobs of all kinds, kept in the catalogue.
pub struct JobQueue {
    pub(super) catalogue: Arc<dyn Objects>,
    clock: Clock,
    pub(super) config: QueueConfig,
    runners: HashMap<String, Arc<dyn Runner>>,
    /// How the jobs are shared with other servers; nothing where this process has them alone.
    pub(super) sharing: Option<Sharing>,
    pub(super) state: Mutex<State>,
    pub(super) has_workers: AtomicBool,
    /// Held while somebody looks for a job that waits, and adds one where there is none.
    pub(super) joining: Mutex<()>,
    pub(super) changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) next_order: u64,
    /// Waiting jobs, the next one first.
    pub(super) waiting: BTreeMap<Turn, JobId>,
    /// Jobs that wait for their next attempt, and when each of them may begin.
    pub(super) resting: BTreeMap<Turn, Instant>,
    /// Jobs that will wait: their space is kept.
    pub(super) n_reserved: usize,
    /// Running jobs with the handle that stops them.
    pub(super) running: HashMap<JobId, (Job, Progress)>,
    /// Finished jobs that are remembered, by their order. Knowing them here, the end of a job
    /// costs the same however many are remembered.
    pub(super) finished: BTreeSet<(u64, JobId)>,
    pub(super) is_closing: bool,
    /// Jobs that are taken to begin and are not among those that run yet: the catalogue may have
    /// them as running already.
    pub(super) beginning: HashSet<JobId>,
    /// No sign of life of this server reached the catalogue for the length of a lease: its jobs may
    /// have been given to others.
    pub(super) is_lost: bool,
}

impl State {
    /// Gives how many jobs wait or will.
    pub(super) fn n_taken(&self) -> usize {
        self.n_waiting() + self.n_reserved
    }
}

/// A job that was begun, and what runs it.
type Begun = (Arc<JobContext>, Arc<dyn Runner>);

/// When a job's turn comes: higher priority first, then the order of arrival.
pub(super) type Turn = (std::cmp::Reverse<Priority>, u64, JobId);

impl JobQueue {
    /// Opens the queue of a catalogue with the runners for its kinds of job.
    ///
    /// A job that was running when the last process ended waits again and goes on from its
    /// checkpoint, however often that happens.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn open(
        catalogue: Arc<dyn Objects>,
        runners: HashMap<String, Arc<dyn Runner>>,
        config: QueueConfig,
        clock: Clock,
    ) -> Result<Arc<Self>> {
        let queue = JobQueue::new(catalogue, runners, config, clock, None);
        queue.take_up()?;
        Ok(Arc::new(queue))
    }

    /// Opens the queue of a catalogue that may only be read: its jobs can be looked at, and none is
    /// taken up.
    pub fn open_to_look(
        catalogue: Arc<dyn Objects>,
        runners: HashMap<String, Arc<dyn Runner>>,
        config: QueueConfig,
        clock: Clock,
    ) -> Arc<Self> {
        Arc::new(JobQueue::new(catalogue, runners, config, clock, None))
    }

    pub(super) fn new(
        catalogue: Arc<dyn Objects>,
        runners: HashMap<String, Arc<dyn Runner>>,
        config: QueueConfig,
        clock: Clock,
        sharing: Option<Sharing>,
    ) -> Self {
        JobQueue {
            catalogue,
            clock,
            config,
            runners,
            sharing,
            state: Mutex::default(),
            has_workers: AtomicBool::new(false),
            joining: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Adds a job; it is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKind`] without a runner for it, [`Error::QueueFull`] when too many wait.
    pub fn submit(&self, new: NewJob) -> Result<Job> {
        if self.state.lock().n_taken() >= self.config.max_queued {
            return Err(Error::QueueFull { allowed: self.config.max_queued });
        }
        self.enqueue(new)
    }

    /// Adds a job for which there is space.
    pub(super) fn enqueue(&self, new: NewJob) -> Result<Job> {
        if !self.runners.contains_key(&new.kind) {
            return Err(Error::UnknownKind { kind: new.kind });
        }
        let order = {
            let mut state = self.state.lock();
            state.next_order += 1;
            state.next_order
        };
        let job = Job {
            id: JobId::random(),
            kind: new.kind,
            subject: new.subject,
            tenant: new.tenant,
            priority: new.priority,
            arguments: new.arguments,
            state: JobState::Queued,
            progress: JobProgress::default(),
            checkpoint: Value::Null,
            result: Value::Null,
            error: None,
            is_cancelled: false,
            n_attempts: 0,
            crashes: Crashes::default(),
            holder: None,
            order,
            created_at: self.clock.now(),
            started_at: None,
            finished_at: None,
        };
        self.keep(&job)?;
        self.state.lock().waiting.insert(turn_of(&job), job.id.clone());
        self.changed.notify_all();
        Ok(job)
    }

    /// Gives a job as it stands now.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn get(&self, id: &JobId) -> Result<Job> {
        if let Some((job, _)) = self.state.lock().running.get(id) {
            return Ok(job.clone());
        }
        let kept = Job::load(&*self.catalogue, id)?;
        kept.map(|(job, _)| job).ok_or_else(|| Error::UnknownJob { id: id.to_string() })
    }

    /// Gives how many jobs wait and how many run.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.n_waiting(), state.running.len())
    }

    /// Waits until a job ends or the deadline comes, and gives it as it stands then.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn wait(&self, id: &JobId, deadline: &Deadline) -> Result<Job> {
        // Whoever waits for a job holds none of the server's slots meanwhile.
        model::while_waiting(|| self.wait_here(id, deadline))
    }

    fn wait_here(&self, id: &JobId, deadline: &Deadline) -> Result<Job> {
        loop {
            let job = self.get(id)?;
            if job.state.is_final() || deadline.is_over() {
                return Ok(job);
            }
            // The job may have ended since it was looked at, so no wait is longer than a step.
            let mut state = self.state.lock();
            self.changed.wait_for(&mut state, deadline.remaining().min(WAIT_STEP));
        }
    }

    /// Takes the next job of at least this priority, waiting for one; nothing when the queue closes.
    pub(super) fn next(self: &Arc<Self>, least: Priority) -> Option<Begun> {
        loop {
            let (turn, id) = {
                let mut state = self.state.lock();
                loop {
                    if state.is_closing {
                        return None;
                    }
                    state.wake_rested();
                    if let Some(first) = state.waiting.first_entry()
                        && first.key().0.0 >= least
                    {
                        let (turn, id) = first.remove_entry();
                        // One that is begun already was let wait a second time.
                        if state.running.contains_key(&id) || !state.beginning.insert(id.clone()) {
                            continue;
                        }
                        break (turn, id);
                    }
                    self.wait_for_turn(&mut state);
                }
            };
            let begun = self.begin(&id);
            self.state.lock().beginning.remove(&id);
            self.changed.notify_all();
            match begun {
                Ok(Some(begun)) => return Some(begun),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(
                        job = %id,
                        error = &error as &dyn std::error::Error,
                        "job could not be begun; it waits until the catalogue can be written"
                    );
                    let mut state = self.state.lock();
                    state.waiting.insert(turn, id);
                    if !self.pause(&mut state) {
                        return None;
                    }
                }
            }
        }
    }

    /// Waits a while before the catalogue is tried again; tells whether the queue is still open.
    fn pause(&self, state: &mut MutexGuard<'_, State>) -> bool {
        if !state.is_closing {
            self.changed.wait_for(state, CATALOGUE_RETRY);
        }
        !state.is_closing
    }

    /// Ends a job as [`JobQueue::end`] does, and tries again while the catalogue cannot be written:
    /// a full disk costs time, not jobs. A job that failed while there was no room is begun again
    /// without counting the attempt.
    ///
    /// Called once for every job that was begun. What the job is about is free before its end is
    /// written: nothing works on it any more, and whoever reads that the job has ended may begin the
    /// next one on any server.
    pub(super) fn end_surely(
        &self,
        mut job: Job,
        mut outcome: std::result::Result<Value, JobFailure>,
    ) {
        self.release_subject(&job.subject);
        loop {
            let Err(error) = self.end(job.clone(), outcome.clone()) else { return };
            if matches!(&error, Error::Store(store::Error::Closed)) {
                // The process ends; the next one takes the job up again.
                return;
            }
            tracing::error!(
                job = %job.id,
                error = &error as &dyn std::error::Error,
                "the end of a job could not be written; trying again"
            );
            if let Error::JobLost { .. } = error {
                // Another server has it, and says what becomes of it.
                self.state.lock().running.remove(&job.id);
                return;
            }
            let is_full = matches!(&error, Error::Store(error) if error.is_disk_full());
            if is_full && let Err(JobFailure::Final(reason) | JobFailure::Passing(reason)) = outcome
            {
                job.n_attempts = job.n_attempts.saturating_sub(1);
                outcome = Err(JobFailure::Passing(reason));
            }
            let mut state = self.state.lock();
            if !self.pause(&mut state) {
                return;
            }
        }
    }

    fn begin(self: &Arc<Self>, id: &JobId) -> Result<Option<Begun>> {
        let Some((mut job, version)) = Job::load(&*self.catalogue, id)? else {
            return Ok(None);
        };
        let Some(runner) = self.runners.get(&job.kind).cloned() else { return Ok(None) };
        // One that waits though its row says that it runs was taken up from a process that ended,
        // while there was no room to write that.
        let is_taken_up = self.sharing.is_none()
            && job.state == JobState::Running
            && !self.state.lock().running.contains_key(id);
        if job.state != JobState::Queued && !is_taken_up {
            return Ok(None);
        }
        if let Some(sharing) = &self.sharing {
            if !runner.can_run(&job) || !sharing.take_subject(&job.subject)? {
                return Ok(None);
            }
            job.holder = Some(sharing.holder.clone());
        }
        if is_taken_up {
            job.note_crash();
        }
        let subject = job.subject.clone();
        job.crashes.working_on.clear();
        job.state = JobState::Running;
        job.n_attempts += 1;
        job.started_at = Some(self.clock.now());
        // With a shared catalogue another server may have taken it: then the version differs.
        let begun = self.catalogue.apply(&[Change::PutIfUnchanged(job.to_object(version)?)]);
        if begun.is_err() {
            self.release_subject(&subject);
        }
        match begun {
            Err(store::Error::Conflict { .. }) if self.sharing.is_some() => return Ok(None),
            begun => begun?,
        };
        let context = JobContext::new(self.clone(), job.clone());
        let progress = context.progress().clone();
        {
            let mut state = self.state.lock();
            // Whoever closed the queue in the meantime could not tell this one to stop.
            if state.is_closing {
                progress.cancel();
            }
            state.running.insert(id.clone(), (job, progress));
        }
        self.changed.notify_all();
        Ok(Some((context, runner)))
    }

    /// Ends a job, or lets it wait again when trying again may help or the process is closing.
    pub(super) fn end(
        &self,
        mut job: Job,
        outcome: std::result::Result<Value, JobFailure>,
    ) -> Result<()> {
        let is_closing = {
            let state = self.state.lock();
            state.is_closing || state.is_lost
        };
        let is_interrupted =
            is_closing && !job.is_cancelled && outcome == Err(JobFailure::Cancelled);
        let may_try_again = matches!(outcome, Err(JobFailure::Passing(_)))
            && job.n_attempts < self.config.max_attempts;
        if is_interrupted || may_try_again {
            if let Err(JobFailure::Passing(reason)) = outcome {
                job.error = Some(reason);
            }
            if !is_interrupted {
                return self.rest(&mut job);
            }
            job.n_attempts = job.n_attempts.saturating_sub(1);
            return self.wait_again(&mut job);
        }
        job.finished_at = Some(self.clock.now());
        match outcome {
            Ok(result) => {
                job.state = JobState::Done;
                job.result = result;
                job.error = None;
            }
            Err(failure) => {
                job.state = JobState::Failed;
                job.error = Some(match failure {
                    JobFailure::Final(reason) | JobFailure::Passing(reason) => reason,
                    JobFailure::Cancelled => "cancelled".to_owned(),
                });
            }
        }
        self.keep(&job)?;
        {
            let mut state = self.state.lock();
            state.running.remove(&job.id);
            state.finished.insert((job.order, job.id));
        }
        self.changed.notify_all();
        // What could not be forgotten now is forgotten with the next job.
        if let Err(error) = self.forget_old() {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "old jobs could not be forgotten"
            );
        }
        Ok(())
    }

    /// Notes how far a running job is, for those who ask; tells whether it is still a running one.
    pub(super) fn note(&self, job: &Job) -> bool {
        let mut state = self.state.lock();
        let Some((running, _)) = state.running.get_mut(&job.id) else { return false };
        running.progress = job.progress.clone();
        true
    }

    /// Tells whether someone asked to stop a running job.
    pub(super) fn is_cancelled(&self, id: &JobId) -> bool {
        self.state.lock().running.get(id).is_some_and(|(job, _)| job.is_cancelled)
    }

    /// Writes a job to the catalogue.
    pub(super) fn keep(&self, job: &Job) -> Result<()> {
        match &self.sharing {
            Some(sharing) => self.keep_shared(sharing, job),
            None => Ok(job.save(&*self.catalogue).map(|_| ())?),
        }
    }

    /// Writes that a job waits.
    pub(super) fn keep_waiting(&self, job: &mut Job) -> Result<()> {
        job.state = JobState::Queued;
        job.holder = None;
        self.keep(job)
    }

    pub(super) fn wait_again(&self, job: &mut Job) -> Result<()> {
        self.keep_waiting(job)?;
        let mut state = self.state.lock();
        state.running.remove(&job.id);
        state.finished.remove(&(job.order, job.id.clone()));
        state.waiting.insert(turn_of(job), job.id.clone());
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

pub(super) fn turn_of(job: &Job) -> Turn {
    (std::cmp::Reverse(job.priority), job.order, job.id.clone())
}
