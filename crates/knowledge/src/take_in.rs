//! Uploads through the write path: read from disk, cut, written and counted together.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ingest::{
    Cut, Gone, Hooks, Item, ItemContent, ObjectError, OpenFile, Pipeline, Prepared, Progress,
    Source, Target, Unchanged,
};
use model::{Block, DocumentId, NamespaceId, Passage, ReadOutcome, Warning};
use store::{Change, Manifest, TypedObject, Upserted};

use crate::documents::joined;
use crate::index::attributes;
use crate::jobs::Addition;
use crate::new_document::OcrRepair;
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::objects::{Collection, Document, DocumentState, Original, chunk_id, document_of};
use crate::paragraphs::paragraphs;
use crate::versions::Compared;
use crate::{Error, Result, Service, limits};

/// Characters of a text that become its title when it has none.
const TITLE_CHARS: usize = 80;

impl Service {
    /// Takes uploads of a collection in, and gives how many were indexed and how many could not
    /// be read.
    pub(crate) fn take_in(
        &self,
        collection: &Collection,
        waiting: Vec<Addition>,
        progress: &Progress,
    ) -> Result<(usize, usize)> {
        let namespace = collection.namespace();
        self.0.store.create_namespace(&namespace, &Manifest::current(None))?;
        let uploads = waiting
            .iter()
            .map(|addition| {
                let id = format!("{}{}", collection.document_prefix(), addition.document);
                (DocumentId::new(id), addition.clone())
            })
            .collect();
        let hooks = Arc::new(UploadHooks {
            service: self.clone(),
            collection: collection.id.clone(),
            uploads,
            n_written: AtomicUsize::new(0),
            n_failed: AtomicUsize::new(0),
        });
        let of_pipeline: Arc<dyn Hooks> = hooks.clone();
        let pipeline = Pipeline {
            store: self.0.store.clone(),
            namespace,
            caps: extract::Caps::standard(),
            // Where worker processes extract, as many documents side by side as there are of them.
            n_extractors: if self.0.pool.is_some() { extract::default_workers() } else { 1 },
            pool: self.0.pool.clone(),
            unchanged: Unchanged::Rewrite,
            scope: None,
            gone: Gone::Keep,
            hooks: of_pipeline,
        };
        let mut source = UploadSource {
            service: self.clone(),
            collection: collection.clone(),
            n_waiting: waiting.len(),
            waiting: waiting.into(),
            current: None,
            failed: None,
        };
        let run = pipeline.run(&mut source, progress);
        if let Some(error) = source.failed {
            return Err(error);
        }
        run?;
        let count = |n: &AtomicUsize| n.load(Ordering::Relaxed);
        Ok((count(&hooks.n_written), count(&hooks.n_failed)))
    }

    /// Writes a batch to the store and counts it, or leaves no trace of it.
    fn write(
        &self,
        collection: &CollectionId,
        batch: &[(&Addition, &Prepared)],
    ) -> Result<Upserted> {
        // One batch at a time: an older content of a document can never overwrite a newer one.
        self.in_turn(collection, || self.write_in_turn(collection, batch))
    }

