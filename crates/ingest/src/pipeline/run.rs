//! One run over one source.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use extract::{Caps, Extracted, Pool, extract};
use model::{Block, NamespaceId, Warning};
use store::{Document, Store};

use super::Cut;
use crate::{Error, Item, ItemContent, Progress, Result, Source, Stage, limits};

/// How long the first document of a batch waits for company, at least.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);

/// How long it waits at most.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How often the last commit would fit into the wait for the next.
const COMMITS_PER_WAIT: u32 = 4;

/// The write path into one namespace.
#[derive(Clone)]
pub struct Pipeline {
    /// Where documents go.
    pub store: Arc<Store>,
    /// The namespace.
    pub namespace: NamespaceId,
    /// How documents become passages.
    pub cut: Cut,
    /// What one document may cost.
    pub caps: Caps,
    /// Worker processes for extraction; nothing reads in this process.
    pub pool: Option<Arc<Pool>>,
    /// Documents that are extracted side by side.
    pub n_extractors: usize,
    /// Whether an unchanged fingerprint saves the work.
    pub unchanged: Unchanged,
    /// Adds to an item what only its text can tell, such as the years it speaks of.
    pub annotate: Option<Annotate>,
}

/// Looks at the blocks of a document and completes its item.
pub type Annotate = Arc<dyn Fn(&mut Item, &[Block]) + Send + Sync>;

/// What happens to a document whose fingerprint is the kept one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchanged {
    /// It is passed over.
    Skip,
    /// It is written again.
    Rewrite,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// Items that the source gave.
    pub n_seen: usize,
    /// Documents written.
    pub n_written: usize,
    /// Documents whose fingerprint had not changed.
    pub n_unchanged: usize,
    /// Items that could not be read at all.
    pub n_failed: usize,
    /// Passages written.
    pub n_passages: usize,
    /// Passages that kept their vector.
    pub n_vectors_kept: usize,
    /// The warnings that were kept.
    pub warnings: Vec<Warning>,
    /// How many warnings there were.
    pub n_warnings: usize,
}

impl Pipeline {
    /// Makes a pipeline that extracts in this process, on one thread.
    pub fn in_process(store: Arc<Store>, namespace: NamespaceId, cut: Cut) -> Self {
        Pipeline {
            store,
            namespace,
            cut,
            caps: Caps::standard(),
            pool: None,
            n_extractors: 1,
            unchanged: Unchanged::Skip,
            annotate: None,
        }
    }

