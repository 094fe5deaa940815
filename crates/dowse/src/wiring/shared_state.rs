//! What outlives a change of the configuration: the record of calls, the counts, the store, the
//! job queue and the models.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwapOption;
use files::VECTORS_JOB;
use guard::{Answers, Audit, AuditConfig, FailedLogins, Limiter, LimitsConfig, Metrics};
use infer::EmbedderSlot;
use ingest::{Job, JobQueue, QueueConfig, Runner, VectorWorker, Vectors, Workers};
use knowledge::UploadFiles;
use model::{Clock, TenantId};
use parking_lot::Mutex;
use retrieve::Retriever;
use serve::{Deleted, SlotLimits, Slots};
use store::{Access, Catalogue, Store, Verify};

use super::away::Away;
use super::configured::row_sources;
use super::erasure::{CurrentAnswers, Eraser};
use super::feeds::{FeedProblems, Feeds};
use super::{close, followers, models, open_store, presence};
use crate::archive::Places;
use crate::config::{CatalogueKind, Config, RerankerConfig, StoreConfig};

/// Folders of the data folder, which nobody but the server's user may enter.
const FOLDERS: [&str; 7] = ["answers", "audit", "store", "uploads", "staging", "charts", "tables"];

/// What is said of a data folder that cannot be used.
pub(super) const NOT_WRITABLE: &str = "the data folder cannot be written\n\
                                       hint: set `data_dir` to a folder that can be written";

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

/// The folder in the data folder for charts and their column files.
pub(super) const CHARTS: &str = "charts";

/// Gives the folder of charts and their column files inside the data folder.
pub(crate) fn chart_folder(data_dir: &Path) -> PathBuf {
    data_dir.join(CHARTS)
}

/// Puts charts where a configuration has them, whichever way they came: into the catalogue that
/// servers share, or into the folder of the only one.
pub(crate) fn place_charts(config: &Config, catalogue: &dyn Catalogue) -> anyhow::Result<()> {
    let folder = chart_folder(&config.data_dir);
    if catalogue.is_shared() {
        filters::charts::take_charts_into_catalogue(&folder, catalogue)?;
    } else {
        let now = crate::clock::system().now();
        filters::charts::take_charts_into_folder(catalogue, &folder, now)?;
    }
    Ok(())
}

pub(crate) fn store_folder(data_dir: &std::path::Path) -> std::path::PathBuf {
    data_dir.join("store")
}

/// What happens to jobs that are waiting when the store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jobs {
    /// They are run for as long as the process lives.
    Run,
    /// They stay for a process that runs them: a command that only looks does no work of others,
    /// which would begin and be stopped again when it ends.
    Leave,
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
    answers: CurrentAnswers,
    pub(crate) clock: Clock,
    pub(crate) embedder: Arc<EmbedderSlot>,
    data_dir: std::path::PathBuf,
    /// The folder of the configuration, where relative paths start.
    base: std::path::PathBuf,
    store: StoreConfig,
    verify: Verify,
    access: Access,
    jobs: Jobs,
    kept: Arc<OnceLock<OpenStore>>,
    /// The configuration of the application of the moment; nothing for a command without one.
    pub(crate) served: Arc<ArcSwapOption<Config>>,
    pub(crate) files: files::ServiceSlot,
    pub(crate) filters: Arc<ArcSwapOption<filters::Service>>,
    pub(crate) knowledge: knowledge::ServiceSlot,
    /// Folders that feed collections.
    pub(crate) feeds: Arc<ArcSwapOption<Feeds>>,
    /// Why some of them cannot be followed at the moment.
    pub(crate) feed_problems: FeedProblems,
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
    _workers: Option<Workers>,
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

    /// Makes the vectors of what was just asked for, in a process that ends with its answer: nobody
    /// else does as long as no server runs. What cannot be made is left to the next one.
    pub(crate) fn pay_asked(&self) {
        if self.store.access() == Access::Read {
            return;
        }
        if let Err(error) = self.vectors.pay_asked() {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "vectors could not be made; the next search tries again");
        }
    }
}

