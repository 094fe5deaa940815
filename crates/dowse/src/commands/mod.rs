//! One file for each command.

mod audit;
mod backup;
mod bench;
mod check;
mod connect;
mod context;
mod demo;
mod eval;
mod extract;
mod files;
mod init;
mod kb;
mod mcp;
mod models;
mod serve;
mod shell;
mod tables;
mod tools;

use std::process::ExitCode;

pub(crate) use self::context::ContextArgs;

use crate::cli::Command;

/// Does what was typed.
pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Connect(args) => connect::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Backup(args) => backup::backup(&args),
        Command::Restore(args) => backup::restore(&args),
        Command::Tables(command) => tables::run(&command),
        Command::Tools(args) => tools::run(&args),
        Command::Index(args) => files::index(&args),
        Command::Open(args) => files::open_file(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Models(command) => models::run(&command),
        Command::Kb(args) => kb::run(&args),
        Command::Context(args) => context::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Bench(command) => bench::run(&command),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        // A search that finds nothing is no error, and scripts can tell by the exit code.
        Command::Search(args) => return files::search(&args),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// Reads the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs async work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    // Work on blocking threads that nobody waits for must not hold up the exit.
    runtime.shutdown_background();
    result
}
