//! `dowse models`: which models are here, get one, check one.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use infer::ModelState;
use infer::models::{self, Progress, PullConfig};
use model::Deadline;
use serde_json::json;

use crate::cli::{ModelArgs, ModelListArgs, ModelsCommand};
use crate::commands::variable;
use crate::config::{is_without_model, load};
use crate::print;
use crate::wiring::models_dir;

/// How long a pull may take.
const PULL_WAIT: Duration = Duration::from_secs(3600);

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);

pub(super) fn run(command: &ModelsCommand) -> anyhow::Result<()> {
    match command {
        ModelsCommand::List(args) => list(args),
        ModelsCommand::Pull(args) => {
            anyhow::ensure!(
                !is_without_model(),
                "`--no-model` was given, so no model was got\nhint: leave it out to get one"
            );
            let config = load(args.config.config.as_deref(), &variable)?.config;
            let manifest = pull(&models_dir(&config), &args.model)?;
            told(args, &manifest)
        }
        ModelsCommand::Verify(args) => {
            let config = load(args.config.config.as_deref(), &variable)?.config;
            let manifest = verified(&models_dir(&config), &args.model)?;
            if !args.json {
                print::line(format!("{} {}: every file is right", manifest.name, manifest.version));
            }
            told(args, &manifest)
        }
    }
}

/// Reads every file of a model.
///
/// Fails with what is wrong and how to get it anew.
fn verified(folder: &Path, model: &str) -> anyhow::Result<models::Manifest> {
    models::verify(folder, model, &mut teller()).map_err(|error| {
        if matches!(error, infer::Error::ModelMissing { .. }) {
            return error.into();
        }
        anyhow::anyhow!("{error}\nhint: `dowse models pull {model}` gets it again")
    })
}

fn told(args: &ModelArgs, manifest: &models::Manifest) -> anyhow::Result<()> {
    if !args.json {
        return Ok(());
    }
    print::json(&json!({
        "model": manifest.name,
        "version": manifest.version,
        "source": manifest.source,
    }))
}

fn list(args: &ModelListArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let folder = models_dir(&config);
    let download = if args.json { "download bytes" } else { "download" };
    let mut rows = print::Table::new(["model", "state", download, "licence", "what"]);
    for model in models::list(&folder)? {
        let state = match &model.state {
            ModelState::Ready { .. } => "ready".to_owned(),
            ModelState::Pulling { .. } => "being pulled".to_owned(),
            ModelState::Loading { .. } => "being loaded".to_owned(),
            ModelState::Broken { problem, .. } => format!("broken: {problem}"),
            ModelState::Off | ModelState::Missing { .. } | ModelState::ProviderDown { .. } => {
                "not here".to_owned()
            }
        };
        // People read `91.0 MB`, programs a number of bytes.
        let size = match args.json {
            true => json!(model.n_download_bytes),
            false => json!(print::bytes(model.n_download_bytes)),
        };
        rows.row([
            json!(model.name),
            json!(state),
            size,
            json!(model.licence),
            json!(model.description),
        ]);
    }
    rows.print(args.json)?;
    print::note(format!("models are kept in {}", folder.display()));
    Ok(())
}

/// Gets a model, telling how far it is; says so when it is here already, and whole.
pub(super) fn pull(folder: &Path, model: &str) -> anyhow::Result<models::Manifest> {
    match models::verify(folder, model, &mut teller()) {
        Ok(manifest) => {
            print::note(format!("{} {} is here already", manifest.name, manifest.version));
            return Ok(manifest);
        }
        Err(infer::Error::ModelMissing { .. }) => {}
        Err(error) => print::note(format!("it is here but damaged, so it is got again: {error}")),
    }
    let config = PullConfig::new(folder);
    let manifest = models::pull(&config, model, &Deadline::after(PULL_WAIT), &mut teller())?;
    print::note(format!("{} {} is ready ({})", manifest.name, manifest.version, manifest.source));
    Ok(manifest)
}

/// Tells how far a download or a check is: a bar on a terminal, a line now and then elsewhere.
fn teller() -> impl FnMut(&Progress) {
    let bar = std::io::stderr().is_terminal().then(print::ByteBar::new);
    let mut said: Option<Instant> = None;
    move |progress| {
        if let Some(bar) = &bar {
            bar.show(step(progress.step), progress.n_bytes_done, progress.n_bytes_total);
            return;
        }
        if said.is_some_and(|at| at.elapsed() < TELL_EVERY) || progress.n_bytes_done == 0 {
            return;
        }
        said = Some(Instant::now());
        let done = print::bytes(progress.n_bytes_done);
        let of = match progress.n_bytes_total {
            0 => String::new(),
            n_bytes => format!(" of {}", print::bytes(n_bytes.max(progress.n_bytes_done))),
        };
        print::note(format!("{} {}: {done}{of}", step(progress.step), progress.model));
    }
}

fn step(step: models::Step) -> &'static str {
    match step {
        models::Step::Downloading => "downloading",
        models::Step::Unpacking => "unpacking",
        models::Step::Checking => "checking",
        models::Step::Done => "done",
    }
}
