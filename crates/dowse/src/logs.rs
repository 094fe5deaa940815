//! The log: on stderr, for people or as JSON, with the id of the request each line belongs to.

use std::io::{IsTerminal, Write, stderr};

use tracing_subscriber::EnvFilter;

use crate::log_cli::{LogArgs, LogFormat};
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

/// Starts logging. A filter that cannot be read falls back to `info`, and says so.
pub(crate) fn start(args: &LogArgs, is_server: bool) {
    let wanted = args.filter(is_server);
    let (filter, complaint) = match format!("{QUIET},{wanted}").parse::<EnvFilter>() {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(format!("{QUIET},info")), Some(error)),
    };
    // A line that nobody reads any more is no error; telling so would panic.
    let builder = tracing_subscriber::fmt()
        .with_writer(|| BesideBar)
        .with_env_filter(filter)
        .log_internal_errors(false);
    match args.log_format {
        LogFormat::Human => {
            builder
                .with_ansi(print::has_colours(stderr().is_terminal()))
                .with_target(false)
                .compact()
                .init();
        }
        LogFormat::Json => builder.json().init(),
    }
    if let Some(error) = complaint {
        tracing::warn!(filter = wanted, %error, "the log filter cannot be read, using `info`");
    }
}
