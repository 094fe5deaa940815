//! The data of this user: what was indexed, with the lists of folders mended that were damaged.

use std::path::{Path, PathBuf};

use crate::commands::variable;
use crate::config::{Config, UserData, mend_damaged};
use crate::control;
use crate::wiring::SharedState;

/// Finds the data of this user; a set that does not say any more which folders it is of is mended
/// first.
pub(super) fn user_data() -> Option<UserData> {
    let data = UserData::find(&variable)?;
    data.mend(&folders_in);
    Some(data)
}

/// Reads out of a data folder which folders it is of.
fn folders_in(data_dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    anyhow::ensure!(control::connect(data_dir).is_none(), "a server is running with it");
    let config = Config { data_dir: data_dir.to_owned(), ..Config::default() };
    let shared_state = SharedState::open_to_read(&config)?;
    let folders = ::files::indexed_roots(&shared_state.open_store()?.store)?;
    Ok(folders.into_iter().map(PathBuf::from).collect())
}

/// Mends the list of folders of a data folder that was named alone.
pub(super) fn mend_list(data_dir: &Path) {
    mend_damaged(data_dir, &folders_in);
}
