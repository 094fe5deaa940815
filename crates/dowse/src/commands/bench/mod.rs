//! `dowse bench`: measurements that can be repeated anywhere.

mod overhead;
mod process;

use extract::{Pool, PoolConfig};
use model::Report;
use store::bench::BenchConfig;

use crate::cli::{BenchCommand, StoreBenchArgs};
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::models_dir;

/// Worker processes that read documents while extraction is measured.
const N_EXTRACTORS: usize = 2;

/// Questions for each figure of the store.
const N_QUESTIONS: usize = 200;

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
        BenchCommand::Lookup(args) => show(&::lookup::bench::run(&args.folder)?),
        BenchCommand::Contexts(args) => contexts(&args.folder)?,
        BenchCommand::Tables(args) => show(&columns::bench::run(&args.folder)?),
    }
    if cfg!(debug_assertions) {
        print::note("this is a debug build: its figures say nothing about a release");
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

fn contexts(folder: &std::path::Path) -> anyhow::Result<()> {
    let work = std::env::temp_dir().join(format!("dowse-bench-contexts-{}", std::process::id()));
    fs_err::create_dir_all(&work)?;
    let measured = ::contexts::bench::run(folder, &work, crate::clock::system());
    fs_err::remove_dir_all(&work)?;
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