    fn write_in_turn(
        &self,
        collection: &CollectionId,
        batch: &[(&Addition, &Prepared)],
    ) -> Result<Upserted> {
        let staged = || batch.iter().map(|(addition, _)| addition.staged.as_str());
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, collection)? else {
            self.forget_uploads(staged());
            return Ok(Upserted::default());
        };
        let namespace = collection.namespace();
        self.0.store.create_namespace(&namespace, &Manifest::current(None))?;
        let mut wanted = vec![];
        let ids = batch.iter().map(|(addition, _)| &addition.document);
        let current = Document::load_many(&*self.0.catalogue, ids)?;
        for ((addition, prepared), current) in batch.iter().zip(current) {
            match current {
                // Another server finished it while this one had lost its job.
                Some((current, _)) if is_done(&current, addition) => {}
                Some((current, _)) if is_wanted(&current, addition) => {
                    wanted.push((*addition, *prepared, current));
                }
                // Another content came meanwhile, or the document is gone.
                _ => self.forget_uploads([addition.staged.as_str()]),
            }
        }
        let compared = self.compare(&namespace, &wanted)?;
        let upserted = self.upsert(&collection, &wanted)?;
        // A file says what it holds now: its old text goes before anything says that it went.
        let emptied: Vec<DocumentId> = wanted
            .iter()
            .filter(|(_, prepared, document)| is_emptied(document, prepared))
            .map(|(_, prepared, _)| prepared.document.id.clone())
            .collect();
        if !emptied.is_empty() {
            self.0.store.delete(&namespace, &emptied)?;
        }
        let mut gone = vec![];
        let mut replaced: Vec<String> = vec![];
        let counted = self.change_collection(&collection.id, |current| {
            gone.clear();
            replaced.clear();
            if current.namespace() != namespace {
                return Err(Error::Object(ObjectError::Busy));
            }
            let mut changes = vec![];
            let ids = wanted.iter().map(|(addition, ..)| &addition.document);
            let rows = Document::load_many(&*self.0.catalogue, ids)?;
            for ((addition, prepared, _), row) in wanted.iter().zip(rows) {
                match row {
                    None => gone.push(prepared.document.id.clone()),
                    Some((document, _)) if is_done(&document, addition) => {}
                    Some((mut document, version)) => {
                        let is_latest = is_wanted(&document, addition);
                        replaced.extend(count(current, &mut document, addition, prepared));
                        document.updated_at = self.0.clock.now();
                        // The row of a newer content names that one: it is no version of this.
                        if is_latest && let Some(compared) = compared.get(&document.id) {
                            let n_bytes = addition.n_bytes;
                            let version =
                                self.version_changes(current, &document, n_bytes, compared)?;
                            changes.extend(version);
                        }
                        changes.push(Change::PutIfUnchanged(document.to_object(version)?));
                    }
                }
            }
            Ok(changes)
        });
        if let Err(error) = counted {
            // The collection changed or is gone: what was written must not stay behind.
            let ids: Vec<DocumentId> =
                wanted.iter().map(|(_, prepared, _)| prepared.document.id.clone()).collect();
            self.0.store.delete(&namespace, &ids)?;
            if matches!(error, Error::Object(ObjectError::NotFound { .. })) {
                self.forget_uploads(staged());
                return Ok(Upserted::default());
            }
            return Err(error);
        }
        if !gone.is_empty() {
            self.0.store.delete(&namespace, &gone)?;
        }
        self.forget_uploads(replaced.iter().map(String::as_str));
        self.1.backlog.fewer(&collection.id, batch.len());
        Ok(upserted)
    }

    /// Writes what has text to the namespace of its collection.
    fn upsert(
        &self,
        collection: &Collection,
        wanted: &[(&Addition, &Prepared, Document)],
    ) -> Result<Upserted> {
        let namespace = collection.namespace();
        // A document that is large comes alone, and is not copied.
        if let [(_, prepared, document)] = wanted
            && prepared.document.attributes == attributes(collection)
            && prepared.document.title == title_of(document, prepared)
            && !prepared.document.passages.is_empty()
        {
            let alone = std::slice::from_ref(&prepared.document);
            return Ok(self.0.store.upsert(&namespace, alone)?);
        }
        let documents: Vec<store::Document> = wanted
            .iter()
            .filter(|(_, prepared, _)| !prepared.document.passages.is_empty())
            .map(|(_, prepared, document)| store::Document {
                title: title_of(document, prepared).to_owned(),
                attributes: attributes(collection),
                ..prepared.document.clone()
            })
            .collect();
        match documents.is_empty() {
            true => Ok(Upserted::default()),
            false => Ok(self.0.store.upsert(&namespace, &documents)?),
        }
    }

    /// Compares contents that have text with those before them, by document.
    fn compare(
        &self,
        namespace: &NamespaceId,
        wanted: &[(&Addition, &Prepared, Document)],
    ) -> Result<HashMap<KnowledgeDocumentId, Compared>> {
        let mut compared = HashMap::new();
        for (_, prepared, document) in wanted {
            if prepared.document.passages.is_empty() {
                continue;
            }
            let text = |passages: &[Passage]| joined(passages, limits::MAX_COMPARED_BYTES).0;
            let now = text(&prepared.document.passages);
            let difference = match document.state.is_indexed() {
                true => {
                    let before = self.0.store.passages_of(namespace, &document.store_id())?;
                    Compared::of(&text(&before), &now)
                }
                false => Compared::first(&now),
            };
            compared.insert(document.id.clone(), difference);
        }
        Ok(compared)
    }
}

/// Uploads that wait on disk.
struct UploadSource {
    service: Service,
    collection: Collection,
    n_waiting: usize,
    waiting: VecDeque<Addition>,
    current: Option<(Addition, bool)>,
    /// Why reading ended before its end.
    failed: Option<Error>,
}

