//! Uploads stay while a backup copies them.
//!
//! An upload is removed when its job is done. A backup copies the catalogue and then the uploads
//! that its jobs wait for; one that is removed in between would be missing from the copy. So a
//! backup holds the folder, and what would be removed meanwhile is swept at the next start.

use std::path::Path;

use fs_err::{File, OpenOptions};

use crate::{Error, Result};

/// The file that is locked; it stays empty.
const LOCK: &str = ".hold";

/// While this is held, no upload is removed.
#[derive(Debug)]
pub struct UploadsHold {
    _file: File,
}

impl UploadsHold {
    /// Holds a folder of uploads; waits for removals that are under way.
    pub fn take(folder: &Path) -> Result<Self> {
        let file = open(folder).map_err(Error::Upload)?;
        file.file().lock().map_err(Error::Upload)?;
        Ok(UploadsHold { _file: file })
    }
}

/// Gives leave to remove uploads of a folder, unless somebody holds it.
pub(crate) fn may_remove(folder: &Path) -> Option<File> {
    let file = open(folder).ok()?;
    file.file().try_lock_shared().is_ok().then_some(file)
}

/// Tells whether a file of the folder is no upload.
pub(crate) fn is_lock(name: &str) -> bool {
    name == LOCK
}

fn open(folder: &Path) -> std::io::Result<File> {
    fs_err::create_dir_all(folder)?;
    OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_removed_while_it_is_held() {
        let folder = testkit::Folder::new();
        let hold = UploadsHold::take(folder.path()).unwrap();
        assert!(may_remove(folder.path()).is_none());
        drop(hold);
        let leave = may_remove(folder.path());
        assert!(leave.is_some() && may_remove(folder.path()).is_some());
    }
}
