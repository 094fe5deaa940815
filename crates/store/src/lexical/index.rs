//! Opening, writing and viewing the full-text index of one namespace.
//!
//! The index is derived: its commits carry the sequence number of the catalogue that they have
//! seen, and whatever is lost can be made again.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use model::{Attributes, DocumentId, Passage};
use tantivy::columnar::ColumnValues;
use tantivy::directory::error::LockError;
use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError, Term};
use text::Language;

use super::ahead::{Ahead, Queued};
use super::count::Segments;
use super::directory::ReadDirectory;
use super::packed::{PACKED, Unpacker};
use super::schema::{EntryMaker, Fields, NUMBER};
use crate::{Error, Result, failpoint};

/// The engine's smallest budget for words that are not on disk yet.
const MIN_WRITER_BYTES: usize = 15_000_000;
/// Segments with more entries than this are not merged any more.
const MAX_MERGED_ENTRIES: usize = 4_000_000;

/// So many segments of like size become one. More of them make searches a little slower and
/// rewrite every entry less often: once instead of twice on the way to a million.
const SEGMENTS_PER_MERGE: usize = 16;

/// How long a writer waits for the lock of the one before.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// The pause between two attempts to take it.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A passage on its way into the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// The passage's number in its namespace.
    pub(crate) number: u32,
    /// The number of the first passage of its document.
    pub(crate) version: u32,
    pub(crate) document: &'a DocumentId,
    /// The document's title.
    pub(crate) title: &'a str,
    /// The document's attributes.
    pub(crate) attributes: &'a Attributes,
    /// The language that the whole document is cut in.
    pub(crate) language: Language,
    pub(crate) passage: &'a Passage,
}

/// The full-text index of one namespace.
pub(crate) struct LexicalIndex {
    folder: PathBuf,
    index: Index,
    fields: Fields,
    reader: IndexReader,
    writer: Option<IndexWriter<Queued>>,
    writer_bytes: usize,
    ahead: Arc<Ahead>,
    maker: EntryMaker,
    segments: Segments,
}

impl LexicalIndex {
    /// Opens the index in a folder, or makes an empty one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when the folder holds something that is not an index of this format.
    pub(crate) fn open(folder: &Path, writer_bytes: usize) -> Result<Self> {
        fs_err::create_dir_all(folder)?;
        let directory = MmapDirectory::open(folder).map_err(|error| unreadable(folder, &error))?;
        LexicalIndex::open_in(directory.into(), folder, writer_bytes)
    }