impl UploadSource {
    /// Gives the next upload that somebody still waits for.
    fn advance(&mut self) -> Result<Option<Item>> {
        while let Some(addition) = self.waiting.pop_front() {
            let current = Document::load(&*self.service.0.catalogue, &addition.document)?;
            let document = match current {
                Some((document, _)) if is_wanted(&document, &addition) => document,
                _ => {
                    // It was replaced or deleted meanwhile.
                    self.service.forget_uploads([addition.staged.as_str()]);
                    self.service.1.backlog.fewer(&self.collection.id, 1);
                    continue;
                }
            };
            if is_done(&document, &addition) {
                self.service.1.backlog.fewer(&self.collection.id, 1);
                continue;
            }
            let mut item = Item::new(document.store_id(), document.title.as_str());
            item.attributes = attributes(&self.collection);
            self.current = Some((addition, document.file_name.is_empty()));
            return Ok(Some(item));
        }
        Ok(None)
    }

    fn open(&self, addition: Addition, is_text: bool) -> Result<ItemContent> {
        let uploads = &self.service.0.uploads;
        let text = |blocks: std::io::Result<Vec<Block>>| {
            blocks.map(ItemContent::Blocks).map_err(Error::Upload)
        };
        if let Some(bytes) = uploads.read_small(&addition.staged)? {
            return match is_text {
                true => text(paragraphs(bytes.as_slice())),
                false => Ok(ItemContent::bytes(bytes, addition.name)),
            };
        }
        match uploads.open(&addition.staged)? {
            None => {
                let lost = Warning::new("upload_lost", "the upload is not there any more");
                Ok(ItemContent::Nothing(ReadOutcome::Failed, lost))
            }
            Some(file) if is_text => text(paragraphs(file)),
            Some(file) => Ok(ItemContent::File { file: OpenFile::new(file), name: addition.name }),
        }
    }
}

