//! The SQLite file: its tables, one connection that writes and a few that read.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction};

use super::counted::Counted;
use super::mark::{self, Mark, MarkContent};
use super::readers::{Readers, fold_once, prepare};
use super::schema::Upgraded;
use super::writer::Writer;
use super::{CATALOGUE, backup, checksums, reserve, schema, texts, traces};
use crate::{Access, Config, Error, Result, Verify, failpoint, stamp};

/// A write-ahead log longer than this many pages is folded back into the file.
const CHECKPOINT_PAGES: u32 = 4_000;
/// A catalogue up to this size is checked as a whole when it is opened: 64 MiB take less than a
/// second. A larger one is checked by `dowse check`, and what is read of it by its checksums.
const VERIFY_AT_OPEN_BYTES: u64 = 64 << 20;
/// The write-ahead log is cut down to this after it was folded back.
const MAX_LOG_BYTES: u64 = 4 << 20;
/// How long a stop waits for readers that keep the write-ahead log.
const MAX_CLOSE_WAIT: Duration = Duration::from_secs(5);
/// How long a reader may keep the log of a server that goes on.
const MAX_FOLD_WAIT: Duration = Duration::from_secs(10);
/// The pause between two attempts to empty it.
const FOLD_PAUSE: Duration = Duration::from_millis(20);
/// What SQLite calls a file whose free pages are given back when it is told to.
const INCREMENTAL_VACUUM: u32 = 2;
/// Free pages given back while other writers wait.
const PAGES_PER_ROUND: u32 = 4_096;

/// What is said of a catalogue that was not closed and has neither a log nor a mark.
const NO_MARK: &str = "`catalogue.mark` and the write-ahead log were gone when the catalogue was opened \
     after a stop that was not clean: the last changes may be lost; compare with a backup";

/// Passages and documents have rows of `namespace << 32 | number`, so that a namespace lies
/// together and a passage is found by its number without another index.
pub(crate) const ROW_BITS: u32 = 32;

/// The catalogue's file.
pub(crate) struct Database {
    path: PathBuf,
    /// The number of the file that was opened, where the system tells.
    file_number: Option<u64>,
    /// The data folder, unless the file is a catalogue alone.
    folder: Option<PathBuf>,
    access: Access,
    // Closed before the writer, which can then fold the log back and remove it.
    readers: Readers,
    writer: Writer,
    mark: Option<Mark>,
    /// Whether the last write failed for want of room, and has to be tried before it is said that
    /// writes are possible.
    is_full: AtomicBool,
    is_closed: AtomicBool,
    /// Whether something was written since it was opened.
    is_reopened: AtomicBool,
    /// What cannot be known of the file since it was opened.
    concern: Option<String>,
    /// What a read or a write found damaged first. It stays until the file is opened again: what
    /// is damaged in one place is trusted in none.
    damage: OnceLock<String>,
    /// How many documents have which values.
    pub(super) counted: Counted,
    /// Texts that were read lately.
    pub(super) blocks: texts::Blocks,
}

impl Database {
    /// Opens the catalogue of a data folder, and compares it with what the folder remembers.
    ///
    /// # Errors
    ///
    /// [`Error::RestoreUnfinished`] when a restore of the folder was stopped on the way,
    /// [`Error::CatalogueLost`] when the folder had another catalogue, or more of this one, and as
    /// [`Database::open`].
    pub(crate) fn open_in(folder: &Path, config: &Config) -> Result<Self> {
        let path = folder.join(CATALOGUE);
        let mark = mark::read(folder)?;
        let n_bytes = bytes_of(&path)?;
        backup::refuse_unfinished(folder, n_bytes > 0, config.access)?;
        if n_bytes == 0 && (mark.is_some() || has_indexes(folder)) {
            let reason = "is missing or empty, though this folder had one".to_owned();
            return Err(Error::CatalogueLost { path, reason });
        }
        if n_bytes == 0
            && let Some(trace) = traces::of_store(folder)
        {
            let reason = format!(
                "is gone with its folder, though `{}` says that there was one; remove that file \
                 too to begin with nothing",
                trace.display()
            );
            return Err(Error::CatalogueLost { path, reason });
        }
        if n_bytes == 0 && config.access == Access::Read {
            return Err(read_only(folder));
        }
        let has_log = bytes_of(&folder.join(format!("{CATALOGUE}-wal")))? > 0;
        let is_as_closed = !Verify::WhenChanged.is_needed(folder, is_catalogue);
        let mut database = match Database::open(&path, config) {
            // Even a reader needs a few pages for the index of the log.
            Err(error)
                if config.access == Access::Write
                    && (error.is_disk_full() || error.may_be_disk_full()) =>
            {
                if !reserve::release(folder) {
                    return Err(error);
                }
                Database::open(&path, config)?
            }
            opened => opened?,
        };
        database.folder = Some(folder.to_owned());
        // Also after a clean stop: a file can change while nobody looks.
        let is_needed = has_log || config.verify.is_needed(folder, is_catalogue);
        if n_bytes <= VERIFY_AT_OPEN_BYTES && is_needed {
            database.verify()?;
        }
        let seen = database.seen()?;
        if let Some(mark) = &mark {
            mark::compare(&path, mark, &seen)?;
        }
        if mark.is_none() && n_bytes > 0 && !is_as_closed && !has_log && seen.n_changes > 0 {
            database.concern = Some(NO_MARK.to_owned());
        }
        if config.access == Access::Read {
            return Ok(database);
        }
        database.mark = Some(Mark::open(folder, &seen)?);
        traces::leave(folder, &seen.identity);
        reserve::keep(folder);
        Ok(database)
    }

