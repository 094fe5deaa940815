//! The log: on stderr, for people or as JSON, with the id of the request each line belongs to.

use std::io::{IsTerminal, Write, stderr};

use tracing_subscriber::EnvFilter;

use crate::log_cli::{LogArgs, LogFormat, odd_level};
use crate::print;

/// What is kept quiet unless the filter names it: the protocol library writes several lines for
/// each request, and an error for each client that leaves early.
const QUIET: &str = "rmcp=off";

/// The terminal, with a bar that may be drawn there out of the way of each line.
struct BesideBar;

impl Write for BesideBar {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        ingest::beside_bar(|| stderr().write(line))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        stderr().flush()
    }
}

/// Starts logging. A filter that cannot be read falls back to what is usual, and says so.
///
/// # Errors
///
/// When the environment names another form than there is.
pub(crate) fn start(args: &LogArgs, is_server: bool) -> anyhow::Result<()> {
    let form = args.form()?;
    let (wanted, usual) = (args.filter(is_server), args.usual(is_server));
    let read = match odd_level(wanted) {
        Some(odd) => Err(odd),
        None => format!("{QUIET},{wanted}").parse::<EnvFilter>().map_err(|error| error.to_string()),
    };
    let (filter, complaint) = match read {
        Ok(filter) => (filter, None),
        Err(problem) => (EnvFilter::new(format!("{QUIET},{usual}")), Some(problem)),
    };
    // A line that nobody reads any more is no error; telling so would panic.
    let builder = tracing_subscriber::fmt()
        .with_writer(|| BesideBar)
        .with_env_filter(filter)
        .log_internal_errors(false);
    match form {
        LogFormat::Human => {
            builder
                .with_ansi(print::has_colours(stderr().is_terminal()))
                .with_target(false)
                .compact()
                .init();
        }
        LogFormat::Json => builder.json().init(),
    }
    if let Some(problem) = complaint {
        let filter = wanted;
        tracing::warn!(filter, problem, usual, "`--log` or `DOWSE_LOG` cannot be read");
    }
    Ok(())
}
