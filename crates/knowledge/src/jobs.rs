//! Jobs of the family: which there are, who may see them, and how they are asked for.

use std::time::Duration;

use ingest::{
    Job, JobContext, JobFailure, JobService, JobState, NewJob, ObjectError, Priority, QueueSpace,
    Subject, arguments_of,
};
use model::{Caller, Deadline, NamespaceId, TenantId, with_causes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::Right;
use crate::new_document::OcrRepair;
use crate::objects::{Collection, Document};
use crate::{Error, Result, Service};

/// How long a cancelled job may take to come to its next step.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// How long a deletion waits while too many jobs do.
const PURGE_PATIENCE: Duration = Duration::from_secs(20);

/// Indexes uploads.
pub const ADD_JOB: &str = "knowledge.add";
/// Erases the passages of what was deleted.
pub const PURGE_JOB: &str = "knowledge.purge";
/// Moves passages after a change of department or clearance.
pub const MOVE_JOB: &str = "knowledge.move";
/// Made the vectors of what is indexed in earlier versions; jobs of this kind that still wait only
/// wake the worker that does so now.
pub const VECTORS_JOB: &str = "knowledge.vectors";
/// Makes the summary of a collection anew.
pub const SUMMARY_JOB: &str = "knowledge.summary";
/// Every kind of job of the family.
pub const JOBS: [&str; 5] = [ADD_JOB, PURGE_JOB, MOVE_JOB, VECTORS_JOB, SUMMARY_JOB];

/// Uploads of one collection: those that wait when the job begins, or come while it runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Additions {
    pub(crate) knowledge_base: String,
    pub(crate) collection: String,
    /// Uploads of a job of an earlier version, which named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) documents: Vec<Addition>,
}

/// One upload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Addition {
    pub(crate) document: String,
    pub(crate) version: u64,
    /// The file in the folder of uploads.
    pub(crate) staged: String,
    /// The name of the uploaded file; `text.txt` for text.
    pub(crate) name: String,
    pub(crate) ocr: OcrRepair,
    #[serde(default)]
    pub(crate) n_bytes: u64,
}

impl Additions {
    pub(crate) fn of(collection: &Collection) -> Self {
        Additions {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
            documents: vec![],
        }
    }
}

/// What is to be erased from the store.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Purge {
    pub(crate) knowledge_base: String,
    pub(crate) collection: Option<String>,
    /// Namespaces that begin so are dropped.
    pub(crate) namespaces: Option<String>,
    /// The namespace in which documents are erased.
    pub(crate) namespace: Option<String>,
    /// Documents that begin so are erased there.
    pub(crate) prefix: Option<String>,
    /// Collections whose files are removed.
    #[serde(default)]
    pub(crate) folders: Vec<String>,
    /// Files in the folder of uploads that are removed.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

impl Purge {
    pub(crate) fn namespaces(base: &str, prefix: String) -> Self {
        Purge { knowledge_base: base.to_owned(), namespaces: Some(prefix), ..Purge::default() }
    }

    pub(crate) fn collection(collection: &Collection) -> Self {
        Purge {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: Some(collection.id.clone()),
            namespace: Some(collection.namespace().to_string()),
            prefix: Some(collection.document_prefix()),
            folders: vec![collection.id.clone()],
            ..Purge::default()
        }
    }

    pub(crate) fn document(collection: &Collection, document: &Document) -> Self {
        let prefix = Some(document.store_id().to_string());
        let files = document.files().map(str::to_owned).collect();
        Purge { prefix, files, folders: vec![], ..Purge::collection(collection) }
    }
}

/// A move of passages into the namespace of their collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Move {
    pub(crate) knowledge_base: String,
    pub(crate) collection: String,
    pub(crate) from: String,
}

/// Work on one collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfCollection {
    pub(crate) knowledge_base: String,
    pub(crate) collection: String,
}

impl Service {
    /// Gives a job of this family that the caller may see.
    ///
    /// A job of another tenant does not exist; one about a collection that the caller may not
    /// see is denied.
    pub fn job(&self, caller: &Caller, id: &str) -> Result<Job> {
        self.jobs().get(caller, id, |job| self.subject(caller, job))
    }

    /// Tells whether the caller may see a job of this family.
    pub fn check_job(&self, caller: &Caller, job: &Job) -> Result<()> {
        self.jobs().check(caller, job, |job| self.subject(caller, job))
    }

    fn subject(&self, caller: &Caller, job: &Job) -> Result<Subject> {
        if caller.is_admin() {
            return Ok(Subject::Seen);
        }
        let argument = |name: &str| job.arguments[name].as_str();
        let seen = match (argument("collection"), argument("knowledge_base")) {
            (Some(collection), _) => {
                self.collection_of(caller, collection, Right::Read).map(|_| ())
            }
            (None, Some(base)) => self.base(caller, base, Right::Read).map(|_| ()),
            (None, None) => Err(Error::Denied),
        };
        match seen {
            Err(Error::NotFound { .. } | Error::BaseNotFound { .. }) => Ok(Subject::Gone),
            seen => seen.map(|()| Subject::Seen),
        }
    }

