//! Jobs of the family: which there are, who may see and stop them, how they are run.
//!
//! A job belongs to the tenant of whoever asked for it, and is seen by those of the tenant who may
//! use its root. The server's own jobs, of its start and of what it noticed, are seen in the same
//! way by every tenant. Where the root has left the configuration, the administrators of the job's
//! tenant see it. Others may wait for a job on a folder, so administrators alone stop it.

use std::sync::Arc;

use ingest::{
    FamilyJobs, Job, JobContext, JobFailure, JobRight, JobService, ObjectError, Subject,
    arguments_of, job_failure,
};
use model::{Caller, TenantId};
use serde_json::Value;

use crate::index::IndexArguments;
use crate::name::path_of;
use crate::walk::Selection;
use crate::{Error, Result, Service};

/// The kind of job that indexes a root.
pub const INDEX_JOB: &str = "files.index";

/// The kind of job that made vectors in earlier versions; one that still waits only wakes the
/// worker that does so now.
pub const VECTORS_JOB: &str = "files.vectors";

/// Every kind of job of the family.
pub const JOBS: [&str; 2] = [INDEX_JOB, VECTORS_JOB];

/// What belongs to folders that are gone leaves the index without a job.
const NO_PURGE: &str = "";

impl Service {
    /// Gives the folder that a job indexes, where the caller may use its root.
    pub fn folder_of(&self, caller: &Caller, job: &Job) -> Option<String> {
        let is_its = job.kind == INDEX_JOB && self.may_use_root_of(caller, job);
        is_its.then(|| job.subject.clone())
    }

    fn may_use_root_of(&self, caller: &Caller, job: &Job) -> bool {
        let roots = self.indexer().roots().visible(caller);
        root_of(job).is_some_and(|root| roots.iter().any(|visible| visible.name == root))
    }

    /// Tells whether the root of a job is not configured any more.
    fn has_left(&self, job: &Job) -> bool {
        let roots = self.indexer().roots().all();
        root_of(job).is_none_or(|name| roots.iter().all(|root| root.name != name))
    }

    fn run_index(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        let arguments: IndexArguments = arguments_of(job)?;
        let roots = self.indexer().roots().all();
        let root = roots
            .iter()
            .find(|root| root.name == arguments.root)
            .ok_or_else(|| JobFailure::Final("the root is not configured any more".to_owned()))?;
        let selection = match (arguments.paths, arguments.since) {
            (Some(paths), Some(since)) => Selection::Recent(paths, since),
            (Some(paths), None) => Selection::Paths(paths),
            (None, _) => Selection::Folder(path_of(&arguments.folder)),
        };
        let indexed = self
            .indexer()
            .take_in(root, &selection, arguments.full, context.progress())
            .map_err(job_failure)?;
        serde_json::to_value(indexed).map_err(|error| JobFailure::Final(error.to_string()))
    }
}

impl JobService for Service {
    type Error = Error;

    fn jobs(&self) -> FamilyJobs {
        FamilyJobs { queue: Arc::clone(self.shared_queue()), kinds: &JOBS, purge: NO_PURGE }
    }

    fn subject(&self, caller: &Caller, job: &Job, right: JobRight) -> Result<Subject> {
        let is_own = job.tenant == caller.tenant;
        let may = match right {
            JobRight::See => {
                let is_left_behind = || is_own && caller.is_admin() && self.has_left(job);
                (is_own || job.tenant == TenantId::local())
                    && (self.may_use_root_of(caller, job) || is_left_behind())
            }
            JobRight::Stop => caller.is_admin(),
        };
        Ok(if may { Subject::Seen } else { Subject::Gone })
    }

    fn run_job(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        match job.kind.as_str() {
            INDEX_JOB => self.run_index(job, context),
            VECTORS_JOB => {
                self.indexer().config().vectors.wake();
                Ok(Value::Null)
            }
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }

    /// A folder belongs to the servers that have it.
    fn can_run(&self, job: &Job) -> bool {
        let Some(name) = root_of(job) else { return true };
        let roots = self.indexer().roots().all();
        roots.iter().any(|root| root.name == name && root.path.is_dir())
    }

    fn check_job(&self, caller: &Caller, job: &Job) -> Result<()> {
        self.check(caller, job, JobRight::See)
    }

    fn check_cancel(&self, caller: &Caller, job: &Job) -> Result<()> {
        self.check(caller, job, JobRight::See)?;
        match self.check(caller, job, JobRight::Stop) {
            // Who sees a job of the own tenant is told why it goes on.
            Err(_) if job.tenant == caller.tenant => Err(Error::StopNeedsAdmin),
            stops => stops,
        }
    }
}

impl Service {
    /// The server's own jobs are of no caller's tenant, so the tenant is looked at by `subject`.
    fn check(&self, caller: &Caller, job: &Job, right: JobRight) -> Result<()> {
        let is_its = JOBS.contains(&job.kind.as_str());
        match self.subject(caller, job, right)? {
            Subject::Seen if is_its => Ok(()),
            Subject::Seen | Subject::Gone => {
                Err(ObjectError::missing("Job", &job.id.to_string()).into())
            }
        }
    }
}

/// Gives the root that a job indexes; none for one that indexes nothing.
pub(crate) fn root_of(job: &Job) -> Option<String> {
    if job.kind != INDEX_JOB {
        return None;
    }
    Some(arguments_of::<IndexArguments>(job).ok()?.root)
}
