//! Which folders a command is about, and how they are reached.

use std::path::{Path, PathBuf};

use ::files::Service;
use anyhow::Context;
use knowledge::KnowledgeBase;
use store::{ObjectPage, TypedObject, Verify};

use crate::cli::{ConfigArgs, DataArgs};
use crate::commands::reach::{Reach, holds_data, reach_verified};
use crate::commands::serve::add_folders;
use crate::commands::user_data::{mend_list, user_data};
use crate::commands::variable;
use crate::config::{
    Config, DEFAULT_FILE, Loaded, Purpose, Remembered, UserData, data_dir_flag, load,
    load_as_written, place_data, remembered_in,
};
use crate::control::{self, Connection};
use crate::files_cli::FilesArgs;
use crate::print;
use crate::wiring::{Jobs, SharedState, app_without_callers, files_alone};

/// What an error begins with that says that data is of no folders: of knowledge bases alone.
const NO_FOLDERS: &str = "no folders are configured";

/// What a server without folders says.
const SERVES_NO_FOLDERS: &str = "the running server serves no folders";

/// Who looks for what is in knowledge bases is told how.
pub(super) const SEARCHES_BASES: &str =
    "`dowse kb search KB QUERY` searches a knowledge base, and `dowse kb list` lists them";

/// Says of a server that it has no folders.
pub(super) fn serves_no_folders(shared_state: &SharedState) -> anyhow::Error {
    let bases = if has_bases(shared_state) { format!("{SEARCHES_BASES}; ") } else { String::new() };
    anyhow::anyhow!("{SERVES_NO_FOLDERS}\nhint: {bases}name folders in its configuration")
}

/// Says of data that it is of no folders.
fn of_no_folders(shared_state: &SharedState) -> anyhow::Error {
    if has_bases(shared_state) {
        return anyhow::anyhow!(
            "{NO_FOLDERS}: what is kept here is in knowledge bases\n\
             hint: {SEARCHES_BASES}; `dowse index FOLDER` indexes a folder"
        );
    }
    anyhow::anyhow!("{NO_FOLDERS}\nhint: name one, or add `[files] roots` to the configuration")
}

/// Tells whether there are knowledge bases.
fn has_bases(shared_state: &SharedState) -> bool {
    let page = ObjectPage { limit: 1, ..ObjectPage::of(KnowledgeBase::KIND) };
    shared_state.open_store().is_ok_and(|kept| {
        let bases = KnowledgeBase::list(&*kept.store.objects(), &page);
        bases.is_ok_and(|bases| !bases.is_empty())
    })
}

/// Tells whether an error names the command that searches knowledge bases.
pub(super) fn names_bases(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains(SEARCHES_BASES))
}

/// Tells whether an error says that data is of no folders, also of one of a running server.
pub(super) fn is_no_folders(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let said = cause.to_string();
        said.starts_with(NO_FOLDERS) || said.starts_with(SERVES_NO_FOLDERS)
    })
}

/// Sets of folders that a message names.
const MAX_LISTED: usize = 8;

/// A configuration whose data folder is known.
pub(super) struct Located {
    pub(super) config: Config,
    pub(super) file: Option<PathBuf>,
    /// Whether the folders have to be read out of the data: an earlier version did not write down
    /// which folders its data is of.
    has_unnamed_folders: bool,
}

/// What an error begins with that says that something was never indexed.
pub(super) const NO_INDEX: &str = "no index here";

/// Tells whether an error says that, also one of a running server.
pub(super) fn is_no_index(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().starts_with(NO_INDEX))
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
        /// The command that indexes this set, as it has to be typed.
        index_command: String,
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
    let sets = user_data().as_ref().map(choose).transpose()?.unwrap_or_default();
    let located = sets.into_iter().map(|set| {
        let has_unnamed_folders = set.folders.is_empty();
        let loaded = taken(set, &config)?;
        Ok(Located { config: loaded.config, file: loaded.file, has_unnamed_folders })
    });
    located.collect()
}

/// Says of folders inside of indexed ones which those are.
fn inside_of(config: &Config) -> Option<String> {
    let resolved = |root: &::files::RootConfig| {
        fs_err::canonicalize(root.path()).unwrap_or_else(|_| root.path().to_owned())
    };
    let folders: Vec<PathBuf> = config.files.roots.iter().map(resolved).collect();
    let set = user_data()?.holding(&folders).filter(|_| !folders.is_empty())?;
    let roots: Vec<String> =
        set.folders.iter().map(|folder| format!("--root {}", print::in_shell(folder))).collect();
    Some(format!(", or search what it is in, which is indexed: `{}`", roots.join(" ")))
}

/// Takes what a search looks in that names nothing.
pub(super) fn remembered(data: &UserData) -> anyhow::Result<Vec<Remembered>> {
    Ok(data.remembered())
}

/// Takes everything that was ever indexed: data here that is of no folders must not hide it.
pub(super) fn everything(data: &UserData) -> anyhow::Result<Vec<Remembered>> {
    Ok(data.all())
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
            config.files.roots = set.folders.into_iter().map(::files::RootConfig::Named).collect();
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
        None => choose_one(&mut loaded, purpose)?,
    }
    Ok(loaded)
}

