//! A temporary folder that a test fills with small files.

use std::path::{Path, PathBuf};

/// A folder that disappears with the value.
#[derive(Debug)]
pub struct Folder {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Folder {
    /// Makes an empty folder.
    #[expect(clippy::new_without_default, reason = "making a folder is an act, not a default")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        // Some systems reach their temporary folder over a link; paths are compared resolved.
        let path = fs_err::canonicalize(folder.path()).expect("the new folder can be resolved");
        Folder { folder, path }
    }

    /// Gives the folder's path, with links resolved.
    pub fn path(&self) -> &Path {
        debug_assert!(self.folder.path().exists(), "something removed the test's folder");
        &self.path
    }

    /// Gives the path of something inside, which need not exist.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }

    /// Writes a file and the folders above it, and gives its path.
    pub fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(path);
        let parent = path.parent().expect("a file inside the folder has a parent");
        fs_err::create_dir_all(parent).expect("folders can be made in a temporary folder");
        fs_err::write(&path, contents).expect("files can be written to a temporary folder");
        path
    }

    /// Reads a file as text.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        fs_err::read_to_string(self.join(path)).expect("the file exists and is text")
    }
}
