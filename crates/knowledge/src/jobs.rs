//! Jobs of the family: which there are, who may see them, and how they are asked for.

use std::time::Duration;

use ingest::{Job, JobContext, JobFailure, JobId, JobState, NewJob, Priority};
use model::{Caller, Deadline, NamespaceId, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::Right;
use crate::documents::OcrRepair;
use crate::objects::{Collection, Document};
use crate::{Error, Result, Service};

/// How long a cancelled job may take to come to its next step.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// Indexes uploads.
pub const ADD_JOB: &str = "knowledge.add";
/// Erases the passages of what was deleted.
pub const PURGE_JOB: &str = "knowledge.purge";
/// Moves passages after a change of department or clearance.
pub const MOVE_JOB: &str = "knowledge.move";
/// Makes the vectors of what is indexed.
pub const VECTORS_JOB: &str = "knowledge.vectors";
/// Makes the summary of a collection anew.
pub const SUMMARY_JOB: &str = "knowledge.summary";
/// Every kind of job of the family.
pub const JOBS: [&str; 5] = [ADD_JOB, PURGE_JOB, MOVE_JOB, VECTORS_JOB, SUMMARY_JOB];

/// Uploads of one collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Additions {
    pub(crate) knowledge_base: String,
    pub(crate) collection: String,
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
            ..Purge::default()
        }
    }

    pub(crate) fn document(collection: &Collection, document: &Document) -> Self {
        let prefix = Some(document.store_id().to_string());
        Purge { prefix, ..Purge::collection(collection) }
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

/// Work on one namespace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfNamespace {
    pub(crate) knowledge_base: String,
    pub(crate) namespace: String,
}

impl Service {
    /// Gives a job of this family that the caller may see.
    ///
    /// A job of another tenant does not exist; one about a collection that the caller may not
    /// see is denied.
    pub fn job(&self, caller: &Caller, id: &str) -> Result<Job> {
        let job = self.0.queue.get(&JobId::new(id))?;
        self.check_job(caller, &job)?;
        Ok(job)
    }

    /// Tells whether the caller may see a job of this family.
    pub fn check_job(&self, caller: &Caller, job: &Job) -> Result<()> {
        if job.tenant != caller.tenant || !JOBS.contains(&job.kind.as_str()) {
            return Err(Error::NotFound { what: "Job" });
        }
        if caller.is_admin() {
            return Ok(());
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
            // What was deleted has no rights any more; the end of its deletion is no secret.
            Err(Error::NotFound { .. } | Error::BaseNotFound) if job.kind == PURGE_JOB => Ok(()),
            Err(Error::NotFound { .. } | Error::BaseNotFound) => {
                Err(Error::NotFound { what: "Job" })
            }
            seen => seen,
        }
    }

    /// Stops a job that the caller may see.
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

    /// Runs a job of this family.
    pub fn run_job(
        &self,
        job: &Job,
        context: &JobContext,
    ) -> std::result::Result<Value, JobFailure> {
        let progress = context.progress();
        match job.kind.as_str() {
            ADD_JOB => self.run_additions(&arguments(job)?, progress),
            PURGE_JOB => self.run_purge(&arguments(job)?).map_err(failure),
            MOVE_JOB => self.run_move(&arguments(job)?, progress).map_err(failure),
            VECTORS_JOB => self.run_vectors(&arguments(job)?, progress).map_err(failure),
            SUMMARY_JOB => self.run_summary(&arguments(job)?, progress).map_err(failure),
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }

    pub(crate) fn submit_additions(
        &self,
        collection: &Collection,
        additions: &Additions,
    ) -> Result<Job> {
        let subject = collection.id.clone();
        self.submit(ADD_JOB, subject, &collection.tenant, Priority::Normal, json!(additions))
    }

    pub(crate) fn purge(&self, tenant: &TenantId, purge: &Purge) -> Result<Job> {
        let subject = purge.knowledge_base.clone();
        self.submit(PURGE_JOB, subject, tenant, Priority::High, json!(purge))
    }

    pub(crate) fn move_passages(&self, collection: &Collection, from: &NamespaceId) -> Result<Job> {
        let arguments = Move {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
            from: from.to_string(),
        };
        let subject = collection.id.clone();
        self.submit(MOVE_JOB, subject, &collection.tenant, Priority::High, json!(arguments))
    }

    /// Lets vectors and summary follow what changed in a collection. Both run after all that
    /// waits now, and one run serves every change before it.
    pub(crate) fn follow_up(&self, collection: &Collection) -> Result<()> {
        let base = collection.knowledge_base_id.clone();
        let namespace = collection.namespace().to_string();
        let vectors = OfNamespace { knowledge_base: base.clone(), namespace: namespace.clone() };
        self.submit_once(VECTORS_JOB, namespace, &collection.tenant, json!(vectors))?;
        let summary = OfCollection { knowledge_base: base, collection: collection.id.clone() };
        self.submit_once(SUMMARY_JOB, collection.id.clone(), &collection.tenant, json!(summary))
    }

    fn submit_once(
        &self,
        kind: &str,
        subject: String,
        tenant: &TenantId,
        arguments: Value,
    ) -> Result<()> {
        let active = self.0.queue.active(kind, &subject)?;
        if active.is_some_and(|job| job.state == JobState::Queued) {
            return Ok(());
        }
        self.submit(kind, subject, tenant, Priority::Low, arguments)?;
        Ok(())
    }

    fn submit(
        &self,
        kind: &str,
        subject: String,
        tenant: &TenantId,
        priority: Priority,
        arguments: Value,
    ) -> Result<Job> {
        let (kind, tenant) = (kind.to_owned(), tenant.clone());
        Ok(self.0.queue.submit(NewJob { kind, subject, tenant, priority, arguments })?)
    }
}

fn arguments<T: serde::de::DeserializeOwned>(job: &Job) -> std::result::Result<T, JobFailure> {
    serde_json::from_value(job.arguments.clone())
        .map_err(|error| JobFailure::Final(error.to_string()))
}

/// What may pass is tried again.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
pub(crate) fn failure(error: Error) -> JobFailure {
    let text = model::with_causes(&error);
    match error {
        Error::Queue(ingest::Error::Cancelled) => JobFailure::Cancelled,
        Error::Unavailable(_)
        | Error::Search(_)
        | Error::Busy
        | Error::Queue(_)
        | Error::Upload(_)
        | Error::LlmUnavailable(_) => JobFailure::Passing(text),
        Error::BaseNotFound
        | Error::NotFound { .. }
        | Error::Denied
        | Error::BadRequest { .. }
        | Error::TooLarge { .. }
        | Error::TextTooLong => JobFailure::Final(text),
    }
}
