//! The family's calls in Rust types.

use std::sync::Arc;
use std::time::Duration;

use infer::Llm;
use ingest::{Job, JobProgress, JobQueue, JobState, NewJob, Priority};
use model::{Caller, Clock, Deadline, TenantId};
use retrieve::Retriever;
use serde_json::json;

use crate::index::IndexArguments;
use crate::preview::{PreviewRequest, Window};
use crate::search::Searched;
use crate::{
    Error, Found, INDEX_JOB, Indexed, Indexer, Preview, Result, Rewritten, SearchRequest, Summary,
    SummaryRequest, VECTORS_JOB, preview, rewrite, search, summary,
};

/// How often a call that waits for indexing says how far it is.
const PROGRESS_STEP: Duration = Duration::from_millis(500);

/// How long a job that must stop is waited for.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// What the service works with.
pub struct ServiceConfig {
    /// What knows the roots and the index.
    pub indexer: Arc<Indexer>,
    /// What searches.
    pub retriever: Retriever,
    /// What runs jobs.
    pub queue: Arc<JobQueue>,
    /// The language model, where one is configured.
    pub llm: Option<Arc<dyn Llm>>,
    /// The time.
    pub clock: Clock,
    /// How long a call waits for indexing to end.
    pub index_wait: Duration,
}

/// The files family.
#[derive(Clone)]
pub struct Service(Arc<ServiceConfig>);

/// What indexing gave, or how far it is.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexAnswer {
    /// It ended.
    Done(Indexed),
    /// It goes on.
    Running {
        /// The job to ask after.
        job: String,
        /// How far it is.
        progress: JobProgress,
    },
}

impl Service {
    /// Puts the service together.
    pub fn new(config: ServiceConfig) -> Self {
        Service(Arc::new(config))
    }

    /// Lists the folders that a caller may search.
    pub fn roots(&self, caller: &Caller) -> Vec<String> {
        self.0.indexer.roots().visible(caller).iter().map(|root| root.name.clone()).collect()
    }

    /// Indexes a folder inside a root, or joins the job that does so already. While it waits,
    /// `on_progress` is told how far the job is.
    ///
    /// Fails with [`Error::Busy`] when it is being indexed in the other way.
    pub fn index(
        &self,
        caller: &Caller,
        folder: &str,
        full: bool,
        priority: Priority,
        deadline: &Deadline,
        on_progress: &dyn Fn(&JobProgress),
    ) -> Result<IndexAnswer> {
        let (root, resolved) = self.0.indexer.roots().locate(caller, folder)?;
        if !resolved.is_dir() {
            return Err(Error::BadPath { path: folder.to_owned(), problem: "is not a folder" });
        }
        let subject = resolved.to_string_lossy().into_owned();
        let job = match self.0.queue.active(INDEX_JOB, &subject)? {
            Some(running) => {
                let running_full = running.arguments["full"].as_bool().unwrap_or_default();
                if running_full != full {
                    return Err(Error::Busy { root: folder.to_owned(), running_full });
                }
                running
            }
            None => self.submit(&root.name, subject, full, priority)?,
        };
        let wait = Deadline::after(self.0.index_wait.min(deadline.remaining()));
        let mut job = job;
        while !job.state.is_final() && !wait.is_over() && !deadline.is_over() {
            let step = Deadline::after(PROGRESS_STEP.min(wait.remaining()));
            job = self.0.queue.wait(&job.id, &step)?;
            on_progress(&job.progress);
        }
        answer(job)
    }

    /// Starts indexing every root, as a server does when it starts; returns at once.
    pub fn index_all(&self) -> Result<()> {
        for root in self.0.indexer.roots().all() {
            if self.0.queue.active(INDEX_JOB, &root.name)?.is_none() {
                self.submit(&root.name, root.name.clone(), false, Priority::Normal)?;
            }
        }
        self.make_vectors()
    }

