//! The service over an embedded store, by words alone.

mod following;
mod isolation;
mod language_model;
mod life;
mod originals;
mod store_down;
mod turns;
mod uploads;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use infer::providers::{HttpLlm, HttpLlmConfig, LlmDialect};
use infer::{EmbedderChoice, EmbedderSlot, Llm, Secret};
use ingest::{Job, JobQueue, JobState, QueueConfig, Vectors, Workers};
use model::{Caller, Clearance, Clock, Deadline, Identity, TenantId, Timestamp};
use retrieve::Retriever;
use store::{Change, Lookup, Object, ObjectPage, Objects, Store};

use crate::object_ids::{CollectionId, KnowledgeBaseId};
use crate::{
    Accepted, JOBS, KnowledgeConfig, NewBase, NewCollection, NewDocument, SearchRequest,
    SearchResults, Service, ServiceConfig, ServiceSlot, UploadFiles, Visibility,
};

/// The key of the language model.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// A service in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) service: Service,
    pub(crate) queue: Arc<JobQueue>,
    down: Arc<AtomicBool>,
    workers: Option<Workers>,
    folder: tempfile::TempDir,
}

#[derive(Clone, Copy)]
enum Contents {
    InFiles,
    AsServed,
}

/// A catalogue that can be taken away.
struct Breakable {
    inner: Arc<dyn Objects>,
    down: Arc<AtomicBool>,
}

impl Breakable {
    fn reach(&self) -> store::Result<&dyn Objects> {
        if self.down.load(Ordering::Relaxed) {
            let path = "store".into();
            let source = std::io::Error::other("connection refused");
            return Err(store::Error::ReadOnly { path, source });
        }
        Ok(&*self.inner)
    }
}

impl Objects for Breakable {
    fn get_many(&self, kind: &str, ids: &[&str]) -> store::Result<Vec<Option<Object>>> {
        self.reach()?.get_many(kind, ids)
    }

    fn list(&self, page: &ObjectPage) -> store::Result<Vec<Object>> {
        self.reach()?.list(page)
    }

    fn find(&self, kind: &str, lookup: &Lookup) -> store::Result<Vec<Object>> {
        self.reach()?.find(kind, lookup)
    }

    fn apply(&self, changes: &[Change]) -> store::Result<Vec<u64>> {
        self.reach()?.apply(changes)
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Fixture::open(tempfile::tempdir().unwrap(), None)
    }

    /// A world whose language model is at this address.
    pub(crate) fn with_model(base_url: &str) -> Self {
        let llm = HttpLlm::open(HttpLlmConfig {
            dialect: LlmDialect::OpenAi,
            base_url: base_url.to_owned(),
            model: "test".to_owned(),
            api_key: Some(Secret::new(KEY.to_owned())),
            timeout: Duration::from_secs(30),
        });
        Fixture::open(tempfile::tempdir().unwrap(), Some(Arc::new(llm.unwrap())))
    }

    fn open(folder: tempfile::TempDir, llm: Option<Arc<dyn Llm>>) -> Self {
        let mut world = Fixture::without_workers(folder, llm, Contents::InFiles);
        world.start_workers();
        world
    }

    fn without_workers(
        folder: tempfile::TempDir,
        llm: Option<Arc<dyn Llm>>,
        contents: Contents,
    ) -> Self {
        let config = store::Config::for_one_machine();
        let store = Arc::new(Store::open(folder.path(), &config, clock()).unwrap());
        Fixture::over(&store, folder, llm, contents)
    }

    /// A world over a store that is open.
    fn over(
        store: &Arc<Store>,
        folder: tempfile::TempDir,
        llm: Option<Arc<dyn Llm>>,
        contents: Contents,
    ) -> Self {
        let clock = clock();
        let slot = ServiceSlot::default();
        let runners: HashMap<_, _> =
            JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
        let down = Arc::new(AtomicBool::new(false));
        let catalogue: Arc<dyn Objects> =
            Arc::new(Breakable { inner: store.catalogue(), down: Arc::clone(&down) });
        let config = QueueConfig::for_one_machine();
        let queue = JobQueue::open(store.catalogue(), runners, config, clock.clone()).unwrap();
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let of_search = Arc::clone(&embedder);
        let uploads = folder.path().join("uploads");
        let uploads = match contents {
            Contents::InFiles => UploadFiles::from(uploads),
            Contents::AsServed => UploadFiles::in_own_folder(uploads, store.catalogue()),
        };
        let service = Service::new(ServiceConfig {
            store: store.clone(),
            catalogue,
            queue: Arc::clone(&queue),
            retriever: Retriever::new(store.clone(), Arc::new(move || of_search.get(&soon()))),
            vectors: Vectors::new(store.clone(), embedder),
            pool: None,
            llm,
            uploads,
            settings: KnowledgeConfig::default(),
            clock,
        });
        slot.set(service.clone());
        Fixture { service, queue, down, workers: None, folder }
    }

