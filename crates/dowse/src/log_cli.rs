//! What every command takes: how much is said on stderr and in which form, that no model is used,
//! and where the data is.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What every command does in another way.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EveryArgs {
    /// Use no model at all: none is loaded, downloaded or asked, not for vectors, not to judge
    /// results, and not to write (`[llm]`)
    #[arg(long, global = true)]
    pub(crate) no_model: bool,
    /// The folder for the data, instead of what the configuration says
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// How the log on stderr looks.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Form of the log on stderr
    #[arg(long, global = true, value_enum, default_value = "human", env = "DOWSE_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// What is logged: `error`, `warn`, `info`, `debug`, or a filter such as `serve=debug`;
    /// servers log `info` and other commands `warn` unless told otherwise
    #[arg(long, global = true, env = "DOWSE_LOG")]
    pub(crate) log: Option<String>,
    /// Print results and errors alone
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log more: `-v` also what is done, `-vv` also how
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl LogArgs {
    /// Gives what is logged: servers tell more than commands, unless somebody says otherwise.
    pub(crate) fn filter(&self, is_server: bool) -> &str {
        match (&self.log, self.quiet, self.verbose, is_server) {
            (Some(filter), ..) => filter,
            (None, true, ..) => "error",
            (None, false, 0, false) => "warn",
            (None, false, 0, true) | (None, false, 1, false) => "info",
            (None, false, ..) => "debug",
        }
    }
}

/// A form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Human,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::Cli;

    fn filter(words: &[&str]) -> String {
        let cli = Cli::try_parse_from(["dowse"].iter().chain(words)).unwrap();
        cli.log.filter(cli.command.is_server()).to_owned()
    }

    #[test]
    fn servers_say_what_they_do_and_other_commands_what_is_wrong() {
        assert_eq!(filter(&["serve"]), "info");
        assert_eq!(filter(&["search", "x"]), "warn");
        assert_eq!(filter(&["search", "x", "-v"]), "info");
        assert_eq!(filter(&["search", "x", "-vv"]), "debug");
        assert_eq!(filter(&["-q", "serve"]), "error");
        assert_eq!(filter(&["-v", "serve", "--log", "store=trace"]), "store=trace");
        assert!(Cli::try_parse_from(["dowse", "-q", "-v", "serve"]).is_err());
    }
}
