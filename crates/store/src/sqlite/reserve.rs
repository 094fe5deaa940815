//! Space that is held back for a start on a full disk: SQLite needs a few pages for the index of its
//! log even to read, and a server a few rows for its leases.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::traces;

/// The name of the file in the folder of the store.
const FILE: &str = "reserve";

/// How large it is, in bytes.
const RESERVE_BYTES: usize = 2 << 20;

/// Gives the space back; tells whether there was any.
pub(super) fn release(folder: &Path) -> bool {
    let is_released = fs_err::remove_file(path_in(folder)).is_ok();
    if is_released {
        tracing::warn!("the disk is full: the space that was reserved for a start is used");
    }
    is_released
}

/// Holds the space back, where it is not; on a disk that has none left it is held back later.
pub(super) fn keep(folder: &Path) {
    // A store that is anywhere is one of a test or of a library: nobody starts a server on it.
    if !traces::is_in_data_folder(folder) {
        return;
    }
    let path = path_in(folder);
    if fs_err::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES as u64) {
        return;
    }
    if let Err(error) = fill(&path) {
        tracing::debug!(%error, "no space could be reserved");
        let _ = fs_err::remove_file(&path);
    }
}

fn fill(path: &Path) -> std::io::Result<()> {
    let mut file = fs_err::File::create(path)?;
    // Some disks keep nothing for zeros.
    let piece: Vec<u8> = (0..RESERVE_BYTES).map(|at| (at % 251) as u8 ^ (at >> 8) as u8).collect();
    file.write_all(&piece)?;
    file.file().sync_all()
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_held_back_once_and_released_once() {
        let around = testkit::Folder::new();
        let folder = around.path().join("store");
        fs_err::create_dir_all(&folder).unwrap();
        assert!(!release(&folder));
        keep(&folder);
        keep(&folder);
        assert_eq!(fs_err::metadata(folder.join(FILE)).unwrap().len(), RESERVE_BYTES as u64);
        assert!(release(&folder) && !release(&folder));
        keep(around.path());
        assert!(!release(around.path()));
    }
}