    /// Opens the file, or makes one with empty tables.
    ///
    /// # Errors
    ///
    /// [`Error::FormatTooNew`] when a later program wrote it, [`Error::CatalogueDamaged`] when it
    /// cannot be read.
    pub(crate) fn open(path: &Path, config: &Config) -> Result<Self> {
        if config.access == Access::Read {
            let readers = Readers::alone(path, config)?;
            let connection = readers.open()?;
            return Ok(Database::over(path, config, readers, connection));
        }
        let mut writer = Connection::open(path)?;
        prepare(&writer, config.catalogue_cache_bytes)?;
        // Set again it would be written again, and a search that changes nothing would leave a file
        // that changed.
        let vacuum: u32 = writer.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
        if vacuum != INCREMENTAL_VACUUM {
            writer.pragma_update(None, "auto_vacuum", INCREMENTAL_VACUUM)?;
        }
        writer.pragma_update(None, "journal_mode", "WAL")?;
        writer.pragma_update(None, "synchronous", "FULL")?;
        writer.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        writer.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
        let upgraded = schema::bring_up_to_date(&mut writer, path)?;
        let readers = Readers::beside_writer(path, config);
        let database = Database::over(path, config, readers, writer);
        if upgraded == Upgraded::Yes {
            database.give_back_erased()?;
        }
        Ok(database)
    }

    fn over(path: &Path, config: &Config, readers: Readers, writer: Connection) -> Self {
        Database {
            path: path.to_owned(),
            file_number: fs_err::metadata(path).ok().and_then(|file| file_number(&file)),
            folder: None,
            access: config.access,
            writer: Writer::new(writer),
            readers,
            mark: None,
            is_full: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            is_reopened: AtomicBool::new(false),
            concern: None,
            damage: OnceLock::new(),
            counted: Counted::default(),
            blocks: texts::Blocks::default(),
        }
    }

