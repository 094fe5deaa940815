//! The indexes of a namespace and how they follow the catalogue: each remembers the sequence
//! number it has seen, reads the log from there, and is made anew when it is missing or damaged.

use std::path::{Path, PathBuf};

use super::following::{add_passages, append_vectors, folder_bytes, remove_folder};
use super::snapshot::Snapshot;
use crate::lexical::{Entry, LexicalIndex};
use crate::vectors::VectorFile;
use crate::{
    Access, Catalogue, Config, Counts, Error, Fresh, LogEntry, LogKind, NamespaceState, Result,
    VectorSpace, Verify, VersionChange, failpoint, stamp,
};

/// The name of the file that says which embedder made the vectors.
const SPACE_NOTE: &str = "space";
/// An index that had nothing to follow for this many changes writes down that it has seen them.
const MAX_UNWRITTEN_LAG: u64 = 256;
/// Entries of the log that are read at once.
const ENTRIES_PER_PAGE: usize = 10_000;
/// An index up to this size is compared with its checksums when it is opened; a larger one is
/// only when it is checked, since reading it all would take too long.
const VERIFY_AT_OPEN_BYTES: u64 = 32 << 20;

/// Words buffered while an index is made anew, in bytes: all of it is one commit.
const REBUILD_WRITER_BYTES: usize = 64 << 20;

