//! Jobs of the family: which there are, who may see them, how they are asked for and run.

use std::sync::Arc;

use ingest::{
    FamilyJobs, Job, JobContext, JobFailure, JobRight, JobService, ObjectError, Priority, Progress,
    Subject, arguments_of, job_failure,
};
use model::{Caller, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::Right;
use crate::coverage::Covered;
use crate::document::{self, Document};
use crate::object_ids::{ProjectId, TableId};
use crate::objects::{IndexStatus, Table, Tool, ToolKind, namespace_of};
use crate::{Error, Result, Service, limits};

/// Brings the chunks of a table up to its document and its tools.
pub const INDEX_JOB: &str = "contexts.index";
/// Made the vectors of a table's chunks in earlier versions; jobs of this kind that still wait
/// only wake the worker that does so now.
pub const VECTORS_JOB: &str = "contexts.vectors";
/// Erases the documents and chunks of tables that were deleted.
pub const PURGE_JOB: &str = "contexts.purge";
/// Every kind of job of the family.
pub const JOBS: [&str; 3] = [INDEX_JOB, VECTORS_JOB, PURGE_JOB];

/// Work on one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OfTable {
    project: ProjectId,
    table: TableId,
}

/// Tables that are gone.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Purge {
    project: ProjectId,
    tables: Vec<TableId>,
}

impl Service {
    /// Asks for the index of a table. A job that waits serves everything asked before it begins.
    pub(crate) fn submit_index(&self, table: &Table) -> Result<Option<Job>> {
        let of = OfTable { project: table.project_id.clone(), table: table.id.clone() };
        let (jobs, tenant) = (self.jobs(), &table.tenant);
        Ok(Some(jobs.submit_or_join(
            INDEX_JOB,
            table.id.as_str(),
            tenant,
            Priority::Normal,
            &of,
        )?))
    }

    pub(crate) fn submit_purge(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        tables: Vec<TableId>,
    ) -> Result<Job> {
        let purge = Purge { project: project.clone(), tables };
        Ok(self.jobs().submit(PURGE_JOB, project.as_str(), tenant, Priority::High, &purge)?)
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
                let cancelled = ObjectError::is_cancelled;
                let is_stopped = matches!(&error, Error::Object(error) if cancelled(error));
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
                index.short_strings = covered.short_strings;
                index.has_others = covered.has_others;
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
        } else {
            self.0.vectors.written(table.namespace());
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
                .map(|tool| Change::Delete(ObjectKey::new(Tool::KIND, tool.id.as_str())))
                .collect();
            self.catalogue().apply(&changes)?;
        }
        self.0.store.forget_erased(&[])?;
        Ok(json!({ "removed": n_erased }))
    }

    pub(crate) fn documents_of(&self, table: &TableId) -> Result<Vec<Document>> {
        let page = ObjectPage {
            parent: Some(table.to_string()),
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
}

impl JobService for Service {
    type Error = Error;

    fn jobs(&self) -> FamilyJobs {
        FamilyJobs { queue: Arc::clone(&self.0.queue), kinds: &JOBS, purge: PURGE_JOB }
    }

    fn subject(&self, caller: &Caller, job: &Job, right: JobRight) -> Result<Subject> {
        let right = match right {
            JobRight::See => Right::Read,
            JobRight::Stop => Right::Edit,
        };
        let project = job.arguments["project"].as_str().unwrap_or_default();
        match self.project_of(caller, &ProjectId::new(project), right) {
            Err(Error::Object(ObjectError::NotFound { .. })) => Ok(Subject::Gone),
            found => found.map(|_| Subject::Seen),
        }
    }

    fn run_job(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        let progress = context.progress();
        match job.kind.as_str() {
            INDEX_JOB => self.run_index(&arguments_of(job)?, progress).map_err(job_failure),
            VECTORS_JOB => {
                self.0.vectors.wake();
                Ok(Value::Null)
            }
            PURGE_JOB => self.run_purge(&arguments_of(job)?).map_err(job_failure),
            other => Err(JobFailure::Final(format!("no job of this family is called `{other}`"))),
        }
    }
}

/// Says what was left out under a tool.
fn last_error(tool: &Tool, covered: &Covered) -> Option<String> {
    if !covered.is_there {
        return Some(format!("the document has no node at `{}`", tool.json_path));
    }
    let n_more = covered.n_problems - covered.problems.len();
    let mut text = covered.problems.join("; ");
    if n_more > 0 {
        text.push_str(&format!("; and `{n_more}` more"));
    }
    Some(text).filter(|text| !text.is_empty())
}