    /// Reads; what is read belongs to one moment, and no writer is waited for.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let result = self.readers.read(read);
        self.note_damage(&result);
        result
    }

    /// Writes in one transaction, which is durable when this returns `Ok`.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.note_written(self.writer.write_alone(|| self.may_write(), write))
    }

    /// Makes a small change in a transaction that others may share, which is durable when this
    /// returns `Ok`. A change that fails leaves nothing behind; the others are none of its business.
    pub(crate) fn write_together<T>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.note_written(self.writer.write_together(|| self.may_write(), write))
    }

    fn may_write(&self) -> Result<()> {
        self.refuse_reader()?;
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(Error::Closed);
        }
        // SQLite writes on into a file that nobody finds any more or that is damaged elsewhere, and
        // says that all is well.
        self.can_read()
    }

    fn refuse_reader(&self) -> Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(read_only(self.path.parent().unwrap_or(&self.path))),
        }
    }

    /// Tells whether the file that was opened is still the one at its path.
    fn is_in_place(&self) -> Result<()> {
        let reason = match fs_err::metadata(&self.path) {
            Ok(file) if file.len() == 0 => "is empty, while a server has it open",
            Ok(file) if file_number(&file) != self.file_number => {
                "is another file than the one that a server has open"
            }
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                "is gone, while a server has it open"
            }
            Err(error) => return Err(error.into()),
        };
        Err(Error::CatalogueLost { path: self.path.clone(), reason: reason.to_owned() })
    }

    /// Remembers how a write went.
    fn note_written<T>(&self, written: Result<(T, u64)>) -> Result<T> {
        match &written {
            Ok((_, n_changes)) => {
                self.is_full.store(false, Ordering::Relaxed);
                if let Some(mark) = &self.mark {
                    mark.note(*n_changes);
                }
                // What a clean stop left is not what there is any more, though the file may stay
                // as it is while changes are in the log alone.
                if let Some(folder) = &self.folder
                    && !self.is_reopened.swap(true, Ordering::Relaxed)
                {
                    stamp::forget(folder);
                }
            }
            Err(error) if error.is_disk_full() => self.is_full.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        self.note_damage(&written);
        let (written, _) = written?;
        failpoint::reach("catalogue committed")?;
        Ok(written)
    }

    fn note_damage<T>(&self, result: &Result<T>) {
        if let Err(Error::CatalogueDamaged { reason, .. }) = result {
            self.damage.get_or_init(|| {
                tracing::error!(reason, "catalogue is damaged");
                // Whoever opens it next compares all of it, even if its size and time are the same.
                if let (Access::Write, Some(folder)) = (self.access, &self.folder) {
                    stamp::forget(folder);
                }
                reason.clone()
            });
        }
    }

    /// Tells whether the file is there and nothing of it was found damaged.
    ///
    /// # Errors
    ///
    /// [`Error::CatalogueDamaged`] with what was found, [`Error::CatalogueLost`] when the file is
    /// gone from under the process: what is written now would go with it.
    pub(crate) fn can_read(&self) -> Result<()> {
        if let Some(reason) = self.damage.get() {
            return Err(Error::CatalogueDamaged { reason: reason.clone(), source: None });
        }
        self.is_in_place()
    }

    /// Gives what cannot be known of the file since it was opened.
    pub(crate) fn concern(&self) -> Option<String> {
        self.concern.clone()
    }

    /// Tells whether writes are possible: after one that found the disk full, a small one is tried.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`], or whatever else stops a write.
    pub(crate) fn can_write(&self) -> Result<()> {
        match self.is_full.load(Ordering::Relaxed) {
            true => self.write(|_| Ok(())),
            false => Ok(()),
        }
    }

    /// Gives what the file beside the catalogue has to say.
    pub(super) fn seen(&self) -> Result<MarkContent> {
        self.read(|connection| {
            let value = |key: &str| format!("SELECT value FROM about WHERE key = '{key}'");
            Ok(MarkContent {
                identity: connection.query_row(&value("identity"), [], |row| row.get(0))?,
                n_changes: connection.query_row(&value("changes"), [], |row| row.get(0))?,
            })
        })
    }

    /// Folds the write-ahead log back and gives free pages to the disk, in small steps.
    pub(crate) fn maintain(&self, max_free_pages: u32) -> Result<()> {
        self.refuse_reader()?;
        give_back(&self.writer.idle(), max_free_pages)?;
        self.fold_log(MAX_FOLD_WAIT)?;
        Ok(self.writer.idle().execute_batch("PRAGMA optimize")?)
    }

    /// Gives all free pages to the disk and empties the write-ahead log, so that nothing erased
    /// is left in either. Other writers come in between two rounds. A reader that is in the way
    /// keeps the log for the next time.
    pub(crate) fn give_back_erased(&self) -> Result<()> {
        self.refuse_reader()?;
        self.blocks.forget();
        // As many rounds as the pages need that are free now: what others free meanwhile is
        // theirs to give back.
        for _ in 0..self.n_free_pages()?.div_ceil(PAGES_PER_ROUND) {
            give_back(&self.writer.idle(), PAGES_PER_ROUND)?;
        }
        self.fold_log(MAX_FOLD_WAIT).map(|_| ())
    }

    /// Refuses every write that has not begun.
    pub(crate) fn stop_writes(&self) {
        let _writer = self.writer.idle();
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Moves everything into the one file and empties the write-ahead log, so that the file can
    /// be copied as it is. The connections stay usable, unless writes were stopped before: then the
    /// files that SQLite has beside the one go too.
    pub(crate) fn close(&self) -> Result<()> {
        self.readers.clear();
        if self.access == Access::Read {
            return Ok(());
        }
        let is_empty = self.fold_log(MAX_CLOSE_WAIT)?;
        self.readers.clear();
        if is_empty && self.is_closed.load(Ordering::Relaxed) {
            self.writer.end()?;
        }
        self.remember_closed(!is_empty)
    }

    /// Folds the write-ahead log back into the file and empties it, and tells whether it is empty
    /// now: not while a reader sees an earlier state. Writers come in between two attempts, so that
    /// a reader that takes long (a backup, a check of a large catalogue) holds nobody up.
    pub(super) fn fold_log(&self, patience: Duration) -> Result<bool> {
        let begun = Instant::now();
        loop {
            let is_busy = fold_once(&self.writer.idle())?;
            if !is_busy || begun.elapsed() >= patience {
                return Ok(!is_busy);
            }
            std::thread::sleep(FOLD_PAUSE);
        }
    }

    /// Remembers the file as it is, when it is all that there is and nothing of it was damaged.
    fn remember_closed(&self, has_log: bool) -> Result<()> {
        let is_last = self.is_closed.load(Ordering::Relaxed);
        match &self.folder {
            Some(folder) if is_last && !has_log && self.damage.get().is_none() => {
                stamp::remember(folder, is_catalogue)
            }
            _ => Ok(()),
        }
    }

    /// Counts the pages of the file that hold nothing.
    pub(crate) fn n_free_pages(&self) -> Result<u32> {
        let connection = self.writer.idle();
        Ok(connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?)
    }

    /// Checks the whole file, and remembers what is wrong with it.
    ///
    /// # Errors
    ///
    /// [`Error::CatalogueDamaged`] says what is wrong.
    pub(crate) fn verify(&self) -> Result<()> {
        self.read(verify_trees)?;
        self.read(checksums::verify)?;
        self.read(texts::verify)
    }

    /// Copies the file while it is in use; the copy belongs to one moment.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<()> {
        self.read(|connection| {
            // Read first, so that the copy is of the moment that this transaction sees.
            let figures = "SELECT (SELECT value FROM about WHERE key = 'changes'),
                (SELECT count(*) FROM documents), (SELECT count(*) FROM passages),
                (SELECT count(*) FROM vectors), (SELECT count(*) FROM objects),
                (SELECT count(*) FROM texts)";
            let count = |connection: &Connection| -> Result<Vec<u64>> {
                let read = |row: &rusqlite::Row<'_>| (0..6).map(|at| row.get(at)).collect();
                Ok(connection.query_row(figures, [], read)?)
            };
            let original = count(connection)?;
            let mut copy = Connection::open(target)?;
            let backup = rusqlite::backup::Backup::new(connection, &mut copy)?;
            backup.run_to_completion(1_024, std::time::Duration::ZERO, None)?;
            drop(backup);
            copy.pragma_update(None, "journal_mode", "DELETE")?;
            verify_trees(&copy)?;
            let copied = count(&copy)?;
            if original != copied {
                let reason = format!("the copy has `{copied:?}` rows, the original `{original:?}`");
                return Err(Error::CatalogueDamaged { reason, source: None });
            }
            Ok(())
        })
    }
}

