//! A family's service as the job queue sees it: jobs may begin before the service is there.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::Value;

use crate::{Job, JobContext, JobFailure, Runner};

/// How long a job waits for the service before it is put back.
const SERVICE_WAIT: Duration = Duration::from_secs(30);

/// A service that runs the jobs of its family.
pub trait JobService: Clone + Send + Sync + 'static {
    /// Runs a job of the family.
    fn run_job(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure>;
}

/// Holds the service of the moment. Cheap to clone.
pub struct ServiceSlot<S>(Arc<(Mutex<Option<S>>, Condvar)>);

impl<S> Clone for ServiceSlot<S> {
    fn clone(&self) -> Self {
        ServiceSlot(Arc::clone(&self.0))
    }
}

impl<S> Default for ServiceSlot<S> {
    fn default() -> Self {
        ServiceSlot(Arc::new((Mutex::new(None), Condvar::new())))
    }
}

impl<S: JobService> ServiceSlot<S> {
    /// Puts a service into the place of the one before.
    pub fn set(&self, service: S) {
        *self.0.0.lock() = Some(service);
        self.0.1.notify_all();
    }

    /// Gives the service of the moment.
    pub fn get(&self) -> Option<S>
    where
        S: Clone,
    {
        self.0.0.lock().clone()
    }

    /// Tells whether there is a service.
    pub fn is_set(&self) -> bool {
        self.0.0.lock().is_some()
    }

    /// Gives the runner of the family's jobs. A job that was taken up from an earlier process
    /// waits until there is a service; one of a shared catalogue is left to servers that have one.
    pub fn runner(&self) -> Arc<dyn Runner> {
        Arc::new(SlotRunner(self.clone()))
    }

    fn wait(&self) -> Option<S> {
        let mut place = self.0.0.lock();
        if place.is_none() {
            self.0.1.wait_for(&mut place, SERVICE_WAIT);
        }
        place.clone()
    }
}

struct SlotRunner<S>(ServiceSlot<S>);

impl<S: JobService> Runner for SlotRunner<S> {
    fn run(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure> {
        match self.0.wait() {
            Some(service) => service.run_job(job, context),
            None => Err(JobFailure::Passing("the service has not started yet".to_owned())),
        }
    }

    fn can_run(&self, _: &Job) -> bool {
        self.0.is_set()
    }
}
