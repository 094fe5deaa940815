//! `dowse bench`: measurements that can be repeated anywhere.

mod overhead;
mod process;
mod tables_load;

use std::sync::Arc;
use std::time::Duration;

use extract::{Pool, PoolConfig};
use infer::EmbedderSlot;
use model::{Deadline, Report};
use store::bench::BenchConfig;

use crate::cli::{BenchCommand, LookupBenchArgs, StoreBenchArgs};
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{embedder, models_dir};

/// Worker processes that read documents while extraction is measured.
const N_EXTRACTORS: usize = 2;

/// Questions for each figure of the store.
const N_QUESTIONS: usize = 200;

/// How long the model may take to load.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// Measures what was asked for.
pub(super) fn run(command: &BenchCommand) -> anyhow::Result<()> {
    match command {
        BenchCommand::Overhead(args) => overhead::overhead(args)?,
        BenchCommand::Text => show(&text::bench::run()),
        BenchCommand::Extract(args) => {
            let pool = Pool::new(PoolConfig::this_executable(N_EXTRACTORS)?);
            show(&extract::bench::run(&args.folder, &pool)?);
            match extract::bench::expected_text(&args.folder) {
                Ok(report) => show(&report),
                Err(error) => print::note(format!("no expected texts were compared: {error}")),
            }
        }
        BenchCommand::Store(args) => store(args)?,
        BenchCommand::Infer(args) => {
            let config = load(args.config.as_deref(), &variable)?.config;
            show(&infer::bench::run(&models_dir(&config))?);
        }
        BenchCommand::Lookup(args) => lookup(args)?,
        BenchCommand::Tables(args) => match args.clients {
            Some(n_clients) => {
                let lasts = Duration::from_secs(args.seconds);
                show(&tables_load::run(&args.folder, n_clients.max(1), lasts)?);
            }
            None => show(&columns::bench::run(&args.folder)?),
        },
    }
    if cfg!(debug_assertions) {
        print::note("this is a debug build: its figures say nothing about a release");
    }
    Ok(())
}

fn lookup(args: &LookupBenchArgs) -> anyhow::Result<()> {
    show(&::lookup::bench::run(&args.folder)?);
    match &args.postgres {
        Some(url) => show(&filters::bench::beside_postgres(&args.folder, url)?),
        None => print::note("pg_trgm was not measured: name a PostgreSQL with --postgres"),
    }
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let slot = Arc::new(EmbedderSlot::new(embedder(&config)?));
    match slot.get(&Deadline::after(MODEL_WAIT)) {
        Ok(_) => {
            let meaning: Arc<dyn filters::Meaning> = Arc::new(filters::EmbedderMeaning::new(slot));
            show(&::lookup::bench::run_with_meaning(&args.folder, &meaning)?);
        }
        Err(state) => {
            let said = state.warning().map(|warning| warning.message);
            let said = said.unwrap_or_else(|| "no embedder is configured".to_owned());
            print::note(format!("meaning was not measured: {said}"));
        }
    }
    Ok(())
}

fn store(args: &StoreBenchArgs) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("dowse-bench-store-{}", std::process::id()));
    let measured = store::bench::run(&BenchConfig {
        folder: folder.clone(),
        sizes: args.passages.clone(),
        corpus: args.corpus.clone(),
        n_questions: N_QUESTIONS,
        clock: crate::clock::system(),
    });
    fs_err::remove_dir_all(&folder)?;
    show(&measured?);
    Ok(())
}

/// Prints a report as a table.
fn show(report: &Report) {
    let mut rows = vec![vec![report.subject.clone(), String::new(), String::new()]];
    rows.extend(report.figures.iter().map(|figure| {
        let value = format!("{:.2} {}", figure.value, figure.unit);
        vec![figure.name.clone(), value, figure.note.clone().unwrap_or_default()]
    }));
    print::line(print::table(&rows));
}