impl Source for UploadSource {
    fn next_item(&mut self) -> Option<std::result::Result<Item, Warning>> {
        if self.failed.is_some() {
            return None;
        }
        match self.advance() {
            Ok(item) => item.map(Ok),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    fn content(&mut self, _: &Item) -> std::result::Result<ItemContent, Warning> {
        let Some((addition, is_text)) = self.current.take() else {
            return Err(Warning::new("unreadable", "the upload was read already"));
        };
        match self.open(addition, is_text) {
            Ok(content) => Ok(content),
            Err(error) => {
                // It may pass: the job is tried again, and the upload stays until then.
                self.failed = Some(error);
                self.current = None;
                Ok(ItemContent::Nothing(
                    ReadOutcome::Unreadable,
                    Warning::new("unreadable", "not read: the job is tried again"),
                ))
            }
        }
    }

    fn n_items(&self) -> Option<usize> {
        Some(self.n_waiting)
    }
}

/// What is special about uploads: they are counted with their collection when they are written.
struct UploadHooks {
    service: Service,
    collection: CollectionId,
    uploads: HashMap<DocumentId, Addition>,
    n_written: AtomicUsize,
    n_failed: AtomicUsize,
}

impl Hooks for UploadHooks {
    fn complete(&self, item: &mut Item, blocks: &mut Vec<Block>) {
        let is_repaired =
            self.uploads.get(&item.id).is_some_and(|addition| addition.ocr == OcrRepair::On);
        if is_repaired {
            for block in blocks.iter_mut() {
                block.text = text::repair_long_vowels(&block.text);
            }
        }
        if item.title.is_empty() {
            item.title = first_words(blocks);
        }
    }

    fn cut(&self, item: &Item, blocks: Vec<Block>) -> std::result::Result<Vec<Passage>, Warning> {
        let cut =
            Cut::prose().named(|document, _, ordinal| chunk_id(&document_of(document), ordinal));
        Ok(cut.passages(&item.id, blocks))
    }

    fn write(&self, _: &Target<'_>, batch: &mut [Prepared]) -> ingest::Result<Upserted> {
        let batch: Vec<(&Addition, &Prepared)> = batch
            .iter()
            // What the disk did not give now stays on disk, and the job is tried again.
            .filter(|prepared| prepared.outcome != ReadOutcome::Unreadable)
            .filter_map(|prepared| Some((self.uploads.get(&prepared.document.id)?, prepared)))
            .collect();
        let upserted = self.service.write(&self.collection, &batch).map_err(as_ingest_error)?;
        let n_failed =
            batch.iter().filter(|(_, prepared)| prepared.document.passages.is_empty()).count();
        self.n_failed.fetch_add(n_failed, Ordering::Relaxed);
        self.n_written.fetch_add(batch.len() - n_failed, Ordering::Relaxed);
        Ok(upserted)
    }

    fn documents_per_commit(&self) -> usize {
        limits::DOCUMENTS_PER_COMMIT
    }
}

/// What the write path can say about an error of the family; all of them may pass.
#[expect(clippy::wildcard_enum_match_arm, reason = "writing gives no others")]
fn as_ingest_error(error: Error) -> ingest::Error {
    match error {
        Error::Unavailable(error) => ingest::Error::Store(error),
        Error::Object(ObjectError::Queue(error)) => error,
        _ => ingest::Error::Busy,
    }
}

/// Puts the outcome of an upload into the document and the counts of its collection, and gives the
/// files that the document needs no more.
fn count(
    collection: &mut Collection,
    document: &mut Document,
    addition: &Addition,
    prepared: &Prepared,
) -> Vec<String> {
    let was_indexed = document.state.is_indexed();
    let is_latest = is_wanted(document, addition);
    if is_latest {
        document.upload = None;
    }
    if !prepared.outcome.has_text() {
        if !is_latest {
            return vec![addition.staged.clone()];
        }
        document.error.clone_from(&prepared.reason);
        if is_emptied(document, prepared) {
            if was_indexed {
                collection.n_documents = collection.n_documents.saturating_sub(1);
                collection.n_chunks = collection.n_chunks.saturating_sub(document.n_chunks);
            }
            document.state = DocumentState::Failed;
            (document.n_chunks, document.before) = (0, None);
            return kept_original(document, addition);
        }
        document.restore();
        // A content that cannot be read does not take the old one away.
        document.state = if was_indexed { DocumentState::Ready } else { DocumentState::Failed };
        if was_indexed {
            return vec![addition.staged.clone()];
        }
        // What could not be read can still be looked at.
        return kept_original(document, addition);
    }
    let n_chunks = prepared.document.passages.len();
    if was_indexed {
        collection.n_chunks = collection.n_chunks.saturating_sub(document.n_chunks);
    } else {
        collection.n_documents += 1;
    }
    collection.n_chunks += n_chunks;
    document.n_chunks = n_chunks;
    // A still newer content waits for its own job: what was acknowledged with it stays, and the
    // file of this one is gone.
    if !is_latest {
        document.state = DocumentState::Replacing;
        if let Some(before) = &mut document.before {
            before.title.clone_from(&prepared.document.title);
            before.version = addition.version;
        }
        return vec![addition.staged.clone()];
    }
    document.title = title_of(document, prepared).to_owned();
    document.error = None;
    document.state = DocumentState::Ready;
    document.before = None;
    kept_original(document, addition)
}

/// Tells whether a document follows a file that has no text any more. What a person sent stays
/// found until they send something that can be read; a file is what it is.
fn is_emptied(document: &Document, prepared: &Prepared) -> bool {
    document.source.is_some() && !prepared.outcome.has_text()
}

/// Gives the title of a document whose content was read: the one that its row has now, since it
/// may have been changed while the content was read; one made from the content where it has none.
fn title_of<'a>(document: &'a Document, prepared: &'a Prepared) -> &'a str {
    match document.title.as_str() {
        "" => &prepared.document.title,
        title => title,
    }
}

/// Makes the upload the original of its document, and gives the file of the one before.
fn kept_original(document: &mut Document, addition: &Addition) -> Vec<String> {
    let original = Original { file: addition.staged.clone(), n_bytes: addition.n_bytes };
    let before = document.original.replace(original).map(|before| before.file);
    before.into_iter().filter(|file| *file != addition.staged).collect()
}

/// Tells whether an upload is the newest content of its document. No two uploads have the same name,
/// while a document gets its number back when a content cannot be read; jobs of an earlier version
/// name uploads that no row does.
fn is_wanted(document: &Document, addition: &Addition) -> bool {
    document.version == addition.version
        && document.staged().is_none_or(|staged| staged == addition.staged)
}

/// Tells whether an upload is indexed already: counting it again would note it twice.
fn is_done(document: &Document, addition: &Addition) -> bool {
    document.version == addition.version
        && document.state == DocumentState::Ready
        && document.staged() != Some(addition.staged.as_str())
}

fn first_words(blocks: &[Block]) -> String {
    let first = blocks.first().map(|block| block.text.as_str()).unwrap_or_default();
    first.lines().next().unwrap_or_default().trim().chars().take(TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Fixture, member, open_collection};
    use crate::{DocumentChange, NewDocument, Visibility};

    /// A title that was read before it was changed must not undo the change; nor may the title of
    /// an earlier content come with a newer one.
    #[test]
    fn the_last_title_that_was_acknowledged_stays() {
        let mut world = Fixture::new();
        let ann = member("acme", "ann");
        let base = world.base(&ann, "Rules", Visibility::Private);
        let collection = world.collection(&ann, &base, open_collection("All"));
        let added = world.add(&ann, &collection, &["The first rule."]);
        let id = added.documents[0].id.as_str();
        world.stop_workers();
        let service = &world.service;
        let read = |title: &str| {
            service
                .replace_document(
                    &ann,
                    &KnowledgeDocumentId::new(id),
                    NewDocument::text(title, "Another rule."),
                )
                .unwrap();
            let document = service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap();
            let (collection, _) =
                Collection::load(&*service.0.catalogue, &collection).unwrap().unwrap();
            let additions = crate::jobs::Additions {
                knowledge_base: collection.knowledge_base_id.clone(),
                collection: collection.id.clone(),
                documents: vec![],
            };
            let addition = service.waiting_uploads(&collection, &additions).unwrap().remove(0);
            let blocks = paragraphs("Another rule.".as_bytes()).unwrap();
            let cut = Cut::prose()
                .named(|document, _, ordinal| chunk_id(&document_of(document), ordinal));
            let document = store::Document {
                id: document.store_id(),
                title: document.title.clone(),
                attributes: attributes(&collection),
                metadata: serde_json::Value::Null,
                fingerprint: String::new(),
                passages: cut.passages(&document.store_id(), blocks),
            };
            (addition, Prepared { document, outcome: ReadOutcome::Indexed, reason: None })
        };
        let (addition, prepared) = read("put");
        let title = Some("patched".to_owned());
        let change = DocumentChange { title, ..DocumentChange::default() };
        service.update_document(&ann, &KnowledgeDocumentId::new(id), &change).unwrap();
        service.write(&collection, &[(&addition, &prepared)]).unwrap();
        let document = service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap();
        assert_eq!((document.title.as_str(), document.state), ("patched", DocumentState::Ready));
        let (of, _) = Collection::load(&*service.0.catalogue, &collection).unwrap().unwrap();
        let stored = service.0.store.document(&of.namespace(), &document.store_id()).unwrap();
        assert_eq!(stored.unwrap().title, "patched");

        let (addition, prepared) = read("earlier");
        let (_, _) = read("later");
        let (mut document, mut of) =
            (service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap(), of);
        count(&mut of, &mut document, &addition, &prepared);
        assert_eq!((document.title.as_str(), document.state), ("later", DocumentState::Replacing));
        assert_ne!(document.original.unwrap().file, addition.staged, "its file is gone");
    }

    /// A content that could not be read gives its number back, and the next one has it again: a job
    /// that had listed the unreadable one took the acknowledged one away.
    #[test]
    fn an_upload_is_not_taken_for_another_of_the_same_number() {
        let mut world = Fixture::new();
        let ann = member("acme", "ann");
        let base = world.base(&ann, "Rules", Visibility::Private);
        let collection = world.collection(&ann, &base, open_collection("All"));
        let added = world.add(&ann, &collection, &["The first rule."]);
        let id = added.documents[0].id.as_str();
        world.stop_workers();
        let service = &world.service;
        let put = |text: &str| {
            service
                .replace_document(&ann, &KnowledgeDocumentId::new(id), NewDocument::text("", text))
                .unwrap();
            let (collection, _) =
                Collection::load(&*service.0.catalogue, &collection).unwrap().unwrap();
            let additions = crate::jobs::Additions::of(&collection);
            service.waiting_uploads(&collection, &additions).unwrap().remove(0)
        };
        let unreadable = put("Nobody can read this.");
        let document = service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap();
        let (of, _) = Collection::load(&*service.0.catalogue, &collection).unwrap().unwrap();
        let prepared = Prepared {
            document: store::Document {
                id: document.store_id(),
                title: String::new(),
                attributes: attributes(&of),
                metadata: serde_json::Value::Null,
                fingerprint: String::new(),
                passages: vec![],
            },
            outcome: ReadOutcome::Failed,
            reason: Some("no text".to_owned()),
        };
        let write = || service.write(&collection, &[(&unreadable, &prepared)]).unwrap();
        write();
        assert_eq!(
            service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap().state,
            DocumentState::Ready
        );
        let next = put("The second rule.");
        assert_eq!(next.version, unreadable.version);
        write();
        let document = service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap();
        assert_eq!(document.staged(), Some(next.staged.as_str()), "it was acknowledged");
    }
}
