//! A copy of the catalogue, taken while it is in use, and a data folder made from such a copy.
//!
//! Engines are derived, so that a restored folder fills them the first time each namespace is used.

use std::path::{Path, PathBuf};

use model::Clock;

use super::database::Database;
use super::mark::{self, Mark};
use super::{CATALOGUE, FolderLock, SqliteCatalogue};
use crate::{Access, Catalogue, Config, Error, Result};

/// The name of the file that says that a restore has not ended.
const RESTORING: &str = "catalogue.restoring";

/// Writes a copy to a new file, which has its name only once it is whole and was verified.
pub(super) fn backup(database: &Database, file: &Path) -> Result<()> {
    refuse_existing(file)?;
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let _ = fs_err::remove_file(unfinished);
    let copied = database
        .copy_to(unfinished)
        .and_then(|()| Ok(fs_err::File::open(unfinished)?.file().sync_all()?));
    if let Err(error) = copied {
        let _ = fs_err::remove_file(unfinished);
        return Err(error);
    }
    fs_err::rename(unfinished, file)?;
    Ok(())
}

/// Makes a file that holds a catalogue of its own, which has its name only once it was filled,
/// verified and synced.
pub(crate) fn create(
    file: &Path,
    clock: &Clock,
    fill: impl FnOnce(&SqliteCatalogue) -> Result<()>,
) -> Result<()> {
    refuse_existing(file)?;
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let _ = fs_err::remove_file(unfinished);
    let config = Config::for_one_machine();
    let filled = SqliteCatalogue::open_file(unfinished, &config, clock.clone())
        .and_then(|catalogue| {
            fill(&catalogue)?;
            catalogue.verify()?;
            catalogue.close()
        })
        .and_then(|()| Ok(fs_err::File::open(unfinished)?.file().sync_all()?));
    for ending in ["-wal", "-shm"] {
        let mut beside = unfinished.as_os_str().to_owned();
        beside.push(ending);
        let _ = fs_err::remove_file(Path::new(&beside));
    }
    if let Err(error) = filled {
        let _ = fs_err::remove_file(unfinished);
        return Err(error);
    }
    fs_err::rename(unfinished, file)?;
    Ok(())
}

/// Opens a backup as a catalogue of its own, in a copy that is given along.
pub(crate) fn open_backup(file: &Path, copy: &Path, clock: &Clock) -> Result<SqliteCatalogue> {
    require_catalogue(file)?;
    fs_err::copy(file, copy)?;
    let catalogue = SqliteCatalogue::open_file(copy, &Config::for_one_machine(), clock.clone())?;
    catalogue.verify()?;
    Ok(catalogue)
}

/// Refuses a folder that has a catalogue, before anything is written beside it.
///
/// # Errors
///
/// [`Error::AlreadyThere`].
pub fn refuse_second(folder: &Path) -> Result<()> {
    refuse_existing(&folder.join(CATALOGUE))
}

/// Gives the file that is in a folder for as long as a restore of it has not ended: the catalogue
/// on its way, or an empty file after a restore that failed.
pub fn restoring_file(folder: &Path) -> PathBuf {
    folder.join(RESTORING)
}

/// Refuses a folder whose restore was stopped before it had its catalogue: it would be taken for one
/// that nothing was ever stored in. One that has its catalogue is whole, and what is left of the
/// restore goes.
pub(super) fn refuse_unfinished(folder: &Path, has_catalogue: bool, access: Access) -> Result<()> {
    let file = restoring_file(folder);
    match fs_err::symlink_metadata(&file) {
        Ok(_) if has_catalogue => {
            // It is of no use to anybody, and as large as the catalogue.
            if access == Access::Write {
                let _ = fs_err::remove_file(&file);
            }
            Ok(())
        }
        Ok(_) => Err(Error::RestoreUnfinished { folder: folder.to_owned(), file }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes the catalogue of a data folder from a backup.
///
/// # Errors
///
/// [`Error::AlreadyThere`] when the folder has a catalogue, [`Error::Locked`] when it is in use,
/// [`Error::FormatTooNew`] and [`Error::Damaged`] when the backup cannot be used.
pub fn restore(file: &Path, folder: &Path, config: &Config) -> Result<()> {
    let _lock = FolderLock::take(folder)?;
    let catalogue = folder.join(CATALOGUE);
    refuse_existing(&catalogue)?;
    let unfinished = folder.join("catalogue.unfinished");
    require_catalogue(file)?;
    // The log of an attempt that was stopped would be read into this one.
    remove_logs(folder);
    fs_err::copy(file, &unfinished)?;
    let restored = Database::open(&unfinished, config).and_then(|database| {
        database.verify()?;
        let seen = database.seen()?;
        database.close()?;
        Ok(seen)
    });
    remove_logs(folder);
    let seen = restored.inspect_err(|_| {
        let _ = fs_err::remove_file(&unfinished);
    })?;
    // What an earlier catalogue left must not be taken for this one's.
    mark::remove(folder)?;
    match fs_err::remove_dir_all(folder.join("namespaces")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    // What the copy says is believed from its name on.
    fs_err::File::open(&unfinished)?.file().sync_all()?;
    fs_err::rename(&unfinished, &catalogue)?;
    Mark::open(folder, &seen)?;
    #[cfg(unix)]
    fs_err::File::open(folder)?.file().sync_all()?;
    Ok(())
}

fn remove_logs(folder: &Path) {
    for ending in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(folder.join(format!("catalogue.unfinished{ending}")));
    }
}

/// Tells whether a SQLite file is a catalogue, and not a file of another program.
///
/// # Errors
///
/// When the file cannot be read.
pub fn is_catalogue(file: &Path) -> Result<bool> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(file, flags)?;
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'about'";
    // A copy without its log may lack its first page, or be anything.
    Ok(connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap_or(0) > 0)
}

/// Refuses a file that holds no catalogue: an empty one would become an empty catalogue.
fn require_catalogue(file: &Path) -> Result<()> {
    const START: &[u8] = b"SQLite format 3\0";
    let damaged = || Error::Damaged {
        path: file.to_owned(),
        reason: "it is not a backup of a catalogue".to_owned(),
    };
    let mut start = [0; 16];
    let mut opened = fs_err::File::open(file)?;
    std::io::Read::read_exact(&mut opened, &mut start).map_err(|_| damaged())?;
    if start != START {
        return Err(damaged());
    }
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(file, flags)?;
    let format: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format == 0 { Err(damaged()) } else { Ok(()) }
}

fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() {
        return Err(Error::AlreadyThere { path: path.to_owned() });
    }
    Ok(())
}