/// Where nothing says where the data is: takes the set that is nearest to the working folder, or
/// else the one that is served, and says which one that is.
///
/// # Errors
///
/// Those of [`choose_set`].
pub(super) fn choose_one(loaded: &mut Loaded, purpose: Purpose) -> anyhow::Result<()> {
    if let Some(set) = choose_set(loaded)? {
        print::note(format!("of {}", listed_one(&set)));
    }
    take_served(loaded, purpose)
}

/// Where nothing is kept here: takes the one data folder that a process has open elsewhere, since
/// whoever looks beside a server means that; where none is open, what is kept elsewhere is named.
/// What makes something makes it here, and says so.
///
/// # Errors
///
/// When somebody looks and several are open elsewhere.
pub(super) fn take_served(loaded: &mut Loaded, purpose: Purpose) -> anyhow::Result<()> {
    let is_named = loaded.file.is_some() || variable("DOWSE_DATA_DIR").is_some();
    if is_named || data_dir_flag().is_some() || !loaded.config.files.roots.is_empty() {
        return Ok(());
    }
    if holds_data(&loaded.config)? {
        return Ok(());
    }
    let all = user_data().map(|data| data.all()).unwrap_or_default();
    let is_served = |set: &&Remembered| control::connect(&set.data_dir).is_some();
    let mut served: Vec<Remembered> = all.iter().filter(is_served).cloned().collect();
    let shown = listed(&served);
    match (purpose, served.len()) {
        (Purpose::Make, 0) => {}
        (Purpose::Make, 1) => print::note(format!(
            "note: this is kept in `{}`, and not by the server of\n{shown}\n\
             hint: `--data-dir {}` keeps it there",
            loaded.config.data_dir.display(),
            print::in_shell(&served[0].data_dir)
        )),
        (Purpose::Make, _) => print::note(format!(
            "note: this is kept in `{}`, and not by one of the servers of\n{shown}\n\
             hint: `--data-dir FOLDER` chooses one",
            loaded.config.data_dir.display()
        )),
        (Purpose::Look, 0) if all.is_empty() => {}
        // An empty list would look as if there were nothing at all.
        (Purpose::Look, 0) => print::note(format!(
            "note: nothing is kept here; elsewhere there is\n{}\nhint: `--data-dir FOLDER` chooses one",
            listed(&all)
        )),
        (Purpose::Look, 1) => {
            print::note(format!("of the server of {}", listed_one(&served[0])));
            *loaded = taken(served.remove(0), &loaded.config)?;
        }
        (Purpose::Look, _) => anyhow::bail!(
            "nothing is kept here, and several servers run:\n{shown}\n\
             hint: choose one with `--data-dir`, such as `--data-dir {}`",
            print::in_shell(&served[0].data_dir)
        ),
    }
    Ok(())
}

/// Where data was named alone: takes the folders that it was made of.
pub(super) fn take_folders(loaded: &mut Loaded) {
    if loaded.file.is_none() && loaded.config.files.roots.is_empty() {
        mend_list(&loaded.config.data_dir);
        let folders = remembered_in(&loaded.config.data_dir).unwrap_or_default();
        loaded.config.files.roots = folders.into_iter().map(::files::RootConfig::Named).collect();
    }
}

/// Where neither a file nor the environment says where the data is: takes the one set of folders
/// that is nearest to the working folder, or the one of several that is served, and gives it.
///
/// # Errors
///
/// When there are several.
pub(super) fn choose_set(loaded: &mut Loaded) -> anyhow::Result<Option<Remembered>> {
    if variable("DOWSE_DATA_DIR").is_some() {
        take_folders(loaded);
        return Ok(None);
    }
    if loaded.file.is_some() || !loaded.config.files.roots.is_empty() {
        return Ok(None);
    }
    let sets = user_data().as_ref().map(only_one).transpose()?.unwrap_or_default();
    // A `.dowse` of an earlier version does not say which folders it is of.
    let chosen = sets.into_iter().next();
    if let Some(set) = chosen.clone() {
        *loaded = taken(set, &loaded.config)?;
    }
    Ok(chosen)
}

/// Takes the set that is nearest to the working folder; of several the one that is served, or else
/// the one that the working folder is in; none where there is none.
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
    let mut meant: Vec<Remembered> = sets.iter().filter(served).cloned().collect();
    if meant.is_empty() {
        meant = sets.iter().filter(|set| data.is_inside(set)).cloned().collect();
    }
    anyhow::ensure!(
        meant.len() == 1,
        "several sets of folders were indexed from here:\n{}\n\
         hint: choose one with `--data-dir`, such as `--data-dir {}`",
        listed(&sets),
        sets.first().map_or_else(String::new, |set| print::in_shell(&set.data_dir))
    );
    Ok(meant)
}