/// The indexes that follow the catalogue.
pub(super) struct Derived {
    number: u32,
    folder: PathBuf,
    writer_bytes: usize,
    verify: Verify,
    access: Access,
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
        catalogue: &dyn Catalogue,
        number: u32,
        folder: &Path,
        config: &Config,
        space: Option<VectorSpace>,
    ) -> Result<Self> {
        let words_folder = folder.join("words");
        let n_bytes = folder_bytes(&words_folder)?;
        let is_compared = n_bytes > 0
            && n_bytes <= VERIFY_AT_OPEN_BYTES
            && config.verify.is_needed(&words_folder, is_index);
        let opened = match config.access {
            Access::Write => LexicalIndex::open(&words_folder, config.writer_bytes),
            Access::Read => LexicalIndex::open_to_read(&words_folder),
        };
        let checked = opened.and_then(|words| match is_compared {
            true => words.verify().map(|()| words),
            false => Ok(words),
        });
        let words = match checked {
            Err(error) if error.is_damage() && config.access == Access::Write => {
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
            verify: config.verify,
            access: config.access,
            words,
            words_seen,
            words_written: words_seen,
            vectors: None,
            vectors_seen: 0,
            space: None,
        };
        derived.open_vectors(catalogue, space)?;
        Ok(derived)
    }

    /// Opens the vector file of a space; one of another space or a damaged one is made anew.
    pub(super) fn open_vectors(
        &mut self,
        catalogue: &dyn Catalogue,
        space: Option<VectorSpace>,
    ) -> Result<()> {
        let folder = self.folder.join("vectors");
        self.vectors = None;
        self.space = space;
        if self.access == Access::Read {
            return self.open_vectors_to_read(&folder);
        }
        let Some(space) = &self.space else {
            return remove_folder(&folder);
        };
        let note = folder.join(SPACE_NOTE);
        let is_same_space = is_of(&folder, space)?;
        if !is_same_space {
            remove_folder(&folder)?;
        }
        let is_compared = folder_bytes(&folder)? <= VERIFY_AT_OPEN_BYTES
            && self.verify.is_needed(&folder, is_index);
        let opened = VectorFile::open(&folder, space.dimensions);
        let checked = opened.and_then(|mut file| match is_compared {
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
        self.catch_up_vectors(catalogue)
    }

    /// Opens the vector file as it is. One that is of another space or damaged is as good as none:
    /// words are searched without it.
    fn open_vectors_to_read(&mut self, folder: &Path) -> Result<()> {
        let Some(space) = &self.space else { return Ok(()) };
        if !is_of(folder, space)? {
            return Ok(());
        }
        let opened = VectorFile::open_to_read(folder, space.dimensions).and_then(|file| {
            let Some(mut file) = file else { return Ok(None) };
            let is_compared = folder_bytes(folder)? <= VERIFY_AT_OPEN_BYTES
                && self.verify.is_needed(folder, is_index);
            if is_compared {
                file.verify()?;
            }
            Ok(Some(file))
        });
        self.vectors = match opened {
            Err(error) if error.is_damage() => {
                tracing::warn!(folder = %folder.display(), "vector file is damaged; not used");
                None
            }
            opened => opened?,
        };
        self.vectors_seen = self.vectors.as_ref().map_or(0, VectorFile::sequence);
        Ok(())
    }

    /// Moves on over changes that the indexes need not take in, without writing anything: what is
    /// left between them and the catalogue is what searches do not see.
    pub(super) fn pass_over(&mut self, catalogue: &dyn Catalogue, counts: Counts) -> Result<()> {
        let last = catalogue.log(self.number, u64::MAX >> 1, 0)?.last;
        let seen = |seen: u64, is_nothing: fn(LogKind) -> bool| {
            seen_without(Log { catalogue, number: self.number, seen }, is_nothing)
        };
        let words_seen = match counts.n_passages == 0 && self.words.view()?.n_passages() == 0 {
            true => last,
            false => seen(self.words_seen, |kind| matches!(kind, LogKind::Vectors))?,
        };
        let vectors_seen = match (&self.vectors, counts.n_vectors) {
            (None, 0) => last,
            (None, _) => 0,
            (Some(_), _) => seen(self.vectors_seen, |kind| matches!(kind, LogKind::Added))?,
        };
        (self.words_seen, self.vectors_seen) = (words_seen, vectors_seen);
        Ok(())
    }

    /// Gives the space that the vector file is in.
    pub(super) fn space(&self) -> Option<&VectorSpace> {
        self.space.as_ref()
    }

    /// Gives the full-text index.
    pub(super) fn words(&mut self) -> &mut LexicalIndex {
        &mut self.words
    }

    /// Takes a write of this process into the full-text index from the documents in hand, when
    /// the index has seen everything before it.
    pub(super) fn take_in(&mut self, fresh: &Fresh<'_>) -> Result<()> {
        let written = fresh.written;
        if written.sequence_before != self.words_seen || written.versions.is_empty() {
            return Ok(());
        }
        for version in &written.versions {
            match version {
                VersionChange::Removed { first } => self.words.remove_version(*first)?,
                VersionChange::Added { document_idx, first, language } => {
                    let document = &fresh.documents[*document_idx];
                    for (number, passage) in (*first..).zip(&document.passages) {
                        self.words.add(&Entry {
                            number,
                            version: *first,
                            document: &document.id,
                            title: &document.title,
                            attributes: &document.attributes,
                            language: *language,
                            passage,
                        })?;
                    }
                }
            }
        }
        self.commit_words(written.sequence)
    }

    fn commit_words(&mut self, sequence: u64) -> Result<()> {
        self.words.commit(sequence)?;
        self.words_seen = sequence;
        self.words_written = sequence;
        Ok(())
    }

    /// Lets every index follow the catalogue to its last change.
    pub(super) fn catch_up(&mut self, catalogue: &dyn Catalogue) -> Result<()> {
        self.catch_up_words(catalogue)?;
        self.catch_up_vectors(catalogue)
    }

    /// Gives the sequence number up to which searches see every change.
    pub(super) fn seen(&self) -> u64 {
        // Vectors that cannot be read are missing from searches.
        match self.vectors.is_some() || self.access == Access::Read {
            true => self.words_seen.min(self.vectors_seen),
            false => self.words_seen,
        }
    }

    /// Gives the sequence number up to which the log is not needed any more.
    pub(super) fn written(&self) -> u64 {
        let vectors = self.vectors.as_ref().map_or(u64::MAX, VectorFile::sequence);
        self.words_written.min(vectors)
    }

    /// Writes the indexes anew where they hold something that was erased.
    pub(super) fn forget_erased(&mut self) -> Result<()> {
        self.words.drop_deleted()?;
        self.commit_seen()?;
        self.vectors.as_mut().map_or(Ok(()), VectorFile::drop_dead)
    }

    /// Merges and tidies the indexes.
    pub(super) fn maintain(&mut self) -> Result<()> {
        self.words.merge()?;
        self.commit_seen()?;
        self.vectors.as_mut().map_or(Ok(()), VectorFile::drop_dead)
    }

    /// Makes durable that everything was seen, so that the catalogue can let go of it.
    fn commit_seen(&mut self) -> Result<()> {
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

    /// Remembers the files as they are, when nobody writes them any more.
    pub(super) fn remember_closed(&self) -> Result<()> {
        stamp::remember(&self.folder.join("words"), is_index)?;
        match self.vectors {
            Some(_) => stamp::remember(&self.folder.join("vectors"), is_index),
            None => Ok(()),
        }
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
    pub(super) fn rebuild(&mut self, catalogue: &dyn Catalogue) -> Result<()> {
        self.words.abandon();
        remove_folder(&self.folder)?;
        failpoint::reach(failpoint::REBUILD)?;
        let writer_bytes = self.writer_bytes.max(REBUILD_WRITER_BYTES);
        self.words = LexicalIndex::open(&self.folder.join("words"), writer_bytes)?;
        self.words_seen = 0;
        self.words_written = 0;
        self.catch_up_words(catalogue)?;
        let space = self.space.take();
        self.open_vectors(catalogue, space)
    }

    /// After a failure, goes back to what is on disk.
    pub(super) fn recover(&mut self, catalogue: &dyn Catalogue) -> Result<()> {
        self.words.abandon();
        self.words = LexicalIndex::open(&self.folder.join("words"), self.writer_bytes)?;
        self.words_seen = self.words.sequence()?;
        self.words_written = self.words_seen;
        let space = self.space.take();
        self.open_vectors(catalogue, space)?;
        self.catch_up_words(catalogue)
    }

    /// Gives what searches may see now.
    pub(super) fn snapshot(
        &mut self,
        state: &NamespaceState,
        max_cached_filters: usize,
    ) -> Result<Snapshot> {
        let vectors = self.vectors.as_mut().map(VectorFile::view).transpose()?;
        Ok(Snapshot::new(
            self.words.view()?,
            vectors,
            self.space.clone(),
            state.counts,
            state.next_passage,
            max_cached_filters,
        ))
    }

    fn catch_up_words(&mut self, catalogue: &dyn Catalogue) -> Result<()> {
        let mut log = Log { catalogue, number: self.number, seen: self.words_seen };
        let mut is_changed = false;
        // Entries up to here may be in a rebuilt index already, since it was read after them.
        let mut rebuilt_until = 0;
        loop {
            let entries = match log.next_page()? {
                LogStep::Entries(entries) => entries,
                LogStep::StartAnew { from } => {
                    rebuilt_until = self.refill_words(catalogue)?;
                    is_changed = true;
                    log.seen = from;
                    continue;
                }
            };
            for entry in &entries {
                match entry.kind {
                    LogKind::Added => {
                        if entry.sequence <= rebuilt_until {
                            self.words.remove_version(entry.first)?;
                        }
                        let passages = entry.passages();
                        add_passages(catalogue, &mut self.words, self.number, passages)?;
                        is_changed = true;
                    }
                    LogKind::Removed => {
                        self.words.remove_version(entry.first)?;
                        is_changed = true;
                    }
                    LogKind::Vectors => {}
                }
            }
            if entries.len() < ENTRIES_PER_PAGE {
                break;
            }
        }
        if is_changed || log.seen.saturating_sub(self.words_written) > MAX_UNWRITTEN_LAG {
            self.commit_words(log.seen)?;
        }
        self.words_seen = log.seen;
        Ok(())
    }

    /// Fills an empty full-text index from the passages, without a commit: what was written
    /// meanwhile has to be taken in first. Gives the last change of which a part may be in it.
    fn refill_words(&mut self, catalogue: &dyn Catalogue) -> Result<u64> {
        self.words.abandon();
        let folder = self.folder.join("words");
        remove_folder(&folder)?;
        self.words = LexicalIndex::open(&folder, self.writer_bytes)?;
        add_passages(catalogue, &mut self.words, self.number, 0..u32::MAX)?;
        Ok(catalogue.log(self.number, u64::MAX >> 1, 0)?.last)
    }

    fn catch_up_vectors(&mut self, catalogue: &dyn Catalogue) -> Result<()> {
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        let mut log = Log { catalogue, number: self.number, seen: self.vectors_seen };
        let mut is_changed = false;
        loop {
            let entries = match log.next_page()? {
                LogStep::Entries(entries) => entries,
                LogStep::StartAnew { from } => {
                    vectors.forget_all();
                    append_vectors(catalogue, vectors, self.number, 0..u32::MAX)?;
                    is_changed = true;
                    log.seen = from;
                    continue;
                }
            };
            for entry in &entries {
                match entry.kind {
                    LogKind::Added => {}
                    LogKind::Removed => {
                        let n_before = vectors.len();
                        entry.passages().for_each(|number| vectors.forget(number));
                        is_changed |= vectors.len() != n_before;
                    }
                    LogKind::Vectors => {
                        append_vectors(catalogue, vectors, self.number, entry.passages())?;
                        is_changed = true;
                    }
                }
            }
            if entries.len() < ENTRIES_PER_PAGE {
                break;
            }
        }
        if is_changed || log.seen.saturating_sub(vectors.sequence()) > MAX_UNWRITTEN_LAG {
            vectors.commit(log.seen)?;
        }
        self.vectors_seen = log.seen;
        Ok(())
    }
}

/// Tells whether a folder has the vectors of a space. The vector file itself does not know its
/// embedder; a note beside it does.
fn is_of(folder: &Path, space: &VectorSpace) -> Result<bool> {
    match fs_err::read_to_string(folder.join(SPACE_NOTE)) {
        Ok(kept) => Ok(kept == space.embedder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Tells whether a file in the folder of an index is a part of it.
fn is_index(name: &str) -> bool {
    !name.ends_with(".lock")
}

/// Gives up to where a log has nothing that an index would take in.
fn seen_without(mut log: Log<'_>, is_nothing: fn(LogKind) -> bool) -> Result<u64> {
    loop {
        let seen = log.seen;
        let LogStep::Entries(entries) = log.next_page()? else { return Ok(seen) };
        if let Some(change) = entries.iter().find(|entry| !is_nothing(entry.kind)) {
            return Ok(change.sequence.saturating_sub(1).max(seen));
        }
        if entries.len() < ENTRIES_PER_PAGE {
            return Ok(log.seen);
        }
    }
}

/// Reads a namespace's log from where an index is.
struct Log<'a> {
    catalogue: &'a dyn Catalogue,
    number: u32,
    seen: u64,
}

/// What an index does next.
enum LogStep {
    /// Takes in these entries.
    Entries(Vec<LogEntry>),
    /// Takes in all passages, and then the log from this sequence number on.
    StartAnew { from: u64 },
}

impl Log<'_> {
    fn next_page(&mut self) -> Result<LogStep> {
        let page = self.catalogue.log(self.number, self.seen, ENTRIES_PER_PAGE)?;
        if page.last < self.seen {
            return Err(Error::CatalogueBehind {
                number: self.number,
                seen: self.seen,
                last: page.last,
            });
        }
        // An index that has seen nothing starts from the passages: the log may have forgotten
        // them, and for a large namespace it is the shorter way.
        if self.seen < page.starts_after || (self.seen == 0 && page.last > 0) {
            return Ok(LogStep::StartAnew { from: page.last });
        }
        self.seen = page.entries.last().map_or(self.seen, |entry| entry.sequence);
        Ok(LogStep::Entries(page.entries))
    }
}
