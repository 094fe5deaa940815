//! The service over an embedded store, by words alone.

mod isolation;
mod life;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{Job, JobQueue, JobState, QueueConfig, Workers};
use model::{Caller, Clearance, Clock, Deadline, Identity, TenantId, Timestamp};
use retrieve::Retriever;
use store::EmbeddedStore;

use crate::{
    Accepted, Found, JOBS, NewBase, NewCollection, NewDocument, SearchRequest, Service,
    ServiceConfig, ServiceSlot, Visibility,
};

/// A service in a folder of its own.
pub(crate) struct World {
    pub(crate) service: Service,
    queue: Arc<JobQueue>,
    _workers: Workers,
    _folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(1_700_000_000_123));
        let config = store::Config::for_one_machine();
        let store = Arc::new(EmbeddedStore::open(folder.path(), &config, clock.clone()).unwrap());
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
            retriever: Retriever::new(store, Arc::new(move || of_search.get(&soon()))),
            embedder,
            pool: None,
            llm: None,
            uploads: folder.path().join("uploads"),
            clock,
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue).unwrap();
        World { service, queue, _workers: workers, _folder: folder }
    }

    /// Waits until a job is done.
    #[track_caller]
    pub(crate) fn done(&self, job: &Job) -> Job {
        let job = self.queue.wait(&job.id, &soon()).unwrap();
        assert_eq!(job.state, JobState::Done, "{job:?}");
        job
    }

    /// Waits until nothing is left to do, summaries and all.
    pub(crate) fn settle(&self) {
        loop {
            let jobs = self.queue.list().unwrap();
            let Some(job) = jobs.iter().find(|job| !job.state.is_final()) else { return };
            self.queue.wait(&job.id, &soon()).unwrap();
        }
    }

    pub(crate) fn base(&self, caller: &Caller, name: &str, visibility: Visibility) -> String {
        let new = NewBase { name: name.to_owned(), visibility, ..NewBase::default() };
        self.service.create_base(caller, &new).unwrap().id
    }

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a borrow")]
    pub(crate) fn collection(&self, caller: &Caller, base: &str, new: NewCollection) -> String {
        self.service.create_collection(caller, base, &new).unwrap().id
    }

    #[track_caller]
    pub(crate) fn add(&self, caller: &Caller, collection: &str, texts: &[&str]) -> Accepted {
        let new = texts.iter().map(|text| NewDocument::text("", *text)).collect();
        let accepted = self.service.add_documents(caller, collection, new).unwrap();
        self.done(&accepted.job);
        accepted
    }

    #[track_caller]
    pub(crate) fn search(&self, caller: &Caller, base: &str, query: &str) -> Found {
        self.service.search(caller, &request(base, query), &soon()).unwrap()
    }
}

pub(crate) fn request(base: &str, query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        knowledge_base_id: base.to_owned(),
        threshold: 0.0,
        max_results: 50,
    }
}

pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A member of a tenant.
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

/// A collection for everyone in the tenant.
pub(crate) fn open_collection(name: &str) -> NewCollection {
    NewCollection { name: name.to_owned(), ..NewCollection::default() }
}
