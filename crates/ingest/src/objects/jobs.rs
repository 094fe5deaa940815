//! The jobs of one family: asked for, looked at, stopped.

use std::sync::Arc;

use model::{Caller, TenantId, with_causes};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ObjectError;
use crate::{Job, JobFailure, JobQueue, NewJob, Priority, QueueSpace, Result};

/// What a family knows of its jobs: their kinds, and the queue that runs them.
pub struct FamilyJobs {
    /// What runs them.
    pub queue: Arc<JobQueue>,
    /// The kinds of job that belong to the family.
    pub kinds: &'static [&'static str],
    /// The kind that erases what was deleted: its end is no secret, although nobody has a right
    /// to what it works on any more.
    pub purge: &'static str,
}

impl FamilyJobs {
    /// Asks for a job.
    ///
    /// # Errors
    ///
    /// Those of [`JobQueue::submit`].
    pub fn submit(
        &self,
        kind: &str,
        subject: &str,
        tenant: &TenantId,
        priority: Priority,
        arguments: &impl Serialize,
    ) -> Result<Job, ObjectError> {
        Ok(self.queue.submit(new_job(kind, subject, tenant, priority, arguments)?)?)
    }

    /// Gives the job that waits already, or asks for one; see [`JobQueue::submit_or_join`].
    ///
    /// # Errors
    ///
    /// Those of [`JobQueue::submit`].
    pub fn submit_or_join(
        &self,
        kind: &str,
        subject: &str,
        tenant: &TenantId,
        priority: Priority,
        arguments: &impl Serialize,
    ) -> Result<Job, ObjectError> {
        Ok(self.queue.submit_or_join(new_job(kind, subject, tenant, priority, arguments)?)?)
    }

    /// Asks for a job that erases, in the space that was kept for it, unless one waits already.
    ///
    /// # Errors
    ///
    /// Those of [`QueueSpace::submit_or_join`].
    pub fn submit_purge(
        &self,
        space: QueueSpace,
        subject: &str,
        tenant: &TenantId,
        arguments: &impl Serialize,
    ) -> Result<Job, ObjectError> {
        let job = new_job(self.purge, subject, tenant, Priority::Normal, arguments)?;
        Ok(space.submit_or_join(job)?)
    }

    /// Tells whether the caller may see a job: one of another tenant or family does not exist.
    ///
    /// # Errors
    ///
    /// [`ObjectError::NotFound`], and those of `may_see`.
    pub fn check<E: From<ObjectError>>(
        &self,
        caller: &Caller,
        job: &Job,
        may_see: impl FnOnce(&Job) -> Result<Subject, E>,
    ) -> Result<(), E> {
        let missing = || E::from(ObjectError::missing("Job", &job.id));
        if job.tenant != caller.tenant || !self.kinds.contains(&job.kind.as_str()) {
            return Err(missing());
        }
        match may_see(job)? {
            Subject::Gone if job.kind != self.purge => Err(missing()),
            Subject::Gone | Subject::Seen => Ok(()),
        }
    }
}

fn new_job(
    kind: &str,
    subject: &str,
    tenant: &TenantId,
    priority: Priority,
    arguments: &impl Serialize,
) -> Result<NewJob, ObjectError> {
    let arguments = serde_json::to_value(arguments)
        .map_err(|error| ObjectError::BadRequest { problem: error.to_string() })?;
    let (kind, subject, tenant) = (kind.to_owned(), subject.to_owned(), tenant.clone());
    Ok(NewJob { kind, subject, tenant, priority, arguments })
}

/// What a caller wants to do with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobRight {
    /// Look at it.
    See,
    /// End it before it is done.
    Stop,
}

/// What a job works on, as the caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The caller may see it.
    Seen,
    /// It does not exist, for this caller or for anybody.
    Gone,
}

/// Reads what a job was told.
///
/// # Errors
///
/// A final failure when it cannot be understood: an older or newer program wrote it.
pub fn arguments_of<T: DeserializeOwned>(job: &Job) -> Result<T, JobFailure> {
    serde_json::from_value(job.arguments.clone())
        .map_err(|error| JobFailure::Final(with_causes(&error)))
}
