//! `dowse backup` and `dowse restore`.
//!
//! A backup is made by the server that has the data folder open, or here when there is none. It
//! is read back before it gets its name.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use serde_json::json;
use store::{Access, Verify};

use crate::archive::Places;
use crate::cli::BackupArgs;
use crate::commands::reach::{Reach, holds_data, reach_verified};
use crate::commands::sets::load_placed;
use crate::commands::{Outcome, variable};
use crate::config::{CatalogueKind, Config, Purpose, load};
use crate::unfinished::write_whole;
use crate::wiring::{
    Jobs, SharedState, open_catalogue, place_charts, places_of, store_folder, upload_files,
};
use crate::{archive, print};

/// The file in the data folder that says when everything was last copied.
pub(crate) const LAST_BACKUP: &str = "last-backup.json";

/// Copies everything that is kept.
pub(super) fn backup(args: &BackupArgs) -> anyhow::Result<Outcome> {
    crate::platform::keep_private();
    let config = load_placed(&args.config, &args.data, Purpose::Look)?.config;
    let file = &args.file;
    ensure!(!file.exists(), "`{}` exists already\nhint: choose another name", file.display());
    let unfinished = Unfinished(with_ending(file, ".unfinished"));
    let _ = fs_err::remove_file(&unfinished.0);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(Path::is_dir),
        "there is no folder `{}` for the copy\nhint: make it, or name another place",
        folder.unwrap_or(Path::new("")).display()
    );
    ensure!(
        holds_data(&config)?,
        "`{}` holds nothing to copy\nhint: name the configuration with `--config`",
        config.data_dir.display()
    );
    let by = match reach_verified(&config, Verify::AtOpening, Jobs::Run, Purpose::Look)? {
        Reach::Running(connection) => {
            receive(&mut connection.backup()?, &unfinished.0)?;
            "the running server"
        }
        Reach::Here(shared_state) => {
            make(&shared_state, &unfinished.0)?;
            "this command"
        }
    };
    let damaged = archive::verify(&unfinished.0)?;
    fs_err::rename(&unfinished.0, file)?;
    #[cfg(unix)]
    fs_err::File::open(folder.unwrap_or(Path::new(".")))?.file().sync_all()?;
    if args.json {
        let n_bytes = fs_err::metadata(file)?.len();
        let data_dir = &config.data_dir;
        print::json(&json!({
            "file": file, "data_dir": data_dir, "bytes": n_bytes, "damaged": damaged,
        }))?;
    }
    print::note(format!(
        "everything in {} is in {}, copied by {by} and read back",
        config.data_dir.display(),
        file.display()
    ));
    Ok(outcome_of(&damaged))
}

/// Names what was damaged before it was copied.
fn outcome_of(damaged: &[String]) -> Outcome {
    for problem in damaged {
        print::note(format!("DAMAGED in the copy as in its source: {problem}"));
    }
    if damaged.is_empty() {
        return Outcome::Done;
    }
    print::note("hint: an earlier backup may have these files; else add the documents again");
    Outcome::Problems
}

/// Names the documents whose files are damaged, those of each collection or tenant alike.
fn damaged_of(shared_state: &SharedState) -> anyhow::Result<Vec<String>> {
    let catalogue = shared_state.open_store()?.store.catalogue();
    let damaged = knowledge::damaged_originals(&*catalogue, &shared_state.uploads()?)?;
    Ok(damaged
        .into_iter()
        .map(|one| format!("document `{}`: {}", one.document, one.problem))
        .collect())
}

/// Makes a data folder, or the tables of a database that servers share, from a copy; indexes are
/// built from it when they are first used.
pub(super) fn restore(args: &BackupArgs) -> anyhow::Result<Outcome> {
    crate::platform::keep_private();
    let mut config = load(args.config.config.as_deref(), &variable)?.config;
    if let Some(named) = &args.data.data_dir {
        config.data_dir = std::path::absolute(named)?;
    }
    anyhow::ensure!(
        args.file.is_file(),
        "there is no backup `{}`\nhint: name a file that `dowse backup FILE` made",
        args.file.display()
    );
    if archive::kind_of(&args.file)? == archive::BackupKind::Catalogue {
        refuse_sqlite(&args.file)?;
    }
    let damaged = archive::verify(&args.file)?;
    let folder = store_folder(&config.data_dir);
    guard::private::create_folder(&folder)?;
    let mut restoring = Restoring::new(&folder);
    archive::extract_catalogue(&args.file, &restoring.file)?;
    let catalogue = &restoring.file.clone();
    let place = match config.store.choice()?.catalogue {
        CatalogueKind::Sqlite => {
            // The catalogue comes last: a folder whose restore was stopped on the way must not be
            // taken for a whole one that lacks its files.
            store::refuse_second(&folder).with_context(|| not_restored(&folder))?;
            restoring.has_begun = true;
            archive::extract_folders(&args.file, &places_of(&config))?;
            restore_folder(catalogue, &folder)?;
            config.data_dir.display().to_string()
        }
        CatalogueKind::Postgres => {
            restore_database(&config, catalogue, &folder)?;
            archive::extract_folders(&args.file, &places_of(&config))?;
            "the catalogue in PostgreSQL".to_owned()
        }
    };
    restoring.has_begun = false;
    // Uploads of the copy may be in its catalogue or in its folder; this configuration says where
    // they belong.
    let (catalogue, _lock) = open_catalogue(&config.store, &folder, crate::clock::system())?;
    let uploads =
        upload_files(&config.store, &config.base, &config.data_dir, Arc::clone(&catalogue));
    uploads.take_from_folder()?;
    uploads.take_from_catalogue(&*catalogue)?;
    place_charts(&config, &*catalogue)?;
    catalogue.close()?;
    if args.json {
        print::json(&json!({ "file": args.file, "data_dir": config.data_dir }))?;
    }
    print::note(format!("{place} is restored from {}", args.file.display()));
    Ok(outcome_of(&damaged))
}