    /// Waits until what is indexed has its vectors, and tells how far that is meanwhile.
    pub fn finish_vectors(
        &self,
        deadline: &Deadline,
        on_progress: &dyn Fn(&JobProgress),
    ) -> Result<()> {
        self.make_vectors()?;
        let subject = self.0.indexer.namespace().to_string();
        while let Some(job) = self.0.queue.active(VECTORS_JOB, &subject)? {
            if deadline.is_over() {
                break;
            }
            let job = self.0.queue.wait(&job.id, &Deadline::after(PROGRESS_STEP))?;
            on_progress(&job.progress);
        }
        Ok(())
    }

    /// Takes out of the index what belongs to folders that are no longer configured. Jobs that
    /// still take such a folder in are stopped first.
    pub fn forget_other_roots(&self) -> Result<usize> {
        let roots = self.0.indexer.roots().all();
        for job in self.0.queue.list()? {
            let root = job.arguments["root"].as_str();
            let is_known = roots.iter().any(|known| Some(known.name.as_str()) == root);
            if job.kind == INDEX_JOB && !job.state.is_final() && !is_known {
                self.0.queue.cancel(&job.id)?;
                self.0.queue.wait(&job.id, &Deadline::after(STOP_WAIT))?;
            }
        }
        self.0.indexer.forget_other_roots()
    }

    /// Tells whether changes are to be noticed while the server runs.
    pub fn is_watched(&self) -> bool {
        self.0.indexer.config().files.watch
    }

    /// Searches.
    pub fn search(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        deadline: &Deadline,
    ) -> Result<Found> {
        let ServiceConfig { indexer, retriever, clock, .. } = &*self.0;
        let searched = Searched { indexer, retriever, clock };
        search::search(&searched, caller, request, deadline)
    }

    /// Opens a preview of a file, at a place or at its start.
    pub fn preview(&self, caller: &Caller, request: &PreviewRequest) -> Result<Preview> {
        preview::preview(&self.0.indexer, caller, request)
    }

    /// Gives up to `max_chars` characters of a file as the index has it: from `from`, or where
    /// that is absent and the text is longer, around the character `at`.
    pub fn text(
        &self,
        caller: &Caller,
        path: &str,
        from: Option<usize>,
        at: usize,
        max_chars: usize,
    ) -> Result<(String, Window)> {
        preview::stretch(&self.0.indexer, caller, path, from, at, max_chars)
    }

    /// Summarises snippets.
    pub fn summarise(&self, request: &SummaryRequest, deadline: &Deadline) -> Result<Summary> {
        summary::summarise(self.0.llm.as_deref(), request, deadline)
    }

    /// Rewrites a question.
    pub fn rewrite(&self, query: &str, deadline: &Deadline) -> Result<Rewritten> {
        rewrite::rewrite(self.0.llm.as_deref(), &self.0.clock, query, deadline)
    }

    fn submit(&self, root: &str, subject: String, full: bool, priority: Priority) -> Result<Job> {
        let arguments = IndexArguments { root: root.to_owned(), folder: subject.clone(), full };
        let job = self.0.queue.submit(NewJob {
            kind: INDEX_JOB.to_owned(),
            subject,
            tenant: TenantId::local(),
            priority,
            arguments: json!(arguments),
        })?;
        self.make_vectors()?;
        Ok(job)
    }

    /// Lets the vectors follow, after every job that waits now.
    fn make_vectors(&self) -> Result<()> {
        let subject = self.0.indexer.namespace().to_string();
        if self.0.queue.active(VECTORS_JOB, &subject)?.is_some() {
            return Ok(());
        }
        self.0.queue.submit(NewJob {
            kind: VECTORS_JOB.to_owned(),
            subject,
            tenant: TenantId::local(),
            priority: Priority::Low,
            arguments: json!({}),
        })?;
        Ok(())
    }
}

fn answer(job: Job) -> Result<IndexAnswer> {
    match job.state {
        JobState::Done => {
            let indexed = serde_json::from_value(job.result).unwrap_or_default();
            Ok(IndexAnswer::Done(indexed))
        }
        JobState::Failed => Err(Error::JobFailed {
            reason: job.error.unwrap_or_else(|| "no reason was kept".to_owned()),
        }),
        JobState::Queued | JobState::Running => {
            Ok(IndexAnswer::Running { job: job.id.to_string(), progress: job.progress })
        }
    }
}
