//! An open namespace: its derived indexes, how they follow the catalogue, and the snapshot that
//! searches read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::NamespaceId;
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, params};

use super::Config;
use super::database::Database;
use super::rows::{self, LogEntry, LogKind};
use super::snapshot::Snapshot;
use crate::lexical::{Entry, LexicalIndex};
use crate::vectors::VectorFile;
use crate::{Error, Manifest, Result, VectorSpace, failpoint};

/// An index that had nothing to follow for this many changes writes down that it has seen them.
const MAX_UNWRITTEN_LAG: u64 = 256;
/// Vectors read at once while an index catches up.
const VECTORS_PER_STEP: usize = 4_096;

/// A namespace that is open.
pub(super) struct Namespace {
    pub(super) id: NamespaceId,
    pub(super) number: u32,
    pub(super) used_at: AtomicU64,
    /// Held for the whole of a write: the catalogue's part and the indexes' part.
    pub(super) derived: Mutex<Derived>,
    snapshot: RwLock<Arc<Snapshot>>,
    max_cached_filters: usize,
}

/// The indexes that follow the catalogue.
pub(super) struct Derived {
    number: u32,
    folder: PathBuf,
    writer_bytes: usize,
    words: LexicalIndex,
    words_seen: u64,
    words_written: u64,
    vectors: Option<VectorFile>,
    vectors_seen: u64,
    space: Option<VectorSpace>,
}

impl Namespace {
    /// Opens the indexes of a namespace and lets them catch up; one that is missing or damaged
    /// is made anew from the catalogue.
    pub(super) fn open(
        database: &Database,
        root: &Path,
        config: &Config,
        id: &NamespaceId,
    ) -> Result<Self> {
        let row = database
            .read(|connection| rows::namespace(connection, id))?
            .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })?;
        let mut wanted = Manifest::current(row.info.manifest.vectors.clone());
        if row.info.manifest != wanted {
            let kept = Box::new(row.info.manifest);
            wanted.vectors = kept.vectors.clone();
            return Err(Error::ManifestMismatch {
                namespace: id.clone(),
                kept,
                wanted: Box::new(wanted),
            });
        }
        let folder = folder_of(root, row.number);
        let space = row.info.manifest.vectors;
        let mut derived = Derived::open(database, row.number, &folder, config, space)?;
        derived.catch_up(database)?;
        derived.purge(database)?;
        let snapshot = derived.snapshot(database, id, config.max_cached_filters)?;
        Ok(Namespace {
            id: id.clone(),
            number: row.number,
            used_at: AtomicU64::new(0),
            derived: Mutex::new(derived),
            snapshot: RwLock::new(Arc::new(snapshot)),
            max_cached_filters: config.max_cached_filters,
        })
    }

    /// Gives what a search sees now.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().clone()
    }

    /// Lets searches see what the indexes have committed.
    pub(super) fn publish(&self, derived: &mut Derived, database: &Database) -> Result<()> {
        let snapshot = derived.snapshot(database, &self.id, self.max_cached_filters)?;
        *self.snapshot.write() = Arc::new(snapshot);
        failpoint::reach("snapshot published")
    }

    /// Notes that the namespace was used.
    pub(super) fn touch(&self, now: u64) {
        self.used_at.store(now, Ordering::Relaxed);
    }
}

/// Gives the folder of a namespace's indexes.
pub(super) fn folder_of(root: &Path, number: u32) -> PathBuf {
    root.join("namespaces").join(format!("{number:08}"))
}

impl Derived {
    fn open(
        database: &Database,
        number: u32,
        folder: &Path,
        config: &Config,
        space: Option<VectorSpace>,
    ) -> Result<Self> {
        let words_folder = folder.join("words");
        let words = match LexicalIndex::open(&words_folder, config.writer_bytes) {
            Err(error) if error.is_damage() => {
                tracing::warn!(folder = %words_folder.display(), "full-text index is damaged; rebuilding it");
                fs_err::remove_dir_all(&words_folder)?;
                LexicalIndex::open(&words_folder, config.writer_bytes)?
            }
            opened => opened?,
        };
        let words_seen = words.sequence()?;
        let mut derived = Derived {
            number,
            folder: folder.to_owned(),
            writer_bytes: config.writer_bytes,
            words,
            words_seen,
            words_written: words_seen,
            vectors: None,
            vectors_seen: 0,
            space: None,
        };
        derived.open_vectors(database, space)?;
        Ok(derived)
    }

