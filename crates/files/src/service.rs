//! The family's calls in Rust types.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use infer::Llm;
use ingest::{Job, JobProgress, JobQueue, JobState, NewJob, Priority, Progress, Stage, VectorDebt};
use model::{Caller, Clock, Deadline, ReadOutcome, TenantId, Warning};
use retrieve::Retriever;
use store::{DocumentInfo, DocumentPage};
use text::LanguageSet;

use crate::first_index::first_index;
use crate::index::{IndexArguments, below};
use crate::jobs::root_of;
use crate::name::text_of;
use crate::preview::{FileText, PreviewRequest};
use crate::search::Searched;
use crate::{
    Error, FileOutcome, INDEX_JOB, Indexed, Indexer, Preview, Result, Rewritten, RootOutcomes,
    SearchRequest, SearchResults, Strangers, Summary, SummaryRequest, preview, rewrite, search,
    summary,
};

/// How often a call that waits for indexing says how far it is.
const PROGRESS_STEP: Duration = Duration::from_millis(500);

/// Files of one list.
const MAX_LISTED: usize = 1_000;

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

/// Documents that are looked at in one step.
const FIND_PAGE: usize = 500;

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

    /// Gives the same folders, searched by another retriever and without a language model.
    #[must_use]
    pub fn without_models(&self, retriever: Retriever) -> Self {
        Service::new(ServiceConfig {
            indexer: Arc::clone(&self.0.indexer),
            retriever,
            queue: Arc::clone(&self.0.queue),
            llm: None,
            clock: self.0.clock.clone(),
            index_wait: self.0.index_wait,
        })
    }

    /// Tells whether another is a handle of the same service.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn indexer(&self) -> &Indexer {
        &self.0.indexer
    }

    pub(crate) fn queue(&self) -> &JobQueue {
        &self.0.queue
    }

    pub(crate) fn shared_queue(&self) -> &Arc<JobQueue> {
        &self.0.queue
    }

    /// Lists the folders that a caller may search.
    pub fn roots(&self, caller: &Caller) -> Vec<String> {
        self.0.indexer.roots().visible(caller).iter().map(|root| root.name.clone()).collect()
    }

    /// Names the roots that are not there, or do not answer; each is asked, for a limited time.
    pub fn unreachable_roots(&self, caller: &Caller) -> Vec<String> {
        let roots = self.0.indexer.roots().visible(caller);
        let away = roots.iter().filter(|root| !self.0.indexer.is_there(&root.path));
        away.map(|root| root.name.clone()).collect()
    }

    /// Names the roots that are this program's data folder or in it: what is its own there is not
    /// indexed.
    pub fn roots_in_data(&self) -> Vec<String> {
        self.0.indexer.roots_in_data()
    }

    /// Tells whether a link that names a root leads to another folder now.
    pub fn roots_lead_elsewhere(&self) -> bool {
        self.0.indexer.roots().lead_elsewhere()
    }

    /// Names the roots that were not there, did not answer or could not be read when they were
    /// asked last; none is asked now.
    pub fn away_roots(&self) -> Vec<String> {
        let names: Vec<String> = self.root_names().into_iter().collect();
        self.0.indexer.unreachable(&names).into_iter().map(str::to_owned).collect()
    }

    /// Indexes a folder inside a root, or joins the job that does so already. While it waits,
    /// `on_progress` is told how far the job is.
    ///
    /// Fails with [`Error::Busy`] when it is being indexed in the other way, and with
    /// [`Error::NeedsAdmin`] when someone else wants everything indexed anew.
    pub fn index(
        &self,
        caller: &Caller,
        folder: &str,
        full: bool,
        priority: Priority,
        deadline: &Deadline,
        on_progress: &dyn Fn(&JobProgress),
    ) -> Result<IndexAnswer> {
        if full && !caller.is_admin() {
            return Err(Error::NeedsAdmin);
        }
        let (root, resolved) = self.0.indexer.roots().locate(caller, folder)?;
        if !resolved.is_dir() {
            return Err(Error::BadPath { path: folder.to_owned(), problem: "is not a folder" });
        }
        let subject = text_of(&resolved).into_owned();
        let job = match self.0.queue.active(INDEX_JOB, &subject)? {
            Some(running) => {
                let running_full = running.arguments["full"].as_bool().unwrap_or_default();
                if running_full != full {
                    return Err(Error::Busy { root: folder.to_owned(), running_full });
                }
                running
            }
            None => self.submit(&caller.tenant, &root.name, subject, full, priority)?,
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

    /// Lets runs over whole roots wait until a watcher watches these, which is about to begin.
    pub fn expect_watcher(&self) {
        let now = self.0.clock.now();
        for root in self.0.indexer.roots().all() {
            self.0.indexer.watch_gate().close(&root.name, now);
        }
    }

    /// Starts indexing every root, as a server does when it starts; returns at once.
    pub fn index_all(&self) -> Result<()> {
        for root in self.0.indexer.roots().all() {
            if self.0.queue.active(INDEX_JOB, &root.name)?.is_none() {
                self.submit(
                    &TenantId::local(),
                    &root.name,
                    root.name.clone(),
                    false,
                    Priority::Normal,
                )?;
            }
        }
        Ok(())
    }

    /// Counts the files of every root that the caller may use by what became of them.
    pub fn outcomes(&self, caller: &Caller) -> Result<Vec<RootOutcomes>> {
        self.0.indexer.outcomes(caller)
    }

    /// Lists files that came to an outcome, in the order of their paths, with the reasons.
    pub fn files_with(
        &self,
        caller: &Caller,
        outcome: ReadOutcome,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<FileOutcome>> {
        self.0.indexer.files_with(caller, outcome, after, limit.min(MAX_LISTED))
    }

    /// Tells which part of the files can be found by vector.
    pub fn vector_debt(&self) -> Result<VectorDebt> {
        let indexer = &self.0.indexer;
        Ok(indexer.config().vectors.debt([indexer.namespace()])?)
    }

    /// Waits until what is indexed has its vectors, and tells how far that is meanwhile.
    pub fn finish_vectors(
        &self,
        deadline: &Deadline,
        on_progress: &dyn Fn(&JobProgress),
    ) -> Result<()> {
        let vectors = &self.0.indexer.config().vectors;
        let (progress, told) = (Progress::silent(), self.vector_debt()?);
        std::thread::scope(|scope| {
            let paying = scope.spawn(|| vectors.pay(&progress));
            while !paying.is_finished() {
                std::thread::park_timeout(PROGRESS_STEP);
                let n_without = self.vector_debt()?.n_without;
                on_progress(&JobProgress {
                    stage: Stage::Embedding.as_str().to_owned(),
                    n_done: told.n_without.saturating_sub(n_without),
                    n_total: Some(told.n_without),
                    ..JobProgress::default()
                });
                if deadline.is_over() {
                    progress.cancel();
                }
            }
            paying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok(())
        })
    }

    /// Names the folders.
    pub fn root_names(&self) -> BTreeSet<String> {
        self.0.indexer.roots().all().iter().map(|root| root.name.clone()).collect()
    }

    /// Names the folders that a configuration file names.
    pub fn configured_root_names(&self) -> BTreeSet<String> {
        let roots = self.0.indexer.roots().all().iter().filter(|root| root.is_configured);
        roots.map(|root| root.name.clone()).collect()
    }

    /// Takes out of the index what belongs to folders that are no longer configured. Jobs that
    /// still take such a folder in are stopped first, unless folders of others stay.
    pub fn forget_other_roots(&self, strangers: Strangers) -> Result<usize> {
        if strangers == Strangers::Forget {
            let roots = self.root_names();
            stop_jobs(&self.0.queue, |root| !roots.contains(root))?;
        }
        self.0.indexer.forget_other_roots(strangers)
    }

    /// Tells whether changes are to be noticed while the server runs.
    pub fn is_watched(&self) -> bool {
        self.0.indexer.config().files.watch
    }

    /// Says why changes of the folders are not noticed now, where they are not.
    pub fn watch_problem(&self) -> Option<String> {
        self.0.indexer.watch_problem()
    }

    /// Keeps why the folders are not watched.
    pub fn set_watch_problem(&self, problem: String) {
        self.0.indexer.set_watch_problem(Some(problem));
    }

    /// Finds the files that answer a question best, of those that the caller may see.
    pub fn search(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let ServiceConfig { indexer, retriever, queue, clock, .. } = &*self.0;
        let searched = Searched { indexer, retriever, queue, clock };
        search::search(&searched, caller, request, deadline)
    }

    /// Says how far the first index of a root is, while it is not complete.
    pub(crate) fn first_index(&self, root: &str) -> Result<Vec<Warning>> {
        let warning = first_index(&self.0.indexer, &self.0.queue, root)?;
        Ok(warning.into_iter().collect())
    }

    /// Opens a preview of a file, at a place or at its start.
    pub fn preview(&self, caller: &Caller, request: &PreviewRequest) -> Result<Preview> {
        let mut preview = preview::preview(&self.0.indexer, caller, request)?;
        // Text that is not there yet may come while the first index runs.
        if !preview.warnings.is_empty()
            && let Ok((root, _)) = self.0.indexer.roots().locate(caller, &request.path)
        {
            let begun = first_index(&self.0.indexer, &self.0.queue, &root.name)?;
            preview.warnings.extend(begun);
        }
        Ok(preview)
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
    ) -> Result<FileText> {
        preview::stretch(&self.0.indexer, caller, path, from, at, max_chars)
    }

    /// Finds the path of an indexed file that `is_it` knows and that is inside a root of the
    /// caller's; looks at all of them.
    pub fn find_path(
        &self,
        caller: &Caller,
        is_it: &dyn Fn(&str) -> bool,
    ) -> Result<Option<String>> {
        let (store, namespace) = (&self.0.indexer.config().store, self.0.indexer.namespace());
        let roots = self.0.indexer.roots();
        for root in roots.visible(caller) {
            let (prefix, mut after) = (below(&root.path), None);
            loop {
                let page = DocumentPage { prefix: prefix.clone(), after, limit: FIND_PAGE };
                let found = match store.documents(namespace, &page) {
                    Err(store::Error::UnknownNamespace { .. }) => return Ok(None),
                    found => found?,
                };
                // What is in an inner root belongs to that one alone.
                let is_wanted = |document: &&DocumentInfo| {
                    let path = document.id.as_str();
                    is_it(path) && roots.may_see(caller, Path::new(path))
                };
                if let Some(document) = found.iter().find(is_wanted) {
                    return Ok(Some(document.id.to_string()));
                }
                after = found.last().map(|document| document.id.clone());
                if found.len() < FIND_PAGE {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Summarises snippets.
    pub fn summarise(&self, request: &SummaryRequest, deadline: &Deadline) -> Result<Summary> {
        summary::summarise(self.0.llm.as_deref(), request, deadline)
    }

    /// Rewrites a question.
    pub fn rewrite(&self, query: &str, deadline: &Deadline) -> Result<Rewritten> {
        let indexer = &self.0.indexer;
        let languages = indexer.config().store.languages(indexer.namespace());
        let languages = languages.unwrap_or_else(|_| LanguageSet::all());
        rewrite::rewrite(self.0.llm.as_deref(), &self.0.clock, query, languages, deadline)
    }

    /// A job belongs to whoever asked for it, so that they can follow it.
    pub(crate) fn submit(
        &self,
        tenant: &TenantId,
        root: &str,
        subject: String,
        full: bool,
        priority: Priority,
    ) -> Result<Job> {
        let (root, folder) = (root.to_owned(), subject.clone());
        let arguments = IndexArguments { root, folder, full, paths: None, since: None };
        self.submit_job(tenant, subject, priority, &arguments)
    }

    pub(crate) fn submit_job(
        &self,
        tenant: &TenantId,
        subject: String,
        priority: Priority,
        arguments: &IndexArguments,
    ) -> Result<Job> {
        let arguments = serde_json::to_value(arguments)
            .map_err(|error| Error::JobFailed { reason: error.to_string() })?;
        Ok(self.0.queue.submit(NewJob {
            kind: INDEX_JOB.to_owned(),
            subject,
            tenant: tenant.clone(),
            priority,
            arguments,
        })?)
    }
}

fn answer(job: Job) -> Result<IndexAnswer> {
    match job.state {
        JobState::Done => {
            let indexed = serde_json::from_value(job.result).unwrap_or_default();
            Ok(IndexAnswer::Done(indexed))
        }
        JobState::Failed if job.is_cancelled => Err(Error::Cancelled { root: job.subject }),
        JobState::Failed => Err(Error::JobFailed {
            reason: job.error.unwrap_or_else(|| "no reason was kept".to_owned()),
        }),
        JobState::Queued | JobState::Running => {
            Ok(IndexAnswer::Running { job: job.id.to_string(), progress: job.progress })
        }
    }
}

/// Stops the jobs that take in the roots which a function names, and waits a while for them.
///
/// # Errors
///
/// When the catalogue fails.
pub fn stop_jobs(queue: &JobQueue, is_meant: impl Fn(&str) -> bool) -> Result<()> {
    for job in queue.list()? {
        let is_its = root_of(&job).is_some_and(|root| is_meant(&root));
        if !job.state.is_final() && is_its {
            queue.cancel(&job.id)?;
            queue.wait(&job.id, &Deadline::after(STOP_WAIT))?;
        }
    }
    Ok(())
}
