//! The binary: flags, configuration, wiring, exit code.
//!
//! stdout belongs to the protocol (`dowse mcp`) and to what a command was asked to print;
//! everything else goes to stderr.

mod bench_cli;
mod cli;
mod config;
mod files_cli;
mod kb_cli;
mod log_cli;

mod commands;
mod wiring;

mod archive;
mod clock;
mod control;
mod issuer;
mod logs;
mod memory;
mod platform;
mod print;
mod reload;
mod unfinished;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A worker that reads documents is this executable again, and nothing else of it.
    if extract::worker::main_if_asked() {
        return ExitCode::SUCCESS;
    }
    memory::configure();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) => return show_usage(&asked),
    };
    if cli.log.quiet {
        print::be_quiet();
    }
    if cli.every.no_model {
        config::use_no_model();
    }
    if let Some(folder) = &cli.every.data_dir
        && let Err(error) = config::use_data_dir(folder)
    {
        print::error(&error);
        return ExitCode::from(2);
    }
    let is_server = cli.command.is_server();
    if is_server {
        platform::keep_private();
    }
    if let Err(error) = logs::start(&cli.log, is_server) {
        print::error(&error);
        return ExitCode::from(2);
    }
    let ended = commands::run(cli.command);
    wiring::close_stores();
    ingest::end_bars();
    match ended.and_then(|outcome| print::ensure_written().map(|()| outcome)) {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            print::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Prints the help or the version that was asked for, or what is wrong with what was typed.
fn show_usage(asked: &clap::Error) -> ExitCode {
    print::written(asked.print());
    match print::ensure_written() {
        Ok(()) => ExitCode::from(u8::try_from(asked.exit_code()).unwrap_or(2)),
        Err(error) => {
            print::error(&error);
            ExitCode::from(2)
        }
    }
}
