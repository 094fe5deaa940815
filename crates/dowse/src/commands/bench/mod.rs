//! `dowse bench`: measurements that can be repeated anywhere.

mod knowledge;
mod overhead;
mod process;
mod scale;
mod tables_load;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use std::path::Path;

use infer::EmbedderSlot;
use model::{Deadline, Report};
use store::bench::BenchConfig;

use crate::bench_cli::{BenchArgs, BenchCommand, ContextsBenchArgs, StoreBenchArgs};
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{embedder, models_dir};

/// How long the model may take to load.
const LOAD_WAIT: Duration = Duration::from_secs(120);

/// How long it may take to embed the sentences that are measured with.
const EMBED_WAIT: Duration = Duration::from_secs(3600);

/// Questions for each figure of the store.
const N_QUESTIONS: usize = 200;

/// Whether reports are printed as JSON, a line each.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Measures what was asked for.
pub(super) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    if args.json {
        IS_JSON.store(true, Ordering::Relaxed);
    }
    match &args.command {
        BenchCommand::Overhead(args) => overhead::overhead(args)?,
        BenchCommand::Text => show(&text::bench::run()),
        BenchCommand::Store(args) => store(args)?,
        BenchCommand::Scale(args) => scale::run(args)?,
        BenchCommand::Search(args) => show(&super::eval::bench(args)?),
        BenchCommand::Infer(args) => {
            let config = load(args.config.as_deref(), &variable)?.config;
            show(&infer::bench::run(&models_dir(&config))?);
        }
        BenchCommand::Tables(args) => match args.clients {
            Some(n_clients) => {
                let lasts = Duration::from_secs(args.seconds);
                show(&tables_load::run(&args.folder, n_clients.max(1), lasts)?);
            }
            None => show(&columns::bench::run(&args.folder)?),
        },
        BenchCommand::Knowledge(args) => knowledge::run(args)?,
        BenchCommand::Contexts(args) => contexts(args)?,
    }
    if cfg!(debug_assertions) {
        print::note("this is a debug build: its figures say nothing about a release");
    }
    Ok(())
}

fn store(args: &StoreBenchArgs) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("dowse-bench-store-{}", std::process::id()));
    let vectors = match &args.corpus {
        Some(corpus) => real_vectors(args, corpus)?,
        None => Vec::new(),
    };
    let measured = store::bench::run(&BenchConfig {
        folder: folder.clone(),
        sizes: args.passages.clone(),
        corpus: args.corpus.clone(),
        vectors,
        n_questions: N_QUESTIONS,
        clock: crate::clock::system(),
    });
    fs_err::remove_dir_all(&folder)?;
    show(&measured?);
    Ok(())
}

/// Embeds sentences of the corpus, where the model is here.
fn real_vectors(args: &StoreBenchArgs, corpus: &Path) -> anyhow::Result<Vec<Vec<f32>>> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let slot = EmbedderSlot::new(embedder(&config)?);
    let embedder = match slot.get(&Deadline::after(LOAD_WAIT)) {
        Ok(embedder) => embedder,
        Err(state) => {
            let why = state.warning().map(|said| said.message).unwrap_or_default();
            print::note(format!("vectors are made up: {why}"));
            return Ok(Vec::new());
        }
    };
    let sentences = store::bench::sentences(corpus)?;
    let texts: Vec<&str> = sentences.iter().take(args.embed).map(String::as_str).collect();
    print::note(format!("embedding {} sentences", texts.len()));
    Ok(embedder.embed_passages(&texts, &Deadline::after(EMBED_WAIT))?)
}

fn contexts(args: &ContextsBenchArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let work = std::env::temp_dir().join(format!("dowse-bench-contexts-{}", std::process::id()));
    fs_err::create_dir_all(&work)?;
    let measured =
        ::contexts::bench::run(&args.folder, &work, &crate::clock::system(), &embedder(&config)?);
    fs_err::remove_dir_all(&work)?;
    show(&measured?);
    Ok(())
}

/// Prints a report as a table.
fn show(report: &Report) {
    if IS_JSON.load(Ordering::Relaxed) {
        // A report is names, numbers and notes: nothing in it can fail to be JSON.
        print::line(serde_json::to_string(report).unwrap_or_default());
        return;
    }
    let mut rows = vec![vec![report.subject.clone(), String::new(), String::new()]];
    rows.extend(report.figures.iter().map(|figure| {
        // Shares are near 1 where they are good: two digits would hide the difference.
        let n_digits = if figure.unit == "ratio" { 4 } else { 2 };
        let value = format!("{:.n_digits$} {}", figure.value, figure.unit);
        vec![figure.name.clone(), value, figure.note.clone().unwrap_or_default()]
    }));
    print::line(print::table(&rows));
}
