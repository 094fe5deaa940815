//! `dowse backup` and `dowse restore`.
//!
//! A backup is made by the server that has the data folder open, or here when there is none. It
//! is read back before it gets its name.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::json;
use store::Store;

use crate::archive::Places;
use crate::cli::BackupArgs;
use crate::commands::reach::{Reach, reach};
use crate::commands::sets::load_placed;
use crate::commands::variable;
use crate::config::load;
use crate::wiring::{places_of, store_folder};
use crate::{archive, print};

/// Copies everything that is kept.
pub(super) fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    let config = load_placed(&args.config)?.config;
    let file = &args.file;
    ensure!(!file.exists(), "`{}` exists already\nhint: choose another name", file.display());
    let unfinished = Unfinished(with_ending(file, ".unfinished"));
    let _ = fs_err::remove_file(&unfinished.0);
    ensure!(
        store_folder(&config.data_dir).is_dir(),
        "`{}` holds nothing to copy\nhint: name the configuration with `--config`",
        config.data_dir.display()
    );
    let by = match reach(&config)? {
        Reach::Running(connection) => {
            receive(&mut connection.backup()?, &unfinished.0)?;
            "the running server"
        }
        Reach::Here(shared_state) => {
            make(&shared_state.kept()?.store, &shared_state.places(), &unfinished.0)?;
            "this command"
        }
    };
    archive::verify(&unfinished.0)?;
    fs_err::rename(&unfinished.0, file)?;
    if args.json {
        let n_bytes = fs_err::metadata(file)?.len();
        print::json(&json!({ "file": file, "data_dir": config.data_dir, "bytes": n_bytes }))?;
    }
    print::note(format!(
        "everything in {} is in {}, copied by {by} and read back",
        config.data_dir.display(),
        file.display()
    ));
    Ok(())
}

/// Makes a data folder from a copy; indexes are built from it when they are first used.
pub(super) fn restore(args: &BackupArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let folder = store_folder(&config.data_dir);
    let kind = archive::kind_of(&args.file)?;
    if kind == archive::BackupKind::Archive {
        archive::verify(&args.file)?;
    }
    guard::private::create_folder(&folder)?;
    match kind {
        archive::BackupKind::Catalogue => restore_catalogue(&args.file, &folder)?,
        archive::BackupKind::Archive => {
            let catalogue = Unfinished(folder.join("catalogue.restoring"));
            archive::extract_catalogue(&args.file, &catalogue.0)?;
            restore_catalogue(&catalogue.0, &folder)?;
            archive::extract_folders(&args.file, &places_of(&config))?;
        }
    }
    if args.json {
        print::json(&json!({ "file": args.file, "data_dir": config.data_dir }))?;
    }
    print::note(format!("{} is restored from {}", config.data_dir.display(), args.file.display()));
    Ok(())
}

/// Writes an archive of a data folder whose store is open here.
pub(crate) fn make(store: &Store, places: &Places, to: &Path) -> anyhow::Result<()> {
    let catalogue = Unfinished(with_ending(to, ".catalogue"));
    let _ = fs_err::remove_file(&catalogue.0);
    // An upload that a job of the copy waits for must not go before it is copied as well.
    let _hold = knowledge::UploadsHold::take(&places.uploads)?;
    store.backup(&catalogue.0)?;
    archive::write(to, &catalogue.0, places)
        .context("hint: is there space for a copy of everything?")
}

fn restore_catalogue(file: &Path, folder: &Path) -> anyhow::Result<()> {
    store::restore(file, folder, &store::Config::for_one_machine())
        .with_context(|| format!("`{}` could not be restored", folder.display()))
}

fn receive(sent: &mut impl Read, to: &Path) -> anyhow::Result<()> {
    let mut file = fs_err::File::create(to)?;
    std::io::copy(sent, &mut file).context("the running server stopped in the middle")?;
    Ok(file.file().sync_all()?)
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A file that is removed unless it got another name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs_err::remove_file(&self.0);
    }
}
