//! `dowse move`: everything that is kept goes from where one configuration keeps it to where another
//! one does, whatever their catalogues and engines are, and is compared by counts and hashes.
//!
//! What was moved stays where it was. A move that was interrupted is repeated: what arrived is passed
//! over, and what is gone since is taken out again. Engines are derived: the new one is filled from
//! the new catalogue, and checked against it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde_json::json;
use store::Catalogue;

use crate::cli::MoveArgs;
use crate::commands::variable;
use crate::config::{Config, load, load_as_written};
use crate::wiring::{
    open_catalogue, open_store, place_charts, server_of, store_folder, upload_files,
};
use crate::{control, print};

/// Folders of the data folder that are copied beside the catalogue and the uploads.
const FOLDERS: [&str; 1] = ["charts"];

pub(super) fn run(args: &MoveArgs) -> anyhow::Result<()> {
    let from = load(args.config.config.as_deref(), &variable)?.config;
    // `--data-dir` says where the data is, not where it goes.
    let to = load_as_written(Some(&args.to), &variable)?.config;
    for config in [&from, &to] {
        refuse_running(config)?;
    }
    let clock = crate::clock::system();
    let folders = [&from, &to].map(|config| store_folder(&config.data_dir));
    let [(source, _from_lock), (target, to_lock)] = [
        open_catalogue(&from.store, &folders[0], clock.clone()).context("where it comes from")?,
        open_catalogue(&to.store, &folders[1], clock.clone())
            .context("where it goes\nhint: `--to` names a configuration of another place")?,
    ];
    ensure!(
        source.identity()? != target.identity()?,
        "both configurations name the same catalogue\n\
         hint: `--to` names a configuration with another `data_dir` or another `[store]`"
    );
    for catalogue in [&source, &target] {
        if let Some(data_dir) = server_of(&**catalogue)? {
            bail!(
                "a server with the data folder `{data_dir}` serves the catalogue in PostgreSQL\n\
                 hint: stop every server of both configurations before a move"
            );
        }
    }
    let copied =
        store::move_into(&*source, &*target, &|what| print::note(what)).map_err(|error| {
            let hint = if matches!(error, store::Error::NotEmpty) {
                "hint: a move goes into an empty catalogue, or goes on where it was interrupted"
            } else {
                "hint: run it again: what arrived is not copied again"
            };
            anyhow::Error::from(error).context(format!("it was not moved\n{hint}"))
        })?;
    let n_uploads = move_uploads((&from, &source), (&to, &target))?;
    for folder in FOLDERS {
        copy_folder(&from.data_dir.join(folder), &to.data_dir.join(folder))?;
    }
    place_charts(&to, &*target)?;
    store::end_move(&*target)?;
    target.close()?;
    drop((target, to_lock));
    let findings = fill_engine(&to, &folders[1])?;
    if args.json {
        print::json(&json!({
            "namespaces": copied.n_namespaces,
            "documents": copied.counts.n_documents,
            "passages": copied.counts.n_passages,
            "vectors": copied.counts.n_vectors,
            "objects": copied.n_objects,
            "files": copied.n_files,
            "uploads": n_uploads,
            "hashes": copied.hashes,
            "engine_problems": findings,
        }))?;
    }
    print::note(format!(
        "moved and compared: {} documents, {} passages, {} vectors, {} objects, {n_uploads} uploads; \
         what was copied is still in its old place",
        copied.counts.n_documents,
        copied.counts.n_passages,
        copied.counts.n_vectors,
        copied.n_objects
    ));
    if !findings.is_empty() {
        bail!(
            "the catalogue is moved, and the engine of `--to` is not whole: {}\n\
             hint: `dowse check --repair --config {}` fills it anew",
            findings.join("; "),
            args.to.display()
        );
    }
    Ok(())
}

/// What a server writes while it is moved would be left behind.
fn refuse_running(config: &Config) -> anyhow::Result<()> {
    ensure!(
        control::connect(&config.data_dir).is_none(),
        "a process serves the data of `{}`\n\
         hint: stop every server of both configurations before a move",
        config.data_dir.display()
    );
    Ok(())
}

/// Puts uploads and originals where the new configuration has them.
fn move_uploads(
    (from, source): (&Config, &Arc<dyn Catalogue>),
    (to, target): (&Config, &Arc<dyn Catalogue>),
) -> anyhow::Result<usize> {
    let files = |config: &Config, catalogue: &Arc<dyn Catalogue>| {
        upload_files(&config.store, &config.base, &config.data_dir, Arc::clone(catalogue))
    };
    let (before, after) = (files(from, source), files(to, target));
    // Those that were in pieces have come with the catalogue.
    after.take_from_catalogue(&**target)?;
    Ok(before.copy_into(&after)?)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    let entries = match fs_err::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    guard::private::create_folder(to)?;
    for entry in entries {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &place)?,
            false => fs_err::copy(entry.path(), place).map(|_| ())?,
        }
    }
    Ok(())
}

/// Lets the engine follow its catalogue to the end, and gives what is not as it should be.
fn fill_engine(to: &Config, folder: &Path) -> anyhow::Result<Vec<String>> {
    print::note("filling the engine");
    let store = open_store(&to.store, folder, crate::clock::system())?;
    store.catch_up().context("the catalogue is moved, and the engine could not follow it")?;
    let findings = store.check(store::Repair::No)?;
    store.stop()?;
    Ok(findings.into_iter().map(|finding| finding.problem).collect())
}
