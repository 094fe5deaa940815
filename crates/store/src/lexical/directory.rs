//! The files of a full-text index that may only be read.
//!
//! The engine locks a folder before it reads it, by a file that it makes there. Whoever may not write
//! relies on the lock of the data folder instead, which keeps writers off for as long as it is open.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// A folder of which nothing is written, made or removed.
#[derive(Debug, Clone)]
pub(super) struct ReadDirectory(MmapDirectory);

impl ReadDirectory {
    pub(super) fn open(folder: &Path) -> std::result::Result<Self, OpenDirectoryError> {
        MmapDirectory::open(folder).map(ReadDirectory)
    }
}

fn refused() -> Error {
    ErrorKind::ReadOnlyFilesystem.into()
}

impl Directory for ReadDirectory {
    fn get_file_handle(
        &self,
        path: &Path,
    ) -> std::result::Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> std::result::Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(refused()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> std::result::Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> std::result::Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(refused(), PathBuf::from(path)))
    }

    fn atomic_read(&self, path: &Path) -> std::result::Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> Result<()> {
        Err(refused())
    }

    fn sync_directory(&self) -> Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> std::result::Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(watch_callback)
    }
}
