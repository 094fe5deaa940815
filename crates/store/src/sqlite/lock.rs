//! One process at a time: the lock on a data folder.

use std::path::Path;

use crate::{Error, Result};

/// Holds a data folder for this process until it is dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: fs_err::File,
}

impl FolderLock {
    /// Takes the folder.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] when another process, or another store of this one, holds it;
    /// [`Error::ReadOnly`] when the folder cannot be written.
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let read_only =
            |source: std::io::Error| Error::ReadOnly { path: folder.to_owned(), source };
        fs_err::create_dir_all(folder).map_err(read_only)?;
        let file = fs_err::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(read_only)?;
        match file.file().try_lock() {
            Ok(()) => Ok(FolderLock { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::Locked { path }),
            Err(std::fs::TryLockError::Error(source)) => Err(Error::Io(source)),
        }
    }
}
