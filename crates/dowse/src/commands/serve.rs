//! `dowse serve`: HTTP, until told to stop.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::serve::Shared;

use anyhow::Context;
use files::{RootConfig, Strangers};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::{ModelChoiceArgs, ServeArgs};
use crate::commands::files::show_indexing;
use crate::commands::{backup, block_on, check, variable};
use crate::config::{Config, EmbedderProvider, load, place_data};
use crate::wiring::{SharedState, app, follow_folders, keep_in_shape, watch_folders};
use crate::{archive, control, open_files, print, reload, signals};

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let stamp = loaded.file.as_deref().and_then(reload::stamp);
    let listen = args.listen;
    let (folders, model) = (args.folders.clone(), args.model);
    let (file, data_dir) = (loaded.file.clone(), args.data.data_dir.clone());
    let strangers = strangers(loaded.file.as_deref());
    let adjust = move |mut config: Config| {
        if let Some(listen) = listen {
            config.server.listen = listen;
        }
        add_folders(&mut config, &folders)?;
        choose_model(&mut config, model);
        place_data(&mut config, file.as_deref(), data_dir.as_deref(), &variable)?;
        anyhow::Ok(config)
    };
    let config = adjust(loaded.config)?;
    let shared_state = SharedState::open(&config)?;
    block_on(async move {
        let shutdown = CancellationToken::new();
        signals::shutdown_on_signal(shutdown.clone())?;
        let (listener, config) = bind(config).await?;
        let address = config.server.listen;
        let (app_now, families) = app(&config, &shared_state)?;
        let shared = Shared::new(app_now);
        families.start_indexing(&shared_state, strangers)?;
        if let Some(files) = families.files.clone() {
            show_indexing(files);
        }
        let lasting_for_commands = shared_state.clone();
        watch_folders(shared_state.clone(), shutdown.clone());
        follow_folders(shared_state.clone(), shutdown.clone());
        keep_in_shape(shared_state.clone(), shutdown.clone());
        if let Some(file) = loaded.file {
            let path = file.clone();
            let away = shared_state.away.clone();
            let is_due = move || away.is_due();
            reload::watch(file, stamp, shared.clone(), shutdown.clone(), is_due, move || {
                let mut config = adjust(load(Some(&path), &variable)?.config)?;
                // The socket stays as it is; only a restart moves it.
                config.server.listen = address;
                let (app, families) = app(&config, &shared_state)?;
                families.start_indexing(&shared_state, strangers)?;
                Ok(app)
            })?;
        }
        commands_of_others(&lasting_for_commands, shared.clone())?;
        print::note(format!("console on {}/", config.server.link_base()));
        print::note(format!("listening on http://{address}"));
        ::serve::run(listener, shared, shutdown).await?;
        Ok(())
    })
}

/// Serves `dowse backup` and `dowse check` while this process has the data folder open.
fn commands_of_others(shared_state: &SharedState, shared: Shared) -> anyhow::Result<()> {
    let data_dir = shared_state.data_dir().to_owned();
    let shared_state = shared_state.clone();
    let serve: Arc<control::Serve> = Arc::new(move |command, begin| match command {
        control::Command::Backup => {
            let archive = tempfile_in(shared_state.data_dir());
            let _ = fs_err::remove_file(&archive);
            let made = backup::make(&shared_state.kept()?.store, shared_state.data_dir(), &archive);
            let sent = made.and_then(|()| Ok(archive::send(&archive, &mut begin()?)?));
            let _ = fs_err::remove_file(&archive);
            sent
        }
        control::Command::Check => {
            let lines = check::of_running(&shared_state, &shared.load())?;
            let mut answer = begin()?;
            lines.iter().try_for_each(|line| writeln!(answer, "{line}"))?;
            Ok(())
        }
    });
    control::listen(&data_dir, serve)
}

/// Gives a place for an archive that is on its way to a command.
fn tempfile_in(data_dir: &Path) -> PathBuf {
    data_dir.join(format!("backup-{}.unfinished", uuid::Uuid::new_v4().simple()))
}

/// Taking a folder out of a configuration file asks for the end of its index; naming other folders
/// on the command line does not.
pub(super) fn strangers(file: Option<&Path>) -> Strangers {
    if file.is_some() { Strangers::Forget } else { Strangers::Keep }
}

/// Folders named on the command line are roots like those of the configuration.
pub(super) fn add_folders(config: &mut Config, folders: &[PathBuf]) -> anyhow::Result<()> {
    for folder in folders {
        let folder = std::path::absolute(folder)
            .with_context(|| format!("the folder `{}` cannot be used", folder.display()))?;
        anyhow::ensure!(folder.is_dir(), "`{}` is not a folder", folder.display());
        config.files.roots.push(RootConfig::Path(folder));
    }
    Ok(())
}

/// Switches the model off where the command line asks for that.
pub(super) fn choose_model(config: &mut Config, model: ModelChoiceArgs) {
    if model.no_model {
        config.embedder.provider = EmbedderProvider::None;
    }
}

/// Binds the address, and puts the one that was given into the configuration.
pub(super) async fn bind(mut config: Config) -> anyhow::Result<(TcpListener, Config)> {
    config.check()?;
    open_files::raise_limit(config.limits.connections);
    let wanted = config.server.listen;
    let listener = TcpListener::bind(wanted).await.with_context(|| {
        format!("cannot listen on `{wanted}`\nhint: choose another address with `--listen`")
    })?;
    config.server.listen = listener.local_addr()?;
    Ok((listener, config))
}
