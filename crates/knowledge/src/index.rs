//! What jobs do to the store: write uploads, erase what was deleted, move, make vectors.

use std::time::Duration;

use extract::{Caps, extract};
use ingest::{Cut, Embedding, JobFailure, Progress, Stage};
use model::{Attributes, Block, BlockKind, Deadline, DocumentId, NamespaceId, Pointer, Warning};
use serde_json::{Value, json};
use store::{Change, DocumentPage, Manifest, TypedObject};

use crate::access::attribute;
use crate::documents::OcrRepair;
use crate::jobs::{Addition, Additions, Move, OfNamespace, Purge, failure};
use crate::objects::{Collection, Document, DocumentState, chunk_id, document_of};
use crate::{Error, Result, Service, limits};

/// How long opening the model may take inside a job.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// Documents looked at in one go.
const LIST_PAGE: usize = 200;

/// Text gathered before it is written, in bytes.
const BATCH_BYTES: usize = 8 << 20;

/// Characters of a text that become its title when it has none.
const TITLE_CHARS: usize = 80;

/// An upload that was read.
struct Read {
    addition: Addition,
    title: String,
    /// Nothing when no text could be read.
    passages: Vec<model::Passage>,
}

impl Service {
    /// Indexes uploads. One that cannot be read is a warning; the job fails when none can.
    pub(crate) fn run_additions(
        &self,
        additions: &Additions,
        progress: &Progress,
    ) -> std::result::Result<Value, JobFailure> {
        progress.begin(Stage::Writing, Some(additions.documents.len()));
        let mut n_written = 0;
        let mut n_failed = 0;
        let mut batch: Vec<Read> = vec![];
        let mut waiting = additions.documents.iter().peekable();
        while let Some(addition) = waiting.next() {
            if progress.is_cancelled() {
                return Err(JobFailure::Cancelled);
            }
            batch.extend(self.read(additions, addition, progress).map_err(failure)?);
            let n_bytes: usize = batch
                .iter()
                .flat_map(|read| &read.passages)
                .map(|passage| passage.text.len())
                .sum();
            let is_full = batch.len() >= limits::DOCUMENTS_PER_COMMIT || n_bytes >= BATCH_BYTES;
            if is_full || waiting.peek().is_none() {
                let n_batch = batch.len();
                let n_unreadable = batch.iter().filter(|read| read.passages.is_empty()).count();
                self.write(&additions.collection, &std::mem::take(&mut batch)).map_err(failure)?;
                n_written += n_batch - n_unreadable;
                n_failed += n_unreadable;
                progress.advance(Stage::Writing, n_batch);
            }
        }
        if let Ok(Some((collection, _))) =
            Collection::load(&*self.0.catalogue, &additions.collection)
        {
            self.follow_up(&collection).map_err(failure)?;
        }
        if n_written == 0 && n_failed > 0 {
            return Err(JobFailure::Final("no text could be read".to_owned()));
        }
        Ok(json!({ "documents": n_written, "failed": n_failed }))
    }

