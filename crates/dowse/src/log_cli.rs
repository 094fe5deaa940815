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
    /// Form of the log on stderr [env: DOWSE_LOG_FORMAT] [default: human]
    #[arg(long, global = true, value_enum)]
    pub(crate) log_format: Option<LogFormat>,
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
        // A variable that is empty is as good as none.
        self.log.as_deref().filter(|log| !log.trim().is_empty()).unwrap_or(self.usual(is_server))
    }

    /// Gives what is logged where no filter is given.
    pub(crate) fn usual(&self, is_server: bool) -> &'static str {
        match (self.quiet, self.verbose, is_server) {
            (true, ..) => "error",
            (false, 0, false) => "warn",
            (false, 0, true) | (false, 1, false) => "info",
            (false, ..) => "debug",
        }
    }

    /// Gives the form of the log: the flag's, or else that of the variable [`LOG_FORMAT`].
    ///
    /// # Errors
    ///
    /// When the variable holds another word than the names of forms.
    pub(crate) fn form(&self) -> anyhow::Result<LogFormat> {
        let of_variable = || std::env::var(LOG_FORMAT).ok().filter(|text| !text.is_empty());
        form_of(self.log_format, of_variable)
    }
}

fn form_of(
    typed: Option<LogFormat>,
    of_variable: impl FnOnce() -> Option<String>,
) -> anyhow::Result<LogFormat> {
    if let Some(form) = typed {
        return Ok(form);
    }
    let Some(text) = of_variable() else { return Ok(LogFormat::Human) };
    LogFormat::from_str(&text, false).map_err(|_| {
        anyhow::anyhow!("the variable `{LOG_FORMAT}` is `{text}`, and takes `human` or `json`")
    })
}

/// The variable for the form of the log.
const LOG_FORMAT: &str = "DOWSE_LOG_FORMAT";

/// Says what is wrong with a filter that its parser takes for the name of a part of the program,
/// and that would log nothing.
pub(crate) fn odd_level(filter: &str) -> Option<String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let words = filter.split(',').map(str::trim);
    let mut bare = words.filter(|word| !word.is_empty() && !word.contains(['=', '[', ':']));
    let is_level = |word: &str| {
        LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word))
            || word.parse::<u8>().is_ok_and(|number| usize::from(number) < LEVELS.len())
    };
    let odd = bare.find(|word| !is_level(word))?;
    let levels = LEVELS.join("`, `");
    Some(format!("`{odd}` is none of `{levels}`; `{odd}=debug` names a part of the program"))
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

    #[test]
    fn a_word_that_is_no_level_is_named() {
        for filter in ["info", "WARN", "serve=debug", "info,store=trace", "3", "a::b", "off"] {
            assert_eq!(super::odd_level(filter), None, "{filter}");
        }
        for filter in ["inof", "foo", "info,sevre", "9"] {
            assert!(super::odd_level(filter).is_some(), "{filter}");
        }
    }

    #[test]
    fn the_form_is_that_of_the_flag_or_of_the_variable() {
        use super::{LogFormat, form_of};
        let of = |text: Option<&str>| form_of(None, || text.map(str::to_owned));
        assert_eq!(of(None).unwrap(), LogFormat::Human);
        assert_eq!(of(Some("json")).unwrap(), LogFormat::Json);
        let said = of(Some("xml")).unwrap_err().to_string();
        assert!(said.contains("`DOWSE_LOG_FORMAT` is `xml`"), "{said}");
        assert_eq!(form_of(Some(LogFormat::Human), || unreachable!()).unwrap(), LogFormat::Human);
    }

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