impl SharedState {
    /// Opens what is kept in the data folder.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        // Commands write there as a server does, whatever files of theirs others may read otherwise.
        crate::platform::keep_private();
        keep_private(config).context(NOT_WRITABLE)?;
        let audit = Audit::open(&config.data_dir.join("audit")).context(NOT_WRITABLE)?;
        SharedState::with(config, audit, Access::Write)
    }

    /// Opens the same where it may only be read: nothing is written there, calls are not recorded,
    /// and jobs are left.
    pub(crate) fn open_to_read(config: &Config) -> anyhow::Result<Self> {
        let audit = Audit::unwritten(&config.data_dir.join("audit"));
        Ok(SharedState::with(config, audit, Access::Read)?.with_jobs(Jobs::Leave))
    }

    fn with(config: &Config, audit: Audit, access: Access) -> anyhow::Result<Self> {
        Ok(SharedState {
            audit: Arc::new(audit),
            metrics: Arc::new(Metrics::new()),
            failed_logins: Arc::default(),
            away: Away::default(),
            limiter: Arc::default(),
            slots: Arc::default(),
            answers: CurrentAnswers::new(&config.data_dir, crate::clock::system()),
            clock: crate::clock::system(),
            embedder: Arc::new(EmbedderSlot::new(models::embedder(config)?)),
            data_dir: config.data_dir.clone(),
            base: config.base.clone(),
            store: config.store.clone(),
            verify: Verify::AtOpening,
            access,
            jobs: Jobs::Run,
            kept: Arc::default(),
            served: Arc::default(),
            files: files::ServiceSlot::default(),
            filters: Arc::default(),
            knowledge: knowledge::ServiceSlot::default(),
            feeds: Arc::default(),
            feed_problems: FeedProblems::default(),
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

    /// Runs the jobs that wait or leaves them; before it is opened.
    #[must_use]
    pub(crate) fn with_jobs(mut self, jobs: Jobs) -> Self {
        self.jobs = jobs;
        self
    }

    /// Gives the jobs that wait in a data folder whose jobs nobody runs now. Where servers share a
    /// catalogue, another one may run them.
    pub(crate) fn stopped_jobs(&self) -> anyhow::Result<Vec<Job>> {
        let kept = self.open_store()?;
        if self.jobs == Jobs::Run || kept.store.catalogue().is_shared() {
            return Ok(vec![]);
        }
        let mut jobs = kept.queue.list()?;
        jobs.retain(|job| !job.state.is_final() && job.kind != VECTORS_JOB);
        Ok(jobs)
    }

    /// Tells whether the data folder may be written.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Refuses what would change data that may only be read.
    ///
    /// # Errors
    ///
    /// Where it may.
    pub(crate) fn ensure_writable(&self) -> anyhow::Result<()> {
        let shown = self.data_dir.display();
        anyhow::ensure!(
            self.access == Access::Write,
            "this user may not write the data folder `{shown}`\n\
             hint: run this as the user whose data it is, or name another folder with `--data-dir`"
        );
        Ok(())
    }

    /// Gives a folder of what can be made again, to be written while it is used: where the data
    /// folder may only be read, one elsewhere that goes when the command ends.
    pub(super) fn made_again(&self, name: &str) -> anyhow::Result<PathBuf> {
        match self.access {
            Access::Write => Ok(self.data_dir.join(name)),
            Access::Read => Ok(close::until_closed(tempfile::tempdir()?)),
        }
    }

    /// Gives the folder that holds everything that is kept.
    pub(crate) fn data_dir(&self) -> &std::path::Path {
        &self.data_dir
    }

    /// Gives what keeps answers for replay, by a configuration: a folder of this server, or the
    /// catalogue that several share.
    ///
    /// # Errors
    ///
    /// When the catalogue does not answer.
    pub(crate) fn answers(&self, config: &AuditConfig) -> anyhow::Result<Arc<Answers>> {
        Ok(self.answers.configure(self.shared_catalogue()?, config)?)
    }

    /// Lets go of kept answers that are over their time.
    pub(crate) fn let_old_answers_go(&self) {
        if self.access == Access::Read {
            return;
        }
        let Some(answers) = self.answers.opened() else { return };
        if let Err(error) = answers.let_old_go(self.clock.now()) {
            tracing::error!(%error, "kept answers that are over their time could not be removed");
        }
    }

    /// Erases the kept answers of a tenant, or of all, since they may hold text of a source that
    /// was just deleted.
    pub(crate) fn erase_answers(&self, tenant: Option<&TenantId>) {
        self.with_answers(|answers| answers.erase(tenant.map(TenantId::as_str)));
    }

    /// Erases the kept answers of a tenant, or of all, that may hold text of what was just deleted.
    pub(crate) fn erase_answers_of(&self, tenant: Option<&TenantId>, deleted: &Deleted) {
        let at = self.clock.now();
        self.with_answers(|answers| serve::erase_answers(answers, tenant, at, deleted));
    }

    /// Gives what erases them for those that this holds itself.
    pub(super) fn eraser(&self) -> anyhow::Result<Eraser> {
        Ok(Eraser {
            answers: self.answers.clone(),
            clock: self.clock.clone(),
            shared: self.shared_catalogue()?,
        })
    }

    fn with_answers(&self, erase: impl FnOnce(&Answers) -> std::io::Result<()>) {
        let erased =
            self.shared_catalogue().and_then(|shared| Ok(erase(&*self.answers.open(shared)?)?));
        if let Err(error) = erased {
            tracing::error!(%error, "stored answers could not be erased");
        }
    }

    /// Names the tables and dimensions of the configuration of the moment.
    pub(super) fn served_row_sources(&self) -> BTreeSet<String> {
        self.served.load_full().map(|config| row_sources(&config)).unwrap_or_default()
    }

    /// Gives where uploads and originals are.
    pub(crate) fn uploads(&self) -> anyhow::Result<UploadFiles> {
        let catalogue = self.open_store()?.store.catalogue();
        Ok(upload_files(&self.store, &self.base, &self.data_dir, catalogue))
    }

    /// Gives the catalogue where several servers share it; a server of its own need not open one for
    /// this.
    pub(crate) fn shared_catalogue(&self) -> anyhow::Result<Option<Arc<dyn Catalogue>>> {
        if self.store.choice()?.catalogue == CatalogueKind::Sqlite {
            return Ok(None);
        }
        Ok(Some(self.open_store()?.store.catalogue()))
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

    /// Gives the store and the queue where they are open.
    pub(crate) fn opened(&self) -> Option<&OpenStore> {
        self.kept.get()
    }

    /// Gives the store and the queue, opening them when that has not happened.
    pub(crate) fn open_store(&self) -> anyhow::Result<&OpenStore> {
        if let Some(kept) = self.kept.get() {
            return Ok(kept);
        }
        let folder = store_folder(&self.data_dir);
        let store = Arc::new(open_store::open_verified(
            &self.store,
            &folder,
            self.clock.clone(),
            self.verify,
            self.access,
        )?);
        close::remember(&store);
        followers::follow(&store)?;
        presence::announce(&store, &self.data_dir)?;
        let (catalogue, bounds) = (store.catalogue(), QueueConfig::for_one_machine());
        let (runners, clock) = (self.runners(), self.clock.clone());
        let queue = match (self.access, catalogue.is_shared()) {
            (Access::Read, _) => JobQueue::open_to_look(catalogue, runners, bounds, clock),
            (_, true) => JobQueue::open_shared(catalogue, runners, bounds, clock, self.lease())?,
            (_, false) => JobQueue::open(catalogue, runners, bounds, clock)?,
        };
        let workers = match self.jobs {
            Jobs::Run => {
                close::remember_queue(&queue);
                Some(Workers::start(&queue)?)
            }
            Jobs::Leave => None,
        };
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
        let mut runners: HashMap<String, Arc<dyn Runner>> = HashMap::new();
        runners.extend(files::JOBS.map(|kind| (kind.to_owned(), self.files.runner())));
        runners.extend(knowledge::JOBS.map(|kind| (kind.to_owned(), self.knowledge.runner())));
        runners.extend(contexts::JOBS.map(|kind| (kind.to_owned(), self.contexts.runner())));
        runners
    }
}
