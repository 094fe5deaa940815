//! Which folders a command is about, and how they are reached.

use std::path::{Path, PathBuf};

use ::files::Service;
use anyhow::Context;
use store::Verify;

use crate::cli::{ConfigArgs, DataArgs};
use crate::commands::reach::{Reach, holds_data, reach_verified};
use crate::commands::serve::add_folders;
use crate::commands::variable;
use crate::config::{
    Config, Loaded, Purpose, Remembered, UserData, data_dir_flag, load, load_as_written,
    place_data, remembered_in,
};
use crate::control::{self, Connection};
use crate::files_cli::FilesArgs;
use crate::print;
use crate::wiring::{Jobs, SharedState, app_without_callers, files_alone};

/// A configuration whose data folder is known.
pub(super) struct Located {
    pub(super) config: Config,
    pub(super) file: Option<PathBuf>,
    /// Whether the folders have to be read out of the data: an earlier version did not write down
    /// which folders its data is of.
    has_unnamed_folders: bool,
}

/// Folders with one data folder.
pub(super) enum Set {
    /// A process has the data folder open.
    Running(Connection),
    /// It is open here; what lasts has to be kept, since it runs the jobs.
    Here {
        shared_state: Box<SharedState>,
        service: Box<Service>,
        /// The whole application, for a command that makes the index: others may search meanwhile.
        app: Option<Box<::serve::App>>,
    },
}

/// What a command needs of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Something that was indexed before.
    Index,
    /// Nothing: it makes what is missing.
    Nothing,
}

/// Finds the folders that are named or configured, or else what `choose` takes of everything that
/// is remembered.
pub(super) fn locate(
    args: &FilesArgs,
    folders: &[PathBuf],
    need: Need,
    choose: impl FnOnce(&UserData) -> anyhow::Result<Vec<Remembered>>,
) -> anyhow::Result<Vec<Located>> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let mut config = loaded.config;
    add_folders(&mut config, folders)?;
    add_folders(&mut config, &args.root)?;
    let data_dir = args.data.data_dir.as_deref();
    let purpose = match need {
        Need::Index => Purpose::Look,
        Need::Nothing => Purpose::Make,
    };
    place_data(&mut config, loaded.file.as_deref(), data_dir, purpose, &variable)?;
    let is_placed = data_dir.is_some() || variable("DOWSE_DATA_DIR").is_some();
    if !config.files.roots.is_empty() || loaded.file.is_some() || is_placed {
        // Data that was named alone knows its folders.
        let has_unnamed_folders = config.files.roots.is_empty() && loaded.file.is_none();
        return Ok(vec![Located { config, file: loaded.file, has_unnamed_folders }]);
    }
    let sets = UserData::find(&variable).as_ref().map(choose).transpose()?.unwrap_or_default();
    let located = sets.into_iter().map(|set| {
        let has_unnamed_folders = set.folders.is_empty();
        let loaded = taken(set, &config)?;
        Ok(Located { config: loaded.config, file: loaded.file, has_unnamed_folders })
    });
    located.collect()
}

/// Takes what a search looks in that names nothing.
pub(super) fn remembered(data: &UserData) -> anyhow::Result<Vec<Remembered>> {
    Ok(data.remembered())
}

/// Gives the configuration of a set: its own, or `config` with its folders.
fn taken(set: Remembered, config: &Config) -> anyhow::Result<Loaded> {
    let data_dir = set.data_dir;
    match set.configuration {
        Some(file) => {
            let loaded = load_as_written(Some(&file), &variable)?;
            Ok(Loaded { config: Config { data_dir, ..loaded.config }, file: Some(file) })
        }
        None => {
            let mut config = Config { data_dir, ..config.clone() };
            config.files.roots = set.folders.into_iter().map(::files::RootConfig::Path).collect();
            Ok(Loaded { config, file: None })
        }
    }
}

