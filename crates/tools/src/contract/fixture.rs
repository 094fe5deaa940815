//! Real services over one folder, by words alone, for errors that only a service can give.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use files::{FilesConfig, Indexer, IndexerConfig, RootConfig, Roots};
use filters::charts::{ChartSettings, Charts};
use infer::{Completion, Continue, EmbedderChoice, EmbedderSlot, Llm, Message};
use ingest::{JobQueue, JobState, QueueConfig, Runner, Vectors, Workers};
use model::{Caller, Clock, Deadline};
use retrieve::Retriever;
use serde_json::json;
use store::Store;
use testkit::{Folder, fixed_clock};

/// What is in the one file of the one root.
const NOTES: &str = "The lighthouse was painted in 1987.\n";

/// One folder with a root, a store and the services over them.
pub(crate) struct Fixture {
    pub(crate) files: files::Service,
    pub(crate) knowledge: knowledge::Service,
    pub(crate) contexts: contexts::Service,
    pub(crate) across: across::Service,
    pub(crate) folder: Folder,
    queue: Arc<JobQueue>,
    workers: Option<Workers>,
}

impl Fixture {
    /// Opens the services; jobs wait until somebody calls [`Fixture::work`].
    pub(crate) fn new() -> Self {
        Fixture::with_model(None)
    }

    /// Opens the services with a language model.
    pub(crate) fn with_model(llm: Option<Arc<dyn Llm>>) -> Self {
        let folder = Folder::new();
        folder.write("shelf/notes.txt", NOTES);
        folder.write("elsewhere/secret.txt", "nobody may see this");
        let clock = fixed_clock();
        let config = store::Config::for_one_machine();
        let kept = folder.join("store");
        let store = Arc::new(Store::open(&kept, &config, clock.clone()).unwrap());
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let vectors = Vectors::new(store.clone(), Arc::clone(&embedder));
        let config = FilesConfig {
            roots: vec![RootConfig::Path(folder.join("shelf"))],
            ..FilesConfig::default()
        };
        let indexer = Arc::new(
            Indexer::new(IndexerConfig {
                store: store.clone(),
                pool: None,
                vectors: Arc::clone(&vectors),
                roots: Roots::open(&config.roots, folder.path()).unwrap(),
                files: config,
                data_dir: Some(folder.join("store")),
                n_extractors: 1,
                left: None,
            })
            .unwrap(),
        );
        let of_knowledge = knowledge::ServiceSlot::default();
        let of_contexts = contexts::ServiceSlot::default();
        let of_files = files::ServiceSlot::default();
        let mut runners: HashMap<String, Arc<dyn Runner>> = HashMap::new();
        runners.extend(files::JOBS.map(|kind| (kind.to_owned(), of_files.runner())));
        runners.extend(knowledge::JOBS.map(|kind| (kind.to_owned(), of_knowledge.runner())));
        runners.extend(contexts::JOBS.map(|kind| (kind.to_owned(), of_contexts.runner())));
        let config = QueueConfig::for_one_machine();
        let queue = JobQueue::open(store.catalogue(), runners, config, clock.clone()).unwrap();
        let retriever = || {
            let slot = Arc::clone(&embedder);
            Retriever::new(store.clone(), Arc::new(move || slot.get(&soon())))
        };
        let files = files::Service::new(files::ServiceConfig {
            indexer,
            retriever: retriever(),
            queue: Arc::clone(&queue),
            llm: llm.clone(),
            clock: clock.clone(),
            index_wait: Duration::ZERO,
        });
        of_files.set(files.clone());
        let knowledge = knowledge::Service::new(knowledge::ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: retriever(),
            vectors: Arc::clone(&vectors),
            pool: None,
            llm,
            uploads: folder.join("uploads").into(),
            settings: knowledge::KnowledgeConfig::default(),
            clock: clock.clone(),
        });
        of_knowledge.set(knowledge.clone());
        let contexts = contexts::Service::new(contexts::ServiceConfig {
            store: store.clone(),
            catalogue: store.catalogue(),
            queue: Arc::clone(&queue),
            retriever: retriever(),
            vectors: Arc::clone(&vectors),
            staging: folder.join("staging"),
            locks: contexts::Locks::default(),
            settings: contexts::ContextsConfig::default(),
            clock,
        });
        of_contexts.set(contexts.clone());
        let across = across::Service::new(vec![
            Box::new(across::Folders::new(files.clone())),
            Box::new(across::KnowledgeBases::new(knowledge.clone())),
        ]);
        Fixture { files, knowledge, contexts, across, folder, queue, workers: None }
    }

    /// Runs what waits, until nothing is left to do.
    pub(crate) fn work(&mut self) {
        self.workers = Some(Workers::start(&self.queue).unwrap());
        loop {
            let jobs = self.queue.list().unwrap();
            let Some(job) = jobs.iter().find(|job| !job.state.is_final()) else { break };
            let job = self.queue.wait(&job.id, &soon()).unwrap();
            assert_eq!(job.state, JobState::Done, "{job:?}");
        }
    }

    /// Gives the path of something inside the folder, as an agent writes it.
    pub(crate) fn path(&self, inner: &str) -> String {
        self.folder.join(inner).to_string_lossy().into_owned()
    }

    /// Makes a page the same in every folder.
    pub(crate) fn settled(&self, page: &str) -> String {
        page.replace(&*self.folder.path().to_string_lossy(), "[folder]")
    }

    /// Opens charts over a few facts.
    pub(crate) fn charts(&self, dimensions: filters::Service, clock: Clock) -> Charts {
        self.folder.write("facts.csv", "month,account,amount,unit\n2024-01,ch,7,1\n");
        let config = json!({
            "source": "facts.csv",
            "columns": { "period": "month", "account": "account", "amount": "amount", "uat": "unit" },
        });
        Charts::open(ChartSettings {
            config: Some(serde_json::from_value(config).unwrap()),
            folder: self.folder.path().to_owned(),
            data_folder: self.folder.join("charts"),
            base_url: "http://127.0.0.1:7700/".to_owned(),
            clock,
            dimensions: Some(dimensions),
        })
        .unwrap()
    }

    /// Makes a knowledge base that only its owner may read.
    pub(crate) fn base_of(&self, owner: &Caller) -> String {
        let new = knowledge::NewBase { name: "Handbook".to_owned(), ..Default::default() };
        self.knowledge.create_base(owner, &new).unwrap().id.to_string()
    }
}

/// A deadline that no test reaches.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A language model that is away.
pub(crate) struct Away;

impl Llm for Away {
    fn name(&self) -> &'static str {
        "test/away"
    }

    fn complete(&self, _: &[Message], _: u32, _: &Deadline) -> infer::Result<Completion> {
        Err(infer::Error::OutOfTime { doing: "writing", n_done: 0, n_asked: 1 })
    }

    fn complete_streaming(
        &self,
        messages: &[Message],
        max_tokens: u32,
        deadline: &Deadline,
        _: &mut dyn FnMut(&str) -> Continue,
    ) -> infer::Result<Completion> {
        self.complete(messages, max_tokens, deadline)
    }
}
