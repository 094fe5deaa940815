//! Takes what changed in a root into the store, and what is gone out of it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use extract::{Caps, Pool};
use ingest::{Cut, Gone, Pipeline, Progress, Scope, Unchanged, Vectors};
use model::{AttributeValue, DocumentId, NamespaceId, TenantId, Timestamp, Warning};
use serde::{Deserialize, Serialize};
use store::{DocumentInfo, DocumentPage, Manifest, Store, TypedObject};

use crate::by_name;
use crate::hooks::FileHooks;
use crate::listing::volume_of;
use crate::name::text_of;
use crate::own::{is_data_folder, is_own_in, own_in};
use crate::reach::Reach;
use crate::right_of_way::RightOfWay;
use crate::walk::{FileSource, Selection};
use crate::watch_gate::WatchGate;
use crate::{FilesConfig, Indexed, Result, Root, Roots};

/// Documents looked at in one go when those that are gone are taken out.
const LIST_PAGE: usize = 1000;

/// Names of attributes by which files are filtered.
pub(crate) mod attribute {
    /// The root's path.
    pub(crate) const ROOT: &str = "root";
    /// The extension with its point.
    pub(crate) const EXT: &str = "ext";
    /// Years in name or text.
    pub(crate) const YEARS: &str = "years";
    /// What became of the file when it was read.
    pub(crate) const OUTCOME: &str = "outcome";
    /// Names what the file says: files with the same text have the same.
    pub(crate) const CONTENT: &str = "content";
}

/// The namespace that files live in.
const NAMESPACE: &str = "files";

/// Erases what was indexed of some roots, by their names, and tells how many files that were.
pub fn forget_roots(store: &Store, roots: &BTreeSet<String>) -> Result<usize> {
    let namespace = NamespaceId::new(NAMESPACE);
    let mut page = DocumentPage { prefix: String::new(), after: None, limit: LIST_PAGE };
    let mut n_removed = 0;
    loop {
        let documents = match store.documents(&namespace, &page) {
            Err(store::Error::UnknownNamespace { .. }) => return Ok(0),
            documents => documents?,
        };
        let Some(last) = documents.last() else { break };
        page.after = Some(last.id.clone());
        let is_gone = |document: &DocumentInfo| {
            matches!(document.attributes.get(attribute::ROOT),
                Some(AttributeValue::Keyword(root)) if roots.contains(root))
        };
        let gone = documents.into_iter().filter(is_gone).map(|document| document.id);
        let gone: Vec<DocumentId> = gone.collect();
        if !gone.is_empty() {
            by_name::remove(store, &gone)?;
            n_removed += store.delete(&namespace, &gone)?;
        }
    }
    if n_removed > 0 {
        store.forget_erased(&[namespace, by_name::namespace()])?;
    }
    Ok(n_removed)
}

/// What happens to files of folders that are no roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangers {
    /// They leave the index: whoever took the folder out of the configuration asked for that.
    Forget,
    /// They stay, unseen: nobody asked for anything.
    Keep,
}

/// Names the roots that a store has files of, for one that nobody wrote them down for.
pub fn indexed_roots(store: &Store) -> Result<BTreeSet<String>> {
    let namespace = NamespaceId::new(NAMESPACE);
    let counts = match store.count_documents(&namespace, &[attribute::ROOT]) {
        Err(store::Error::UnknownNamespace { .. }) => return Ok(BTreeSet::new()),
        counts => counts?,
    };
    Ok(counts.into_iter().flat_map(|count| count.values).flatten().collect())
}

/// What an indexer works with.
pub struct IndexerConfig {
    /// Where passages go.
    pub store: Arc<Store>,
    /// Worker processes for extraction.
    pub pool: Option<Arc<Pool>>,
    /// Told that passages without a vector wait.
    pub vectors: Arc<Vectors>,
    /// What is indexed.
    pub files: FilesConfig,
    /// Where.
    pub roots: Roots,
    /// The folder of this program's own data, which is never indexed.
    pub data_dir: Option<PathBuf>,
    /// Documents that are read side by side.
    pub n_extractors: usize,
    /// Hears which files have left the index, by their paths; nobody does where there is nothing.
    pub left: Option<Left>,
}