    /// Opens the index in a folder to read it alone; an empty one where there is none.
    ///
    /// # Errors
    ///
    /// Those of [`LexicalIndex::open`].
    pub(crate) fn open_to_read(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return LexicalIndex::open_in(RamDirectory::create().into(), folder, MIN_WRITER_BYTES);
        }
        let directory = ReadDirectory::open(folder).map_err(|error| unreadable(folder, &error))?;
        LexicalIndex::open_in(directory.into(), folder, MIN_WRITER_BYTES)
    }

    fn open_in(directory: Box<dyn Directory>, folder: &Path, writer_bytes: usize) -> Result<Self> {
        let (schema, fields) = Fields::schema();
        let damaged = |reason: String| Error::Damaged { path: folder.to_owned(), reason };
        let opening = |error: &(dyn std::error::Error + 'static)| unreadable(folder, error);
        let exists = Index::exists(&*directory).map_err(|error| opening(&error))?;
        let mut index = if exists {
            Index::open(directory).map_err(|error| opening(&error))?
        } else {
            Index::create(directory, schema.clone(), tantivy::IndexSettings::default())?
        };
        if index.schema() != schema {
            return Err(damaged("its fields are not those of this format".to_owned()));
        }
        let tokenizers = TokenizerManager::default();
        tokenizers.register(PACKED, TextAnalyzer::from(Unpacker::default()));
        index.set_tokenizers(tokenizers);
        // The engine trusts its files: one that is cut off can make it panic.
        let reader = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let builder = index.reader_builder().reload_policy(ReloadPolicy::Manual);
            builder.doc_store_cache_num_blocks(0).try_into()
        }))
        .map_err(|_| damaged("the engine cannot read it".to_owned()))?
        .map_err(|error: tantivy::TantivyError| opening(&error))?;
        Ok(LexicalIndex {
            folder: folder.to_owned(),
            index,
            fields,
            reader,
            writer: None,
            writer_bytes: writer_bytes.max(MIN_WRITER_BYTES),
            ahead: Arc::default(),
            maker: EntryMaker::default(),
            segments: Segments::default(),
        })
    }

    /// Gives the sequence number of the catalogue that the last commit had seen.
    pub(crate) fn sequence(&self) -> Result<u64> {
        let payload = self.index.load_metas()?.payload;
        Ok(payload.and_then(|payload| payload.parse().ok()).unwrap_or(0))
    }

    /// Adds a passage; it can be found after the next commit.
    pub(crate) fn add(&mut self, entry: &Entry<'_>) -> Result<()> {
        let document = self.maker.make(&self.fields, entry);
        // Its words are in it twice.
        let n_bytes = 2 * (entry.passage.text.len() + entry.title.len());
        let queued = self.ahead.queue(document, n_bytes);
        self.writer()?.add_document(queued)?;
        Ok(())
    }

    /// Removes every passage of a version; they are gone after the next commit.
    pub(crate) fn remove_version(&mut self, version: u32) -> Result<()> {
        let term = Term::from_field_u64(self.fields.version, u64::from(version));
        self.writer()?.delete_term(term);
        Ok(())
    }

    /// Makes everything since the last commit durable and visible to new views.
    ///
    /// After a failure everything since the last commit is forgotten: the engine's writer would
    /// take more entries and acknowledge them, but has lost the thread that writes them down.
    pub(crate) fn commit(&mut self, sequence: u64) -> Result<()> {
        let committed = self.try_commit(sequence);
        if committed.is_err() {
            self.abandon();
        }
        committed
    }

    fn try_commit(&mut self, sequence: u64) -> Result<()> {
        self.maker.begin_anew();
        let writer = self.writer()?;
        let mut prepared = writer.prepare_commit()?;
        failpoint::reach("words prepared")?;
        prepared.set_payload(&sequence.to_string());
        prepared.commit()?;
        failpoint::reach("words committed")?;
        self.reader.reload()?;
        Ok(())
    }

    /// Forgets everything since the last commit, after a failure.
    ///
    /// The engine's writer may be broken by then, so it is simply let go: it never wrote its
    /// list of segments, and the next one starts from the last commit.
    pub(crate) fn abandon(&mut self) {
        self.writer = None;
    }

    /// Lets go of the writer and its memory; the next write makes another.
    pub(crate) fn rest(&mut self) -> Result<()> {
        match self.writer.take() {
            Some(writer) => Ok(writer.wait_merging_threads()?),
            None => Ok(()),
        }
    }

    /// Tells whether a writer with its memory and threads is open.
    pub(crate) fn is_writing(&self) -> bool {
        self.writer.is_some()
    }

    /// Writes anew the segments that hold passages that were removed: until then their words are
    /// still in the files.
    pub(crate) fn drop_deleted(&mut self) -> Result<()> {
        // A segment that the engine is merging on its own cannot be merged by us.
        self.rest()?;
        let segments = self.index.searchable_segment_metas()?;
        let with_deletes: Vec<_> = segments
            .iter()
            .filter(|segment| segment.num_deleted_docs() > 0)
            .map(|segment| segment.id())
            .collect();
        if !with_deletes.is_empty() {
            self.writer()?.merge(&with_deletes).wait()?;
        }
        self.reader.reload()?;
        Ok(())
    }

    /// Removes the files that neither the index nor a snapshot of it reads any more.
    pub(crate) fn remove_unused_files(&mut self) -> Result<()> {
        self.writer()?.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Merges all segments into one and drops the files that nothing needs any more.
    pub(crate) fn merge(&mut self) -> Result<()> {
        let segments = self.index.searchable_segment_metas()?;
        let has_deletes = segments.iter().any(|segment| segment.num_deleted_docs() > 0);
        if segments.len() > 1 || has_deletes {
            let ids: Vec<_> = segments.iter().map(|segment| segment.id()).collect();
            self.writer()?.merge(&ids).wait()?;
        }
        self.writer()?.garbage_collect_files().wait()?;
        self.reader.reload()?;
        Ok(())
    }

    /// Gives the present state to search in; later commits do not change it.
    pub(crate) fn view(&self) -> Result<LexicalView> {
        let view =
            LexicalView::new(self.reader.searcher(), self.fields, Arc::clone(&self.segments))?;
        let mut known = self.segments.lock();
        if !known.is_empty() {
            let segments = view.searcher.segment_readers();
            known.retain(|id, _| segments.iter().any(|segment| segment.segment_id() == *id));
        }
        drop(known);
        Ok(view)
    }

    /// Reads every file of the index and compares its checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] names the first file that differs.
    pub(crate) fn verify(&self) -> Result<()> {
        let damaged = self
            .index
            .validate_checksum()
            .map_err(|error| Error::Damaged {
                path: self.folder.clone(),
                reason: error.to_string(),
            })?
            .into_iter()
            .min();
        match damaged {
            Some(file) => Err(Error::Damaged {
                path: self.folder.join(file),
                reason: "its checksum does not match its content".to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn writer(&mut self) -> Result<&mut IndexWriter<Queued>> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let options = IndexWriterOptions::builder()
                    .num_worker_threads(1)
                    .num_merge_threads(1)
                    .memory_budget_per_thread(self.writer_bytes)
                    .build();
                let writer = self.unlocked_writer(&options)?;
                let mut policy = LogMergePolicy::default();
                policy.set_min_num_segments(SEGMENTS_PER_MERGE);
                policy.set_max_docs_before_merge(MAX_MERGED_ENTRIES);
                writer.set_merge_policy(Box::new(policy));
                writer
            }
        };
        Ok(self.writer.insert(writer))
    }

    /// Opens a writer, waiting for a lock that is about to go: a process that is being started
    /// shares our open files until it runs its own program, and with them the lock of a writer
    /// that we have just let go of. Nobody else opens the folder, which the store has locked.
    fn unlocked_writer(&self, options: &IndexWriterOptions) -> Result<IndexWriter<Queued>> {
        let begun = Instant::now();
        loop {
            match self.index.writer_with_options(options.clone()) {
                Err(TantivyError::LockFailure(LockError::LockBusy, _))
                    if begun.elapsed() < MAX_LOCK_WAIT =>
                {
                    std::thread::sleep(LOCK_PAUSE);
                }
                opened => return Ok(opened?),
            }
        }
    }
}

/// Says why an index cannot be opened.
fn unreadable(folder: &Path, error: &(dyn std::error::Error + 'static)) -> Error {
    match lack_of_resources(error) {
        Some(lack) => Error::Io(lack),
        None => Error::Damaged { path: folder.to_owned(), reason: error.to_string() },
    }
}

/// Finds out whether an index could not be opened because the system lacks something, which says
/// nothing against the index itself.
fn lack_of_resources(error: &(dyn std::error::Error + 'static)) -> Option<std::io::Error> {
    const TOO_MANY_OPEN_FILES: [i32; 2] = [23, 24];
    use std::io::{Error, ErrorKind};
    let mut of_system = model::causes(error).filter_map(|error| error.downcast_ref::<Error>());
    let lack = of_system.find(|io| {
        matches!(io.kind(), ErrorKind::OutOfMemory | ErrorKind::PermissionDenied)
            || io.raw_os_error().is_some_and(|code| TOO_MANY_OPEN_FILES.contains(&code))
    })?;
    Some(Error::new(lack.kind(), lack.to_string()))
}

/// One commit of the index, searched by any number of threads.
#[derive(Clone)]
pub(crate) struct LexicalView {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) numbers: Vec<Arc<dyn ColumnValues<u64>>>,
    /// Words of all live passages, once somebody asked.
    pub(super) n_words: Arc<OnceLock<u64>>,
    pub(super) segments: Segments,
}

impl LexicalView {
    fn new(searcher: Searcher, fields: Fields, segments: Segments) -> Result<Self> {
        let numbers = searcher
            .segment_readers()
            .iter()
            .map(|segment| Ok(segment.fast_fields().u64(NUMBER)?.first_or_default_col(0)))
            .collect::<Result<_>>()?;
        Ok(LexicalView { searcher, fields, numbers, n_words: Arc::default(), segments })
    }

    /// Counts the passages that can be found.
    pub(crate) fn n_passages(&self) -> usize {
        self.searcher.num_docs() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_waits_for_a_lock_that_is_about_to_go() {
        let folder = testkit::Folder::new();
        let mut index = LexicalIndex::open(folder.path(), MIN_WRITER_BYTES).unwrap();
        index.commit(1).unwrap();
        index.rest().unwrap();
        let lock = fs_err::OpenOptions::new()
            .write(true)
            .open(folder.join(".tantivy-writer.lock"))
            .unwrap()
            .into_parts()
            .0;
        lock.lock().unwrap();
        std::thread::scope(|scope| {
            let committed = scope.spawn(|| index.commit(2));
            std::thread::sleep(LOCK_PAUSE * 5);
            assert!(!committed.is_finished(), "it did not wait");
            drop(lock);
            committed.join().unwrap().unwrap();
        });
        assert_eq!(index.sequence().unwrap(), 2);
    }
}
