//! A family's service as the job queue sees it: jobs may begin before the service is there.

use std::sync::Arc;

use model::Caller;
use parking_lot::Mutex;
use serde_json::Value;

use super::{FamilyJobs, JobRight, ObjectError, Subject};
use crate::{Job, JobContext, JobFailure, JobId, Runner};

/// A service that runs the jobs of its family, and knows who may see and stop them.
pub trait JobService: Clone + Send + Sync + 'static {
    /// What a call of the family fails with.
    type Error: From<ObjectError>;

    /// Gives the queue with the kinds of job that are this family's.
    fn jobs(&self) -> FamilyJobs;

    /// Looks for what a job works on, with the right that the caller needs.
    ///
    /// # Errors
    ///
    /// When the caller sees it and has no such right, or it cannot be looked for.
    fn subject(&self, caller: &Caller, job: &Job, right: JobRight) -> Result<Subject, Self::Error>;

    /// Runs a job of the family.
    fn run_job(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure>;

    /// Tells whether this server can reach what a job is about; see [`Runner::can_run`].
    fn can_run(&self, job: &Job) -> bool {
        let _ = job;
        true
    }

    /// Does what the family has to do after a job was told to stop, and gives the job.
    fn after_cancel(&self, job: Job) -> Result<Job, Self::Error> {
        Ok(job)
    }

    /// Gives a job of this family that the caller may see. One of another tenant does not exist;
    /// one about something that the caller may not see is denied.
    fn job(&self, caller: &Caller, id: &JobId) -> Result<Job, Self::Error> {
        let job = self.jobs().queue.get(id).map_err(ObjectError::from)?;
        self.check_job(caller, &job)?;
        Ok(job)
    }

    /// Tells whether the caller may see a job of this family.
    fn check_job(&self, caller: &Caller, job: &Job) -> Result<(), Self::Error> {
        self.jobs().check(caller, job, |job| self.subject(caller, job, JobRight::See))
    }

    /// Tells whether the caller may stop a job of this family.
    fn may_cancel_job(&self, caller: &Caller, job: &Job) -> bool {
        self.check_cancel(caller, job).is_ok()
    }

    /// Stops a job that the caller may see and stop.
    fn cancel_job(&self, caller: &Caller, id: &JobId) -> Result<Job, Self::Error> {
        let job = self.job(caller, id)?;
        self.check_cancel(caller, &job)?;
        let job = self.jobs().queue.cancel(&job.id).map_err(ObjectError::from)?;
        self.after_cancel(job)
    }

    /// Fails when the caller may not see or may not stop a job.
    fn check_cancel(&self, caller: &Caller, job: &Job) -> Result<(), Self::Error> {
        self.check_job(caller, job)?;
        self.jobs().check(caller, job, |job| self.subject(caller, job, JobRight::Stop))
    }
}

/// Holds the service of the moment. Cheap to clone.
pub struct ServiceSlot<S>(Arc<Mutex<State<S>>>);

/// What is known of a family's service.
#[derive(Clone)]
enum State<S> {
    /// The process has just begun.
    NotYet,
    Set(S),
    /// The configuration has nothing for the family to serve.
    Off(&'static str),
}

impl<S> Clone for ServiceSlot<S> {
    fn clone(&self) -> Self {
        ServiceSlot(Arc::clone(&self.0))
    }
}

impl<S> Default for ServiceSlot<S> {
    fn default() -> Self {
        ServiceSlot(Arc::new(Mutex::new(State::NotYet)))
    }
}

impl<S: JobService> ServiceSlot<S> {
    /// Puts a service into the place of the one before.
    pub fn set(&self, service: S) {
        *self.0.lock() = State::Set(service);
    }

    /// Leaves no service: a job of the family ends with this reason.
    pub fn switch_off(&self, reason: &'static str) {
        *self.0.lock() = State::Off(reason);
    }

    /// Gives the service of the moment.
    pub fn get(&self) -> Option<S> {
        match &*self.0.lock() {
            State::Set(service) => Some(service.clone()),
            State::NotYet | State::Off(_) => None,
        }
    }

    /// Tells whether jobs of the family can run now.
    pub fn is_set(&self) -> bool {
        matches!(&*self.0.lock(), State::Set(_))
    }

    /// Gives the runner of the family's jobs. A job that was taken up from an earlier process
    /// waits until there is a service; one of a shared catalogue is left to servers that have one.
    pub fn runner(&self) -> Arc<dyn Runner> {
        Arc::new(SlotRunner(self.clone()))
    }
}

struct SlotRunner<S>(ServiceSlot<S>);

impl<S: JobService> Runner for SlotRunner<S> {
    fn run(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure> {
        let known = context.wait_for(|| match self.0.0.lock().clone() {
            State::NotYet => None,
            State::Set(service) => Some(Ok(service)),
            State::Off(reason) => Some(Err(JobFailure::Final(reason.to_owned()))),
        })?;
        known?.run_job(job, context)
    }

    fn can_run(&self, job: &Job) -> bool {
        self.0.get().is_some_and(|service| service.can_run(job))
    }
}
