//! The service as the job queue sees it: jobs may begin before the service stands.

use std::sync::Arc;
use std::time::Duration;

use ingest::{Job, JobContext, JobFailure, Runner};
use parking_lot::{Condvar, Mutex};

use crate::Service;

/// How long a job waits for the service before it is put back.
const SERVICE_WAIT: Duration = Duration::from_secs(30);

/// Holds the service of the moment. Cheap to clone.
#[derive(Clone, Default)]
pub struct ServiceSlot(Arc<(Mutex<Option<Service>>, Condvar)>);

impl ServiceSlot {
    /// Puts a service into the place of the one before.
    pub fn set(&self, service: Service) {
        *self.0.0.lock() = Some(service);
        self.0.1.notify_all();
    }

    /// Gives the runner of the family's jobs. A job that was taken up from an earlier process
    /// waits until the service stands.
    pub fn runner(&self) -> Arc<dyn Runner> {
        let slot = self.clone();
        Arc::new(move |job: &Job, context: &JobContext| match slot.wait() {
            Some(service) => service.run_job(job, context),
            None => Err(JobFailure::Passing("the service is not there yet".to_owned())),
        })
    }

    fn wait(&self) -> Option<Service> {
        let mut place = self.0.0.lock();
        if place.is_none() {
            self.0.1.wait_for(&mut place, SERVICE_WAIT);
        }
        place.clone()
    }
}