    /// Lets no job begin any more; one that runs is interrupted.
    pub(crate) fn stop_workers(&mut self) {
        self.workers = None;
    }

    /// A world in which no job begins until [`Fixture::start_workers`].
    pub(crate) fn idle() -> Self {
        Fixture::without_workers(tempfile::tempdir().unwrap(), None, Contents::InFiles)
    }

    /// The same, with contents where a server has them.
    pub(crate) fn idle_as_served() -> Self {
        Fixture::without_workers(tempfile::tempdir().unwrap(), None, Contents::AsServed)
    }

    /// Gives how many commits the catalogue has had: each costs a sync of the disk.
    pub(crate) fn n_commits(&self) -> u64 {
        let mark = fs_err::read_to_string(self.folder.path().join("catalogue.mark")).unwrap();
        mark.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Lets jobs begin.
    pub(crate) fn start_workers(&mut self) {
        self.workers = Some(Workers::start(&self.queue).unwrap());
    }

    /// Takes the store away.
    pub(crate) fn take_down(&self) {
        self.down.store(true, Ordering::Relaxed);
    }

    /// Brings the store back.
    pub(crate) fn bring_up(&self) {
        self.down.store(false, Ordering::Relaxed);
    }

    /// Gives what another service over the same things works with.
    pub(crate) fn another_config(service: &Service) -> ServiceConfig {
        let of = &service.0;
        ServiceConfig {
            store: Arc::clone(&of.store),
            catalogue: Arc::clone(&of.catalogue),
            queue: Arc::clone(&of.queue),
            retriever: of.retriever.clone(),
            vectors: Arc::clone(&of.vectors),
            pool: of.pool.clone(),
            llm: of.llm.clone(),
            uploads: of.uploads.clone(),
            settings: of.settings.clone(),
            clock: of.clock.clone(),
        }
    }

    /// Sweeps the uploads as at a start, and gives how many files that removed.
    fn sweep(&self) -> usize {
        let resumed = self.service.resume_uploads().unwrap();
        self.service.sweep(&resumed).unwrap()
    }

    /// Lists the files of uploads and originals on disk.
    pub(crate) fn uploads(&self) -> Vec<String> {
        let mut names = vec![];
        crate::upload_files::list_files(&self.folder.path().join("uploads"), "", &mut names)
            .unwrap();
        // The file that keeps a backup and an upload apart is no upload.
        names.retain(|name| name != ".hold");
        names
    }

    /// Gives where the file of a document is.
    pub(crate) fn upload_path(&self, document: &crate::Document) -> std::path::PathBuf {
        self.folder.path().join("uploads").join(&document.original.as_ref().unwrap().file)
    }

    /// Names the documents whose file is damaged.
    pub(crate) fn damaged_originals(&self) -> Vec<crate::DamagedOriginal> {
        let (catalogue, uploads) = (&self.service.0.catalogue, &self.service.0.uploads);
        crate::damaged_originals(&**catalogue, uploads).unwrap()
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

    pub(crate) fn base(
        &self,
        caller: &Caller,
        name: &str,
        visibility: Visibility,
    ) -> KnowledgeBaseId {
        let new = NewBase { name: name.to_owned(), visibility, ..NewBase::default() };
        self.service.create_base(caller, &new).unwrap().id
    }

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a borrow")]
    pub(crate) fn collection(
        &self,
        caller: &Caller,
        base: &KnowledgeBaseId,
        new: NewCollection,
    ) -> CollectionId {
        self.service.create_collection(caller, &base.clone(), &new).unwrap().id
    }

    #[track_caller]
    pub(crate) fn add(
        &self,
        caller: &Caller,
        collection: &CollectionId,
        texts: &[&str],
    ) -> Accepted {
        let new = texts.iter().map(|text| NewDocument::text("", *text)).collect();
        let accepted = self.service.add_documents(caller, collection, new).unwrap();
        self.done(&accepted.job);
        accepted
    }

    #[track_caller]
    pub(crate) fn search(
        &self,
        caller: &Caller,
        base: &KnowledgeBaseId,
        query: &str,
    ) -> SearchResults {
        self.service.search(caller, &request(base, query), &soon()).unwrap()
    }
}

pub(crate) fn request(base: &KnowledgeBaseId, query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        knowledge_base_id: base.clone(),
        threshold: 0.0,
        max_results: 50,
    }
}

fn clock() -> Clock {
    Clock::fixed(Timestamp(1_700_000_000_123))
}

pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
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

/// A collection for everyone in the tenant.
pub(crate) fn open_collection(name: &str) -> NewCollection {
    NewCollection { name: name.to_owned(), ..NewCollection::default() }
}