/// Names a set by its folders and its data.
fn listed_one(set: &Remembered) -> String {
    let folders: Vec<String> =
        set.folders.iter().map(|folder| folder.display().to_string()).collect();
    let data = set.data_dir.display();
    match folders.as_slice() {
        [] => format!("the data in `{data}`"),
        folders => format!("{} with its data in `{data}`", folders.join(", ")),
    }
}

fn listed(sets: &[Remembered]) -> String {
    let line = |set: &Remembered| format!("  {}", listed_one(set));
    let mut lines: Vec<String> = sets.iter().take(MAX_LISTED).map(line).collect();
    if sets.len() > MAX_LISTED {
        lines.push(format!("  and {} more, which `dowse status` shows", sets.len() - MAX_LISTED));
    }
    lines.join("\n")
}

/// Opens the folders that are named or configured, or remembered as far as `choose` takes them;
/// says which. Of several sets some may not open, which is said of each.
pub(super) fn open_all(
    args: &FilesArgs,
    folders: &[PathBuf],
    need: Need,
    choose: impl FnOnce(&UserData) -> anyhow::Result<Vec<Remembered>>,
) -> anyhow::Result<Vec<anyhow::Result<Set>>> {
    let located = locate(args, folders, need, choose)?;
    anyhow::ensure!(
        !located.is_empty(),
        "{NO_INDEX}: no folders are configured, and none was indexed before\n\
         hint: index one with `dowse index FOLDER`"
    );
    let is_named = located.iter().any(|one| one.file.is_some()) || !args.root.is_empty();
    let opened = located.into_iter().map(|one| {
        let folders: Vec<String> =
            one.config.files.roots.iter().map(|root| root.path().display().to_string()).collect();
        if !is_named && need == Need::Index {
            match folders.as_slice() {
                // Data of an earlier version does not say which folders it is of.
                [] if data_dir_flag().is_none() => {
                    print::note(format!("in what `{}` holds", one.config.data_dir.display()));
                }
                [] => {}
                folders => print::note(format!("in {}", folders.join(", "))),
            }
        }
        open_one(one, need)
    });
    Ok(opened.collect())
}

impl Located {
    /// Gets at the data folder; where it is open here, with the folders it is of.
    pub(super) fn reach(&mut self, verify: Verify, jobs: Jobs) -> anyhow::Result<Reach> {
        let purpose = match jobs {
            Jobs::Leave => Purpose::Look,
            Jobs::Run => Purpose::Make,
        };
        let reached = reach_verified(&self.config, verify, jobs, purpose)?;
        if let Reach::Here(shared_state) = &reached
            && self.has_unnamed_folders
        {
            self.config.files.roots = indexed_roots(shared_state)?;
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
            "{NO_INDEX}: `{}` holds none{}\nhint: run `{}`{}",
            config.data_dir.display(),
            of_folders(config),
            index_command(config, located.file.as_deref()),
            located.file.is_none().then(|| inside_of(config)).flatten().unwrap_or_default()
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
    let service = files.ok_or_else(|| of_no_folders(&shared_state))?;
    let index_command = index_command(&located.config, located.file.as_deref());
    Ok(Set::Here { shared_state, service: Box::new(service), app, index_command })
}

/// Names the folders of a configuration behind something that is of them.
pub(super) fn of_folders(config: &Config) -> String {
    let folders = config.files.roots.iter();
    let folders: Vec<String> = folders.map(|root| format!("`{}`", root.path().display())).collect();
    if folders.is_empty() { String::new() } else { format!(" of {}", folders.join(", ")) }
}

/// Gives the command that indexes what a command is about, as it has to be typed here: with the
/// flags without which it would be about other data.
pub(super) fn index_command(config: &Config, file: Option<&Path>) -> String {
    let folders: Vec<PathBuf> =
        config.files.roots.iter().map(|root| config.base.join(root.path())).collect();
    let mut command = "dowse index".to_owned();
    let mut add = |word: String| command.push_str(&format!(" {word}"));
    if let Some(file) = file.filter(|file| *file != Path::new(DEFAULT_FILE)) {
        add(format!("--config {}", print::in_shell(file)));
    }
    let usual = || UserData::find(&variable)?.place(&folders, Purpose::Look).ok();
    let is_usual = file.is_some() || usual().is_some_and(|usual| usual == config.data_dir);
    if data_dir_flag().is_some() || !is_usual {
        add(format!("--data-dir {}", print::in_shell(&config.data_dir)));
    }
    match folders.as_slice() {
        _ if file.is_some() => {}
        [] => add("FOLDER".to_owned()),
        folders => folders.iter().for_each(|folder| add(print::in_shell(folder))),
    }
    command
}

/// Gives the folders that open data is of.
pub(super) fn indexed_roots(
    shared_state: &SharedState,
) -> anyhow::Result<Vec<::files::RootConfig>> {
    let folders = ::files::indexed_roots(&shared_state.open_store()?.store)?;
    let folders = folders.into_iter().map(PathBuf::from);
    Ok(folders.map(::files::RootConfig::Named).collect())
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
