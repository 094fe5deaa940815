//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One search server for AI agents.
#[derive(Debug, Parser)]
#[command(name = "dowse", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How the log on stderr looks.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Form of the log on stderr
    #[arg(long, global = true, value_enum, default_value = "human", env = "DOWSE_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// What is logged: `error`, `warn`, `info`, `debug`, or a filter such as `serve=debug`
    #[arg(long, global = true, default_value = "info", env = "DOWSE_LOG")]
    pub(crate) log: String,
}

/// A form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Human,
    /// One JSON object a line.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build a small world from data in this repository, index it and serve it
    Demo(DemoArgs),
    /// Serve folders, or everything that a configuration names, over HTTP
    Serve(ServeArgs),
    /// Serve one MCP client over stdin and stdout
    Mcp(ConfigArgs),
    /// Validate a configuration and say what it would serve
    Check(ConfigArgs),
    /// Print the tools and what `tools/list` costs an agent in tokens
    Tools(ConfigArgs),
    /// Make, fill, search and delete knowledge bases of this machine
    Kb(KbArgs),
    /// Print the newest entries of the audit
    Audit(AuditArgs),
    /// Measure
    #[command(subcommand)]
    Bench(BenchCommand),
}

/// Where the configuration is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration; `dowse.toml` in this folder when it is there
    #[arg(long, value_name = "FILE", env = "DOWSE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

/// Flags of `dowse demo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7700")]
    pub(crate) listen: SocketAddr,
    /// Where the demo keeps what it builds
    #[arg(long, value_name = "FOLDER", default_value = ".dowse/demo")]
    pub(crate) data_dir: PathBuf,
}

/// Flags of `dowse serve`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Folders to search, beside those of the configuration
    pub(crate) folders: Vec<PathBuf>,
    /// Where to listen, instead of what the configuration says; port 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
}

/// Flags of `dowse kb`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KbArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The tenant that owns the knowledge bases
    #[arg(long, global = true, default_value = "local")]
    pub(crate) tenant: String,
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

/// What to do with knowledge bases. KB is an id, or a name that only one has.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum KbCommand {
    /// Make a knowledge base and print its id
    Create {
        /// What people call it
        name: String,
        /// What it is about
        #[arg(long, default_value = "")]
        description: String,
        /// Let everyone in the tenant read it
        #[arg(long)]
        public: bool,
    },
    /// List knowledge bases
    List,
    /// Add files, and wait until they can be found
    Add {
        /// The knowledge base
        kb: String,
        /// Files in any format that can be read
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The collection; it is made when there is none with this name
        #[arg(long, default_value = "documents")]
        collection: String,
        /// The clearance of a collection that is made
        #[arg(long, default_value = "internal")]
        clearance: model::Clearance,
        /// The department of a collection that is made
        #[arg(long)]
        department: Option<String>,
        /// Repair hyphens that OCR read for long vowel marks
        #[arg(long)]
        normalize_ocr: bool,
    },
    /// Search a knowledge base
    Search {
        /// The knowledge base
        kb: String,
        /// What to look for
        query: String,
        /// The least relevance, 0 to 1
        #[arg(long, default_value_t = 0.6)]
        threshold: f64,
        /// How many results
        #[arg(long, default_value_t = 10)]
        max_results: usize,
    },
    /// Print what a knowledge base is about and how much is in it
    Summary {
        /// The knowledge base
        kb: String,
    },
    /// Delete a knowledge base with all that is in it
    Delete {
        /// The knowledge base
        kb: String,
    },
}

/// Flags of `dowse audit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// How many entries
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) entries: usize,
    /// Only calls of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only calls of this caller
    #[arg(long)]
    pub(crate) caller: Option<String>,
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// What the guard adds to a call, beside a bare MCP server in the same run
    Overhead(OverheadArgs),
}

/// Flags of `dowse bench overhead`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OverheadArgs {
    /// Calls to each server
    #[arg(long, default_value_t = 5_000)]
    pub(crate) calls: u32,
}
