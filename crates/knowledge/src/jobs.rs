//! Jobs of the family: which there are, who may see them, and how they are asked for.

use std::sync::Arc;
use std::time::Duration;

use ingest::{
    FamilyJobs, Job, JobContext, JobFailure, JobRight, JobService, JobState, ObjectError, Priority,
    QueueSpace, Subject, arguments_of, job_failure,
};
use model::{Caller, Deadline, NamespaceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::Right;
use crate::new_document::OcrRepair;
use crate::object_ids::{CollectionId, KnowledgeBaseId, KnowledgeDocumentId};
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
    pub(crate) knowledge_base: KnowledgeBaseId,
    pub(crate) collection: CollectionId,
    /// Uploads of a job of an earlier version, which named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) documents: Vec<Addition>,
}

/// One upload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Addition {
    pub(crate) document: KnowledgeDocumentId,
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
    pub(crate) collection: Option<CollectionId>,
    /// Namespaces that begin so are dropped.
    pub(crate) namespaces: Option<String>,
    /// The namespace in which documents are erased.
    pub(crate) namespace: Option<NamespaceId>,
    /// Documents that begin so are erased there.
    pub(crate) prefix: Option<String>,
    /// Collections whose files are removed.
    #[serde(default)]
    pub(crate) folders: Vec<CollectionId>,
    /// Files in the folder of uploads that are removed.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

impl Purge {
    pub(crate) fn namespaces(base: &KnowledgeBaseId, prefix: String) -> Self {
        Purge { knowledge_base: base.to_string(), namespaces: Some(prefix), ..Purge::default() }
    }

    pub(crate) fn collection(collection: &Collection) -> Self {
        Purge {
            knowledge_base: collection.knowledge_base_id.to_string(),
            collection: Some(collection.id.clone()),
            namespace: Some(collection.namespace()),
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

    /// Tells whether anything is named to be erased; jobs of this version leave that to rows.
    pub(crate) fn names_something(&self) -> bool {
        let Purge {
            knowledge_base: _,
            collection: _,
            namespaces,
            namespace,
            prefix,
            folders,
            files,
        } = self;
        namespaces.is_some()
            || (namespace.is_some() && prefix.is_some())
            || !folders.is_empty()
            || !files.is_empty()
    }
}

/// A move of passages into the namespace of their collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Move {
    pub(crate) knowledge_base: KnowledgeBaseId,
    pub(crate) collection: CollectionId,
    pub(crate) from: String,
}

/// Work on one collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfCollection {
    pub(crate) knowledge_base: KnowledgeBaseId,
    pub(crate) collection: CollectionId,
}

impl Service {
    /// Gives the job that indexes what waits in a collection. One that waits already sees every
    /// upload before it begins, and one that runs takes more in for a while, so uploads that come
    /// one by one share few jobs.
    pub(crate) fn submit_additions(&self, collection: &Collection) -> Result<Job> {
        self.1.unfinished.begin(&collection.id);
        let job = self.1.joinable.join(collection.id.as_str(), || {
            let (additions, tenant) = (Additions::of(collection), &collection.tenant);
            let (jobs, id) = (self.jobs(), &collection.id);
            jobs.submit_or_join(ADD_JOB, id.as_str(), tenant, Priority::Normal, &additions)
        })?;
        // A job that runs is further than when it was begun.
        Ok(self.0.queue.get(&job.id).unwrap_or(job))
    }

    /// Keeps the space of a job that will erase something. It comes before the deletion: what is
    /// gone for every caller must not stay in the store because too many jobs wait.
    pub(crate) fn space_to_purge(&self) -> Result<QueueSpace> {
        Ok(QueueSpace::wait(&self.0.queue, PURGE_PATIENCE).map_err(ObjectError::from)?)
    }

    pub(crate) fn move_passages(&self, collection: &Collection, from: &NamespaceId) -> Result<Job> {
        let arguments = Move {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
            from: from.to_string(),
        };
        let (subject, tenant) = (&collection.id, &collection.tenant);
        Ok(self.jobs().submit(MOVE_JOB, subject.as_str(), tenant, Priority::High, &arguments)?)
    }

    /// Lets vectors and summary follow what changed in a collection. The summary is made after all
    /// that waits now, and one run serves every change before it.
    pub(crate) fn follow_up(&self, collection: &Collection) -> Result<()> {
        self.0.vectors.written(collection.namespace());
        let summary = OfCollection {
            knowledge_base: collection.knowledge_base_id.clone(),
            collection: collection.id.clone(),
        };
        let (subject, tenant) = (&collection.id, &collection.tenant);
        self.jobs().submit_or_join(
            SUMMARY_JOB,
            subject.as_str(),
            tenant,
            Priority::Low,
            &summary,
        )?;
        Ok(())
    }
}

impl JobService for Service {
    type Error = Error;

    fn jobs(&self) -> FamilyJobs {
        FamilyJobs { queue: Arc::clone(&self.0.queue), kinds: &JOBS, purge: PURGE_JOB }
    }

    fn subject(&self, caller: &Caller, job: &Job, right: JobRight) -> Result<Subject> {
        let argument = |name: &str| job.arguments[name].as_str();
        let (collection, base) = (argument("collection"), argument("knowledge_base"));
        if right == JobRight::Stop {
            // Whoever may stop it may see it: that was asked before.
            return base.map_or(Ok(Subject::Seen), |base| {
                self.base(caller, &KnowledgeBaseId::new(base), Right::Change).map(|_| Subject::Seen)
            });
        }
        if caller.is_admin() {
            return Ok(Subject::Seen);
        }
        let seen = match (collection, base) {
            (Some(collection), _) => {
                self.collection_of(caller, &CollectionId::new(collection), Right::Read).map(|_| ())
            }
            (None, Some(base)) => {
                self.base(caller, &KnowledgeBaseId::new(base), Right::Read).map(|_| ())
            }
            (None, None) => Err(Error::Denied),
        };
        match seen {
            Err(Error::Object(ObjectError::NotFound { .. }) | Error::BaseNotFound { .. }) => {
                Ok(Subject::Gone)
            }
            seen => seen.map(|()| Subject::Seen),
        }
    }

    /// Uploads that a stopped job was to index are given up.
    fn after_cancel(&self, job: Job) -> Result<Job> {
        let ended = self.0.queue.wait(&job.id, &Deadline::after(CANCEL_WAIT))?;
        if ended.state == JobState::Failed {
            self.abandon(&ended)?;
        }
        Ok(ended)
    }

    fn run_job(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        let progress = context.progress();
        match job.kind.as_str() {
            ADD_JOB => self.run_additions(job, &arguments_of(job)?, progress),
            PURGE_JOB => self.run_purge(&arguments_of(job)?).map_err(job_failure),
            MOVE_JOB => self.run_move(&arguments_of(job)?, progress).map_err(job_failure),
            VECTORS_JOB => {
                self.0.vectors.wake();
                Ok(Value::Null)
            }
            SUMMARY_JOB => self.run_summary(&arguments_of(job)?, progress).map_err(job_failure),
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }
}
