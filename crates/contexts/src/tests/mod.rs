//! The service over an embedded store, by words alone.

mod endpoints;
mod indexing;
mod isolation;
mod names;
mod nodes;
mod seeking;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{Job, JobQueue, JobState, QueueConfig, Vectors, Workers};
use model::{Caller, Clearance, Clock, Deadline, Identity, TenantId, Timestamp};
use retrieve::Retriever;
use serde_json::Value;
use store::Store;

use crate::object_ids::{TableId, ToolId};
use crate::{
    ContextsConfig, JOBS, Locks, NewProject, NewTool, Project, SearchResults, Service,
    ServiceConfig, ServiceSlot, Table, Tool,
};

/// A service in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) service: Service,
    pub(crate) store: Arc<Store>,
    queue: Arc<JobQueue>,
    _workers: Workers,
    pub(crate) folder: tempfile::TempDir,
}

impl Fixture {
    /// Strings of 100 characters are long here.
    pub(crate) fn new() -> Self {
        Fixture::with(ContextsConfig {
            chunk_threshold_chars: 100,
            chunk_chars: 80,
            overlap_chars: 10,
            ..ContextsConfig::default()
        })
    }

    pub(crate) fn with(settings: ContextsConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(1_700_000_000_123));
        let config = store::Config::for_one_machine();
        let store = Arc::new(Store::open(folder.path(), &config, clock.clone()).unwrap());
        let slot = ServiceSlot::default();
        let runners: HashMap<_, _> =
            JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
        let queue = JobQueue::open(
            store.catalogue(),
            runners,
            QueueConfig::for_one_machine(),
            clock.clone(),
        )
        .unwrap();
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let of_search = Arc::clone(&embedder);
        let service = Service::new(ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: Retriever::new(store.clone(), Arc::new(move || of_search.get(&soon()))),
            vectors: Vectors::new(store.clone(), embedder),
            staging: folder.path().join("staging"),
            locks: Locks::default(),
            settings,
            clock,
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue).unwrap();
        Fixture { service, store, queue, _workers: workers, folder }
    }

    /// Waits until a job is done.
    #[track_caller]
    pub(crate) fn done(&self, job: &Job) -> Job {
        let job = self.queue.wait(&job.id, &soon()).unwrap();
        assert_eq!(job.state, JobState::Done, "{job:?}");
        job
    }

    /// Waits until nothing is left to do.
    pub(crate) fn settle(&self) {
        loop {
            let jobs = self.queue.list().unwrap();
            let Some(job) = jobs.iter().find(|job| !job.state.is_final()) else { return };
            self.queue.wait(&job.id, &soon()).unwrap();
        }
    }

    pub(crate) fn project(&self, caller: &Caller) -> Project {
        let new = NewProject { name: "Docs".to_owned(), members: vec![] };
        self.service.create_project(caller, &new).unwrap()
    }

    pub(crate) fn file(&self, document: &Value) -> std::path::PathBuf {
        let path = self.folder.path().join("document.json");
        fs_err::write(&path, document.to_string()).unwrap();
        path
    }

    #[track_caller]
    pub(crate) fn table(&self, caller: &Caller, project: &str, document: &Value) -> Table {
        let file = self.file(document);
        self.service
            .create_table(caller, &crate::ProjectId::new(project), "Table", &file, &soon())
            .unwrap()
    }

    /// Replaces the document, and gives what the index changed.
    #[track_caller]
    pub(crate) fn replace(&self, caller: &Caller, table: &str, document: &Value) -> Value {
        let file = self.file(document);
        let (_, job) =
            self.service.replace_table(caller, &TableId::new(table), &file, &soon()).unwrap();
        self.done(&job.unwrap()).result
    }

    /// Makes a search tool and waits for its index.
    #[track_caller]
    pub(crate) fn tool(&self, caller: &Caller, table: &TableId, path: &str, name: &str) -> Tool {
        let (tool, job) = self.service.create_tool(caller, &new_tool(table, path, name)).unwrap();
        self.done(&job.unwrap());
        self.service.get_tool(caller, &tool.id).unwrap()
    }

    #[track_caller]
    pub(crate) fn search(&self, caller: &Caller, tool: &ToolId, query: &str) -> SearchResults {
        self.service.search(caller, tool, query, 20, &soon()).unwrap()
    }

    /// Counts the chunks of a table that the store holds.
    pub(crate) fn n_chunks(&self, table: &Table) -> usize {
        match self.store.counts(&table.namespace()) {
            Err(store::Error::UnknownNamespace { .. }) => 0,
            counts => counts.unwrap().n_passages,
        }
    }
}

pub(crate) fn new_tool(table: &TableId, path: &str, name: &str) -> NewTool {
    NewTool { json_path: path.to_owned(), ..NewTool::of(table, name) }
}

pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A long text about one thing: five lines of 60 characters, in chunks of one line each.
pub(crate) fn long(word: &str) -> String {
    (0..5).map(|line| format!("{:<59}\n", format!("Line {line} tells about the {word}"))).collect()
}

pub(crate) fn member(tenant: &str, subject: &str) -> Caller {
    Caller {
        subject: subject.to_owned(),
        tenant: TenantId::new(tenant),
        department: None,
        clearance: Clearance::Internal,
        roles: std::collections::BTreeSet::new(),
        identity: Identity::Token,
    }
}

/// The administrator of a tenant.
pub(crate) fn admin(tenant: &str) -> Caller {
    Caller { roles: [Caller::ADMIN.to_owned()].into(), ..member(tenant, "admin") }
}
