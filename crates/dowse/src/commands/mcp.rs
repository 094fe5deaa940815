//! `dowse mcp`: one client over this process's pipes.

use std::io::{BufReader, Stdout};
use std::time::{Duration, Instant};

use ::serve::Shared;
use tokio_util::sync::CancellationToken;

use crate::cli::McpArgs;
use crate::commands::host::{COMMANDS_GRACE, Hosting, serve_commands};
use crate::commands::reach::{Reach, reach};
use crate::commands::serve::{add_folders, add_indexed_folders, choose_served, strangers};
use crate::commands::{block_on, variable};
use crate::config::{Config, Purpose, is_without_model, load, place_data};
use crate::control::{self, Connection, EndedBy, Relay};
use crate::wiring::{SharedState, app, work_in_background};
use crate::{platform, print};

/// How long a server may take to come back.
const RETURN_WAIT: Duration = Duration::from_secs(60);

/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(super) fn run(args: &McpArgs) -> anyhow::Result<()> {
    let mut loaded = load(args.config.config.as_deref(), &variable)?;
    let data_dir = args.data.data_dir.as_deref();
    let is_chosen = choose_served(&mut loaded, &args.folders, data_dir)?;
    let strangers = strangers(loaded.file.as_deref());
    let mut config = loaded.config;
    add_folders(&mut config, &args.folders)?;
    if !is_chosen {
        place_data(&mut config, loaded.file.as_deref(), data_dir, Purpose::Make, &variable)?;
    }
    // Two clients may start this command for the same folders: the second speaks through the first.
    let (shared_state, relay) = match join(&config)? {
        Joined::Over => return Ok(()),
        Joined::Here(shared_state, relay) => (*shared_state, relay),
    };
    if is_chosen {
        add_indexed_folders(&mut config, &shared_state)?;
    }
    block_on(async move {
        let shutdown = CancellationToken::new();
        platform::shutdown_on_signal(shutdown.clone())?;
        let (app, families) = app(&config, &shared_state)?;
        families.start_indexing(&shared_state, strangers)?;
        work_in_background(&shared_state, &shutdown);
        let shared = Shared::new(app);
        let commands =
            serve_commands(Hosting::Mcp, &shared_state, shared.clone(), shutdown.clone())?;
        let finish = || tokio::task::spawn_blocking(move || commands.finish_within(COMMANDS_GRACE));
        let Some(mut relay) = relay else {
            ::serve::stdio(&shared, shutdown).await?;
            finish().await?;
            return Ok(());
        };
        // The client is spoken to already, by the part of this process that passed its messages on.
        let (ours, theirs) = platform::pair()?;
        let passed = tokio::task::spawn_blocking(move || relay.through(BufReader::new(ours)));
        let (reader, writer) = tokio::io::split(platform::into_async(theirs)?);
        ::serve::session(&shared, reader, writer, shutdown).await?;
        passed.await??;
        finish().await?;
        Ok(())
    })
}

/// How a session that may be another process's began.
enum Joined {
    /// It went through another process, to its end.
    Over,
    /// This process has the data open, with a client whose session began elsewhere.
    Here(Box<SharedState>, Option<Relay<Stdout>>),
}

/// Gets at the data, and speaks through a process that has it open for as long as there is one.
///
/// Where that was a client's, this one takes its place. A server is waited for: it may be
/// restarting, and would find its data taken.
fn join(config: &Config) -> anyhow::Result<Joined> {
    let mut relay: Option<Relay<Stdout>> = None;
    loop {
        let connection = match reach(config)? {
            Reach::Here(shared_state) => return Ok(Joined::Here(shared_state, relay)),
            Reach::Running(connection) => connection,
        };
        let host = control::connect(&config.data_dir).and_then(Connection::host);
        let connection = match (connection.mcp(), &relay) {
            (Ok(connection), _) => connection,
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
        };
        if is_without_model() && relay.is_none() {
            print::note(
                "note: a process serves this data already and answers with its own model; stop it \
                 for `--no-model` to hold",
            );
        }
        let relay = relay.get_or_insert_with(Relay::of_pipes);
        if relay.through(connection)? == EndedBy::Client {
            return Ok(Joined::Over);
        }
        if host.as_deref().is_none_or(|command| command != Hosting::Mcp.as_str()) {
            await_server(config, || relay.has_client_left())?;
        }
    }
}

/// Waits until a process has the data folder open again, or nobody waits for it any more.
fn await_server(config: &Config, is_over: impl Fn() -> bool) -> anyhow::Result<()> {
    let begun = Instant::now();
    while control::connect(&config.data_dir).is_none() {
        anyhow::ensure!(
            !is_over() && begun.elapsed() < RETURN_WAIT,
            "the server that answered has ended\nhint: start it again, then this session"
        );
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