/// Reads the configuration of a command that is about one data folder; without a file, the data of
/// the folders that were indexed from here is taken, as a search does, or else the data that is
/// served.
pub(super) fn load_placed(
    args: &ConfigArgs,
    data: &DataArgs,
    purpose: Purpose,
) -> anyhow::Result<Loaded> {
    let mut loaded = load(args.config.as_deref(), &variable)?;
    match &data.data_dir {
        Some(named) => {
            loaded.config.data_dir = std::path::absolute(named)?;
            take_folders(&mut loaded);
        }
        None => {
            choose_set(&mut loaded)?;
            take_served(&mut loaded, purpose)?;
        }
    }
    Ok(loaded)
}

/// Where nothing is kept here: takes the one data folder that a process has open elsewhere, since
/// whoever looks beside a server means that. What makes something makes it here, and says so.
pub(super) fn take_served(loaded: &mut Loaded, purpose: Purpose) -> anyhow::Result<()> {
    let is_named = loaded.file.is_some() || variable("DOWSE_DATA_DIR").is_some();
    if is_named || data_dir_flag().is_some() || !loaded.config.files.roots.is_empty() {
        return Ok(());
    }
    if holds_data(&loaded.config)? {
        return Ok(());
    }
    let mut sets = UserData::find(&variable).map(|data| data.all()).unwrap_or_default();
    sets.retain(|set| control::connect(&set.data_dir).is_some());
    let (Some(set), true) = (sets.pop(), sets.is_empty()) else { return Ok(()) };
    let shown = listed(std::slice::from_ref(&set));
    match purpose {
        Purpose::Look => {
            print::note(format!("of the server of\n{shown}"));
            *loaded = taken(set, &loaded.config)?;
        }
        Purpose::Make => print::note(format!(
            "note: this is kept in `{}`, and not by the server of\n{shown}\n\
             hint: `--data-dir {}` keeps it there",
            loaded.config.data_dir.display(),
            print::in_shell(&set.data_dir)
        )),
    }
    Ok(())
}

/// Where data was named alone: takes the folders that it was made of.
pub(super) fn take_folders(loaded: &mut Loaded) {
    if loaded.file.is_none() && loaded.config.files.roots.is_empty() {
        let folders = remembered_in(&loaded.config.data_dir).unwrap_or_default();
        loaded.config.files.roots = folders.into_iter().map(::files::RootConfig::Path).collect();
    }
}

/// Where neither a file nor the environment says where the data is: takes the one set of folders
/// that was indexed from the working folder or above it, or the one of several that is served.
///
/// # Errors
///
/// When there are several.
pub(super) fn choose_set(loaded: &mut Loaded) -> anyhow::Result<()> {
    if variable("DOWSE_DATA_DIR").is_some() {
        take_folders(loaded);
        return Ok(());
    }
    if loaded.file.is_some() || !loaded.config.files.roots.is_empty() {
        return Ok(());
    }
    let sets = UserData::find(&variable).as_ref().map(only_one).transpose()?.unwrap_or_default();
    // A `.dowse` of an earlier version does not say which folders it is of.
    for set in sets {
        *loaded = taken(set, &loaded.config)?;
    }
    Ok(())
}

/// Takes the set that was indexed from the working folder or above it, or the one of several that
/// is served; none where there is none.
///
/// # Errors
///
/// When there are several.
pub(super) fn only_one(data: &UserData) -> anyhow::Result<Vec<Remembered>> {
    let sets = data.here();
    if sets.len() < 2 {
        return Ok(sets);
    }
    let served = |set: &&Remembered| control::connect(&set.data_dir).is_some();
    let running: Vec<Remembered> = sets.iter().filter(served).cloned().collect();
    anyhow::ensure!(
        running.len() == 1,
        "several sets of folders were indexed from here:\n{}\n\
         hint: choose one with `--data-dir`, such as `--data-dir {}`",
        listed(&sets),
        sets.first().map_or_else(String::new, |set| print::in_shell(&set.data_dir))
    );
    Ok(running)
}

