//! What outlives a change of the configuration: the record of calls, the counts, the store, the
//! job queue and the models.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwapOption;
use files::{INDEX_JOB, Indexer, VECTORS_JOB};
use guard::{Answers, Audit, AuditConfig, FailedLogins, Limiter, LimitsConfig, Metrics};
use infer::EmbedderSlot;
use ingest::{
    Job, JobContext, JobFailure, JobQueue, QueueConfig, Runner, VectorWorker, Vectors, Workers,
};
use knowledge::UploadFiles;
use model::{Clock, TenantId};
use parking_lot::Mutex;
use retrieve::Retriever;
use serve::{SlotLimits, Slots};
use store::{Catalogue, Store, Verify};

use super::away::Away;
use super::feeds::Feeds;
use super::{close, followers, models, open_store};
use crate::archive::Places;
use crate::config::{Config, RerankerConfig, StoreConfig};

/// Folders of the data folder, which nobody but the server's user may enter.
const FOLDERS: [&str; 7] = ["answers", "audit", "store", "uploads", "staging", "charts", "tables"];

/// Makes the data folder private, also one that an earlier version made for everybody. A data
/// folder that holds the configuration itself is somebody's project: only our own folders in it
/// are narrowed.
fn keep_private(config: &Config) -> std::io::Result<()> {
    if std::path::absolute(std::path::Path::new(".").join(&config.data_dir))?
        == std::path::absolute(std::path::Path::new(".").join(&config.base))?
    {
        fs_err::create_dir_all(&config.data_dir)?;
    } else {
        guard::private::create_folder(&config.data_dir)?;
    }
    FOLDERS
        .iter()
        .map(|folder| config.data_dir.join(folder))
        .filter(|path| path.is_dir())
        .try_for_each(|folder| guard::private::create_folder(&folder))
}

/// Gives where the folders of a backup of this configuration are put back.
pub(crate) fn places_of(config: &Config) -> Places {
    let uploads = match &config.store.uploads {
        Some(folder) => config.base.join(folder),
        None => config.data_dir.join("uploads"),
    };
    Places { data_dir: config.data_dir.clone(), uploads: Some(uploads) }
}

/// Gives where the uploads of a configuration are: with a catalogue that servers share in the
/// catalogue itself, unless a folder is named that all of them see.
pub(crate) fn upload_files(
    store: &StoreConfig,
    base: &Path,
    data_dir: &Path,
    catalogue: Arc<dyn Catalogue>,
) -> UploadFiles {
    let local = data_dir.join("uploads");
    match (&store.uploads, catalogue.is_shared()) {
        (Some(folder), true) => UploadFiles::in_shared_folder(base.join(folder)),
        (Some(folder), false) => UploadFiles::in_own_folder(base.join(folder), catalogue),
        (None, true) => UploadFiles::in_catalogue(local, catalogue),
        (None, false) => UploadFiles::in_own_folder(local, catalogue),
    }
}

/// Gives the folder of the store inside the data folder.
pub(crate) fn store_folder(data_dir: &std::path::Path) -> std::path::PathBuf {
    data_dir.join("store")
}

/// What outlives a change of the configuration. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(crate) audit: Arc<Audit>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) failed_logins: Arc<FailedLogins>,
    pub(crate) away: Away,
    /// Rates go on being counted over a change of the configuration, and so do calls in progress.
    limiter: Arc<ArcSwapOption<Limiter>>,
    slots: Arc<OnceLock<Arc<Slots>>>,
    /// Answers that are kept for replay, as the configuration of the moment says.
    answers: Arc<ArcSwapOption<Answers>>,
    pub(crate) clock: Clock,
    pub(crate) embedder: Arc<EmbedderSlot>,
    data_dir: std::path::PathBuf,
    /// The folder of the configuration, where relative paths start.
    base: std::path::PathBuf,
    store: StoreConfig,
    verify: Verify,
    kept: Arc<OnceLock<OpenStore>>,
    pub(crate) indexer: Arc<ArcSwapOption<Indexer>>,
    pub(crate) files: Arc<ArcSwapOption<files::Service>>,
    pub(crate) filters: Arc<ArcSwapOption<filters::Service>>,
    pub(crate) knowledge: knowledge::ServiceSlot,
    /// Folders that feed collections.
    pub(crate) feeds: Arc<ArcSwapOption<Feeds>>,
    pub(crate) contexts: contexts::ServiceSlot,
    pub(crate) context_locks: contexts::Locks,
    /// The retriever of all families, with the re-ranker that it was made for.
    pub(crate) retriever: SharedRetriever,
}

