//! A family's service as the job queue sees it: jobs may begin before the service is there.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::{Job, JobContext, JobFailure, Runner};

/// A service that runs the jobs of its family.
pub trait JobService: Clone + Send + Sync + 'static {
    /// Runs a job of the family.
    fn run_job(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure>;
}

/// Holds the service of the moment. Cheap to clone.
pub struct ServiceSlot<S>(Arc<Mutex<Option<S>>>);

impl<S> Clone for ServiceSlot<S> {
    fn clone(&self) -> Self {
        ServiceSlot(Arc::clone(&self.0))
    }
}

impl<S> Default for ServiceSlot<S> {
    fn default() -> Self {
        ServiceSlot(Arc::new(Mutex::new(None)))
    }
}

impl<S: JobService> ServiceSlot<S> {
    /// Puts a service into the place of the one before.
    pub fn set(&self, service: S) {
        *self.0.lock() = Some(service);
    }

    /// Gives the service of the moment.
    pub fn get(&self) -> Option<S>
    where
        S: Clone,
    {
        self.0.lock().clone()
    }

    /// Tells whether there is a service.
    pub fn is_set(&self) -> bool {
        self.0.lock().is_some()
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
        context.wait_for(|| self.0.get())?.run_job(job, context)
    }

    fn can_run(&self, _: &Job) -> bool {
        self.0.is_set()
    }
}
