//! A copy of everything that cannot be made again, taken while the store is in use.
//!
//! The copy is the catalogue alone: the indexes are derived, so a restored folder makes them
//! anew the first time each namespace is used.

use std::path::Path;

use super::Config;
use super::store::EmbeddedStore;
use crate::Result;
use crate::truth::{CATALOGUE, Database, FolderLock, backup, refuse_existing};

impl EmbeddedStore {
    /// Writes a backup to a new file. Reads and writes go on meanwhile; the copy belongs to the
    /// moment at which it begins.
    ///
    /// # Errors
    ///
    /// [`crate::Error::AlreadyThere`] when the file exists. A copy that does not finish leaves no file
    /// of that name.
    pub fn backup(&self, file: &Path) -> Result<()> {
        backup(&self.database, file)
    }

    /// Makes a data folder from a backup.
    ///
    /// # Errors
    ///
    /// [`crate::Error::AlreadyThere`] when the folder has a catalogue, [`crate::Error::Locked`] when it is in
    /// use, [`crate::Error::FormatTooNew`] and [`crate::Error::Damaged`] when the backup cannot be used.
    pub fn restore(file: &Path, folder: &Path, config: &Config) -> Result<()> {
        let _lock = FolderLock::take(folder)?;
        let catalogue = folder.join(CATALOGUE);
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
