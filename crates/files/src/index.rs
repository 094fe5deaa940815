//! Takes what changed in a root into the store, and what is gone out of it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use extract::{Caps, Pool};
use infer::EmbedderSlot;
use ingest::{Cut, Embedding, Job, JobContext, JobFailure, Pipeline, Progress, Runner, Unchanged};
use model::{Block, Deadline, DocumentId, NamespaceId, Warning};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{DocumentPage, Manifest, Store};

use crate::reach::Reach;
use crate::time::whole_millis;
use crate::walk::{FileSource, device_of};
use crate::years::years;
use crate::{FilesConfig, Result, Root, Roots};

/// The kind of job that indexes a root.
pub const INDEX_JOB: &str = "files.index";

/// The kind of job that makes the vectors of what is indexed.
pub const VECTORS_JOB: &str = "files.vectors";

/// Documents looked at in one go when those that are gone are taken out.
const LIST_PAGE: usize = 1000;

/// How long opening the model may take inside a job.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// Names of attributes by which files are filtered.
pub(crate) mod attribute {
    /// The root's path.
    pub(crate) const ROOT: &str = "root";
    /// The extension with its point.
    pub(crate) const EXT: &str = "ext";
    /// Years in name or text.
    pub(crate) const YEARS: &str = "years";
}

/// The namespace that files live in.
const NAMESPACE: &str = "files";

/// Erases all that was ever indexed, for a server that has no roots any more; tells whether there
/// was anything.
pub fn forget_all(store: &Store) -> Result<bool> {
    Ok(store.drop_namespace(&NamespaceId::new(NAMESPACE))?)
}

/// What an indexer works with.
pub struct IndexerConfig {
    /// Where passages go.
    pub store: Arc<Store>,
    /// Worker processes for extraction.
    pub pool: Option<Arc<Pool>>,
    /// What makes vectors.
    pub embedder: Arc<EmbedderSlot>,
    /// What is indexed.
    pub files: FilesConfig,
    /// Where.
    pub roots: Roots,
    /// Documents that are read side by side.
    pub n_extractors: usize,
}

/// What indexing a root did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexed {
    /// Files that were new or changed.
    pub indexed: usize,
    /// Files that had not changed, or could not be read.
    pub skipped: usize,
    /// Files that are gone.
    pub removed: usize,
    /// How long it took.
    pub duration_ms: u64,
    /// What could not be read, or only in part.
    pub warnings: Vec<Warning>,
    /// How many warnings there were.
    pub n_warnings: usize,
}

/// Indexes roots.
pub struct Indexer {
    config: IndexerConfig,
    namespace: NamespaceId,
    reach: Reach,
}

/// What a job is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IndexArguments {
    pub(crate) root: String,
    pub(crate) folder: String,
    pub(crate) full: bool,
}

impl Indexer {
    /// Prepares an indexer, and the namespace that files live in.
    pub fn new(config: IndexerConfig) -> Result<Self> {
        let namespace = NamespaceId::new(NAMESPACE);
        config.store.create_namespace(&namespace, &Manifest::current(None))?;
        Ok(Indexer { config, namespace, reach: Reach::of_disk() })
    }

    /// Gives the namespace that files live in.
    pub fn namespace(&self) -> &NamespaceId {
        &self.namespace
    }

    /// Gives the roots.
    pub fn roots(&self) -> &Roots {
        &self.config.roots
    }

