//! `dowse serve`: HTTP, until told to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ::serve::Shared;

use anyhow::Context;
use files::{RootConfig, Strangers};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::commands::files::show_indexing;
use crate::commands::host::{COMMANDS_GRACE, Hosting, serve_commands};
use crate::commands::reach::holds_data;
use crate::commands::sets::{choose_one, choose_set, take_folders};
use crate::commands::waiting::{open_or_wait, wait_for_catalogue};
use crate::commands::{block_on, connect, variable};
use crate::config::{Config, DEFAULT_FILE, Loaded, Purpose, load, place_data};
use crate::files_cli::FilesArgs;
use crate::wiring::{SharedState, app, store_folder, work_in_background};
use crate::{platform, print, reload};

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let mut loaded = load(args.config.config.as_deref(), &variable)?;
    if let Some(listen) = args.listen {
        loaded.config.server.listen = listen;
    }
    loaded.config.check()?;
    let is_chosen = choose_served(&mut loaded, &args.folders, args.data.data_dir.as_deref())?;
    let stamp = loaded.file.as_deref().and_then(reload::stamp);
    let listen = args.listen;
    let (folders, is_json) = (args.folders.clone(), args.json);
    let (file, data_dir) = (loaded.file.clone(), args.data.data_dir.clone());
    let strangers = strangers(loaded.file.as_deref());
    let adjust = move |mut config: Config, purpose: Purpose| {
        if let Some(listen) = listen {
            config.server.listen = listen;
        }
        add_folders(&mut config, &folders)?;
        if is_chosen {
            return anyhow::Ok(config);
        }
        place_data(&mut config, file.as_deref(), data_dir.as_deref(), purpose, &variable)?;
        anyhow::Ok(config)
    };
    ensure_can_begin(&adjust(loaded.config.clone(), Purpose::Look)?)?;
    let mut config = adjust(loaded.config, Purpose::Make)?;
    let opened = open_or_wait(&config)?;
    if is_chosen && let Ok(shared_state) = &opened {
        add_indexed_folders(&mut config, shared_state)?;
    }
    block_on(async move {
        let shutdown = CancellationToken::new();
        platform::shutdown_on_signal(shutdown.clone())?;
        let (listener, config) = bind(config).await?;
        let address = config.server.listen;
        let shared_state = match opened {
            Ok(shared_state) => shared_state,
            Err(away) => match wait_for_catalogue(&listener, &config, away, &shutdown).await? {
                Some(shared_state) => shared_state,
                None => return Ok(()),
            },
        };
        let (app_now, families) = app(&config, &shared_state)?;
        let shared = Shared::new(app_now);
        families.start_indexing(&shared_state, strangers)?;
        if let Some(files) = families.files.clone() {
            show_indexing(files);
        }
        let commands =
            serve_commands(Hosting::Serve, &shared_state, shared.clone(), shutdown.clone())?;
        work_in_background(&shared_state, &shutdown);
        say_what_is_missing(&config, &shared_state);
        if let Some(file) = loaded.file {
            let path = file.clone();
            let (away, links) = (shared_state.away.clone(), reload::TurnedLinks::default());
            let files = shared_state.files.clone();
            let is_due = move || {
                away.is_due()
                    || links
                        .is_due(|| files.get().is_some_and(|files| files.roots_lead_elsewhere()))
            };
            reload::watch(file, stamp, shared.clone(), shutdown.clone(), is_due, move || {
                let mut config = adjust(load(Some(&path), &variable)?.config, Purpose::Make)?;
                // The socket stays as it is; only a restart moves it.
                config.server.listen = address;
                let (app, families) = app(&config, &shared_state)?;
                families.start_indexing(&shared_state, strangers)?;
                Ok(app)
            })?;
        }
        let base = config.server.link_base();
        let needs_key = config.auth.jwt.is_some() || !config.auth.keys.is_empty();
        print::note(format!("console on {base}/"));
        print::note(connect::lines_for_clients(&base, needs_key));
        if config.server.lacks_public_url() {
            print::note(
                "note: these addresses are for this machine; `server.public_url` is the one by \
                 which others reach it",
            );
        }
        print::note(format!("listening on http://{address}"));
        if is_json {
            print::line(connect::addresses(&base));
        }
        #[cfg(feature = "conformance")]
        ::serve::front::run_with(
            listener,
            shared,
            shutdown,
            std::sync::Arc::new(conformance::Session::default()),
        )
        .await?;
        #[cfg(not(feature = "conformance"))]
        ::serve::run(listener, shared, shutdown).await?;
        tokio::task::spawn_blocking(move || commands.finish_within(COMMANDS_GRACE)).await?;
        Ok(())
    })
}