/// What hears which files have left the index.
pub type Left = Box<dyn Fn(Vec<String>) + Send + Sync>;

/// Indexes roots.
pub struct Indexer {
    config: IndexerConfig,
    namespace: NamespaceId,
    reach: Reach,
    /// Roots that are known to have been indexed to their end.
    completed: Mutex<HashSet<String>>,
    /// Why changes of the roots are not noticed now, where they are not.
    watch_problem: Mutex<Option<String>>,
    /// Lets what was just changed be written before the rest of a folder.
    way: Arc<RightOfWay>,
    /// Lets runs over whole roots wait until these are watched.
    watch_gate: WatchGate,
}

/// What a job is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IndexArguments {
    pub(crate) root: String,
    pub(crate) folder: String,
    pub(crate) full: bool,
    /// The paths that changed; everything in the folder when absent.
    #[serde(default, with = "crate::name", skip_serializing_if = "Option::is_none")]
    pub(crate) paths: Option<BTreeSet<PathBuf>>,
    /// Of what is below these paths, what changed since then; everything when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

/// A root that was indexed to its end at least once.
#[derive(Debug, Serialize, Deserialize)]
struct CompletedRoot {
    root: String,
}

impl TypedObject for CompletedRoot {
    type Id = str;

    const KIND: &'static str = "files_root";

    fn id(&self) -> String {
        self.root.clone()
    }

    fn tenant(&self) -> TenantId {
        TenantId::local()
    }
}

impl Indexer {
    /// Prepares an indexer, and the namespace that files live in.
    pub fn new(mut config: IndexerConfig) -> Result<Self> {
        let namespace = NamespaceId::new(NAMESPACE);
        config.store.create_namespace(&namespace, &Manifest::current(None))?;
        by_name::create(&config.store)?;
        config.vectors.leave_out(by_name::namespace());
        // Paths are compared as they are resolved.
        config.data_dir =
            config.data_dir.map(|folder| fs_err::canonicalize(&folder).unwrap_or(folder));
        Ok(Indexer {
            config,
            namespace,
            reach: Reach::of_disk(),
            completed: Mutex::default(),
            watch_problem: Mutex::default(),
            way: Arc::default(),
            watch_gate: WatchGate::default(),
        })
    }

    /// Gives the namespace that files live in.
    pub fn namespace(&self) -> &NamespaceId {
        &self.namespace
    }

    /// Gives the folders that may be indexed.
    pub fn roots(&self) -> &Roots {
        &self.config.roots
    }

    /// Says why changes of the roots are not noticed now, where they are not.
    pub(crate) fn watch_problem(&self) -> Option<String> {
        self.watch_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_watch_problem(&self, problem: Option<String>) {
        *self.watch_problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Names those roots among the given ones that could not be reached when last asked.
    pub(crate) fn unreachable<'a>(&self, roots: &'a [String]) -> Vec<&'a str> {
        let roots = roots.iter().map(String::as_str);
        roots.filter(|root| !self.reach.was_there(Path::new(root))).collect()
    }

    /// Asks whether a root is there, for a limited time.
    pub(crate) fn is_there(&self, root: &Path) -> bool {
        self.reach.ask(root)
    }

    /// Tells whether a root was ever indexed to its end.
    pub(crate) fn is_completed(&self, root: &str) -> Result<bool> {
        let lock = || self.completed.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().contains(root) {
            return Ok(true);
        }
        let is_completed = CompletedRoot::load(&*self.config.store.objects(), root)?.is_some();
        if is_completed {
            lock().insert(root.to_owned());
        }
        Ok(is_completed)
    }

