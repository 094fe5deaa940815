//! A service in a folder of its own, with what the measurements ask of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{Job, JobQueue, ObjectError, Progress, QueueConfig, Vectors, Workers};
use model::{Caller, Clock, Deadline};
use retrieve::Retriever;
use store::{DocumentPage, Store};

use super::THRESHOLD_CHARS;
use crate::{
    ContextsConfig, JOBS, Locks, NewProject, NewTool, Result, SearchIndex, Service, ServiceConfig,
    ServiceSlot, Table, Tool, limits,
};

/// How long one step may take.
const STEP_WAIT: Duration = Duration::from_secs(600);

pub(super) struct Session {
    pub(super) service: Service,
    pub(super) caller: Caller,
    queue: Arc<JobQueue>,
    vectors: Arc<Vectors>,
    _workers: Workers,
}

impl Session {
    pub(super) fn open(work: &Path, clock: &Clock, embedder: EmbedderChoice) -> Result<Self> {
        let config = store::Config::for_one_machine();
        let store = Arc::new(Store::open(&work.join("store"), &config, clock.clone())?);
        let slot = ServiceSlot::default();
        let runners: HashMap<_, _> =
            JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
        let queue = JobQueue::open(
            store.catalogue(),
            runners,
            QueueConfig::for_one_machine(),
            clock.clone(),
        )?;
        let embedder = Arc::new(EmbedderSlot::new(embedder));
        let of_search = Arc::clone(&embedder);
        let vectors = Vectors::new(store.clone(), embedder);
        let service = Service::new(ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: Retriever::new(store, Arc::new(move || of_search.get(&soon()))),
            vectors: Arc::clone(&vectors),
            staging: work.join("staging"),
            locks: Locks::default(),
            settings: ContextsConfig {
                chunk_threshold_chars: THRESHOLD_CHARS,
                ..ContextsConfig::default()
            },
            clock: clock.clone(),
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue)?;
        let caller = Caller::local_admin();
        Ok(Session { service, caller, queue, vectors, _workers: workers })
    }

    /// Gives the name of the model, or why there is none.
    pub(super) fn model(&self) -> std::result::Result<String, String> {
        match self.vectors.embedder().get(&soon()) {
            Ok(embedder) => Ok(embedder.id().name.clone()),
            Err(state) => {
                let said = state.warning().map(|warning| warning.message);
                Err(said.unwrap_or_else(|| "no embedder is configured".to_owned()))
            }
        }
    }

    /// Makes a table of each file.
    pub(super) fn upload(&self, files: &[PathBuf]) -> Result<Vec<Table>> {
        let project = NewProject { name: "bench".to_owned(), members: vec![] };
        let project = self.service.create_project(&self.caller, &project)?;
        let upload = |file: &PathBuf| {
            self.service.create_table(&self.caller, &project.id, "document", file, &soon())
        };
        files.iter().map(upload).collect()
    }

    pub(super) fn tool(&self, table: &Table, path: &str, name: &str) -> Result<Tool> {
        let new = NewTool { json_path: path.to_owned(), ..NewTool::of(&table.id, name) };
        Ok(self.service.create_tool(&self.caller, &new)?.0)
    }

    pub(super) fn index_of(&self, tool: &Tool) -> Result<SearchIndex> {
        Ok(self.service.get_tool(&self.caller, &tool.id)?.search_index.unwrap_or_default())
    }

    /// Counts the chunks of tables; those that several tools cover count once.
    pub(super) fn n_chunks(&self, tables: &[Table]) -> Result<usize> {
        let mut n_chunks = 0;
        for table in tables {
            match self.service.0.store.counts(&table.namespace()) {
                // A document without long strings has none.
                Err(store::Error::UnknownNamespace { .. }) => {}
                counts => n_chunks += counts?.n_passages,
            }
        }
        Ok(n_chunks)
    }

    pub(super) fn n_chunks_of_string(&self, table: &Table, pointer: &str) -> Result<usize> {
        let mut page = DocumentPage { limit: limits::LIST_PAGE, ..DocumentPage::default() };
        loop {
            let strings = self.service.0.store.documents(&table.namespace(), &page)?;
            let Some(last) = strings.last() else { return Ok(0) };
            page.after = Some(last.id.clone());
            let this = strings.iter().find(|string| string.metadata["json_pointer"] == pointer);
            if let Some(this) = this {
                return Ok(this.n_passages);
            }
        }
    }

    /// Waits until nothing is left to do.
    pub(super) fn settle(&self) -> Result<()> {
        loop {
            let jobs = self.queue.list()?;
            let Some(job) = jobs.iter().find(|job| !job.state.is_final()) else { break };
            self.wait(job)?;
        }
        self.vectors.pay(&Progress::silent())?;
        Ok(())
    }

    pub(super) fn wait(&self, job: &Job) -> Result<Job> {
        self.queue.wait(&job.id, &soon()).map_err(|error| ObjectError::Queue(error).into())
    }
}

pub(super) fn soon() -> Deadline {
    Deadline::after(STEP_WAIT)
}
