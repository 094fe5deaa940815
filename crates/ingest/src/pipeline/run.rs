//! One run over one source.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use extract::{Caps, Extracted, Pool, extract};
use model::{Block, NamespaceId, ReadOutcome, Warning};
use store::{Document, Store};

use super::batch::Batch;
use super::in_flight::InFlight;
use super::known::{KnownDocuments, Removed};
use super::secret_headings::SecretHeadings;
use super::{Hooks, IngestReport, Outcome, Prepared, Scope, Target};
use crate::{BatchWait, Error, Item, ItemContent, Progress, Result, Source, Stage, limits};

/// The write path into one namespace: the same for folders, uploads and JSON documents.
#[derive(Clone)]
pub struct Pipeline {
    /// Where documents go.
    pub store: Arc<Store>,
    /// The part of the store that they go to.
    pub namespace: NamespaceId,
    /// What one document may cost.
    pub caps: Caps,
    /// Worker processes for extraction; nothing reads in this process.
    pub pool: Option<Arc<Pool>>,
    /// Documents that are extracted side by side.
    pub n_extractors: usize,
    /// Whether an unchanged fingerprint saves the work.
    pub unchanged: Unchanged,
    /// The documents that the source answers for, whose fingerprints are asked for once; nothing
    /// for a source of single documents, which are always written.
    pub scope: Option<Scope>,
    /// What happens to documents of the scope that the source has no more.
    pub gone: Gone,
    /// What is special about the family's documents.
    pub hooks: Arc<dyn Hooks>,
}

/// What happens to a document whose fingerprint is the stored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchanged {
    /// It is passed over.
    Skip,
    /// It is written again.
    Rewrite,
}

/// What happens to documents that the source has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// They stay.
    Keep,
    /// They are removed, once the source has given everything that it has.
    Remove,
}

/// What the threads of a run share.
pub(super) struct Run<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) progress: &'a Progress,
    known: KnownDocuments,
    /// What was read and is not extracted yet.
    pub(super) in_flight: InFlight,
    /// Texts that were extracted and are not in a batch yet.
    pub(super) texts: InFlight,
}

/// What was read of one document.
struct Content {
    outcome: ReadOutcome,
    reason: Option<String>,
    title: Option<String>,
    blocks: Vec<Block>,
    warnings: Vec<Warning>,
}

/// What the reader of a run counts.
#[derive(Default)]
pub(super) struct Read {
    n_seen: usize,
    n_unchanged: usize,
    n_passages_unchanged: usize,
    n_failed: usize,
}

impl Read {
    /// Adds what was counted to a report.
    pub(super) fn add_to(&self, report: &mut IngestReport) {
        report.n_seen = self.n_seen;
        report.n_unchanged = self.n_unchanged;
        report.n_passages_unchanged = self.n_passages_unchanged;
        report.n_failed += self.n_failed;
    }
}

impl Pipeline {
    /// Makes a pipeline that extracts in this process, on one thread, compares with everything in
    /// the namespace, and removes nothing.
    pub fn in_process(
        store: Arc<Store>,
        namespace: NamespaceId,
        hooks: impl Hooks + 'static,
    ) -> Self {
        Pipeline {
            store,
            namespace,
            caps: Caps::standard(),
            pool: None,
            n_extractors: 1,
            unchanged: Unchanged::Skip,
            scope: Some(Scope::everything()),
            gone: Gone::Keep,
            hooks: Arc::new(hooks),
        }
    }

    /// Takes every document of the source into the store, and removes those of its scope that it
    /// has no more.
    ///
    /// Documents are searchable by words as soon as their batch is written. A document that
    /// cannot be read is a warning; what was written of it before stays, and where there is
    /// nothing yet it is written without text.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] when the run was stopped: what was written stays, and the next run
    /// passes over it. [`Error::Store`] when the store fails, and what [`Hooks::write`] gives.
    pub fn run(&self, source: &mut dyn Source, progress: &Progress) -> Result<IngestReport> {
        progress.begin(Stage::Writing, source.n_items());
        let known = KnownDocuments::load(&self.store, &self.namespace, self.scope.as_ref())?;
        let run = Run {
            pipeline: self,
            progress,
            known,
            in_flight: InFlight::up_to(limits::MAX_WAITING_BYTES),
            texts: InFlight::up_to(limits::MAX_WAITING_TEXT_BYTES),
        };
        let mut report = match progress.groups() {
            Some(log) => run.in_groups(source, log)?,
            None => run.stages(source)?,
        };
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        report.is_complete = source.is_complete();
        run.known.see_unread(&self.store, &self.namespace, &source.unread())?;
        if let Some(scope) = self.scope.as_ref()
            && report.is_complete
            && self.gone == Gone::Remove
        {
            let target = Target { store: &self.store, namespace: &self.namespace };
            let Removed { n_documents, n_passages } =
                run.known.remove_unseen(&target, scope, &*self.hooks)?;
            report.n_removed = n_documents;
            report.n_passages_removed += n_passages;
        }
        (report.warnings, report.n_warnings) = progress.warnings();
        Ok(report)
    }
}

