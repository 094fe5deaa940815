//! One process at a time: the lock on a data folder.

use std::path::Path;

use crate::{Access, Error, Result};

/// The name of the file that is locked.
const FILE: &str = "lock";

/// Holds a data folder for this process until it is dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: fs_err::File,
}

impl FolderLock {
    /// Takes the folder, or shares it with others that only read.
    ///
    /// # Errors
    ///
    /// Those of [`FolderLock::take`] and [`FolderLock::share`].
    pub fn of(folder: &Path, access: Access) -> Result<Option<Self>> {
        match access {
            Access::Write => FolderLock::take(folder).map(Some),
            Access::Read => FolderLock::share(folder),
        }
    }

    /// Keeps writers off the folder without writing anything. Nothing where nobody ever locked it:
    /// who writes makes the file first.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] when another process may write it.
    pub fn share(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let file = match fs_err::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match file.file().try_lock_shared() {
            Ok(()) => Ok(Some(FolderLock { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::Locked { path }),
            Err(std::fs::TryLockError::Error(source)) => Err(Error::Io(source)),
        }
    }

    /// Takes the folder.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] when another process, or another store of this one, holds it;
    /// [`Error::ReadOnly`] when the folder cannot be written.
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
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
