//! A copy of everything that cannot be made again, taken while the store is in use.
//!
//! The copy is the catalogue alone: the indexes are derived, so a restored folder makes them
//! anew the first time each namespace is used.

use std::path::Path;

use super::database::Database;
use super::store::EmbeddedStore;
use super::{Config, lock::FolderLock};
use crate::{Error, Result};

impl EmbeddedStore {
    /// Writes a backup to a new file. Reads and writes go on meanwhile; the copy belongs to the
    /// moment at which it begins.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyThere`] when the file exists. A copy that does not finish leaves no file
    /// of that name.
    pub fn backup(&self, file: &Path) -> Result<()> {
        refuse_existing(file)?;
        let mut unfinished = file.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = Path::new(&unfinished);
        let _ = fs_err::remove_file(unfinished);
        self.database.copy_to(unfinished)?;
        fs_err::File::open(unfinished)?.file().sync_all()?;
        fs_err::rename(unfinished, file)?;
        Ok(())
    }

    /// Makes a data folder from a backup.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyThere`] when the folder has a catalogue, [`Error::Locked`] when it is in
    /// use, [`Error::FormatTooNew`] and [`Error::Damaged`] when the backup cannot be used.
    pub fn restore(file: &Path, folder: &Path, config: &Config) -> Result<()> {
        let _lock = FolderLock::take(folder)?;
        let catalogue = folder.join(super::store::CATALOGUE);
        refuse_existing(&catalogue)?;
        let unfinished = folder.join("catalogue.unfinished");
        fs_err::copy(file, &unfinished)?;
        Database::open(&unfinished, config)?.verify()?;
        fs_err::rename(&unfinished, &catalogue)?;
        for ending in ["-wal", "-shm"] {
            let _ = fs_err::remove_file(folder.join(format!("catalogue.unfinished{ending}")));
        }
        Ok(())
    }
}

fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() {
        return Err(Error::AlreadyThere { path: path.to_owned() });
    }
    Ok(())
}