/// A retriever that is made when a family first needs it.
type SharedRetriever = Arc<Mutex<Option<(RerankerConfig, Retriever)>>>;

/// What is opened when a family first needs it.
pub(crate) struct OpenStore {
    pub(crate) store: Arc<Store>,
    pub(crate) queue: Arc<JobQueue>,
    pub(crate) vectors: Arc<Vectors>,
    vector_worker: OnceLock<VectorWorker>,
    _workers: Workers,
}

impl OpenStore {
    /// Lets the vectors that are missing be made from now on, for as long as the process lives.
    pub(crate) fn start_vectors(&self) -> anyhow::Result<()> {
        if self.vector_worker.get().is_none() {
            let worker = self.vectors.start()?;
            self.vector_worker.get_or_init(|| worker);
        }
        self.vectors.wake();
        Ok(())
    }
}

impl SharedState {
    /// Opens what is kept in the data folder.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        keep_private(config).context("hint: set `data_dir` to a folder that can be written")?;
        let audit = Audit::open(&config.data_dir.join("audit"))
            .context("hint: set `data_dir` to a folder that can be written")?;
        Ok(SharedState {
            audit: Arc::new(audit),
            metrics: Arc::new(Metrics::new()),
            failed_logins: Arc::default(),
            away: Away::default(),
            limiter: Arc::default(),
            slots: Arc::default(),
            answers: Arc::default(),
            clock: crate::clock::system(),
            embedder: Arc::new(EmbedderSlot::new(models::embedder(config)?)),
            data_dir: config.data_dir.clone(),
            base: config.base.clone(),
            store: config.store.clone(),
            verify: Verify::AtOpening,
            kept: Arc::default(),
            indexer: Arc::default(),
            files: Arc::default(),
            filters: Arc::default(),
            knowledge: knowledge::ServiceSlot::default(),
            feeds: Arc::default(),
            contexts: contexts::ServiceSlot::default(),
            context_locks: contexts::Locks::default(),
            retriever: SharedRetriever::default(),
        })
    }

    /// Compares what is kept with its checksums when `verify` says; before it is opened.
    #[must_use]
    pub(crate) fn verifying(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Gives the folder that holds everything that is kept.
    pub(crate) fn data_dir(&self) -> &std::path::Path {
        &self.data_dir
    }

    /// Gives what keeps answers for replay, by a configuration.
    pub(crate) fn answers(&self, config: &AuditConfig) -> Arc<Answers> {
        let answers = Arc::new(Answers::new(&self.data_dir.join("answers"), config));
        self.answers.store(Some(Arc::clone(&answers)));
        answers
    }

    /// Erases the kept answers of a tenant, or of all, since they may hold text of a source that
    /// was just deleted.
    pub(crate) fn erase_answers(&self, tenant: Option<&TenantId>) {
        let answers = self.answers.load_full().unwrap_or_else(|| {
            Arc::new(Answers::new(&self.data_dir.join("answers"), &AuditConfig::default()))
        });
        let tenant = tenant.map(TenantId::to_string);
        match answers.erase(tenant.as_deref()) {
            Ok(0) => {}
            Ok(n_erased) => tracing::info!(n_erased, "kept answers were erased with a source"),
            Err(error) => tracing::error!(%error, "kept answers could not be erased"),
        }
    }

    /// Gives where uploads and originals are.
    pub(crate) fn uploads(&self) -> anyhow::Result<UploadFiles> {
        let catalogue = self.kept()?.store.catalogue();
        Ok(upload_files(&self.store, &self.base, &self.data_dir, catalogue))
    }

    /// Gives how long a server keeps what it works on without a sign of life.
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.store.lease_seconds)
    }

    /// Gives the rates of a configuration, counted on from the one before.
    pub(crate) fn limiter(&self, limits: &LimitsConfig) -> Arc<Limiter> {
        let limiter = Arc::new(Limiter::following(limits, self.limiter.load().as_deref()));
        self.limiter.store(Some(Arc::clone(&limiter)));
        limiter
    }

    /// Gives the slots for calls, with the limits of a configuration.
    pub(crate) fn slots(&self, limits: SlotLimits) -> Arc<Slots> {
        let slots = self.slots.get_or_init(|| Slots::new(limits));
        slots.set_limits(limits);
        Arc::clone(slots)
    }

    /// Gives the store and the queue, opening them when that has not happened.
    pub(crate) fn kept(&self) -> anyhow::Result<&OpenStore> {
        if let Some(kept) = self.kept.get() {
            return Ok(kept);
        }
        let folder = store_folder(&self.data_dir);
        let store = Arc::new(open_store::open_verified(
            &self.store,
            &folder,
            self.clock.clone(),
            self.verify,
        )?);
        close::remember(&store);
        followers::follow(&store)?;
        let (catalogue, bounds) = (store.catalogue(), QueueConfig::for_one_machine());
        let (runners, clock) = (self.runners(), self.clock.clone());
        let queue = match catalogue.is_shared() {
            true => JobQueue::open_shared(catalogue, runners, bounds, clock, self.lease())?,
            false => JobQueue::open(catalogue, runners, bounds, clock)?,
        };
        let workers = Workers::start(&queue)?;
        let vectors = Vectors::new(Arc::clone(&store), Arc::clone(&self.embedder));
        Ok(self.kept.get_or_init(|| OpenStore {
            store,
            queue,
            vectors,
            vector_worker: OnceLock::new(),
            _workers: workers,
        }))
    }

    /// Each runner works with what the configuration of the moment says.
    fn runners(&self) -> HashMap<String, Arc<dyn Runner>> {
        let with_indexer = |choose: fn(&Arc<Indexer>) -> Arc<dyn Runner>| -> Arc<dyn Runner> {
            Arc::new(FolderRunner { indexer: Arc::clone(&self.indexer), choose })
        };
        let mut runners = HashMap::from([
            (INDEX_JOB.to_owned(), with_indexer(Indexer::index_runner)),
            (VECTORS_JOB.to_owned(), with_indexer(Indexer::vectors_runner)),
        ]);
        runners.extend(knowledge::JOBS.map(|kind| (kind.to_owned(), self.knowledge.runner())));
        runners.extend(contexts::JOBS.map(|kind| (kind.to_owned(), self.contexts.runner())));
        runners
    }
}

/// Runs jobs on folders with the indexer of the moment.
struct FolderRunner {
    indexer: Arc<ArcSwapOption<Indexer>>,
    choose: fn(&Arc<Indexer>) -> Arc<dyn Runner>,
}

impl Runner for FolderRunner {
    fn run(&self, job: &Job, context: &JobContext) -> Result<serde_json::Value, JobFailure> {
        let indexer = match context.wait_for(|| self.indexer.load_full()) {
            Err(JobFailure::Passing(_)) => {
                return Err(JobFailure::Final("no folders are configured any more".to_owned()));
            }
            waited => waited?,
        };
        (self.choose)(&indexer).run(job, context)
    }

    fn can_run(&self, job: &Job) -> bool {
        self.indexer.load_full().is_some_and(|indexer| (self.choose)(&indexer).can_run(job))
    }
}