    /// Opens the vector file of a space; one of another space or a damaged one is made anew.
    pub(super) fn open_vectors(
        &mut self,
        database: &Database,
        space: Option<VectorSpace>,
    ) -> Result<()> {
        let folder = self.folder.join("vectors");
        self.vectors = None;
        self.space = space;
        let Some(space) = &self.space else {
            return remove_folder(&folder);
        };
        // The file itself does not know its embedder; a note beside it does.
        let note = folder.join("space");
        let is_same_space = match fs_err::read_to_string(&note) {
            Ok(kept) => kept == space.embedder,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(error.into()),
        };
        if !is_same_space {
            remove_folder(&folder)?;
        }
        let file = match VectorFile::open(&folder, space.dimensions) {
            Err(error) if error.is_damage() => {
                tracing::warn!(folder = %folder.display(), "vector file is damaged; rebuilding it");
                remove_folder(&folder)?;
                VectorFile::open(&folder, space.dimensions)?
            }
            opened => opened?,
        };
        if !is_same_space {
            fs_err::write(&note, &space.embedder)?;
        }
        self.vectors_seen = file.sequence();
        self.vectors = Some(file);
        self.catch_up_vectors(database)
    }

    /// Tells whether the indexes have seen every change before this sequence number.
    pub(super) fn words_seen(&self) -> u64 {
        self.words_seen
    }

    /// Gives the full-text index for changes that the caller has in hand.
    pub(super) fn words(&mut self) -> &mut LexicalIndex {
        &mut self.words
    }

    /// Commits what the caller put into the full-text index.
    pub(super) fn commit_words(&mut self, sequence: u64) -> Result<()> {
        self.words.commit(sequence)?;
        self.words_seen = sequence;
        self.words_written = sequence;
        Ok(())
    }

    /// Lets every index follow the catalogue to its last change.
    pub(super) fn catch_up(&mut self, database: &Database) -> Result<()> {
        self.catch_up_words(database)?;
        self.catch_up_vectors(database)
    }

    /// Gives the sequence number up to which the log is not needed any more.
    pub(super) fn written(&self) -> u64 {
        let vectors = self.vectors.as_ref().map_or(u64::MAX, VectorFile::sequence);
        self.words_written.min(vectors)
    }

    /// Erases the rows of removed passages, which searches do not see any more.
    pub(super) fn purge(&mut self, database: &Database) -> Result<()> {
        let (number, written) = (self.number, self.written());
        let removed: Vec<LogEntry> = database.read(|connection| {
            let entries = rows::log_after(connection, number, 0)?;
            Ok(entries.into_iter().filter(|entry| entry.kind == LogKind::Removed).collect())
        })?;
        if removed.is_empty() {
            return Ok(());
        }
        database.write(|transaction| {
            for entry in &removed {
                let first = rows::row_of(number, entry.first);
                erase_passages(transaction, first, first + i64::from(entry.count) - 1)?;
            }
            truncate_log(transaction, number, written)
        })?;
        failpoint::reach("removed purged")
    }

    /// Merges and tidies the indexes.
    pub(super) fn maintain(&mut self) -> Result<()> {
        self.words.merge()?;
        if self.words_written < self.words_seen {
            let sequence = self.words_seen;
            self.commit_words(sequence)?;
        }
        if let Some(vectors) = &mut self.vectors
            && vectors.sequence() < self.vectors_seen
        {
            vectors.commit(self.vectors_seen)?;
        }
        Ok(())
    }

    /// Lets go of the writer's memory.
    pub(super) fn rest(&mut self) -> Result<()> {
        self.words.rest()
    }

    /// Tells whether a writer is open.
    pub(super) fn is_writing(&self) -> bool {
        self.words.is_writing()
    }

    /// Compares the checksums of every file.
    pub(super) fn verify(&mut self) -> Result<()> {
        self.words.verify()?;
        self.vectors.as_mut().map_or(Ok(()), VectorFile::verify)
    }

