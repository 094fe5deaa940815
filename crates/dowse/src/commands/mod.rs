//! One file for each command.

mod audit;
mod backup;
mod bench;
pub(crate) mod check;
mod connect;
mod context;
mod demo;
mod doctor;
mod documents_report;
mod eval;
mod extract;
mod files;
mod host;
mod init;
mod kb;
mod mcp;
mod models;
mod move_data;
mod objects;
mod reach;
mod serve;
mod sets;
mod shell;
mod status;
mod tables;
mod tools;
mod user_data;
mod waiting;
mod words;

pub(crate) use self::backup::LAST_BACKUP;
pub(crate) use self::context::ContextArgs;
pub(crate) use self::objects::ObjectArgs;
pub(crate) use self::status::model_state;

use tokio_util::sync::CancellationToken;

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

/// Does work that a signal may end. What it began waits in the queue then, for the next command or a
/// server on the same data: a process that was told to end is none that a document has ended.
///
/// # Errors
///
/// What the work fails with, or that it was stopped.
pub(crate) fn until_stopped<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    block_on(async move {
        let is_stopped = CancellationToken::new();
        crate::platform::shutdown_on_signal(is_stopped.clone())?;
        let work = tokio::task::spawn_blocking(work);
        tokio::select! {
            biased;
            done = work => done?,
            () = is_stopped.cancelled() => anyhow::bail!(
                "stopped before everything was done; what was indexed stays\n\
                 hint: the next command or server on the same data goes on with it; run the same \
                 command again for the rest"
            ),
        }
    })
}

/// Threads that may block at the same time. A call holds one, as does a call that only waits; each
/// connection has one call at most. With as many threads as connections (`limits.connections` is
/// 2,048 unless set) nobody's waiting keeps somebody else's call from its thread. Threads are
/// started when they are needed and end when they are not.
const MAX_BLOCKING_THREADS: usize = 2_560;

/// Runs async work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .build()?;
    let result = runtime.block_on(work);
    // Work on blocking threads that nobody waits for must not hold up the exit.
    runtime.shutdown_background();
    result
}