    /// Names those roots among the given ones that could not be reached when last asked.
    pub(crate) fn unreachable<'a>(&self, roots: &'a [String]) -> Vec<&'a str> {
        let roots = roots.iter().map(String::as_str);
        roots.filter(|root| !self.reach.was_there(Path::new(root))).collect()
    }

    /// Takes out of the index, and off the disk, what belongs to no root any more, and tells how
    /// many files that were.
    pub fn forget_other_roots(&self) -> Result<usize> {
        let mut page = DocumentPage { prefix: String::new(), after: None, limit: LIST_PAGE };
        let mut n_removed = 0;
        loop {
            let documents = self.config.store.documents(&self.namespace, &page)?;
            let Some(last) = documents.last() else { break };
            page.after = Some(last.id.clone());
            let is_known = |document: &DocumentId| {
                let path = Path::new(document.as_str());
                self.config.roots.all().iter().any(|root| path.starts_with(&root.path))
            };
            let gone: Vec<DocumentId> = documents
                .into_iter()
                .map(|document| document.id)
                .filter(|document| !is_known(document))
                .collect();
            if !gone.is_empty() {
                n_removed += self.config.store.delete(&self.namespace, &gone)?;
            }
        }
        if n_removed > 0 {
            self.config.store.forget_erased(std::slice::from_ref(&self.namespace))?;
        }
        Ok(n_removed)
    }

    /// Gives what it works with.
    pub(crate) fn config(&self) -> &IndexerConfig {
        &self.config
    }

    /// Indexes a folder of a root: what changed by size or time, or everything when `full`.
    pub fn index(
        &self,
        root: &Root,
        folder: &Path,
        full: bool,
        progress: &Progress,
    ) -> Result<Indexed> {
        let begun = Instant::now();
        if !self.reach.ask(&root.path) {
            let message = format!(
                "`{}` cannot be reached: the last index of it is kept",
                root.path.display()
            );
            return Ok(Indexed {
                duration_ms: whole_millis(begun.elapsed()),
                warnings: vec![Warning::new("root_unreachable", message)],
                n_warnings: 1,
                ..Indexed::default()
            });
        }
        if full {
            self.forget(folder, |_| false)?;
        }
        let mut source = FileSource::new(root.clone(), folder, &self.config.files);
        let pipeline = Pipeline {
            store: Arc::clone(&self.config.store),
            namespace: self.namespace.clone(),
            cut: Cut::prose(),
            caps: Caps::standard(),
            pool: self.config.pool.clone(),
            n_extractors: self.config.n_extractors,
            unchanged: if full { Unchanged::Rewrite } else { Unchanged::Skip },
            annotate: Some(Arc::new(|item, blocks: &[Block]| {
                let years = years(&item.title, blocks);
                item.attributes.insert(attribute::YEARS.to_owned(), years.into());
            })),
        };
        let report = pipeline.run(&mut source, progress)?;
        let mut warnings = report.warnings;
        let mut n_warnings = report.n_warnings;
        let is_whole =
            source.is_complete && folder.is_dir() && !self.is_unmounted(folder, &source)?;
        let removed = if is_whole {
            self.forget(folder, |document| source.seen.contains(document))?
        } else {
            n_warnings += 1;
            warnings.push(Warning::new(
                "incomplete",
                format!(
                    "`{}` could not be read in full: nothing was taken out of the index",
                    folder.display()
                ),
            ));
            0
        };
        Ok(Indexed {
            indexed: report.n_written,
            skipped: report.n_unchanged + report.n_failed,
            removed,
            duration_ms: whole_millis(begun.elapsed()),
            warnings,
            n_warnings,
        })
    }

    /// Makes the vectors that are missing. Without a model there is nothing to do.
    pub fn embed(&self, progress: &Progress) -> Result<usize> {
        let Ok(embedder) = self.config.embedder.get(&Deadline::after(MODEL_WAIT)) else {
            return Ok(0);
        };
        let space = Embedding::space_of(&*embedder);
        self.config.store.set_vector_space(&self.namespace, Some(&space))?;
        let embedding = Embedding {
            store: Arc::clone(&self.config.store),
            namespace: self.namespace.clone(),
            embedder,
        };
        Ok(embedding.run(progress)?.n_embedded)
    }

    /// Tells whether an empty folder stands where a file system was mounted: then nothing in it
    /// is gone, it only cannot be seen.
    fn is_unmounted(&self, folder: &Path, source: &FileSource) -> Result<bool> {
        if !source.seen.is_empty() {
            return Ok(false);
        }
        let Some(prefix) = folder.to_str() else { return Ok(false) };
        let page = DocumentPage {
            prefix: format!("{}/", prefix.trim_end_matches('/')),
            after: None,
            limit: 1,
        };
        let documents = self.config.store.documents(&self.namespace, &page)?;
        let indexed = documents.first().and_then(|first| first.metadata["device"].as_u64());
        Ok(indexed.is_some_and(|device| device_of(folder) != Some(device)))
    }

    /// Takes documents below a folder out of the index, but for those to keep.
    fn forget(&self, folder: &Path, keep: impl Fn(&DocumentId) -> bool) -> Result<usize> {
        let prefix = match folder.to_str() {
            Some(folder) => format!("{}/", folder.trim_end_matches('/')),
            None => return Ok(0),
        };
        let mut page = DocumentPage { prefix, after: None, limit: LIST_PAGE };
        let mut n_removed = 0;
        loop {
            let documents = self.config.store.documents(&self.namespace, &page)?;
            let Some(last) = documents.last() else { return Ok(n_removed) };
            page.after = Some(last.id.clone());
            let gone: Vec<DocumentId> = documents
                .into_iter()
                .map(|document| document.id)
                .filter(|document| !keep(document))
                .collect();
            if !gone.is_empty() {
                n_removed += self.config.store.delete(&self.namespace, &gone)?;
            }
        }
    }

    /// Gives the runner of jobs that index.
    pub fn index_runner(self: &Arc<Self>) -> Arc<dyn Runner> {
        let indexer = Arc::clone(self);
        Arc::new(move |job: &Job, context: &JobContext| indexer.run_job(job, context))
    }

    /// Gives the runner of jobs that make vectors.
    pub fn vectors_runner(self: &Arc<Self>) -> Arc<dyn Runner> {
        let indexer = Arc::clone(self);
        Arc::new(move |_: &Job, context: &JobContext| {
            indexer
                .embed(context.progress())
                .map(Value::from)
                .map_err(|error| JobFailure::Passing(chain(&error)))
        })
    }

    fn run_job(&self, job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        let arguments: IndexArguments = serde_json::from_value(job.arguments.clone())
            .map_err(|error| JobFailure::Final(error.to_string()))?;
        let root =
            self.config.roots.all().iter().find(|root| root.name == arguments.root).ok_or_else(
                || JobFailure::Final("the root is not configured any more".to_owned()),
            )?;
        let folder = Path::new(&arguments.folder);
        let indexed = self
            .index(root, folder, arguments.full, context.progress())
            .map_err(|error| JobFailure::Passing(chain(&error)))?;
        serde_json::to_value(indexed).map_err(|error| JobFailure::Final(error.to_string()))
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