    /// Tells whether anything of a root is in the index.
    pub(crate) fn has_documents(&self, root: &str) -> Result<bool> {
        let prefix = format!("{}/", root.trim_end_matches('/'));
        let wanted = DocumentPage { prefix, after: None, limit: 1 };
        match self.config.store.documents(&self.namespace, &wanted) {
            Ok(documents) => Ok(!documents.is_empty()),
            Err(store::Error::UnknownNamespace { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells whether a path is this program's own data.
    pub(crate) fn is_own_data(&self, path: &Path) -> bool {
        let Some(data_dir) = &self.config.data_dir else { return false };
        if is_own_in(path, |folder| folder == data_dir || is_data_folder(folder)) {
            return true;
        }
        // Somebody's project may be the data folder, too: what is not Dowse's own is theirs.
        let owner = self.config.roots.owner_of(path);
        path.starts_with(data_dir) && owner.is_none_or(|root| !root.path.starts_with(data_dir))
    }

    /// Names those roots that are the data folder or in it: what is Dowse's own there is not indexed.
    pub(crate) fn roots_in_data(&self) -> Vec<String> {
        let Some(data_dir) = &self.config.data_dir else { return vec![] };
        let roots = self.config.roots.all().iter();
        roots.filter(|root| root.path.starts_with(data_dir)).map(|root| root.name.clone()).collect()
    }

    /// Takes out of the index, and off the disk, what belongs to no root any more or was indexed
    /// through another root than its own, and tells how many files that were.
    pub fn forget_other_roots(&self, strangers: Strangers) -> Result<usize> {
        let mut page = DocumentPage { prefix: String::new(), after: None, limit: LIST_PAGE };
        let mut n_removed = 0;
        loop {
            let documents = self.config.store.documents(&self.namespace, &page)?;
            let Some(last) = documents.last() else { break };
            page.after = Some(last.id.clone());
            let is_known = |document: &DocumentInfo| match self
                .config
                .roots
                .owner_of(Path::new(document.id.as_str()))
            {
                None => strangers == Strangers::Keep,
                Some(owner) => {
                    let root = document.attributes.get(attribute::ROOT);
                    root == Some(&owner.name.as_str().into())
                }
            };
            let gone: Vec<DocumentId> = documents
                .into_iter()
                .filter(|document| !is_known(document))
                .map(|document| document.id)
                .collect();
            if !gone.is_empty() {
                by_name::remove(&self.config.store, &gone)?;
                n_removed += self.config.store.delete(&self.namespace, &gone)?;
            }
        }
        if n_removed > 0 {
            self.config.store.forget_erased(&[self.namespace.clone(), by_name::namespace()])?;
        }
        Ok(n_removed)
    }

    /// Lets what was just changed be written before the rest of a folder.
    pub(crate) fn way(&self) -> &RightOfWay {
        &self.way
    }

    /// Lets runs over whole roots wait until these are watched.
    pub(crate) fn watch_gate(&self) -> &WatchGate {
        &self.watch_gate
    }

    /// Gives what it works with.
    pub(crate) fn config(&self) -> &IndexerConfig {
        &self.config
    }

    /// Indexes a folder of a root: what changed by size or time, or everything when `full`. The
    /// old version of a file is found until the new one is there.
    pub fn index(
        &self,
        root: &Root,
        folder: &Path,
        full: bool,
        progress: &Progress,
    ) -> Result<Indexed> {
        self.take_in(root, &Selection::Folder(folder.to_owned()), full, progress)
    }

    /// Tells whether a root has anything that is new, changed or gone, without writing.
    pub(crate) fn has_changes(&self, root: &Root, selection: &Selection) -> Result<bool> {
        if !self.reach.ask(&root.path) {
            return Ok(false);
        }
        let mut source = self.source(root, selection)?;
        Ok(self.pipeline(root, selection, Unchanged::Skip).has_changes(&mut source)?)
    }

    pub(crate) fn take_in(
        &self,
        root: &Root,
        selection: &Selection,
        full: bool,
        progress: &Progress,
    ) -> Result<Indexed> {
        let begun = Instant::now();
        let is_change = !matches!(selection, Selection::Folder(_));
        if !is_change {
            self.watch_gate.pass(&root.name, || progress.is_cancelled());
        }
        let _passing = is_change.then(|| self.way.pass());
        let _running = (!is_change).then(|| self.way.run());
        if !self.reach.ask(&root.path) {
            return Ok(Indexed::unreachable(&root.path, whole_millis(begun.elapsed())));
        }
        let mut source = self.source(root, selection)?;
        let unchanged = if full { Unchanged::Rewrite } else { Unchanged::Skip };
        let gone = Arc::default();
        let hooks = Arc::new(FileHooks {
            cut: Cut::prose(),
            gone: Arc::clone(&gone),
            way: Arc::clone(&self.way),
            is_change,
        });
        let mut pipeline = Pipeline { hooks, ..self.pipeline(root, selection, unchanged) };
        if is_change {
            pipeline.pool = pipeline.pool.map(|pool| self.way.pool(&pool));
        }
        let ran = pipeline.run(&mut source, progress);
        // Also what left before a run failed.
        let gone = std::mem::take(&mut *gone.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(left) = self.config.left.as_ref().filter(|_| !gone.is_empty()) {
            left(gone.iter().map(|id| id.as_str().to_owned()).collect());
        }
        let report = ran?;
        self.config.vectors.wake();
        let mut warnings = report.warnings;
        let mut n_warnings = report.n_warnings;
        if !report.is_complete {
            n_warnings += 1;
            let message = format!(
                "`{}` could not be read in full: nothing was taken out of the index",
                root.path.display()
            );
            warnings.push(Warning::new("incomplete", message));
        } else if *selection == Selection::Folder(root.path.clone())
            && !self.is_completed(&root.name)?
        {
            CompletedRoot { root: root.name.clone() }.save(&*self.config.store.objects())?;
        }
        Ok(Indexed {
            indexed: report.n_written,
            without_text: report.n_without_text,
            skipped: report.n_unchanged + report.n_failed,
            removed: report.n_removed,
            duration_ms: whole_millis(begun.elapsed()),
            warnings,
            n_warnings,
        })
    }

    pub(crate) fn pipeline(
        &self,
        root: &Root,
        selection: &Selection,
        unchanged: Unchanged,
    ) -> Pipeline {
        let inner: Vec<String> =
            self.config.roots.inside(root).iter().map(|inner| below(&inner.path)).collect();
        let scope = match selection {
            Selection::Folder(folder) => Scope::below(below(folder)),
            // What became of single paths; a folder in which more changed is still one.
            Selection::Paths(paths) | Selection::Recent(paths, _) => Scope::of(
                paths.iter().map(|path| DocumentId::new(text_of(path))).collect(),
                paths.iter().map(|path| below(path)).collect(),
            ),
        };
        Pipeline {
            store: Arc::clone(&self.config.store),
            namespace: self.namespace.clone(),
            caps: Caps::standard(),
            pool: self.config.pool.clone(),
            n_extractors: self.config.n_extractors,
            unchanged,
            scope: Some(scope.except(inner)),
            gone: Gone::Remove,
            hooks: Arc::new(Cut::prose()),
        }
    }

    /// Lists the folders in a root that no walk of it enters: other roots, and this program's data.
    pub(crate) fn left_out(&self, root: &Root) -> Vec<PathBuf> {
        let inner = self.config.roots.inside(root);
        let mut left_out: Vec<PathBuf> = inner.iter().map(|inner| inner.path.clone()).collect();
        match &self.config.data_dir {
            Some(data_dir) if root.path.starts_with(data_dir) => left_out.extend(own_in(data_dir)),
            Some(data_dir) => left_out.push(data_dir.clone()),
            None => {}
        }
        left_out
    }

    pub(crate) fn source(&self, root: &Root, selection: &Selection) -> Result<FileSource> {
        let start = match selection {
            Selection::Folder(folder) => folder,
            Selection::Paths(_) | Selection::Recent(..) => &root.path,
        };
        let page = DocumentPage { prefix: below(start), after: None, limit: 1 };
        let documents = self.config.store.documents(&self.namespace, &page)?;
        let indexed_device = documents.first().and_then(|first| first.metadata["device"].as_u64());
        // An empty folder may be where a file system was mounted: then nothing in it is gone, it
        // only cannot be seen.
        let may_be_unmounted =
            indexed_device.is_some_and(|device| volume_of(start) != Some(device));
        let is_inside = self.config.roots.is_inside_another(root);
        let mut source = FileSource::new(
            root.clone(),
            selection,
            &self.config.files,
            self.left_out(root),
            is_inside,
        );
        source.may_be_unmounted = may_be_unmounted;
        Ok(source)
    }
}

/// Begins the ids of everything below a folder.
pub(crate) fn below(folder: &Path) -> String {
    format!("{}/", text_of(folder).trim_end_matches('/'))
}

/// Counts whole milliseconds.
fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