fn listed(sets: &[Remembered]) -> String {
    let line = |set: &Remembered| {
        let folders: Vec<String> =
            set.folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("  {} with its data in `{}`", folders.join(", "), set.data_dir.display())
    };
    sets.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Opens the folders that are named or configured, or remembered as far as `choose` takes them;
/// says which.
pub(super) fn open_all(
    args: &FilesArgs,
    folders: &[PathBuf],
    need: Need,
    choose: impl FnOnce(&UserData) -> anyhow::Result<Vec<Remembered>>,
) -> anyhow::Result<Vec<Set>> {
    let located = locate(args, folders, need, choose)?;
    anyhow::ensure!(
        !located.is_empty(),
        "no index here: no folders are configured, and none was indexed before\n\
         hint: index one with `dowse index FOLDER`"
    );
    let is_named = located.iter().any(|one| one.file.is_some()) || !args.root.is_empty();
    located
        .into_iter()
        .map(|one| {
            let folders: Vec<String> = one
                .config
                .files
                .roots
                .iter()
                .map(|root| root.path().display().to_string())
                .collect();
            if !is_named && !folders.is_empty() && need == Need::Index {
                print::note(format!("in {}", folders.join(", ")));
            }
            open_one(one, need)
        })
        .collect()
}

impl Located {
    /// Gets at the data folder; where it is open here, with the folders it is of.
    pub(super) fn reach(&mut self, verify: Verify, jobs: Jobs) -> anyhow::Result<Reach> {
        let reached = reach_verified(&self.config, verify, jobs)?;
        if let Reach::Here(shared_state) = &reached
            && self.has_unnamed_folders
        {
            let folders = ::files::indexed_roots(&shared_state.open_store()?.store)?;
            self.config.files.roots = folders
                .into_iter()
                .map(|folder| ::files::RootConfig::Path(PathBuf::from(folder)))
                .collect();
            self.has_unnamed_folders = false;
        }
        Ok(reached)
    }
}

fn open_one(mut located: Located, need: Need) -> anyhow::Result<Set> {
    let config = &located.config;
    if need == Need::Index {
        anyhow::ensure!(
            holds_data(config)?,
            "no index here: `{}` holds none\nhint: {}",
            config.data_dir.display(),
            how_to_index(config)
        );
    }
    let (verify, jobs) = match need {
        // A search is over before everything would be compared with its checksums.
        Need::Index => (Verify::WhenChanged, Jobs::Leave),
        Need::Nothing => (Verify::AtOpening, Jobs::Run),
    };
    let shared_state = match located.reach(verify, jobs)? {
        Reach::Running(connection) => return Ok(Set::Running(connection)),
        Reach::Here(shared_state) => shared_state,
    };
    let (app, files) = match need {
        Need::Index => (None, files_alone(&located.config, &shared_state)?),
        Need::Nothing => {
            let (app, families) = app_without_callers(&located.config, &shared_state)?;
            (Some(Box::new(app)), families.files)
        }
    };
    let service = files.context(
        "no folders are configured\nhint: name one, or add `[files] roots` to the configuration",
    )?;
    Ok(Set::Here { shared_state, service: Box::new(service), app })
}

fn how_to_index(config: &Config) -> String {
    match config.files.roots.first() {
        None => "run `dowse index FOLDER`".to_owned(),
        Some(root) => {
            format!("run `dowse index {}`", print::in_shell(config.base.join(root.path())))
        }
    }
}

/// Holds that a running server serves what is named, and gives the names as it knows them.
///
/// Fails for a folder that it does not serve.
pub(super) fn served(
    service: &Service,
    folder: &Path,
    named: &[&PathBuf],
) -> anyhow::Result<Vec<String>> {
    let roots = service.roots(&model::Caller::local_admin());
    let mut served = Vec::new();
    for path in named {
        let path = folder.join(path);
        let path = fs_err::canonicalize(&path)
            .with_context(|| format!("there is no folder `{}`", path.display()))?;
        anyhow::ensure!(
            roots.iter().any(|root| path.starts_with(root)),
            "the running server does not serve `{}`\n\
             hint: it serves {}; name the folder in its configuration, or start it with it",
            path.display(),
            roots.iter().map(|root| format!("`{root}`")).collect::<Vec<_>>().join(", ")
        );
        served.push(path.to_str().context("the path is not Unicode")?.to_owned());
    }
    Ok(served)
}