    /// Reads and cuts an upload; nothing when it was replaced, deleted or indexed meanwhile.
    fn read(
        &self,
        additions: &Additions,
        addition: &Addition,
        progress: &Progress,
    ) -> Result<Option<Read>> {
        let staged = self.0.uploads.join(&addition.staged);
        let document = match Document::load(&*self.0.catalogue, &addition.document)? {
            Some((document, _)) if document.version == addition.version => document,
            _ => {
                // Nobody waits for this content any more; a file that is gone is fine as well.
                let _ = fs_err::remove_file(&staged);
                return Ok(None);
            }
        };
        let bytes = match fs_err::read(&staged) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let is_done = document.state == DocumentState::Ready;
                if !is_done {
                    progress.warn(Warning::new("upload_lost", "the upload is not there any more"));
                }
                return Ok((!is_done).then(|| Read::unreadable(addition, document.title)));
            }
            Err(error) => return Err(Error::Upload(error)),
        };
        let (mut blocks, found_title) = match document.file_name.is_empty() {
            true => (paragraphs(&String::from_utf8_lossy(&bytes)), None),
            false => {
                let caps = Caps::standard();
                let (extracted, warnings) = match &self.0.pool {
                    Some(pool) => pool.extract(&bytes, &addition.name, &caps),
                    None => extract(&bytes, &addition.name, &caps),
                };
                for warning in warnings {
                    let message = format!("`{}`: {}", document.id, warning.message);
                    progress.warn(Warning::new(warning.code, message));
                }
                (extracted.blocks, extracted.title)
            }
        };
        if addition.ocr == OcrRepair::On {
            for block in &mut blocks {
                block.text = text::repair_long_vowels(&block.text);
            }
        }
        let title = match document.title.is_empty() {
            true => found_title.unwrap_or_else(|| first_words(&blocks)),
            false => document.title.clone(),
        };
        let cut =
            Cut::prose().named(|document, _, ordinal| chunk_id(document_of(document), ordinal));
        let store_id = DocumentId::new(format!("{}/{}", additions.collection, document.id));
        let passages = cut.passages(&store_id, &blocks);
        Ok(Some(Read { addition: addition.clone(), title, passages }))
    }

    /// Writes a batch to the store and counts it, or leaves no trace of it.
    fn write(&self, collection: &str, batch: &[Read]) -> Result<()> {
        // One batch at a time: an older content of a document can never overwrite a newer one.
        let _writing = self.1.writing.lock();
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, collection)? else {
            self.forget_uploads(batch.iter().map(|read| &read.addition));
            return Ok(());
        };
        let namespace = collection.namespace();
        self.0.store.create_namespace(&namespace, &Manifest::current(None))?;
        let mut wanted = vec![];
        for read in batch {
            let kept = Document::load(&*self.0.catalogue, &read.addition.document)?;
            if let Some((kept, _)) = kept.filter(|(kept, _)| kept.version == read.addition.version)
            {
                wanted.push((kept, read));
            }
        }
        let documents: Vec<store::Document> = wanted
            .iter()
            .filter(|(_, read)| !read.passages.is_empty())
            .map(|(kept, read)| store::Document {
                id: kept.store_id(),
                title: read.title.clone(),
                attributes: attributes(&collection),
                metadata: Value::Null,
                fingerprint: String::new(),
                passages: read.passages.clone(),
            })
            .collect();
        if !documents.is_empty() {
            self.0.store.upsert(&namespace, &documents)?;
        }
        let mut gone = vec![];
        let counted = self.change_collection(&collection.id, |current| {
            gone.clear();
            if current.namespace() != namespace {
                return Err(Error::Busy);
            }
            let mut changes = vec![];
            for (_, read) in &wanted {
                match Document::load(&*self.0.catalogue, &read.addition.document)? {
                    None => gone.push(read.addition.document.clone()),
                    Some((mut kept, version)) => {
                        count(current, &mut kept, read);
                        kept.updated_at = self.0.clock.now();
                        changes.push(Change::PutIfUnchanged(kept.to_object(version)?));
                    }
                }
            }
            Ok(changes)
        });
        if let Err(error) = counted {
            // The collection changed or is gone: what was written must not stay behind.
            let ids: Vec<DocumentId> = documents.into_iter().map(|document| document.id).collect();
            self.0.store.delete(&namespace, &ids)?;
            if matches!(error, Error::NotFound { .. }) {
                self.forget_uploads(batch.iter().map(|read| &read.addition));
                return Ok(());
            }
            return Err(error);
        }
        let gone: Vec<DocumentId> = gone
            .iter()
            .map(|document| DocumentId::new(format!("{}{document}", collection.document_prefix())))
            .collect();
        if !gone.is_empty() {
            self.0.store.delete(&namespace, &gone)?;
        }
        self.forget_uploads(batch.iter().map(|read| &read.addition));
        Ok(())
    }

    /// Erases what was deleted.
    pub(crate) fn run_purge(&self, purge: &Purge) -> Result<Value> {
        let mut n_erased = 0;
        if let Some(prefix) = &purge.namespaces {
            for info in self.0.store.namespaces()? {
                if info.id.as_str().starts_with(prefix) && self.0.store.drop_namespace(&info.id)? {
                    n_erased += 1;
                }
            }
        }
        if let (Some(namespace), Some(prefix)) = (&purge.namespace, &purge.prefix) {
            let _writing = self.1.writing.lock();
            let namespace = NamespaceId::new(namespace.as_str());
            self.each_page(&namespace, prefix, |page| {
                n_erased += self.0.store.delete(&namespace, &page)?;
                Ok(())
            })?;
        }
        if let Some(collection) = &purge.collection
            && let Some((collection, _)) = Collection::load(&*self.0.catalogue, collection)?
        {
            self.forget_summary(&collection)?;
            self.follow_up(&collection)?;
        }
        let namespaces: Vec<NamespaceId> =
            purge.namespace.iter().map(|namespace| NamespaceId::new(namespace.as_str())).collect();
        self.0.store.forget_erased(&namespaces)?;
        Ok(json!({ "erased": n_erased }))
    }

    /// Moves passages into the namespace that their collection has now.
    pub(crate) fn run_move(&self, move_: &Move, progress: &Progress) -> Result<Value> {
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, &move_.collection)? else {
            return Ok(Value::Null);
        };
        let (from, to) = (NamespaceId::new(move_.from.as_str()), collection.namespace());
        if from == to {
            return Ok(Value::Null);
        }
        progress.begin(Stage::Writing, Some(collection.n_documents));
        self.0.store.create_namespace(&to, &Manifest::current(None))?;
        let _writing = self.1.writing.lock();
        let mut n_moved = 0;
        self.each_page(&from, &collection.document_prefix(), |page| {
            let mut documents = vec![];
            for id in &page {
                let Some(info) = self.0.store.document(&from, id)? else { continue };
                documents.push(store::Document {
                    id: info.id,
                    title: info.title,
                    attributes: attributes(&collection),
                    metadata: info.metadata,
                    fingerprint: info.fingerprint,
                    passages: self.0.store.passages_of(&from, id)?,
                });
            }
            self.0.store.upsert(&to, &documents)?;
            self.0.store.delete(&from, &page)?;
            n_moved += documents.len();
            progress.advance(Stage::Writing, documents.len());
            Ok(())
        })?;
        self.follow_up(&collection)?;
        Ok(json!({ "moved": n_moved }))
    }

    /// Makes the vectors that are missing. Without a model there is nothing to do.
    pub(crate) fn run_vectors(&self, of: &OfNamespace, progress: &Progress) -> Result<Value> {
        let Ok(embedder) = self.0.embedder.get(&Deadline::after(MODEL_WAIT)) else {
            return Ok(json!({ "vectors": 0 }));
        };
        let namespace = NamespaceId::new(of.namespace.as_str());
        let space = Embedding::space_of(&*embedder);
        match self.0.store.set_vector_space(&namespace, Some(&space)) {
            Err(store::Error::UnknownNamespace { .. }) => return Ok(json!({ "vectors": 0 })),
            set => set?,
        }
        let store = self.0.store.clone();
        let embedding = Embedding { store, namespace, embedder };
        let rounds = self.1.vectors.run(&of.namespace, || embedding.run(progress))?;
        let n_embedded: usize = rounds.iter().map(|round| round.n_embedded).sum();
        Ok(json!({ "vectors": n_embedded }))
    }

    /// Shows documents whose ids begin so, a page at a time; `work` may erase them.
    fn each_page(
        &self,
        namespace: &NamespaceId,
        prefix: &str,
        mut work: impl FnMut(Vec<DocumentId>) -> Result<()>,
    ) -> Result<()> {
        let mut page = DocumentPage { prefix: prefix.to_owned(), after: None, limit: LIST_PAGE };
        loop {
            let documents = match self.0.store.documents(namespace, &page) {
                Err(store::Error::UnknownNamespace { .. }) => return Ok(()),
                documents => documents?,
            };
            let Some(last) = documents.last() else { return Ok(()) };
            page.after = Some(last.id.clone());
            work(documents.into_iter().map(|document| document.id).collect())?;
        }
    }
}