    /// Takes every document of the source into the store.
    ///
    /// Documents are searchable by words as soon as their batch is written. A document that
    /// cannot be read is a warning and leaves what was kept before.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] when the run was stopped: what was written stays, and the next run
    /// passes over it. [`Error::Store`] when the store fails.
    pub fn run(&self, source: &mut dyn Source, progress: &Progress) -> Result<IngestReport> {
        progress.begin(Stage::Writing, source.n_items());
        let (to_extract, extracting) = bounded(limits::MAX_WAITING_DOCUMENTS);
        let (to_write, writing) = bounded(limits::MAX_WAITING_DOCUMENTS);
        let mut report = thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(source, to_extract, progress));
            for _ in 0..self.n_extractors.max(1) {
                let (extracting, to_write) = (extracting.clone(), to_write.clone());
                scope.spawn(move || self.extract_all(&extracting, &to_write, progress));
            }
            // Only the threads hold the ends of the queues now, so that a stage that ends lets
            // the others end too.
            drop(extracting);
            drop(to_write);
            let written = self.write_all(writing, progress);
            let read = reader.join().unwrap_or_else(|_| Err(Error::Cancelled));
            let (mut report, read) = (written?, read?);
            report.n_seen = read.n_seen;
            report.n_unchanged = read.n_unchanged;
            report.n_failed += read.n_failed;
            Ok::<_, Error>(report)
        })?;
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        (report.warnings, report.n_warnings) = progress.warnings();
        Ok(report)
    }

    /// Reads items and passes on those that are new or changed.
    #[expect(clippy::needless_pass_by_value, reason = "the queue ends when its end is dropped")]
    fn read(
        &self,
        source: &mut dyn Source,
        to_extract: Sender<(Item, ItemContent)>,
        progress: &Progress,
    ) -> Result<IngestReport> {
        let mut report = IngestReport::default();
        while !progress.is_cancelled() {
            let Some(item) = source.next_item() else { break };
            report.n_seen += 1;
            let item = match item {
                Ok(item) => item,
                Err(warning) => {
                    progress.warn(warning);
                    progress.advance(Stage::Writing, 1);
                    report.n_failed += 1;
                    continue;
                }
            };
            if self.is_unchanged(&item)? {
                progress.advance(Stage::Writing, 1);
                report.n_unchanged += 1;
                continue;
            }
            match source.content(&item) {
                Ok(content) => {
                    if to_extract.send((item, content)).is_err() {
                        break;
                    }
                }
                Err(warning) => {
                    progress.warn(warning);
                    progress.advance(Stage::Writing, 1);
                    report.n_failed += 1;
                }
            }
        }
        Ok(report)
    }

    fn is_unchanged(&self, item: &Item) -> Result<bool> {
        if item.fingerprint.is_empty() || self.unchanged == Unchanged::Rewrite {
            return Ok(false);
        }
        let kept = self.store.document(&self.namespace, &item.id)?;
        Ok(kept.is_some_and(|kept| kept.fingerprint == item.fingerprint))
    }

    fn extract_all(
        &self,
        extracting: &Receiver<(Item, ItemContent)>,
        to_write: &Sender<Document>,
        progress: &Progress,
    ) {
        for (item, content) in extracting {
            if progress.is_cancelled() {
                // The queue is emptied, so that the reader is not left waiting.
                continue;
            }
            let document = self.extract_one(item, content, progress);
            if to_write.send(document).is_err() {
                break;
            }
        }
    }

    fn extract_one(&self, mut item: Item, content: ItemContent, progress: &Progress) -> Document {
        let (title, blocks) = match content {
            ItemContent::Blocks(blocks) => (None, blocks),
            ItemContent::Bytes { bytes, name } => {
                let (extracted, warnings) = match &self.pool {
                    Some(pool) => pool.extract(&bytes, &name, &self.caps),
                    None => extract(&bytes, &name, &self.caps),
                };
                warnings.into_iter().for_each(|warning| progress.warn(about(&item, warning)));
                let Extracted { title, blocks, .. } = extracted;
                (title, blocks)
            }
            ItemContent::File(path) => {
                let (extracted, warnings) = match &self.pool {
                    Some(pool) => pool.extract_file(&path, &self.caps),
                    None => read_and_extract(&path, &self.caps),
                };
                warnings.into_iter().for_each(|warning| progress.warn(about(&item, warning)));
                (extracted.title, extracted.blocks)
            }
        };
        if let Some(annotate) = &self.annotate {
            annotate(&mut item, &blocks);
        }
        let passages = self.cut.passages(&item.id, &blocks);
        let title = if item.title.is_empty() { title.unwrap_or_default() } else { item.title };
        Document {
            id: item.id,
            title,
            attributes: item.attributes,
            metadata: item.metadata,
            fingerprint: item.fingerprint,
            passages,
        }
    }

    /// Gathers documents into batches and writes each as one commit.
    #[expect(clippy::needless_pass_by_value, reason = "the queue ends when its end is dropped")]
    fn write_all(&self, writing: Receiver<Document>, progress: &Progress) -> Result<IngestReport> {
        let mut report = IngestReport::default();
        let mut batch = Batch::default();
        // A batch also ends when its first document has waited, so that a slow source is
        // searchable. It waits longer than commits take, which else would take all the time.
        let mut wait = SHORTEST_WAIT;
        loop {
            let due = batch.begun.map(|begun| begun + wait);
            let is_over = match due.map_or_else(
                || writing.recv().map_err(Into::into),
                |due| writing.recv_deadline(due),
            ) {
                Ok(_) if progress.is_cancelled() => continue,
                Ok(document) => {
                    batch.push(document);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            let is_due = due.is_some_and(|due| Instant::now() >= due);
            if (is_over || is_due || batch.is_full()) && !progress.is_cancelled() {
                let begun = Instant::now();
                self.write(&mut batch, &mut report, progress)?;
                wait = (begun.elapsed() * COMMITS_PER_WAIT).clamp(SHORTEST_WAIT, LONGEST_WAIT);
            }
            if is_over {
                return Ok(report);
            }
        }
    }

    fn write(
        &self,
        batch: &mut Batch,
        report: &mut IngestReport,
        progress: &Progress,
    ) -> Result<()> {
        if batch.documents.is_empty() {
            return Ok(());
        }
        let n_documents = batch.documents.len();
        match self.store.upsert(&self.namespace, &batch.documents) {
            Ok(upserted) => {
                report.n_written += n_documents;
                report.n_passages += upserted.n_passages;
                report.n_vectors_kept += upserted.n_vectors_kept;
            }
            Err(error) if is_fault_of_document(&error) => {
                self.write_singly(&batch.documents, report, progress)?;
            }
            Err(error) => {
                progress.cancel();
                return Err(error.into());
            }
        }
        *batch = Batch::default();
        progress.advance(Stage::Writing, n_documents);
        Ok(())
    }

    /// Writes the documents of a refused batch one by one, so that only the bad one is left out.
    fn write_singly(
        &self,
        documents: &[Document],
        report: &mut IngestReport,
        progress: &Progress,
    ) -> Result<()> {
        for document in documents {
            match self.store.upsert(&self.namespace, std::slice::from_ref(document)) {
                Ok(upserted) => {
                    report.n_written += 1;
                    report.n_passages += upserted.n_passages;
                    report.n_vectors_kept += upserted.n_vectors_kept;
                }
                Err(error) if is_fault_of_document(&error) => {
                    report.n_failed += 1;
                    progress
                        .warn(Warning::new("not_stored", format!("`{}`: {error}", document.id)));
                }
                Err(error) => {
                    progress.cancel();
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Batch {
    begun: Option<Instant>,
    documents: Vec<Document>,
    n_passages: usize,
    n_bytes: usize,
}

impl Batch {
    fn push(&mut self, document: Document) {
        self.begun.get_or_insert_with(Instant::now);
        self.n_passages += document.passages.len();
        self.n_bytes += document.passages.iter().map(|passage| passage.text.len()).sum::<usize>();
        self.documents.push(document);
    }

    fn is_full(&self) -> bool {
        self.n_passages >= limits::PASSAGES_PER_COMMIT
            || self.n_bytes >= limits::TEXT_BYTES_PER_COMMIT
            || self.documents.len() >= limits::DOCUMENTS_PER_COMMIT
    }
}

fn is_fault_of_document(error: &store::Error) -> bool {
    matches!(error, store::Error::TooLarge { .. } | store::Error::DuplicatePassage { .. })
}

fn about(item: &Item, warning: Warning) -> Warning {
    let message = format!("`{}`: {}", item.id, warning.message);
    Warning { code: warning.code, message }
}

fn read_and_extract(path: &std::path::Path, caps: &Caps) -> (Extracted, Vec<Warning>) {
    let name = path.to_string_lossy();
    let is_small = fs_err::metadata(path).map(|metadata| metadata.len() <= caps.input_bytes);
    let bytes = match is_small {
        Ok(true) => fs_err::read(path),
        Ok(false) => Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge)),
        Err(error) => Err(error),
    };
    match bytes {
        Ok(bytes) => extract(&bytes, &name, caps),
        Err(error) => {
            let (empty, mut warnings) = extract(&[], &name, caps);
            warnings.push(Warning::new("unreadable", error.to_string()));
            (empty, warnings)
        }
    }
}
