//! Commands of others, done by a process that has the data folder open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::serve::{App, Shared};
use anyhow::{Context, bail};
use clap::Parser;
use tokio_util::sync::CancellationToken;

use crate::archive;
use crate::cli::{Cli, Command};
use crate::commands::{backup, check, context, doctor, files, kb, status, tools};
use crate::control::{self, Listening, Typed};
use crate::platform::{self, LocalStream};
use crate::wiring::SharedState;

/// The command whose process has the data folder open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosting {
    Serve,
    Demo,
    Mcp,
    Index,
}

impl Hosting {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Hosting::Serve => "serve",
            Hosting::Demo => "demo",
            Hosting::Mcp => "mcp",
            Hosting::Index => "index",
        }
    }

    /// Tells whether it answers over HTTP.
    pub(crate) fn listens(self) -> bool {
        matches!(self, Hosting::Serve | Hosting::Demo)
    }
}

/// How long commands may take that are being done when a server is stopped.
pub(crate) const COMMANDS_GRACE: Duration = Duration::from_secs(10);

/// What a process lends to commands.
pub(crate) struct Host {
    pub(crate) shared_state: SharedState,
    pub(crate) command: Hosting,
    shared: Shared,
    runtime: tokio::runtime::Handle,
    shutdown: CancellationToken,
}

/// Does commands on the data folder until the process ends, which has to let them finish then. Must
/// be called inside a runtime.
pub(crate) fn serve_commands(
    command: Hosting,
    shared_state: &SharedState,
    shared: Shared,
    shutdown: CancellationToken,
) -> anyhow::Result<Listening> {
    let host = Host {
        shared_state: shared_state.clone(),
        command,
        shared,
        runtime: tokio::runtime::Handle::current(),
        shutdown,
    };
    control::listen(shared_state.data_dir(), Arc::new(host))
}

impl Host {
    /// The application of the moment.
    pub(crate) fn app(&self) -> Arc<App> {
        self.shared.load()
    }
}

impl control::Host for Host {
    fn backup(
        &self,
        begin: &mut dyn FnMut() -> std::io::Result<LocalStream>,
    ) -> anyhow::Result<()> {
        let data_dir = self.shared_state.data_dir();
        let archive = unfinished_archive(data_dir);
        let _ = fs_err::remove_file(&archive);
        let made = backup::make(&self.shared_state, &archive);
        let sent = made.and_then(|()| Ok(archive::send(&archive, &mut begin()?)?));
        let _ = fs_err::remove_file(&archive);
        sent
    }

    fn command(&self) -> Option<&'static str> {
        (!self.shutdown.is_cancelled()).then(|| self.command.as_str())
    }

    fn mcp(&self, stream: LocalStream) -> anyhow::Result<()> {
        let _inside = self.runtime.enter();
        let (reader, writer) = tokio::io::split(platform::into_async(stream)?);
        let shutdown = self.shutdown.child_token();
        self.runtime.block_on(::serve::session(&self.shared, reader, writer, shutdown))?;
        Ok(())
    }

    fn run(&self, typed: &Typed) -> anyhow::Result<u8> {
        let words = ["dowse".to_owned()].into_iter().chain(typed.words.iter().cloned());
        let cli = Cli::try_parse_from(words).context(
            "the running process does not know this command\n\
             hint: it is of another version; restart it",
        )?;
        let outcome = match cli.command {
            Command::Search(args) => files::search_hosted(self, typed, &args),
            Command::Open(args) => files::open_hosted(self, typed, &args),
            Command::Index(args) => files::index_hosted(self, typed, &args),
            Command::Tools(args) => tools::hosted(self, typed, &args),
            Command::Check(_) => check::hosted(self, typed),
            Command::Kb(args) => kb::hosted(self, typed, &args),
            Command::Context(args) => context::hosted(self, typed, &args),
            Command::Status(args) => status::hosted(self, typed, &args),
            Command::Doctor(_) => doctor::hosted(self, typed),
            Command::Demo(_)
            | Command::Serve(_)
            | Command::Mcp(_)
            | Command::Init(_)
            | Command::Connect(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Move(_)
            | Command::Tables(_)
            | Command::Extract(_)
            | Command::Models(_)
            | Command::Eval(_)
            | Command::Audit(_)
            | Command::Bench(_)
            | Command::Completions(_)
            | Command::Man(_) => bail!("this command is not done by a running server"),
        }?;
        Ok(outcome.code())
    }
}

/// Gives a place for an archive that is on its way to a command.
fn unfinished_archive(data_dir: &Path) -> PathBuf {
    data_dir.join(format!("backup-{}.unfinished", uuid::Uuid::new_v4().simple()))
}
