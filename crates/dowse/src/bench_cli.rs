//! What `dowse bench` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::ConfigArgs;

/// Flags of `dowse bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// What the guard adds to a call, beside a bare MCP server in the same run
    Overhead(OverheadArgs),
    /// The analyser and redaction, in MB/s for each script
    Text,
    /// Search and ingest of passages, by words and by vector
    Store(StoreBenchArgs),
    /// The configured catalogue and engine beside SQLite with the embedded one, in one run
    Scale(ScaleBenchArgs),
    /// Whole searches over many copies of judged datasets' documents, stage by stage
    Search(SearchBenchArgs),
    /// The default model
    Infer(ConfigArgs),
    /// Search tools over a folder of JSON documents
    Contexts(ContextsBenchArgs),
    /// Tables over a folder of data sets
    Tables(TablesBenchArgs),
    /// Knowledge bases through a real server: ingest, quality, latency, many clients at once
    Knowledge(KnowledgeBenchArgs),
}

/// Flags of `dowse bench contexts`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextsBenchArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The folder
    pub(crate) folder: PathBuf,
}

/// Flags of `dowse bench tables`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TablesBenchArgs {
    /// The folder
    pub(crate) folder: PathBuf,
    /// Measure a whole server over MCP instead, with this many clients side by side
    #[arg(long, value_name = "N")]
    pub(crate) clients: Option<usize>,
    /// How long the clients call, in seconds
    #[arg(long, default_value_t = 10)]
    pub(crate) seconds: u64,
}

/// A folder to measure on.
#[derive(Debug, Clone, Args)]
pub(crate) struct FolderArgs {
    /// The folder
    pub(crate) folder: PathBuf,
}

/// Flags of `dowse bench store`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreBenchArgs {
    /// How many passages; may be given more than once
    #[arg(long, default_values_t = [10_000, 100_000])]
    pub(crate) passages: Vec<usize>,
    /// A corpus whose text is used, in BEIR layout; generated text otherwise
    #[arg(long)]
    pub(crate) corpus: Option<PathBuf>,
    /// How many sentences of the corpus are embedded for real; vectors are made from these
    #[arg(long, default_value_t = 20_000)]
    pub(crate) embed: usize,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Flags of `dowse bench scale`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScaleBenchArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Judged sets in BEIR layout, whose sentences and questions are used
    #[arg(required = true, value_name = "SET")]
    pub(crate) sets: Vec<PathBuf>,
    /// How many passages; may be given more than once
    #[arg(long, default_values_t = [100_000])]
    pub(crate) passages: Vec<usize>,
    /// How many passages have a vector of their own; further ones have these, moved a little. The most
    /// passages that are measured, up to 100,000, unless given
    #[arg(long)]
    pub(crate) real: Option<usize>,
    /// Questions for each figure
    #[arg(long, default_value_t = 200)]
    pub(crate) questions: usize,
    /// Where vectors are kept between runs
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: PathBuf,
    /// Where the embedded store is; what is filled is not filled again
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Fill both and end, so that the engine can settle before it is measured
    #[arg(long)]
    pub(crate) fill: bool,
}

/// Flags of `dowse bench search`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchBenchArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Datasets as `dowse eval` takes them
    #[arg(required = true, value_name = "DATASET")]
    pub(crate) datasets: Vec<String>,
    /// How many passages
    #[arg(long, default_value_t = 100_000)]
    pub(crate) passages: usize,
    /// How many queries
    #[arg(long, default_value_t = 500)]
    pub(crate) queries: usize,
    /// Measure words alone
    #[arg(long)]
    pub(crate) no_model: bool,
    /// Where vectors are kept between runs; `eval` in the data folder unless given
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
}

/// Flags of `dowse bench knowledge`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KnowledgeBenchArgs {
    /// Judged sets in BEIR layout
    #[arg(required = true)]
    pub(crate) folders: Vec<String>,
    /// At most so many questions of each set; 0 is all
    #[arg(long, default_value_t = 0)]
    pub(crate) limit: usize,
    /// At most so many documents of each set, and only questions that they answer; 0 is all
    #[arg(long, default_value_t = 0)]
    pub(crate) documents: usize,
    /// Clients at once
    #[arg(long, default_value_t = 16)]
    pub(crate) clients: usize,
    /// Leave the model out from the beginning
    #[arg(long)]
    pub(crate) words_alone: bool,
    /// The folder of models; the user's own unless set
    #[arg(long, value_name = "FOLDER")]
    pub(crate) models_dir: Option<PathBuf>,
}

/// Flags of `dowse bench overhead`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OverheadArgs {
    /// Calls to each server
    #[arg(long, default_value_t = 10_000)]
    pub(crate) calls: u32,
    /// Serve the bare server that is measured against, instead of measuring
    #[arg(long, hide = true)]
    pub(crate) serve_bare: bool,
}