    /// Tells whether the caller may stop a job of this family.
    pub fn may_cancel_job(&self, caller: &Caller, job: &Job) -> bool {
        let is_changeable = |base: &str| self.may_change(caller, base);
        self.check_job(caller, job).is_ok()
            && job.arguments["knowledge_base"].as_str().is_none_or(is_changeable)
    }

    /// Stops a job that the caller may see. Uploads that it was to index are given up.
    pub fn cancel_job(&self, caller: &Caller, id: &str) -> Result<Job> {
        let job = self.job(caller, id)?;
        if let Some(base) = job.arguments["knowledge_base"].as_str() {
            self.base(caller, base, Right::Change)?;
        }
        self.0.queue.cancel(&job.id)?;
        let ended = self.0.queue.wait(&job.id, &Deadline::after(CANCEL_WAIT))?;
        if ended.state == JobState::Failed {
            self.abandon(&ended)?;
        }
        Ok(ended)
    }

    /// Gives the job that indexes what waits in a collection. One that waits already sees every
    /// upload before it begins, and one that runs takes more in for a while, so uploads that come
    /// one by one share few jobs.
    pub(crate) fn submit_additions(&self, collection: &Collection) -> Result<Job> {
        let job = self.1.gathering.join(&collection.id, || {
            let active = self.0.queue.active(ADD_JOB, &collection.id)?;
            if let Some(waiting) = active.filter(|job| job.state == JobState::Queued) {
                return Ok(waiting);
            }
            let additions = Additions::of(collection);
            let tenant = &collection.tenant;
            let jobs = self.jobs();
            Ok::<_, Error>(jobs.submit(
                ADD_JOB,
                &collection.id,
                tenant,
                Priority::Normal,
                &additions,
            )?)
        })?;
        // A job that runs is further than when it was begun.
        Ok(self.0.queue.get(&job.id).unwrap_or(job))
    }

    /// Keeps the space of a job that will erase something. It comes before the deletion: what is
    /// gone for every caller must not stay in the store because too many jobs wait.
    pub(crate) fn space_to_purge(&self) -> Result<QueueSpace> {
        Ok(QueueSpace::wait(&self.0.queue, PURGE_PATIENCE).map_err(ObjectError::from)?)
    }

    pub(crate) fn purge(&self, space: QueueSpace, tenant: &TenantId, purge: &Purge) -> Result<Job> {
        let arguments = serde_json::to_value(purge)
            .map_err(|error| ObjectError::BadRequest { problem: error.to_string() })?;
        let job = space.submit(NewJob {
            kind: PURGE_JOB.to_owned(),
            subject: purge.knowledge_base.clone(),
            tenant: tenant.clone(),
            priority: Priority::High,
            arguments,
        });
        Ok(job.map_err(ObjectError::from)?)
    }

    pub(crate) fn move_passages(&self, collection: &Collection, from: &NamespaceId) -> Result<Job> {
        let arguments = Move {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
            from: from.to_string(),
        };
        let (subject, tenant) = (&collection.id, &collection.tenant);
        Ok(self.jobs().submit(MOVE_JOB, subject, tenant, Priority::High, &arguments)?)
    }

    /// Lets vectors and summary follow what changed in a collection. The summary is made after all
    /// that waits now, and one run serves every change before it.
    pub(crate) fn follow_up(&self, collection: &Collection) -> Result<()> {
        self.0.vectors.wake();
        let summary = OfCollection {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
        };
        let (subject, tenant) = (&collection.id, &collection.tenant);
        Ok(self.jobs().submit_once(SUMMARY_JOB, subject, tenant, &summary)?)
    }
}

impl JobService for Service {
    fn run_job(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        let progress = context.progress();
        match job.kind.as_str() {
            ADD_JOB => self.run_additions(job, &arguments_of(job)?, progress),
            PURGE_JOB => self.run_purge(&arguments_of(job)?).map_err(failure),
            MOVE_JOB => self.run_move(&arguments_of(job)?, progress).map_err(failure),
            VECTORS_JOB => {
                self.0.vectors.wake();
                Ok(Value::Null)
            }
            SUMMARY_JOB => self.run_summary(&arguments_of(job)?, progress).map_err(failure),
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }
}

/// What may pass is tried again.
#[expect(clippy::needless_pass_by_value, reason = "it is called by `map_err`")]
pub(crate) fn failure(error: Error) -> JobFailure {
    if matches!(error, Error::Queue(ingest::Error::Cancelled)) {
        return JobFailure::Cancelled;
    }
    let reason = with_causes(&error);
    if error.may_pass() { JobFailure::Passing(reason) } else { JobFailure::Final(reason) }
}
