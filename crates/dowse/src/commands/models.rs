//! `dowse models`: which models are here, get one, check one.

use std::time::{Duration, Instant};

use infer::ModelState;
use infer::models::{self, Progress, PullConfig};
use model::Deadline;

use crate::cli::ModelsCommand;
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::models_dir;

/// How long a pull may take.
const PULL_WAIT: Duration = Duration::from_secs(3600);

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);

pub(super) fn run(command: &ModelsCommand) -> anyhow::Result<()> {
    match command {
        ModelsCommand::List(args) => {
            let config = load(args.config.as_deref(), &variable)?.config;
            list(&models_dir(&config))
        }
        ModelsCommand::Pull(args) => {
            let config = load(args.config.config.as_deref(), &variable)?.config;
            pull(&models_dir(&config), &args.model)
        }
        ModelsCommand::Verify(args) => {
            let config = load(args.config.config.as_deref(), &variable)?.config;
            let manifest = models::verify(&models_dir(&config), &args.model, &mut teller())?;
            print::line(format!("{} {}: every file is right", manifest.name, manifest.version));
            Ok(())
        }
    }
}

fn list(folder: &std::path::Path) -> anyhow::Result<()> {
    let mut rows = vec![["model", "state", "download", "what"].map(str::to_owned).to_vec()];
    for model in models::list(folder)? {
        let state = match &model.state {
            ModelState::Ready { .. } => "ready".to_owned(),
            ModelState::Pulling { .. } => "being pulled".to_owned(),
            ModelState::Loading { .. } => "being loaded".to_owned(),
            ModelState::Broken { problem, .. } => format!("broken: {problem}"),
            ModelState::Off | ModelState::Missing { .. } | ModelState::ProviderDown { .. } => {
                "not here".to_owned()
            }
        };
        let size = format!("{} MB", model.n_download_bytes / 1_000_000);
        rows.push(vec![model.name, state, size, model.description]);
    }
    print::line(print::table(&rows));
    print::note(format!("models are kept in {}", folder.display()));
    Ok(())
}

/// Gets a model, telling how far it is.
pub(super) fn pull(folder: &std::path::Path, model: &str) -> anyhow::Result<()> {
    let config = PullConfig::new(folder);
    let manifest = models::pull(&config, model, &Deadline::after(PULL_WAIT), &mut teller())?;
    print::note(format!("{} {} is ready ({})", manifest.name, manifest.version, manifest.source));
    Ok(())
}

fn teller() -> impl FnMut(&Progress) {
    let mut told: Option<Instant> = None;
    move |progress| {
        if told.is_some_and(|at| at.elapsed() < TELL_EVERY) {
            return;
        }
        told = Some(Instant::now());
        let megabytes = |n_bytes: u64| n_bytes as f64 / 1e6;
        print::note(format!(
            "{:?} {}: {:.0} of {:.0} MB",
            progress.step,
            progress.model,
            megabytes(progress.n_bytes_done),
            megabytes(progress.n_bytes_total)
        ));
    }
}
