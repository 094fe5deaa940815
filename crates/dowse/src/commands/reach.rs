//! How a command gets at a data folder: through the process that has it open, or by opening it.

use std::time::{Duration, Instant};

use anyhow::bail;
use store::Verify;

use crate::config::{CatalogueKind, Config};
use crate::control::{self, Connection, Typed};
use crate::print;
use crate::wiring::{SharedState, store_folder};

/// How long a command waits for another one that has the folder open and does not listen: those
/// are short, or a server that is just starting.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// How soon it says that it waits.
const SAY_AFTER: Duration = Duration::from_secs(2);

/// How often it looks again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A data folder.
pub(crate) enum Reach {
    /// A process has it open and does what a command asks.
    Running(Connection),
    /// It is open here.
    Here(Box<SharedState>),
}

/// Gets at the data folder of a configuration.
///
/// Fails when it cannot be opened, or when somebody who does not listen keeps it open for longer
/// than a minute.
pub(crate) fn reach(config: &Config) -> anyhow::Result<Reach> {
    reach_verified(config, Verify::AtOpening)
}

/// Gets at the same, and compares what it opens with its checksums when that is asked for.
///
/// # Errors
///
/// Those of [`reach`].
pub(crate) fn reach_verified(config: &Config, verify: Verify) -> anyhow::Result<Reach> {
    let begun = Instant::now();
    let mut is_said = false;
    loop {
        if let Some(connection) = control::connect(&config.data_dir) {
            return Ok(Reach::Running(connection));
        }
        let shared_state = SharedState::open(config)?.verifying(verify);
        match shared_state.kept() {
            Ok(_) => return Ok(Reach::Here(Box::new(shared_state))),
            Err(error) if !is_locked(&error) => return Err(with_hint(error)),
            Err(_) => {}
        }
        let shown = config.data_dir.display();
        if begun.elapsed() > LOCK_WAIT {
            bail!(
                "another process has `{shown}` open and does not answer commands\n\
                 hint: wait until it ends or stop it, or name another folder with `data_dir`"
            );
        }
        if !is_said && begun.elapsed() > SAY_AFTER {
            is_said = true;
            print::note(format!("waiting for another process that has `{shown}` open"));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Tells whether something may have been stored: whatever a catalogue that servers share holds, or
/// what is in the data folder.
///
/// # Errors
///
/// When `[store]` does not say which catalogue is meant.
pub(crate) fn holds_data(config: &Config) -> anyhow::Result<bool> {
    let is_shared = config.store.choice()?.catalogue == CatalogueKind::Postgres;
    Ok(is_shared || store_folder(&config.data_dir).is_dir())
}

/// A data folder that a command only looks at.
pub(crate) struct Reading {
    pub(crate) reach: Reach,
    /// The configuration that it was opened with.
    pub(crate) config: Config,
    /// What stands in for a folder that does not exist; it goes with this.
    pub(crate) instead: Option<tempfile::TempDir>,
}

impl Reading {
    /// Gives the configuration, the way to the folder, and what must live as long as both.
    pub(crate) fn into_parts(self) -> (Config, Reach, Option<tempfile::TempDir>) {
        (self.config, self.reach, self.instead)
    }
}

/// Gets at the data folder of a configuration without making one: where nothing was ever stored, an
/// empty one elsewhere takes its place, and goes when the command ends.
///
/// # Errors
///
/// Those of [`reach`].
pub(crate) fn reach_to_read(config: &Config) -> anyhow::Result<Reading> {
    let is_local = config.store.is_of_this_machine()?;
    let is_there = store_folder(&config.data_dir).exists();
    let mut config = config.clone();
    let mut instead = None;
    if is_local && !is_there && control::connect(&config.data_dir).is_none() {
        let folder = tempfile::tempdir()?;
        config.data_dir = folder.path().to_owned();
        instead = Some(folder);
    }
    Ok(Reading { reach: reach(&config)?, config, instead })
}

/// Says what to do about a catalogue that does not answer.
fn with_hint(error: anyhow::Error) -> anyhow::Error {
    let is_away = error.chain().any(|cause| {
        matches!(
            cause.downcast_ref::<store::Error>(),
            Some(store::Error::CatalogueUnavailable { .. })
        )
    });
    if !is_away {
        return error;
    }
    anyhow::anyhow!(
        "{error:#}\nhint: start the PostgreSQL of `[store.postgres]`, or mend its address there"
    )
}

/// Tells whether another process holds the folder.
fn is_locked(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(cause.downcast_ref::<store::Error>(), Some(store::Error::Locked { .. }))
    })
}

/// Gives the command of this process as it was typed.
pub(crate) fn typed(form: Form) -> anyhow::Result<Typed> {
    use std::io::IsTerminal;
    let mut words = Vec::new();
    for word in std::env::args_os().skip(1) {
        match word.into_string() {
            Ok(word) => words.push(word),
            Err(word) => bail!(
                "`{}` is not Unicode, so it cannot be passed on to the running server",
                word.to_string_lossy()
            ),
        }
    }
    Ok(Typed {
        words,
        folder: std::env::current_dir()?,
        is_terminal: std::io::stdout().is_terminal(),
        is_json: form == Form::Json,
    })
}

/// The form in which a command's result is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it was typed.
    Typed,
    /// As JSON, whatever was typed.
    Json,
}