impl Run<'_> {
    fn stages(&self, source: &mut dyn Source) -> Result<IngestReport> {
        let (to_extract, extracting) = bounded(limits::MAX_WAITING_DOCUMENTS);
        let (to_write, writing) = bounded(limits::MAX_WAITING_DOCUMENTS);
        let counter = source.counter();
        thread::scope(|scope| {
            if let Some(counter) = counter {
                scope.spawn(move || self.progress.set_total(Stage::Writing, counter()));
            }
            let reader = scope.spawn(|| self.read(source, to_extract));
            let extractors: Vec<_> = (0..self.pipeline.n_extractors.max(1))
                .map(|_| {
                    let (extracting, to_write) = (extracting.clone(), to_write.clone());
                    scope.spawn(move || self.extract_all(&extracting, &to_write))
                })
                .collect();
            // Only the threads hold the ends of the queues now, so that a stage that ends lets
            // the others end too.
            drop(extracting);
            drop(to_write);
            let written = self.write_all(writing);
            let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let n_left_out: usize = extractors
                .into_iter()
                .map(|extractor| extractor.join())
                .map(|n| n.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .sum();
            let mut report = written?;
            read.add_to(&mut report);
            report.n_failed += n_left_out;
            Ok(report)
        })
    }

    /// Reads items and passes on those that are new or changed.
    #[expect(clippy::needless_pass_by_value, reason = "the queue ends when its end is dropped")]
    fn read(&self, source: &mut dyn Source, to_extract: Sender<(Item, ItemContent)>) -> Read {
        let mut read = Read::default();
        while let Some((item, content)) = self.next_changed(source, &mut read) {
            self.in_flight.enter(content.n_bytes(), self.progress);
            if to_extract.send((item, content)).is_err() {
                break;
            }
        }
        read
    }

    /// Gives the next item that is new or changed, with what it holds; nothing at the end, or when
    /// the run is cancelled.
    pub(super) fn next_changed(
        &self,
        source: &mut dyn Source,
        read: &mut Read,
    ) -> Option<(Item, ItemContent)> {
        while !self.progress.is_cancelled() {
            let item = source.next_item()?;
            read.n_seen += 1;
            let given = item.and_then(|item| {
                self.known.see(&item.id);
                let is_settled = !source.is_wanted() || self.pipeline.hooks.is_written(&item);
                let unchanged = match is_settled {
                    true => Some(self.known.n_passages(&item.id).unwrap_or_default()),
                    false => self.unchanged(&item),
                };
                match unchanged {
                    Some(n_passages) => {
                        self.pipeline.hooks.settled(&item, Outcome::Unchanged(n_passages));
                        read.n_unchanged += 1;
                        read.n_passages_unchanged += n_passages;
                        self.progress.advance(Stage::Writing, 1);
                        Ok(None)
                    }
                    None => match source.content(&item) {
                        Ok(content) => Ok(Some((item, content))),
                        // It is known by its name, with the reason, until it can be read.
                        Err(warning) if self.known.n_passages(&item.id).is_none() => {
                            let fingerprint = unreadable(&item.fingerprint);
                            let content = ItemContent::Nothing(ReadOutcome::Unreadable, warning);
                            Ok(Some((Item { fingerprint, ..item }, content)))
                        }
                        Err(warning) => Err(about(&item, &warning)),
                    },
                }
            });
            match given {
                Ok(None) => {}
                Ok(Some(changed)) => return Some(changed),
                Err(warning) => {
                    self.progress.warn(warning);
                    self.progress.advance(Stage::Writing, 1);
                    read.n_failed += 1;
                }
            }
        }
        None
    }

    fn unchanged(&self, item: &Item) -> Option<usize> {
        if self.pipeline.unchanged == Unchanged::Rewrite {
            return None;
        }
        self.known.unchanged_item(item)
    }

    /// Extracts and cuts, and gives how many documents were left out.
    pub(super) fn extract_all(
        &self,
        extracting: &Receiver<(Item, ItemContent)>,
        to_write: &Sender<Prepared>,
    ) -> usize {
        let mut n_left_out = 0;
        for (item, content) in extracting {
            let n_bytes = content.n_bytes();
            // Once the run is cancelled, the queue is emptied, so that the reader is not left
            // waiting.
            let prepared =
                (!self.progress.is_cancelled()).then(|| self.extract_one(item, content)).flatten();
            self.in_flight.leave(n_bytes);
            match prepared {
                Some(prepared) => {
                    self.texts.enter(prepared.n_text_bytes(), self.progress);
                    if to_write.send(prepared).is_err() {
                        break;
                    }
                }
                None => n_left_out += 1,
            }
        }
        n_left_out
    }

    fn extract_one(&self, mut item: Item, content: ItemContent) -> Option<Prepared> {
        let hooks = &self.pipeline.hooks;
        let mut read = self.content(content);
        for warning in &read.warnings {
            self.progress.warn(about(&item, warning));
        }
        if item.title.is_empty() {
            item.title = read.title.unwrap_or_default();
        }
        hooks.complete(&mut item, &mut read.blocks);
        let secret_headings = SecretHeadings::of(&read.blocks);
        let passages = match hooks.cut(&item, std::mem::take(&mut read.blocks)) {
            Ok(mut passages) => {
                secret_headings.add_to(&mut passages);
                passages
            }
            Err(warning) => {
                hooks.settled(&item, Outcome::LeftOut(&warning));
                self.known.unsee(&item.id);
                self.progress.warn(about(&item, &warning));
                self.progress.advance(Stage::Writing, 1);
                return None;
            }
        };
        hooks.settled(&item, Outcome::Cut(passages.len()));
        let document = Document {
            id: item.id,
            title: item.title,
            attributes: item.attributes,
            metadata: item.metadata,
            fingerprint: item.fingerprint,
            passages,
        };
        let outcome = match (document.passages.is_empty(), read.outcome) {
            // Blocks of white space leave no passage.
            (true, ReadOutcome::Indexed) => ReadOutcome::NoText,
            (_, outcome) => outcome,
        };
        let reason = (!outcome.has_text())
            .then(|| read.reason.unwrap_or_else(|| outcome.sentence().to_owned()));
        let n_passages = document.passages.len();
        tracing::debug!(id = %document.id, outcome = outcome.code(), n_passages, "document read");
        let mut prepared = Prepared { document, outcome, reason };
        hooks.finish(&mut prepared);
        Some(prepared)
    }

    fn content(&self, content: ItemContent) -> Content {
        let Pipeline { pool, caps, .. } = self.pipeline;
        let (extracted, warnings) = match content {
            ItemContent::Blocks(blocks) => {
                let outcome = match blocks.is_empty() {
                    true => ReadOutcome::Empty,
                    false => ReadOutcome::Indexed,
                };
                return Content { outcome, reason: None, title: None, blocks, warnings: vec![] };
            }
            ItemContent::Nothing(outcome, warning) => {
                let reason = Some(warning.message.clone());
                let warnings = vec![warning];
                return Content { outcome, reason, title: None, blocks: vec![], warnings };
            }
            ItemContent::Bytes { bytes, name } => match pool {
                Some(pool) => pool.extract(&bytes, &name, caps),
                None => extract(&bytes, &name, caps),
            },
            ItemContent::File { file, name } => match pool {
                Some(pool) => pool.extract_open(&file.0, &name, caps),
                None => read_and_extract(&file.0, &name, caps),
            },
        };
        let Extracted { outcome, reason, title, blocks, .. } = extracted;
        Content { outcome, reason, title, blocks, warnings }
    }

    /// Gathers documents into batches and writes each as one commit.
    #[expect(clippy::needless_pass_by_value, reason = "the queue ends when its end is dropped")]
    fn write_all(&self, writing: Receiver<Prepared>) -> Result<IngestReport> {
        let mut report = IngestReport::default();
        let mut batch = Batch::new(self.pipeline.hooks.documents_per_commit());
        // A batch also ends when its first document has waited, so that a slow source is
        // searchable. It waits longer than commits take, which else would take all the time.
        let mut wait = BatchWait::FOR_COMMITS.shortest;
        loop {
            let due = batch.begun.map(|begun| begun + wait);
            let is_over = match due.map_or_else(
                || writing.recv().map_err(Into::into),
                |due| writing.recv_deadline(due),
            ) {
                Ok(prepared) => {
                    self.texts.leave(prepared.n_text_bytes());
                    if self.progress.is_cancelled() {
                        continue;
                    }
                    batch.push(prepared);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            let is_due = due.is_some_and(|due| Instant::now() >= due);
            if (is_over || is_due || batch.is_full()) && !self.progress.is_cancelled() {
                let took = batch
                    .write_by(|documents| self.write(documents, &mut report))
                    .inspect_err(|_| self.progress.cancel())?;
                wait = BatchWait::FOR_COMMITS.after(took);
            }
            if is_over {
                return Ok(report);
            }
        }
    }

    pub(super) fn write(
        &self,
        documents: &mut [Prepared],
        report: &mut IngestReport,
    ) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        match self.commit(documents, report) {
            // Written one by one, so that only the bad one is left out.
            Err(error) if is_fault_of_document(&error) => {
                for prepared in &mut *documents {
                    match self.commit(std::slice::from_mut(prepared), report) {
                        Err(error) if is_fault_of_document(&error) => {
                            report.n_failed += 1;
                            let message = format!(
                                "`{}`: {}",
                                prepared.document.id,
                                model::with_causes(&error)
                            );
                            self.progress.warn(Warning::new("not_stored", message));
                        }
                        written => written?,
                    }
                }
            }
            written => written?,
        }
        self.progress.advance(Stage::Writing, documents.len());
        Ok(())
    }

    fn commit(&self, documents: &mut [Prepared], report: &mut IngestReport) -> Result<()> {
        let Pipeline { store, namespace, hooks, .. } = self.pipeline;
        let upserted = hooks.write(&Target { store, namespace }, documents)?;
        report.n_written += documents.len();
        report.n_without_text += documents.iter().filter(|one| !one.outcome.has_text()).count();
        report.n_passages += upserted.n_passages;
        report.n_vectors_kept += upserted.n_vectors_kept;
        let replaced = documents.iter().filter_map(|one| self.known.n_passages(&one.document.id));
        report.n_passages_removed += replaced.sum::<usize>();
        Ok(())
    }
}

/// Gives the fingerprint under which a document is written that could not be read: it is never the
/// one of a document that could, so each run tries again.
pub(super) fn unreadable(fingerprint: &str) -> String {
    format!("unreadable {fingerprint}")
}

fn is_fault_of_document(error: &Error) -> bool {
    matches!(
        error,
        Error::Store(store::Error::TooLarge { .. } | store::Error::DuplicatePassage { .. })
    )
}

fn about(item: &Item, warning: &Warning) -> Warning {
    Warning::new(warning.code.as_str(), format!("`{}`: {}", item.id, warning.message))
}

/// Reads a file in this process, where there are no workers: within its cap, into memory.
fn read_and_extract(file: &File, name: &str, caps: &Caps) -> (Extracted, Vec<Warning>) {
    let mut bytes = Vec::new();
    let read = (&*file).seek(std::io::SeekFrom::Start(0)).and_then(|_| {
        let n_bytes = file.metadata()?.len();
        if n_bytes > caps.input_bytes {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        file.take(n_bytes).read_to_end(&mut bytes)
    });
    match read {
        Ok(_) => extract(&bytes, name, caps),
        Err(error) => {
            let outcome = match error.kind() == std::io::ErrorKind::FileTooLarge {
                true => ReadOutcome::TooLarge,
                false => ReadOutcome::Unreadable,
            };
            let (empty, mut warnings) = extract(&[], name, caps);
            warnings.push(Warning::new("unreadable", error.to_string()));
            (Extracted::without_text(empty.format, outcome, error.to_string()), warnings)
        }
    }
}