/// Reads the configuration of a command that takes folders and only looks, and finds its data.
pub(super) fn configured(args: &FilesArgs) -> anyhow::Result<Loaded> {
    let mut loaded = load(args.config.config.as_deref(), &variable)?;
    add_folders(&mut loaded.config, &args.root)?;
    let data_dir = args.data.data_dir.as_deref();
    place_data(&mut loaded.config, loaded.file.as_deref(), data_dir, Purpose::Look, &variable)?;
    match data_dir {
        None => choose_one(&mut loaded, Purpose::Look)?,
        Some(_) => take_folders(&mut loaded),
    }
    Ok(loaded)
}

/// Where nothing is named to serve, takes what a search would look in: the folders that were
/// indexed from here, or the data that is named alone. Tells whether it did.
///
/// # Errors
///
/// When there is nothing, or several sets of folders: an empty data folder in the working folder
/// would hide what is remembered from then on.
pub(super) fn choose_served(
    loaded: &mut Loaded,
    folders: &[PathBuf],
    data_dir: Option<&Path>,
) -> anyhow::Result<bool> {
    if loaded.file.is_some() || !folders.is_empty() || !loaded.config.files.roots.is_empty() {
        return Ok(false);
    }
    let is_placed = data_dir.is_some() || variable("DOWSE_DATA_DIR").is_some();
    match data_dir {
        Some(named) => {
            loaded.config.data_dir = std::path::absolute(named)?;
            take_folders(loaded);
        }
        None => {
            choose_set(loaded)?;
        }
    }
    let has_data = is_placed || store_folder(&loaded.config.data_dir).is_dir();
    anyhow::ensure!(
        has_data || !loaded.config.files.roots.is_empty(),
        "nothing to serve: no folder was named, there is no `{DEFAULT_FILE}` here, and nothing was \
         indexed from here\n\
         hint: name a folder, as in `dowse serve FOLDER` or `dowse mcp FOLDER`, or draft a \
         configuration with `dowse init`"
    );
    for root in &loaded.config.files.roots {
        print::note(format!("serves {}, which was indexed before", root.path().display()));
    }
    Ok(true)
}

/// Data of an earlier version does not say which folders it is of; its index does.
pub(super) fn add_indexed_folders(
    config: &mut Config,
    shared_state: &SharedState,
) -> anyhow::Result<()> {
    if config.files.roots.is_empty() {
        let folders = ::files::indexed_roots(&shared_state.open_store()?.store)?;
        config.files.roots =
            folders.into_iter().map(|folder| RootConfig::Named(PathBuf::from(folder))).collect();
    }
    Ok(())
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
        anyhow::ensure!(
            folder.is_dir(),
            "`{}` is not a folder\nhint: name a folder that exists",
            folder.display()
        );
        let resolved = fs_err::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        anyhow::ensure!(
            resolved.to_str().is_some(),
            "the path of the folder `{}` is not Unicode, so no client could name it\n\
             hint: name the folder above it, of which it is indexed as well, or rename it",
            resolved.display()
        );
        config.files.roots.push(RootConfig::Named(folder));
    }
    Ok(())
}

/// Says which model is not there or cannot be used, and which key of one is not set: a server
/// starts without, and answers less well than whoever starts it expects.
fn say_what_is_missing(config: &Config, shared_state: &SharedState) {
    if let Some(warning) = shared_state.embedder.state().warning() {
        print::note(format!("note: {}", warning.message));
    }
    for unset in config.unset_variables().iter().filter(|unset| unset.is_of_model) {
        print::note(format!("note: {}; hint: {}", unset.problem(), unset.remedy()));
    }
}

/// Where nothing is kept yet, holds that the address is free before anything is made: a start that
/// failed would be remembered as something that is served. Where data is there already, its server
/// may be just ending, and is waited for first.
fn ensure_can_begin(config: &Config) -> anyhow::Result<()> {
    if holds_data(config)? {
        return Ok(());
    }
    let wanted = config.server.listen;
    drop(std::net::TcpListener::bind(wanted).with_context(|| cannot_listen(wanted))?);
    Ok(())
}

/// What is said of an address that is taken.
pub(super) fn cannot_listen(wanted: SocketAddr) -> String {
    format!("cannot listen on `{wanted}`\nhint: choose another address with `--listen`")
}

/// Binds the address, and puts the one that was given into the configuration.
pub(super) async fn bind(mut config: Config) -> anyhow::Result<(TcpListener, Config)> {
    config.check()?;
    platform::raise_limit(config.limits.connections);
    let wanted = config.server.listen;
    let listener = TcpListener::bind(wanted).await.with_context(|| cannot_listen(wanted))?;
    config.server.listen = listener.local_addr()?;
    Ok((listener, config))
}
