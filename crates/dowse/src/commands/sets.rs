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
    Config, Loaded, Purpose, Remembered, UserData, load, place_data, remembered_in,
};
use crate::control::{self, Connection};
use crate::files_cli::FilesArgs;
use crate::print;
use crate::wiring::{SharedState, app, files_alone};

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

/// Finds the folders that are named or configured, or else everything that was indexed from the
/// working folder or above it, or else everything that is remembered, as far as `choose` takes it.
pub(super) fn locate(
    args: &FilesArgs,
    folders: &[PathBuf],
    need: Need,
    choose: impl FnOnce(Vec<Remembered>) -> Vec<Remembered>,
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
    let remembered = UserData::find(&variable).map(|data| data.remembered()).unwrap_or_default();
    let located = choose(remembered).into_iter().map(|set| {
        let mut config = Config { data_dir: set.data_dir.clone(), ..config.clone() };
        let has_unnamed_folders = set.folders.is_empty();
        config.files.roots = set.folders.into_iter().map(::files::RootConfig::Path).collect();
        Located { config, file: None, has_unnamed_folders }
    });
    Ok(located.collect())
}

/// Reads the configuration of a command that is about one data folder; without a file, the data of
/// the folders that were indexed from here is taken, as a search does.
pub(super) fn load_placed(args: &ConfigArgs, data: &DataArgs) -> anyhow::Result<Loaded> {
    let mut loaded = load(args.config.as_deref(), &variable)?;
    match &data.data_dir {
        Some(named) => {
            loaded.config.data_dir = std::path::absolute(named)?;
            take_folders(&mut loaded);
        }
        None => choose_set(&mut loaded)?,
    }
    Ok(loaded)
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
    let mut sets = UserData::find(&variable).map(|data| data.here()).unwrap_or_default();
    if sets.len() > 1 {
        let served = |set: &Remembered| control::connect(&set.data_dir).is_some();
        let running: Vec<Remembered> = sets.iter().filter(|set| served(set)).cloned().collect();
        anyhow::ensure!(
            running.len() == 1,
            "several sets of folders were indexed from here:\n{}\n\
             hint: choose one with `--data-dir`, such as `--data-dir {}`",
            listed(&sets),
            sets.first().map_or_else(String::new, |set| print::in_shell(&set.data_dir))
        );
        sets = running;
    }
    // A `.dowse` of an earlier version in the working folder is what the configuration says anyway.
    if let Some(set) = sets.pop().filter(|set| !set.folders.is_empty()) {
        loaded.config.data_dir = set.data_dir;
        loaded.config.files.roots =
            set.folders.into_iter().map(::files::RootConfig::Path).collect();
    }
    Ok(())
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
    choose: impl FnOnce(Vec<Remembered>) -> Vec<Remembered>,
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
    pub(super) fn reach(&mut self, verify: Verify) -> anyhow::Result<Reach> {
        let reached = reach_verified(&self.config, verify)?;
        if let Reach::Here(shared_state) = &reached
            && self.has_unnamed_folders
        {
            let folders = ::files::indexed_roots(&shared_state.kept()?.store)?;
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
    let verify = match need {
        // A search is over before everything would be compared with its checksums.
        Need::Index => Verify::WhenChanged,
        Need::Nothing => Verify::AtOpening,
    };
    let shared_state = match located.reach(verify)? {
        Reach::Running(connection) => return Ok(Set::Running(connection)),
        Reach::Here(shared_state) => shared_state,
    };
    let (app, files) = match need {
        Need::Index => (None, files_alone(&located.config, &shared_state)?),
        Need::Nothing => {
            let (app, families) = app(&located.config, &shared_state)?;
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