impl Read {
    fn unreadable(addition: &Addition, title: String) -> Self {
        Read { addition: addition.clone(), title, passages: vec![] }
    }
}

/// Puts the outcome of an upload into the document and the counts of its collection.
fn count(collection: &mut Collection, document: &mut Document, read: &Read) {
    let was_indexed = document.state.is_indexed();
    if read.passages.is_empty() {
        document.error = Some("no text could be read".to_owned());
        // A content that cannot be read does not take the old one away.
        document.state = if was_indexed { DocumentState::Ready } else { DocumentState::Failed };
        return;
    }
    if was_indexed {
        collection.n_chunks = collection.n_chunks.saturating_sub(document.n_chunks);
    } else {
        collection.n_documents += 1;
    }
    collection.n_chunks += read.passages.len();
    document.n_chunks = read.passages.len();
    document.title.clone_from(&read.title);
    document.error = None;
    // A still newer content waits for its own job.
    if document.version == read.addition.version {
        document.state = DocumentState::Ready;
    }
}

/// What passages of a collection are filtered by.
fn attributes(collection: &Collection) -> Attributes {
    let department = collection.department.as_deref().unwrap_or_default();
    Attributes::from([
        (attribute::TENANT.to_owned(), collection.tenant.as_str().into()),
        (attribute::BASE.to_owned(), collection.knowledge_base_id.as_str().into()),
        (attribute::COLLECTION.to_owned(), collection.id.as_str().into()),
        (attribute::DEPARTMENT.to_owned(), department.into()),
        (attribute::CLEARANCE.to_owned(), i64::from(collection.clearance.level()).into()),
    ])
}

/// Text that was given as text: blank lines end a paragraph, and each remembers its line.
fn paragraphs(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let mut paragraph = String::new();
    let mut first_line = 1;
    for (line, number) in text.lines().chain([""]).zip(1_u32..) {
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                let text = std::mem::take(&mut paragraph);
                blocks.push(Block::new(text, Pointer::Line(first_line), BlockKind::Paragraph));
            }
            continue;
        }
        if paragraph.is_empty() {
            first_line = number;
        } else {
            paragraph.push('\n');
        }
        paragraph.push_str(line);
    }
    blocks
}

fn first_words(blocks: &[Block]) -> String {
    let first = blocks.first().map(|block| block.text.as_str()).unwrap_or_default();
    first.lines().next().unwrap_or_default().trim().chars().take(TITLE_CHARS).collect()
}
