//! What can be typed of folders: index, search, open, extract.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{ConfigArgs, DataArgs};

/// Which folders a command works on.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilesArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// A folder, beside those of the configuration; may be given more than once
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Vec<PathBuf>,
}

/// Flags of `dowse index`.
#[derive(Debug, Clone, Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Folders to index, beside those of the configuration
    pub(crate) folders: Vec<PathBuf>,
    /// Read everything again, also what has not changed; what is indexed answers meanwhile
    #[arg(long)]
    pub(crate) full: bool,
    /// Leave the vectors to the server, and end as soon as words can be searched
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// How many warnings to print
    #[arg(long, default_value_t = 10)]
    pub(crate) warnings: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse search`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// What to look for
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// How many results
    #[arg(short, default_value_t = 10, value_parser = at_least_one)]
    pub(crate) k: usize,
    /// Only files with this extension
    #[arg(long)]
    pub(crate) ext: Vec<String>,
    /// Only files that speak of this year
    #[arg(long)]
    pub(crate) year: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse open`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// The file
    pub(crate) path: PathBuf,
    /// The place, such as `page 3`
    pub(crate) pointer: Option<String>,
    /// Characters before the place
    #[arg(long, default_value_t = 0)]
    pub(crate) before: usize,
    /// Characters after the place
    #[arg(long, default_value_t = 0)]
    pub(crate) after: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `dowse extract`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExtractArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a number of results: none would be found by asking for none.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a number of results; expected 1 or more")),
        Ok(number) => Ok(number),
    }
}