    /// Throws the indexes away and makes them from the catalogue.
    pub(super) fn rebuild(&mut self, database: &Database) -> Result<()> {
        self.words.abandon();
        remove_folder(&self.folder)?;
        self.words = LexicalIndex::open(&self.folder.join("words"), self.writer_bytes)?;
        self.words_seen = 0;
        self.words_written = 0;
        self.rebuild_words(database)?;
        let space = self.space.take();
        self.open_vectors(database, space)
    }

    /// After a failure, goes back to what is on disk.
    pub(super) fn recover(&mut self, database: &Database) -> Result<()> {
        self.words.abandon();
        self.words = LexicalIndex::open(&self.folder.join("words"), self.writer_bytes)?;
        self.words_seen = self.words.sequence()?;
        self.words_written = self.words_seen;
        let space = self.space.take();
        self.open_vectors(database, space)?;
        self.catch_up_words(database)
    }

    fn snapshot(
        &mut self,
        database: &Database,
        id: &NamespaceId,
        max_cached_filters: usize,
    ) -> Result<Snapshot> {
        let row = database
            .read(|connection| rows::namespace(connection, id))?
            .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })?;
        let vectors = self.vectors.as_mut().map(VectorFile::view).transpose()?;
        Ok(Snapshot::new(
            self.words.view()?,
            vectors,
            self.space.clone(),
            row.counts,
            row.next_passage,
            max_cached_filters,
        ))
    }

    fn catch_up_words(&mut self, database: &Database) -> Result<()> {
        let (number, seen) = (self.number, self.words_seen);
        let log_starts_after = database.read(|connection| log_starts_after(connection, number))?;
        if seen < log_starts_after {
            return self.rebuild_words(database);
        }
        let words = &mut self.words;
        let (last, is_changed) = database.read(|connection| {
            let mut is_changed = false;
            let entries = rows::log_after(connection, number, seen)?;
            for entry in &entries {
                match entry.kind {
                    LogKind::Added => {
                        add_passages(connection, words, number, entry.first, entry.count)?;
                        is_changed = true;
                    }
                    LogKind::Removed => {
                        words.remove_version(entry.first)?;
                        is_changed = true;
                    }
                    LogKind::Vectors => {}
                }
            }
            Ok((entries.last().map_or(seen, |entry| entry.sequence), is_changed))
        })?;
        if is_changed || last - self.words_written > MAX_UNWRITTEN_LAG {
            self.commit_words(last)?;
        }
        self.words_seen = last;
        Ok(())
    }

    fn rebuild_words(&mut self, database: &Database) -> Result<()> {
        self.words.abandon();
        let folder = self.folder.join("words");
        remove_folder(&folder)?;
        self.words = LexicalIndex::open(&folder, self.writer_bytes)?;
        let (number, words) = (self.number, &mut self.words);
        let last = database.read(|connection| {
            let (first, last) = rows::rows_of(number);
            let mut statement = connection.prepare(
                "SELECT first_passage, n_passages FROM documents WHERE row BETWEEN ? AND ?",
            )?;
            let mut documents = statement.query(params![first, last])?;
            while let Some(document) = documents.next()? {
                add_passages(connection, words, number, document.get(0)?, document.get(1)?)?;
            }
            rows::last_sequence(connection, number)
        })?;
        self.commit_words(last)
    }

    fn catch_up_vectors(&mut self, database: &Database) -> Result<()> {
        let (number, seen) = (self.number, self.vectors_seen);
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        let mut is_changed = false;
        let last = database.read(|connection| {
            if seen < log_starts_after(connection, number)? || vectors.sequence() == 0 {
                append_all_vectors(connection, vectors, number)?;
                is_changed = true;
                return rows::last_sequence(connection, number);
            }
            let entries = rows::log_after(connection, number, seen)?;
            for entry in &entries {
                let first = rows::row_of(number, entry.first);
                match entry.kind {
                    LogKind::Added => {}
                    LogKind::Removed => {
                        let n_before = vectors.len();
                        (entry.first..entry.first + entry.count).for_each(|n| vectors.forget(n));
                        is_changed |= vectors.len() != n_before;
                    }
                    LogKind::Vectors => {
                        let last = first + i64::from(entry.count) - 1;
                        append_vectors(connection, vectors, first, last)?;
                        is_changed = true;
                    }
                }
            }
            Ok(entries.last().map_or(seen, |entry| entry.sequence))
        })?;
        if is_changed || last - vectors.sequence() > MAX_UNWRITTEN_LAG {
            vectors.commit(last)?;
        }
        self.vectors_seen = last;
        Ok(())
    }
}

