//! One file for each command.

mod audit;
mod backup;
mod bench;
pub(crate) mod check;
mod connect;
mod context;
mod demo;
mod doctor;
mod eval;
mod extract;
mod files;
mod host;
mod init;
mod kb;
mod mcp;
mod models;
mod move_data;
mod reach;
mod serve;
mod sets;
mod shell;
mod status;
mod tables;
mod tools;
mod words;

pub(crate) use self::backup::LAST_BACKUP;
pub(crate) use self::context::ContextArgs;

use crate::cli::Command;

/// How a command ended that did not fail; scripts can tell by the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked, or found something.
    Done,
    /// It found nothing, or it found problems.
    Problems,
    /// What was asked for is printed, but a part of what should have made it failed: as with
    /// `grep`, that is an error, even where something was found.
    Failed,
}

impl Outcome {
    /// Gives the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Problems => 1,
            Outcome::Failed => 2,
        }
    }

    /// Reads an exit code.
    pub(crate) fn of(code: u8) -> Self {
        match code {
            0 => Outcome::Done,
            1 => Outcome::Problems,
            _ => Outcome::Failed,
        }
    }
}

/// Does what was typed.
pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Connect(args) => connect::run(&args),
        Command::Move(args) => move_data::run(&args),
        Command::Tables(command) => tables::run(&command),
        Command::Extract(args) => extract::run(&args),
        Command::Models(command) => models::run(&command),
        Command::Eval(args) => eval::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Bench(command) => bench::run(&command),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::Backup(args) => return backup::backup(&args),
        Command::Restore(args) => return backup::restore(&args),
        Command::Check(args) => return check::run(&args),
        Command::Context(args) => return context::run(&args),
        Command::Doctor(args) => return doctor::run(&args),
        Command::Index(args) => return files::index(&args),
        Command::Kb(args) => return kb::run(&args),
        Command::Open(args) => return files::open(&args),
        Command::Search(args) => return files::search(&args),
        Command::Status(args) => return status::run(&args),
        Command::Tools(args) => return tools::run(&args),
    }
    .map(|()| Outcome::Done)
}

/// Reads the environment; a variable that is empty is as good as none.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs async work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    // Work on blocking threads that nobody waits for must not hold up the exit.
    runtime.shutdown_background();
    result
}
