//! How a command gets at a data folder: through the process that has it open, or by opening it.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use store::{Access, Verify};

use crate::config::{CatalogueKind, Config, Purpose, is_without_model};
use crate::control::{self, Connection, Typed};
use crate::wiring::{
    CATALOGUE, CATALOGUE_AWAY_HINT, Jobs, SharedState, store_folder, until_closed,
};
use crate::{platform, print};

/// How long a command waits for another one that has the folder open and does not listen: those
/// are short, or a server that is just starting.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// How soon it says that it waits.
const SAY_AFTER: Duration = Duration::from_secs(2);

/// How long a process that answers is given to end before another one refuses to serve the same
/// folder: who stops a server and starts it again is often faster than the signal.
const ENDING_WAIT: Duration = Duration::from_secs(1);

/// How often it looks again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What an error begins with that says that a data folder is another user's.
const MAY_NOT_ENTER: &str = "this user may not enter the data folder";

/// Tells whether an error says that.
pub(super) fn may_not_enter(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().starts_with(MAY_NOT_ENTER))
}

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
/// than [`LOCK_WAIT`].
pub(crate) fn reach(config: &Config) -> anyhow::Result<Reach> {
    reach_verified(config, Verify::AtOpening, Jobs::Run, Purpose::Make)
}

/// Gets at the same, compares what it opens with its checksums when that is asked for, and runs
/// the jobs that wait or leaves them. Who looks at a folder that this user may not write only reads
/// it, and leaves the jobs.
///
/// # Errors
///
/// Those of [`reach`].
pub(crate) fn reach_verified(
    config: &Config,
    verify: Verify,
    jobs: Jobs,
    purpose: Purpose,
) -> anyhow::Result<Reach> {
    let access = access_to(config, purpose)?;
    let begun = Instant::now();
    let mut is_said = false;
    loop {
        let data_dir = config.data_dir.display();
        if let Some(connection) = control::connect(&config.data_dir) {
            tracing::info!(%data_dir, "a running process has the data open, and does this");
            return Ok(Reach::Running(connection));
        }
        let shared_state = match access {
            Access::Write => SharedState::open(config)?.with_jobs(jobs),
            Access::Read => SharedState::open_to_read(config)?,
        };
        let shared_state = shared_state.verifying(verify);
        match shared_state.open_store() {
            Ok(_) => {
                let ms = begun.elapsed().as_millis();
                tracing::info!(%data_dir, ms, ?access, "data opened");
                if access == Access::Read {
                    print::note(format!(
                        "note: this user may not write `{data_dir}`: it is read as it is"
                    ));
                }
                return Ok(Reach::Here(Box::new(shared_state)));
            }
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

/// Tells whether a command may write the data folder of a configuration: whoever makes something has
/// to, and hears why it cannot.
fn access_to(config: &Config, purpose: Purpose) -> anyhow::Result<Access> {
    let folder = store_folder(&config.data_dir);
    let is_kept_there = config.store.choice()?.catalogue == CatalogueKind::Sqlite
        && fs_err::metadata(folder.join(CATALOGUE)).is_ok();
    if purpose == Purpose::Make || !is_kept_there {
        return Ok(Access::Write);
    }
    let may_write = [&config.data_dir, &folder, &folder.join(CATALOGUE)]
        .into_iter()
        .all(|path| platform::may_write(path));
    Ok(if may_write { Access::Write } else { Access::Read })
}

/// Opens the data folder of a configuration for a process that serves it, after waiting for one
/// that is just ending.
///
/// # Errors
///
/// Those of [`reach`], and when a process serves the folder and goes on doing so.
pub(crate) fn open_to_serve(config: &Config) -> anyhow::Result<SharedState> {
    let begun = Instant::now();
    loop {
        if control::connect(&config.data_dir).is_none()
            && let Reach::Here(shared_state) = reach(config)?
        {
            return Ok(*shared_state);
        }
        ensure!(
            begun.elapsed() < ENDING_WAIT,
            "a process serves the data of `{}` already\n\
             hint: use it (`dowse status` says where it listens), stop it, or name another folder with \
             `--data-dir`",
            fs_err::canonicalize(&config.data_dir).unwrap_or(config.data_dir.clone()).display()
        );
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Tells whether something may have been stored: whatever a catalogue that servers share holds, or
/// what is in the data folder.
///
/// # Errors
///
/// When `[store]` does not say which catalogue is meant, or this user may not look.
pub(crate) fn holds_data(config: &Config) -> anyhow::Result<bool> {
    let is_shared = config.store.choice()?.catalogue == CatalogueKind::Postgres;
    Ok(is_shared || is_there(&config.data_dir)?)
}

/// Tells whether a data folder has a store, or had one: whoever looks must hear that it is gone, and
/// not that all is well with nothing.
///
/// # Errors
///
/// When this user may not look: what somebody else keeps there is not nothing.
fn is_there(data_dir: &Path) -> anyhow::Result<bool> {
    let folder = store_folder(data_dir);
    let has_store = looked(fs_err::metadata(&folder).map(|found| found.is_dir()), data_dir)?;
    Ok(has_store || store::had_store(&folder))
}

fn looked(found: std::io::Result<bool>, data_dir: &Path) -> anyhow::Result<bool> {
    match found {
        Ok(is_folder) => Ok(is_folder),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(anyhow::Error::from(error).context(format!(
                "{MAY_NOT_ENTER} `{}`\n\
                 hint: run this as the user whose server or command made it, or name another one \
                 with `--data-dir`",
                data_dir.display()
            )))
        }
        Err(_) => Ok(false),
    }
}

/// A data folder that a command only looks at.
pub(crate) struct Reading {
    pub(crate) reach: Reach,
    /// The configuration that it was opened with.
    pub(crate) config: Config,
}

/// Gets at the data folder of a configuration without making one: where nothing was ever stored, an
/// empty one elsewhere takes its place, and goes when the command ends.
///
/// # Errors
///
/// Those of [`reach`].
pub(crate) fn reach_to_read(config: &Config, jobs: Jobs) -> anyhow::Result<Reading> {
    let is_local = config.store.is_of_this_machine()?;
    let is_there = is_there(&config.data_dir)?;
    let mut config = config.clone();
    if is_local && !is_there && control::connect(&config.data_dir).is_none() {
        config.data_dir = until_closed(tempfile::tempdir()?);
    }
    let reach = reach_verified(&config, Verify::AtOpening, jobs, Purpose::Look)?;
    Ok(Reading { reach, config })
}

/// Says what to do about a catalogue that does not answer, unless it is a file.
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
    anyhow::Error::new(CatalogueAway(format!("{error:#}")))
}

/// A catalogue on a server does not answer.
#[derive(Debug)]
pub(super) struct CatalogueAway(String);

impl std::error::Error for CatalogueAway {}

impl fmt::Display for CatalogueAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {CATALOGUE_AWAY_HINT}", self.0)
    }
}

impl CatalogueAway {
    /// Says what is wrong, without what to do about it.
    pub(super) fn problem(&self) -> &str {
        &self.0
    }
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
        is_without_model: is_without_model(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `dowse check` once looked at an empty store elsewhere, and found nothing wrong with it.
    #[test]
    fn a_store_whose_folder_is_gone_is_not_taken_for_one_that_never_was() {
        let folder = testkit::Folder::new();
        let config = Config { data_dir: folder.join("data"), ..Config::default() };
        assert!(!holds_data(&config).unwrap());
        let elsewhere = reach_to_read(&config, Jobs::Leave).unwrap().config.data_dir;
        assert_ne!(elsewhere, config.data_dir);
        let shared_state = SharedState::open(&config).unwrap().with_jobs(Jobs::Leave);
        shared_state.open_store().unwrap();
        drop(shared_state);
        fs_err::remove_dir_all(store_folder(&config.data_dir)).unwrap();
        assert!(holds_data(&config).unwrap());
        let error = reach_to_read(&config, Jobs::Leave).err().unwrap();
        assert!(format!("{error:#}").contains("store.mark"), "{error:#}");
    }

    /// The data of another user was called empty: no index, no knowledge bases, nothing to copy.
    #[test]
    fn what_may_not_be_entered_is_not_nothing() {
        let folder = Path::new("/theirs");
        let error = looked(Err(ErrorKind::PermissionDenied.into()), folder).unwrap_err();
        let said = format!("{error:#}");
        assert!(said.contains("may not enter the data folder `/theirs`"), "{said}");
        assert!(may_not_enter(&error) && !may_not_enter(&anyhow::anyhow!("elsewhere")));
        assert!(!looked(Err(ErrorKind::NotFound.into()), folder).unwrap());
        assert!(!looked(Ok(false), folder).unwrap() && looked(Ok(true), folder).unwrap());
    }
}