/// Erases everything that is kept for a range of passages.
pub(super) fn erase_passages(connection: &Connection, first: i64, last: i64) -> Result<()> {
    for table in ["passages", "vectors", "awaiting_vectors", "blobs"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE row BETWEEN ? AND ?"))?
            .execute(params![first, last])?;
    }
    Ok(())
}

/// Forgets the part of the log that every index has written down.
pub(super) fn truncate_log(connection: &Connection, number: u32, written: u64) -> Result<()> {
    if written == 0 || written == u64::MAX {
        return Ok(());
    }
    connection
        .prepare_cached(
            "UPDATE namespaces SET log_starts_after = max(log_starts_after, ifnull(
                (SELECT max(sequence) FROM log WHERE namespace = ?1 AND sequence <= ?2), 0))
             WHERE number = ?1",
        )?
        .execute(params![number, written])?;
    connection
        .prepare_cached("DELETE FROM log WHERE namespace = ? AND sequence <= ?")?
        .execute(params![number, written])?;
    Ok(())
}

/// Removes a folder with everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn log_starts_after(connection: &Connection, number: u32) -> Result<u64> {
    let mut statement =
        connection.prepare_cached("SELECT log_starts_after FROM namespaces WHERE number = ?")?;
    Ok(statement.query_row([number], |row| row.get(0))?)
}

fn add_passages(
    connection: &Connection,
    words: &mut LexicalIndex,
    namespace: u32,
    first: u32,
    count: u32,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let first_row = rows::row_of(namespace, first);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, passages.row, passages.document FROM passages WHERE row BETWEEN ? AND ?",
        rows::PASSAGE
    ))?;
    let mut found = statement.query(params![first_row, first_row + i64::from(count) - 1])?;
    let mut document = None;
    while let Some(row) = found.next()? {
        let passage = rows::finish_passage(rows::read_passage(row)?)?;
        let (passage_row, document_row): (i64, i64) = (row.get(7)?, row.get(8)?);
        if document.is_none() {
            document = rows::document_row_at(connection, document_row)?;
        }
        // A document that is gone by now took its passages with it.
        let Some(document) = &document else { return Ok(()) };
        words.add(&Entry {
            number: rows::number_of(passage_row),
            version: first,
            document: &document.id,
            title: &document.title,
            attributes: &document.attributes,
            passage: &passage,
        })?;
    }
    Ok(())
}

fn append_vectors(
    connection: &Connection,
    vectors: &mut VectorFile,
    first: i64,
    last: i64,
) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT row, vector FROM vectors WHERE row BETWEEN ? AND ? ORDER BY row")?;
    append_rows(statement.query(params![first, last])?, vectors)
}

/// Appends the vectors of all living passages; the rows of removed ones may still be there.
fn append_all_vectors(
    connection: &Connection,
    vectors: &mut VectorFile,
    number: u32,
) -> Result<()> {
    let (first, last) = rows::rows_of(number);
    let mut statement = connection.prepare(
        "SELECT vectors.row, vector FROM vectors
         JOIN passages ON passages.row = vectors.row
         JOIN documents ON documents.row = passages.document
         WHERE vectors.row BETWEEN ?1 AND ?2
         AND vectors.row - ?1 - documents.first_passage BETWEEN 0 AND documents.n_passages - 1
         ORDER BY vectors.row",
    )?;
    append_rows(statement.query(params![first, last])?, vectors)
}

fn append_rows(mut found: rusqlite::Rows<'_>, vectors: &mut VectorFile) -> Result<()> {
    let mut step = vec![];
    while let Some(row) = found.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        step.push((rows::number_of(row.get(0)?), floats(bytes)));
        if step.len() == VECTORS_PER_STEP {
            vectors.append(&step)?;
            step.clear();
        }
    }
    if !step.is_empty() {
        vectors.append(&step)?;
    }
    Ok(())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
