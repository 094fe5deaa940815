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

mod allocator;
mod archive;
mod clock;
mod control;
mod issuer;
mod logs;
mod platform;
mod print;
mod reload;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A worker that reads documents is this executable again, and nothing else of it.
    if extract::worker::main_if_asked() {
        return ExitCode::SUCCESS;
    }
    allocator::configure();
    let cli = cli::Cli::parse();
    if cli.log.quiet {
        print::be_quiet();
    }
    if cli.every.no_model {
        config::use_no_model();
    }
    let is_server = cli.command.is_server();
    if is_server {
        platform::keep_private();
    }
    logs::start(&cli.log, is_server);
    let ended = commands::run(cli.command);
    wiring::close_stores();
    match ended {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            print::error(&error);
            ExitCode::from(2)
        }
    }
}
