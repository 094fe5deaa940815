//! A copy of the catalogue, taken while it is in use, and a data folder made from such a copy.
//!
//! Engines are derived, so that a restored folder fills them the first time each namespace is used.

use std::path::Path;

use super::database::Database;
use super::{CATALOGUE, FolderLock};
use crate::{Config, Error, Result};

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
    fs_err::copy(file, &unfinished)?;
    let restored = Database::open(&unfinished, config).and_then(|database| {
        database.verify()?;
        database.close()
    });
    for ending in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(folder.join(format!("catalogue.unfinished{ending}")));
    }
    if let Err(error) = restored {
        let _ = fs_err::remove_file(&unfinished);
        return Err(error);
    }
    fs_err::rename(&unfinished, &catalogue)?;
    Ok(())
}

fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() {
        return Err(Error::AlreadyThere { path: path.to_owned() });
    }
    Ok(())
}
