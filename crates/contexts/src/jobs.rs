//! Jobs of the family: which there are, who may see them, how they are asked for and run.

use std::time::Duration;

use ingest::{Embedding, Job, JobContext, JobFailure, JobId, JobState, NewJob, Priority, Progress};
use model::{Caller, Deadline, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::Right;
use crate::document::{self, Document};
use crate::index::Covered;
use crate::objects::{IndexStatus, Table, Tool, ToolKind, namespace_of};
use crate::{Error, Result, Service, limits};

/// Brings the chunks of a table up to its document and its tools.
pub const INDEX_JOB: &str = "contexts.index";
/// Makes the vectors of a table's chunks.
pub const VECTORS_JOB: &str = "contexts.vectors";
/// Erases the documents and chunks of tables that were deleted.
pub const PURGE_JOB: &str = "contexts.purge";
/// Every kind of job of the family.
pub const JOBS: [&str; 3] = [INDEX_JOB, VECTORS_JOB, PURGE_JOB];

/// How long opening the model may take inside a job.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// Work on one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OfTable {
    project: String,
    table: String,
}

/// Tables that are gone.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Purge {
    project: String,
    tables: Vec<String>,
}

impl Service {
    /// Gives a job of this family that the caller may see.
    pub fn job(&self, caller: &Caller, id: &str) -> Result<Job> {
        let job = self.0.queue.get(&JobId::new(id))?;
        self.check_job(caller, &job)?;
        Ok(job)
    }

    /// Tells whether the caller may see a job of this family.
    pub fn check_job(&self, caller: &Caller, job: &Job) -> Result<()> {
        self.job_passes(caller, job, Right::Read)
    }

    /// Stops a job of a project that the caller may change.
    pub fn cancel_job(&self, caller: &Caller, id: &str) -> Result<Job> {
        let job = self.0.queue.get(&JobId::new(id))?;
        self.job_passes(caller, &job, Right::Edit)?;
        Ok(self.0.queue.cancel(&job.id)?)
    }

    fn job_passes(&self, caller: &Caller, job: &Job, right: Right) -> Result<()> {
        let missing = || Error::NotFound { what: "Job" };
        if job.tenant != caller.tenant || !JOBS.contains(&job.kind.as_str()) {
            return Err(missing());
        }
        let project = job.arguments["project"].as_str().unwrap_or_default();
        match self.project_of(caller, project, right) {
            // What was deleted has no rights any more; the end of its deletion is no secret.
            Err(Error::NotFound { .. }) if job.kind == PURGE_JOB => Ok(()),
            Err(Error::NotFound { .. }) => Err(missing()),
            passed => passed.map(|_| ()),
        }
    }