/// Compares the trees of a file with each other. The quick check of SQLite would not do: it leaves
/// out whether an index has what its table has.
fn verify_trees(connection: &Connection) -> Result<()> {
    let reason: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if reason == "ok" {
        return Ok(());
    }
    Err(Error::CatalogueDamaged { reason, source: None })
}

/// Says that a folder is only read.
fn read_only(folder: &Path) -> Error {
    let source = std::io::ErrorKind::ReadOnlyFilesystem.into();
    Error::ReadOnly { path: folder.to_owned(), source }
}

/// Takes free pages off the end of the file.
fn give_back(connection: &Connection, max_pages: u32) -> Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({max_pages})"))?;
    // Every row that is asked for gives one page back; a statement that is run once gives one.
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Tells whether a file of the data folder is the catalogue. An empty write-ahead log says
/// nothing, and is there while somebody has the catalogue open.
fn is_catalogue(name: &str) -> bool {
    name == CATALOGUE
}

/// Tells whether a folder has indexes of namespaces, which only a catalogue can have made.
fn has_indexes(folder: &Path) -> bool {
    fs_err::read_dir(folder.join("namespaces")).is_ok_and(|mut entries| entries.next().is_some())
}

/// Gives the number that a file has as long as it is open, whatever its name is.
#[cfg(unix)]
fn file_number(file: &std::fs::Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::ino(file))
}

/// Elsewhere a file that is open cannot be removed or exchanged.
#[cfg(not(unix))]
fn file_number(_: &std::fs::Metadata) -> Option<u64> {
    None
}

pub(super) fn bytes_of(path: &Path) -> Result<u64> {
    match fs_err::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.into()),
    }
}
