//! The indexes of a namespace and how they follow the catalogue: each remembers the sequence
//! number it has seen, reads the log from there, and is made anew when it is missing or damaged.

use std::path::{Path, PathBuf};

use model::NamespaceId;
use rusqlite::params;

use super::Config;
use super::following::{
    add_passages, append_all_vectors, append_vectors, folder_bytes, remove_folder,
};
use super::snapshot::Snapshot;
use crate::lexical::LexicalIndex;
use crate::truth::rows::{self, LogKind};
use crate::truth::{Database, log_starts_after};
use crate::vectors::VectorFile;
use crate::{Result, VectorSpace, failpoint};

/// An index that had nothing to follow for this many changes writes down that it has seen them.
const MAX_UNWRITTEN_LAG: u64 = 256;
/// An index up to this size is compared with its checksums when it is opened; a larger one is
/// only when it is checked, since reading it all would take too long.
const VERIFY_AT_OPEN_BYTES: u64 = 32 << 20;

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

impl Derived {
    /// Opens the indexes in a folder; a damaged one starts empty and catches up later.
    pub(super) fn open(
        database: &Database,
        number: u32,
        folder: &Path,
        config: &Config,
        space: Option<VectorSpace>,
    ) -> Result<Self> {
        let words_folder = folder.join("words");
        let is_small = folder_bytes(&words_folder)? <= VERIFY_AT_OPEN_BYTES;
        let opened = LexicalIndex::open(&words_folder, config.writer_bytes);
        let checked = opened.and_then(|words| match is_small {
            true => words.verify().map(|()| words),
            false => Ok(words),
        });
        let words = match checked {
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
        let is_small = folder_bytes(&folder)? <= VERIFY_AT_OPEN_BYTES;
        let opened = VectorFile::open(&folder, space.dimensions);
        let checked = opened.and_then(|mut file| match is_small {
            true => file.verify().map(|()| file),
            false => Ok(file),
        });
        let file = match checked {
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
        if !database.purge(self.number, self.written())? {
            return Ok(());
        }
        failpoint::reach("removed purged")
    }

    /// Writes the indexes anew where they hold something that was erased.
    pub(super) fn forget_erased(&mut self) -> Result<()> {
        self.words.drop_deleted()?;
        self.vectors.as_mut().map_or(Ok(()), VectorFile::drop_dead)
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
        self.vectors.as_mut().map_or(Ok(()), VectorFile::drop_dead)
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

    /// Gives what searches may see now.
    pub(super) fn snapshot(
        &mut self,
        database: &Database,
        id: &NamespaceId,
        max_cached_filters: usize,
    ) -> Result<Snapshot> {
        let row = database.row_of(id)?;
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