    /// Runs a job of this family.
    pub fn run_job(
        &self,
        job: &Job,
        context: &JobContext,
    ) -> std::result::Result<Value, JobFailure> {
        let progress = context.progress();
        match job.kind.as_str() {
            INDEX_JOB => self.run_index(&arguments(job)?, progress).map_err(failure),
            VECTORS_JOB => self.run_vectors(&arguments(job)?, progress).map_err(failure),
            PURGE_JOB => self.run_purge(&arguments(job)?).map_err(failure),
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }

    /// Asks for the index of a table. A job that waits serves everything asked before it begins.
    pub(crate) fn submit_index(&self, table: &Table) -> Result<Option<Job>> {
        let mut asked = self.0.locks.asked();
        if let Some(id) = asked.get(&table.id)
            && let Ok(job) = self.0.queue.get(id)
            && job.state == JobState::Queued
        {
            return Ok(Some(job));
        }
        let of = OfTable { project: table.project_id.clone(), table: table.id.clone() };
        let job = self.submit(INDEX_JOB, &table.id, &table.tenant, Priority::Normal, json!(of))?;
        asked.insert(table.id.clone(), job.id.clone());
        Ok(Some(job))
    }

    pub(crate) fn submit_purge(
        &self,
        tenant: &TenantId,
        project: &str,
        tables: Vec<String>,
    ) -> Result<Job> {
        let purge = Purge { project: project.to_owned(), tables };
        self.submit(PURGE_JOB, project, tenant, Priority::High, json!(purge))
    }

    fn run_index(&self, of: &OfTable, progress: &Progress) -> Result<Value> {
        let _working = self.0.locks.table(&of.table);
        let Some((table, _)) = Table::load(self.catalogue(), &of.table)? else {
            return Ok(Value::Null);
        };
        let mut tools = self.tools_of_table(&table.id)?;
        tools.retain(|tool| tool.kind == ToolKind::Search);
        if tools.is_empty() {
            let removed = self.drop_chunks(&table.namespace())?;
            self.forget_former(&table)?;
            self.0.store.forget_erased(&[])?;
            return Ok(json!({ "nodes": 0, "kept": 0, "added": 0, "removed": removed }));
        }
        for tool in &tools {
            self.note(tool, |tool| tool.status = IndexStatus::Indexing)?;
        }
        let indexed = document::mark_kept(&self.0.catalogue, &table.document)
            .and_then(|()| self.index(&table, &tools, progress));
        let (changes, covered) = match indexed {
            Ok(indexed) => indexed,
            Err(error) => {
                let current = Table::load(self.catalogue(), &table.id)?;
                if current.is_none_or(|(current, _)| current.document != table.document) {
                    // Whoever replaced or deleted the document has asked for another job.
                    return Ok(json!({ "superseded": true }));
                }
                let is_stopped = matches!(error, Error::Queue(ingest::Error::Cancelled));
                let reason = model::with_causes(&error);
                for tool in &tools {
                    self.note(tool, |index| {
                        index.status =
                            if is_stopped { IndexStatus::Pending } else { IndexStatus::Error };
                        index.last_error = Some(reason.clone());
                    })?;
                }
                return Err(error);
            }
        };
        let (now, settings) = (self.0.clock.now(), self.0.settings.settings_name());
        for (tool, covered) in tools.iter().zip(&covered) {
            let last_error = last_error(tool, covered);
            self.note(tool, |index| {
                index.status = IndexStatus::Ready;
                index.indexed_at = Some(now);
                index.nodes_count = covered.n_nodes;
                index.chunks_count = covered.n_chunks;
                index.indexed_chunks_count = covered.n_chunks;
                index.last_error.clone_from(&last_error);
                index.settings.clone_from(&settings);
            })?;
        }
        self.forget_former(&table)?;
        if changes.removed > 0 || !table.former.is_empty() {
            self.0.store.forget_erased(&[table.namespace()])?;
        }
        if Table::load(self.catalogue(), &table.id)?.is_none() {
            // Deleted meanwhile: its own job may have run before the chunks were written.
            self.drop_chunks(&table.namespace())?;
        } else if changes.added > 0 {
            self.submit_vectors(&table)?;
        }
        Ok(json!(changes))
    }

    /// Changes the state of a tool's index, unless the tool is gone or looks elsewhere by now.
    fn note(
        &self,
        tool: &Tool,
        mut change: impl FnMut(&mut crate::objects::SearchIndex),
    ) -> Result<()> {
        self.change::<Tool>(&tool.id, |current| {
            if current.json_path == tool.json_path
                && let Some(index) = &mut current.search_index
            {
                change(index);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Lets vectors follow; one run serves every change before it.
    fn submit_vectors(&self, table: &Table) -> Result<()> {
        let active = self.0.queue.active(VECTORS_JOB, &table.id)?;
        if active.is_some_and(|job| job.state == JobState::Queued) {
            return Ok(());
        }
        let of = OfTable { project: table.project_id.clone(), table: table.id.clone() };
        self.submit(VECTORS_JOB, &table.id, &table.tenant, Priority::Low, json!(of))?;
        Ok(())
    }

    /// Makes the vectors that are missing. Without a model there is nothing to do.
    fn run_vectors(&self, of: &OfTable, progress: &Progress) -> Result<Value> {
        let Ok(embedder) = self.0.embedder.get(&Deadline::after(MODEL_WAIT)) else {
            return Ok(json!({ "vectors": 0 }));
        };
        let namespace = namespace_of(&of.project, &of.table);
        let space = Embedding::space_of(&*embedder);
        match self.0.store.set_vector_space(&namespace, Some(&space)) {
            Err(store::Error::UnknownNamespace { .. }) => return Ok(json!({ "vectors": 0 })),
            set => set?,
        }
        let embedding = Embedding { store: self.0.store.clone(), namespace, embedder };
        let rounds = self.0.locks.vectors().run(&of.table, || embedding.run(progress))?;
        let n_embedded: usize = rounds.iter().map(|round| round.n_embedded).sum();
        Ok(json!({ "vectors": n_embedded }))
    }

    fn run_purge(&self, purge: &Purge) -> Result<Value> {
        let mut n_erased = 0;
        for table in &purge.tables {
            let _working = self.0.locks.table(table);
            n_erased += self.drop_chunks(&namespace_of(&purge.project, table))?;
            for document in self.documents_of(table)? {
                document::forget(self.catalogue(), &document.id)?;
            }
            let tools = self.tools_of_table(table)?;
            let changes: Vec<Change> = tools
                .iter()
                .map(|tool| Change::Delete(ObjectKey::new(Tool::KIND, &tool.id)))
                .collect();
            self.catalogue().apply(&changes)?;
            self.0.locks.asked().remove(table);
        }
        self.0.store.forget_erased(&[])?;
        Ok(json!({ "removed": n_erased }))
    }

    pub(crate) fn documents_of(&self, table: &str) -> Result<Vec<Document>> {
        let page = ObjectPage {
            parent: Some(table.to_owned()),
            limit: limits::LIST_PAGE,
            ..ObjectPage::of(Document::KIND)
        };
        Ok(Document::list(self.catalogue(), &page)?)
    }

    /// Erases the documents that a table had before.
    fn forget_former(&self, table: &Table) -> Result<()> {
        for document in &table.former {
            document::forget(self.catalogue(), document)?;
        }
        if !table.former.is_empty() {
            self.change::<Table>(&table.id, |current| {
                current.former.retain(|document| !table.former.contains(document));
                Ok(())
            })?;
        }
        Ok(())
    }

    fn submit(
        &self,
        kind: &str,
        subject: &str,
        tenant: &TenantId,
        priority: Priority,
        arguments: Value,
    ) -> Result<Job> {
        let (kind, subject, tenant) = (kind.to_owned(), subject.to_owned(), tenant.clone());
        Ok(self.0.queue.submit(NewJob { kind, subject, tenant, priority, arguments })?)
    }
}

/// Says what was left out under a tool.
fn last_error(tool: &Tool, covered: &Covered) -> Option<String> {
    if !covered.is_there {
        return Some(format!("nothing stands at `{}` in the document", tool.json_path));
    }
    let n_more = covered.n_problems - covered.problems.len();
    let mut text = covered.problems.join("; ");
    if n_more > 0 {
        text.push_str(&format!("; and `{n_more}` more"));
    }
    Some(text).filter(|text| !text.is_empty())
}

fn arguments<T: serde::de::DeserializeOwned>(job: &Job) -> std::result::Result<T, JobFailure> {
    serde_json::from_value(job.arguments.clone())
        .map_err(|error| JobFailure::Final(error.to_string()))
}

/// What may pass is tried again.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn failure(error: Error) -> JobFailure {
    let text = model::with_causes(&error);
    match error {
        Error::Queue(ingest::Error::Cancelled) => JobFailure::Cancelled,
        Error::Unavailable(_)
        | Error::Search(_)
        | Error::Busy
        | Error::TimeOver
        | Error::Queue(_)
        | Error::Document(_) => JobFailure::Passing(text),
        Error::NotFound { .. }
        | Error::Denied
        | Error::BadRequest { .. }
        | Error::BadPointer(_)
        | Error::NoNode { .. }
        | Error::BadDocument { .. }
        | Error::NameTaken { .. }
        | Error::TooLarge { .. } => JobFailure::Final(text),
    }
}
