//! `dowse backup` and `dowse restore`.

use crate::cli::BackupArgs;
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{Lasting, store_folder};

/// Copies everything that is kept.
pub(super) fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let lasting = Lasting::open(&config)?;
    lasting.kept()?.store.backup(&args.file)?;
    print::note(format!(
        "everything in {} is in {}",
        config.data_dir.display(),
        args.file.display()
    ));
    Ok(())
}

/// Makes a data folder from a copy; indexes are built from it when they are first used.
pub(super) fn restore(args: &BackupArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let folder = store_folder(&config.data_dir);
    fs_err::create_dir_all(&folder)?;
    store::restore(&args.file, &folder, &store::Config::for_one_machine())?;
    print::note(format!("{} is restored from {}", config.data_dir.display(), args.file.display()));
    Ok(())
}
