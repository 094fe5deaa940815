//! A copy of the catalogue, from which every engine can be filled again.

use std::path::Path;

use super::Database;
use crate::{Error, Result};

/// Writes a copy to a new file, which has its name only once it is whole.
pub(crate) fn backup(database: &Database, file: &Path) -> Result<()> {
    refuse_existing(file)?;
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    let _ = fs_err::remove_file(unfinished);
    database.copy_to(unfinished)?;
    fs_err::File::open(unfinished)?.file().sync_all()?;
    fs_err::rename(unfinished, file)?;
    Ok(())
}

/// Refuses to write where something is.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() {
        return Err(Error::AlreadyThere { path: path.to_owned() });
    }
    Ok(())
}