/// Refuses a SQLite file, which holds a part of a data folder at most: documents that were uploaded
/// would be there without their files, and changes that are still in its log would be missing.
fn refuse_sqlite(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    ensure!(
        store::is_catalogue(file)?,
        "`{name}` is a SQLite file of another program\nhint: name a file that `dowse backup FILE` made"
    );
    anyhow::bail!(
        "`{name}` is a catalogue alone: what was uploaded is not in it\n\
         hint: name a file that `dowse backup FILE` made; to make one of a copied data folder, \
         run `dowse backup FILE --data-dir FOLDER` with the whole folder"
    )
}

/// Writes an archive of everything that is kept by what is open here.
pub(crate) fn make(shared_state: &SharedState, to: &Path) -> anyhow::Result<()> {
    let catalogue = Unfinished(with_ending(to, ".catalogue"));
    let _ = fs_err::remove_file(&catalogue.0);
    let uploads = shared_state.uploads()?;
    // An upload that a job of the copy waits for must not go before it is copied as well.
    // Of a folder that is only read none goes: who removes one has to write it.
    let is_written = shared_state.access() == Access::Write;
    let _hold = if is_written { uploads.hold()? } else { None };
    shared_state.open_store()?.store.backup(&catalogue.0)?;
    let places = Places {
        data_dir: shared_state.data_dir().to_owned(),
        uploads: uploads.folder_to_copy().map(Path::to_owned),
    };
    archive::write(to, &catalogue.0, &places, damaged_of(shared_state)?)
        .context("the copy could not be written\nhint: is there space for all of it?")?;
    let made = json!({
        "at": model::iso(shared_state.clock.now()),
        "bytes": fs_err::metadata(to)?.len(),
    });
    if !is_written {
        return Ok(());
    }
    // The copy is good without this note, which only people read.
    let note = shared_state.data_dir().join(LAST_BACKUP);
    if let Err(error) = write_whole(&note, made.to_string().as_bytes()) {
        tracing::warn!(%error, "the time of the backup could not be noted");
    }
    Ok(())
}

fn restore_folder(file: &Path, folder: &Path) -> anyhow::Result<()> {
    store::restore(file, folder, &store::Config::for_one_machine())
        .with_context(|| not_restored(folder))
}

fn not_restored(folder: &Path) -> String {
    format!("`{}` could not be restored", folder.display())
}

/// Fills an empty database; servers that use it already find what comes as it comes.
fn restore_database(config: &Config, file: &Path, folder: &Path) -> anyhow::Result<()> {
    let clock = crate::clock::system();
    let (catalogue, _lock) = open_catalogue(&config.store, folder, clock.clone())?;
    store::import(file, &*catalogue, &clock).with_context(|| {
        format!(
            "the schema `{}` in PostgreSQL could not be restored\n\
             hint: a backup goes into an empty one, and a server that indexes folders has written \
             into it; name another with `store.postgres.schema`, and start such servers afterwards",
            config.store.postgres.schema
        )
    })?;
    Ok(())
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

/// The file that says that a restore has not ended: no command takes the folder for a whole one as
/// long as it is there and the catalogue is not.
struct Restoring {
    file: PathBuf,
    /// Whether files of the backup are in their places without their catalogue.
    has_begun: bool,
}

impl Restoring {
    fn new(folder: &Path) -> Self {
        // What an earlier attempt left is a part until this one ends.
        let file = store::restoring_file(folder);
        Restoring { has_begun: file.exists(), file }
    }
}

impl Drop for Restoring {
    fn drop(&mut self) {
        // After a failure the folder has a part: the file goes on saying so, without its size.
        let _ = match self.has_begun {
            true => fs_err::File::create(&self.file).map(drop),
            false => fs_err::remove_file(&self.file),
        };
    }
}

/// A file that is removed unless it got another name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs_err::remove_file(&self.0);
    }
}
