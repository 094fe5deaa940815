//! A small file outside the folder of the store that says that there was one, so that a store whose
//! whole folder is gone is not taken for one that never was.

use std::path::{Path, PathBuf};

/// The name of the folder of a store inside a data folder. In a folder of another name nothing is
/// known of what is around it, and nothing is written there.
const STORE_FOLDER: &str = "store";

/// The name of the file in the data folder.
const FILE: &str = "store.mark";

/// Tells whether a data folder had a store in this folder, also where the folder itself is gone.
pub fn had_store(folder: &Path) -> bool {
    of_store(folder).is_some()
}

/// Gives the file where it says that the folder had a store.
pub(super) fn of_store(folder: &Path) -> Option<PathBuf> {
    path_for(folder).filter(|path| path.is_file())
}

/// Leaves the identity of the store in the file, where it is another one.
pub(super) fn leave(folder: &Path, identity: &str) {
    let Some(path) = path_for(folder) else { return };
    let line = format!("{identity}\n");
    if fs_err::read_to_string(&path).is_ok_and(|before| before == line) {
        return;
    }
    // Without it a loss is noticed less; the store itself is well.
    if let Err(error) = fs_err::write(&path, line) {
        tracing::debug!(%error, "the mark of the store could not be written");
    }
}

/// Tells whether a folder is that of the store inside a data folder.
pub(super) fn is_in_data_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == STORE_FOLDER)
}

fn path_for(folder: &Path) -> Option<PathBuf> {
    folder.parent().filter(|_| is_in_data_folder(folder)).map(|around| around.join(FILE))
}

#[cfg(test)]
mod tests {
    use crate::sqlite::database::Database;
    use crate::{Config, Error};

    #[test]
    fn a_store_whose_folder_is_gone_is_missed() {
        let around = testkit::Folder::new();
        let (folder, config) = (around.path().join("store"), Config::for_one_machine());
        fs_err::create_dir_all(&folder).unwrap();
        drop(Database::open_in(&folder, &config).unwrap());
        drop(Database::open_in(&folder, &config).unwrap());
        fs_err::remove_dir_all(&folder).unwrap();
        assert!(super::had_store(&folder));
        fs_err::create_dir_all(&folder).unwrap();
        let error = Database::open_in(&folder, &config).err().unwrap();
        assert!(matches!(error, Error::CatalogueLost { .. }), "{error}");
        assert!(error.to_string().contains("store.mark"), "{error}");
        fs_err::remove_file(around.path().join("store.mark")).unwrap();
        drop(Database::open_in(&folder, &config).unwrap());
        // A store that is anywhere writes nothing around itself.
        let elsewhere = around.path().join("other");
        fs_err::create_dir_all(&elsewhere).unwrap();
        fs_err::remove_file(around.path().join("store.mark")).unwrap();
        drop(Database::open_in(&elsewhere, &config).unwrap());
        assert!(!around.path().join("store.mark").exists());
    }
}
