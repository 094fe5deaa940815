//! Where data is when there is no configuration file: in the user's data directory, one folder for
//! each set of folders, never in what is indexed.
//!
//! What was indexed is remembered with it, so that a search that names nothing knows where to look.
//! A `.dowse` that an earlier version made in the working folder is used as it is.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Config;
use crate::unfinished::write_whole;
use crate::{control, print};

/// What earlier versions made in the working folder.
const EARLIER: &str = ".dowse";

/// What `dowse demo` makes in the working folder, and in it the data and the configuration.
pub(crate) const DEMO: &str = ".dowse/demo";
const DEMO_DATA: &str = "data";
const DEMO_WORLD: &str = "world";

/// Working folders that a set of folders is remembered as of, beside the last one.
const MAX_WORKING_FOLDERS: usize = 32;

/// The name of a configuration file.
const CONFIGURATION: &str = "dowse.toml";

/// The file in a data folder that says which folders it is of.
const REMEMBERED: &str = "folders.json";

/// Where one that cannot be read is kept.
const SET_ASIDE: &str = "folders.json.damaged";

/// Hexadecimal digits in the name of a data folder.
const NAME_DIGITS: usize = 16;

/// Letters of a folder's name in the name of its data folder.
const NAME_CHARS: usize = 40;

/// Why a data folder is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To see what is there: nothing is made, and nothing remembered.
    Look,
    /// To index or serve: it is made, and its folders are remembered.
    Make,
}

/// A set of folders that was indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// The folders, resolved and in order.
    pub(crate) folders: Vec<PathBuf>,
    /// The working folder that they were last named in.
    pub(crate) from: PathBuf,
    /// Working folders that they were named in before.
    #[serde(default)]
    pub(crate) before_from: Vec<PathBuf>,
    /// The configuration that the data is of, where it has one.
    #[serde(skip)]
    pub(crate) configuration: Option<PathBuf>,
    /// The data folder.
    #[serde(skip)]
    pub(crate) data_dir: PathBuf,
}

impl Remembered {
    /// Data that does not say which folders it is of.
    fn of(from: PathBuf, data_dir: PathBuf) -> Self {
        Remembered { folders: vec![], from, before_from: vec![], configuration: None, data_dir }
    }
}

/// Where a user's data is.
#[derive(Debug, Clone)]
pub(crate) struct UserData {
    /// The folder in which the data of every set is made; nothing when the environment names no
    /// home.
    sets: Option<PathBuf>,
    working: PathBuf,
}

impl UserData {
    /// Finds the user's data directory: `$XDG_DATA_HOME/dowse`, else the platform's. Where the
    /// environment names no home, as under a service manager, data is in the working folder.
    pub(crate) fn find(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let working = std::env::current_dir().and_then(fs_err::canonicalize).ok()?;
        let sets = user_folder(variable).map(|folder| folder.join("folders"));
        Some(UserData { sets, working })
    }

    /// Gives the folder in which the data of every set is made, where there is a home.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.sets.as_deref()
    }

    /// Chooses the data folder of a set of folders, and remembers them where something is made.
    ///
    /// # Errors
    ///
    /// When the data folder cannot be made.
    pub(crate) fn place(&self, folders: &[PathBuf], purpose: Purpose) -> anyhow::Result<PathBuf> {
        let earlier = self.working.join(EARLIER);
        let Some(sets) = self.sets.as_ref().filter(|_| !is_there(&earlier.join(STORE))) else {
            return Ok(earlier);
        };
        let folders: BTreeSet<PathBuf> = folders
            .iter()
            .map(|folder| fs_err::canonicalize(folder).unwrap_or_else(|_| folder.clone()))
            .collect();
        let data_dir = sets.join(name_of(&folders));
        if purpose == Purpose::Look {
            return Ok(data_dir);
        }
        let hint = "the folder for the data cannot be written\n\
                    hint: name another one with `--data-dir`";
        fs_err::create_dir_all(&data_dir).context(hint)?;
        let mut before_from: Vec<PathBuf> = match read(&data_dir) {
            Memory::Whole(before) => {
                std::iter::once(before.from).chain(before.before_from).collect()
            }
            Memory::Damaged(problem) => {
                set_aside(&data_dir, &problem);
                vec![]
            }
            Memory::None | Memory::Closed => vec![],
        };
        before_from.retain(|folder| *folder != self.working);
        before_from.truncate(MAX_WORKING_FOLDERS);
        let remembered = Remembered {
            folders: folders.into_iter().collect(),
            before_from,
            ..Remembered::of(self.working.clone(), PathBuf::new())
        };
        write(&data_dir, &remembered).context(hint)?;
        Ok(data_dir)
    }

    /// Finds the sets that do not say any more which folders they are of, though they hold data:
    /// what says it is damaged or gone. `folders_in` reads the folders out of the data, and they are
    /// written down again; a set of which it finds none is said to be lost.
    pub(crate) fn mend(&self, folders_in: &dyn Fn(&Path) -> anyhow::Result<Vec<PathBuf>>) {
        let Some(Ok(entries)) = self.sets.as_ref().map(fs_err::read_dir) else { return };
        for data_dir in entries.flatten().map(|entry| entry.path()) {
            match read(&data_dir) {
                // Whoever makes a set writes this before anything is kept.
                Memory::None if data_dir.join(STORE).is_dir() => {
                    self.mend_one(&data_dir, "it is not there", folders_in);
                }
                Memory::None | Memory::Closed | Memory::Whole(_) => {}
                Memory::Damaged(problem) => self.mend_one(&data_dir, &problem, folders_in),
            }
        }
    }

    /// Where the set was named is lost: it is taken to be here where its folders are in here.
    fn mend_one(
        &self,
        data_dir: &Path,
        problem: &str,
        folders_in: &dyn Fn(&Path) -> anyhow::Result<Vec<PathBuf>>,
    ) {
        let is_here = |folders: &[PathBuf]| {
            self.working.parent().is_some()
                && folders.iter().all(|folder| folder.starts_with(&self.working))
        };
        mend_in(data_dir, problem, folders_in, &|folders| {
            if is_here(folders) { self.working.clone() } else { data_dir.to_owned() }
        });
    }

    /// Gives what a search looks in that names nothing: what was indexed from the working folder, or
    /// the nearest one above it, or holds it; everything that is remembered where that is nothing.
    pub(crate) fn remembered(&self) -> Vec<Remembered> {
        let here = self.here();
        if here.is_empty() { self.all() } else { here }
    }

    /// Gives what is nearest to the working folder: indexed from it or from above it, or a folder
    /// that holds it; what belongs to a folder further up is another project's. The demo that was
    /// started here is among it while that runs, or where nothing else is of this very folder.
    pub(crate) fn here(&self) -> Vec<Remembered> {
        let earlier = self.working.join(EARLIER);
        if is_there(&earlier.join(STORE)) {
            return vec![Remembered::of(self.working.clone(), earlier)];
        }
        let mut sets = self.all();
        sets.extend(self.earlier_above());
        sets.retain(|set| self.nearness(set).is_some());
        // A demo that has ended is not what a folder of one's own is asked about.
        let depth = self.working.components().count();
        let has_own = sets.iter().any(|set| self.nearness(set) == Some(depth));
        let is_meant = |demo: &Remembered| !has_own || control::connect(&demo.data_dir).is_some();
        let demo = self.demo().filter(is_meant);
        sets.extend(demo);
        let nearest = sets.iter().filter_map(|set| self.nearness(set)).max();
        sets.retain(|set| self.nearness(set) == nearest);
        sets
    }

    /// Tells whether the working folder is in a folder of a set.
    pub(crate) fn is_inside(&self, set: &Remembered) -> bool {
        set.folders.iter().any(|folder| self.working.starts_with(folder))
    }

    /// Gives the depth of the lowest folder that a set was indexed from, or is of, and that holds
    /// the working folder.
    fn nearness(&self, set: &Remembered) -> Option<usize> {
        let folders = std::iter::once(&set.from).chain(&set.before_from).chain(&set.folders);
        let above = folders.filter(|folder| self.working.starts_with(folder));
        above.map(|folder| folder.components().count()).max()
    }

    /// Finds the demo of the working folder.
    fn demo(&self) -> Option<Remembered> {
        let demo = self.working.join(DEMO);
        let (data_dir, world) = (demo.join(DEMO_DATA), demo.join(DEMO_WORLD));
        let configuration = Some(world.join(CONFIGURATION)).filter(|file| file.is_file());
        (configuration.is_some() && is_there(&data_dir.join(STORE))).then(|| Remembered {
            folders: vec![world.join("documents")],
            configuration,
            ..Remembered::of(self.working.clone(), data_dir)
        })
    }

    /// Finds what an earlier version made in a folder above the working one; beside a configuration
    /// file it is that file's.
    fn earlier_above(&self) -> Option<Remembered> {
        let is_earlier = |folder: &&Path| {
            is_there(&folder.join(EARLIER).join(STORE)) && !folder.join(CONFIGURATION).exists()
        };
        let above = self.working.ancestors().skip(1).find(is_earlier)?;
        Some(Remembered::of(above.to_owned(), above.join(EARLIER)))
    }

    /// Gives the set whose folders hold all of these; of several the one whose folders are nearest.
    pub(crate) fn holding(&self, folders: &[PathBuf]) -> Option<Remembered> {
        let depth_of = |set: &Remembered| {
            let nearest = |folder: &PathBuf| {
                let above = set.folders.iter().filter(|one| folder.starts_with(one));
                above.map(|one| one.components().count()).max()
            };
            folders.iter().map(nearest).sum::<Option<usize>>()
        };
        self.all().into_iter().filter(|set| depth_of(set).is_some()).max_by_key(depth_of)
    }

    /// Gives everything that was ever indexed.
    pub(crate) fn all(&self) -> Vec<Remembered> {
        let Some(Ok(entries)) = self.sets.as_ref().map(fs_err::read_dir) else { return vec![] };
        let mut all: Vec<Remembered> = entries
            .flatten()
            .filter_map(|entry| {
                let data_dir = entry.path();
                match read(&data_dir) {
                    Memory::Whole(remembered) => Some(Remembered { data_dir, ..remembered }),
                    // What another user keeps here, as after `sudo`, is not nothing.
                    Memory::Closed => Some(Remembered::of(data_dir.clone(), data_dir)),
                    Memory::None | Memory::Damaged(_) => data_dir
                        .join(STORE)
                        .is_dir()
                        .then(|| Remembered::of(data_dir.clone(), data_dir)),
                }
            })
            .collect();
        all.sort_by(|one, other| one.folders.cmp(&other.folders));
        all
    }
}

/// Gives the folder for what is this user's and of no configuration: `$XDG_DATA_HOME/dowse`, else
/// in the place that the system has for such data. Nothing when the environment names no home.
pub(crate) fn user_folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_system = || {
        if cfg!(windows) {
            return set("LOCALAPPDATA");
        }
        let is_mac = cfg!(target_os = "macos");
        let of_home = if is_mac { "Library/Application Support" } else { ".local/share" };
        Some(set("HOME")?.join(of_home))
    };
    // A relative path is invalid there, by the specification.
    let base = set("XDG_DATA_HOME").filter(|base| base.is_absolute()).or_else(of_system)?;
    Some(base.join("dowse"))
}

/// Gives the folders that a data folder was made of, where it says so.
pub(crate) fn remembered_in(data_dir: &Path) -> Option<Vec<PathBuf>> {
    match read(data_dir) {
        Memory::Whole(remembered) => Some(remembered.folders),
        Memory::None | Memory::Closed | Memory::Damaged(_) => None,
    }
}

/// Writes down again which folders a data folder is of, where that is damaged. Data of a
/// configuration file never said so.
pub(crate) fn mend_damaged(
    data_dir: &Path,
    folders_in: &dyn Fn(&Path) -> anyhow::Result<Vec<PathBuf>>,
) {
    if let Memory::Damaged(problem) = read(data_dir) {
        mend_in(data_dir, &problem, folders_in, &|_| data_dir.to_owned());
    }
}

fn mend_in(
    data_dir: &Path,
    problem: &str,
    folders_in: &dyn Fn(&Path) -> anyhow::Result<Vec<PathBuf>>,
    from: &dyn Fn(&[PathBuf]) -> PathBuf,
) {
    let shown = data_dir.join(REMEMBERED);
    let shown = shown.display();
    let mended = folders_in(data_dir).and_then(|folders| {
        anyhow::ensure!(!folders.is_empty(), "the data is of no folder");
        set_aside(data_dir, problem);
        let from = from(&folders);
        write(data_dir, &Remembered { folders, ..Remembered::of(from, PathBuf::new()) })?;
        Ok(())
    });
    match mended {
        Ok(()) => print::note(format!(
            "note: `{shown}` was written anew, with the folders that the data names"
        )),
        Err(error) => print::note(format!(
            "note: `{shown}` cannot be read ({problem}), and does not say which folders this data \
             is of: {error:#}\n\
             hint: `dowse index FOLDER` with the same folders writes it anew"
        )),
    }
}

/// The folder in a data folder in which everything is kept.
const STORE: &str = "store";

/// What a data folder says of its folders.
enum Memory {
    /// Nothing.
    None,
    /// This user may not look.
    Closed,
    /// Something that cannot be read.
    Damaged(String),
    Whole(Remembered),
}

fn read(data_dir: &Path) -> Memory {
    match fs_err::read(data_dir.join(REMEMBERED)) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(remembered) => Memory::Whole(remembered),
            Err(error) => Memory::Damaged(error.to_string()),
        },
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Memory::None
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Memory::Closed,
        Err(error) => Memory::Damaged(error.to_string()),
    }
}

fn write(data_dir: &Path, remembered: &Remembered) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(remembered)?;
    // Searches that name no folder read this file at any time, of all sets.
    Ok(write_whole(&data_dir.join(REMEMBERED), text.as_bytes())?)
}

/// Keeps a file that cannot be read beside the one that takes its place.
fn set_aside(data_dir: &Path, problem: &str) {
    let (file, aside) = (data_dir.join(REMEMBERED), data_dir.join(SET_ASIDE));
    if fs_err::rename(&file, &aside).is_ok() {
        print::note(format!(
            "note: `{}` could not be read ({problem}), and is kept as `{SET_ASIDE}`",
            file.display()
        ));
    }
}

/// Tells whether something is at a path; what may not be looked at is there.
fn is_there(path: &Path) -> bool {
    match fs_err::metadata(path) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Puts the data folder where it belongs: where the command line or the environment says, beside a
/// configuration file, or in the user's data directory for folders without one.
///
/// # Errors
///
/// When the data folder cannot be made.
pub(crate) fn place_data(
    config: &mut Config,
    file: Option<&Path>,
    named: Option<&Path>,
    purpose: Purpose,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    if let Some(named) = named {
        config.data_dir = std::path::absolute(named)?;
        return Ok(());
    }
    let is_set = file.is_some() || variable("DOWSE_DATA_DIR").is_some();
    if is_set || config.files.roots.is_empty() {
        return Ok(());
    }
    let folders: Vec<PathBuf> =
        config.files.roots.iter().map(|root| config.base.join(root.path())).collect();
    if let Some(user_data) = UserData::find(variable) {
        config.data_dir = user_data.place(&folders, purpose)?;
    }
    Ok(())
}

/// Names the data folder of a set of folders, so that people recognise it.
fn name_of(folders: &BTreeSet<PathBuf>) -> String {
    let mut hash = Sha256::new();
    for folder in folders {
        hash.update(folder.as_os_str().as_encoded_bytes());
        hash.update([0]);
    }
    let digits = model::hex(hash.finalize());
    let shown = folders.first().and_then(|first| first.file_name()).unwrap_or_default();
    let shown: String = shown
        .to_string_lossy()
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
        .take(NAME_CHARS)
        .collect();
    format!("{shown}-{}", &digits[..NAME_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_data(folder: &Path, working: &str) -> UserData {
        let working = folder.join(working);
        fs_err::create_dir_all(&working).unwrap();
        UserData {
            sets: Some(folder.join("share/dowse/folders")),
            working: fs_err::canonicalize(working).unwrap(),
        }
    }

    #[test]
    fn each_set_of_folders_has_its_own_data_outside_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let here = user_data(folder.path(), "work");
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        for folder in [&a, &b] {
            fs_err::create_dir(folder).unwrap();
        }
        let of_a = here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        let of_both = here.place(&[a.clone(), b.clone()], Purpose::Make).unwrap();
        assert_ne!(of_a, of_both);
        assert_eq!(
            here.place(&[b.clone(), a.clone()], Purpose::Make).unwrap(),
            of_both,
            "the order is nothing"
        );
        assert_eq!(here.place(std::slice::from_ref(&a), Purpose::Make).unwrap(), of_a);
        assert!(!of_a.starts_with(&a) && !of_a.starts_with(folder.path().join("work")));

        // Inside a folder, its sets are found; elsewhere, everything that was ever indexed.
        let inside = user_data(folder.path(), "b/deep");
        let found: Vec<PathBuf> = inside.remembered().into_iter().map(|set| set.data_dir).collect();
        assert_eq!(found, std::slice::from_ref(&of_both));
        let elsewhere = user_data(folder.path(), "elsewhere");
        assert_eq!(elsewhere.remembered().len(), 2);
        let below_work = user_data(folder.path(), "work/below");
        assert_eq!(below_work.remembered().len(), 2);
    }

    /// A set was forgotten where it had been indexed from, once another folder used it.
    #[test]
    fn every_folder_that_a_set_was_used_from_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (user_data(folder.path(), "one"), user_data(folder.path(), "two"));
        let a = folder.path().join("a");
        let made = here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        for _ in 0..2 {
            there.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
            here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        }
        for working in [&here, &there] {
            let found = working.here();
            assert_eq!((found.len(), &found[0].data_dir), (1, &made));
        }
        assert_eq!(here.here()[0].before_from, std::slice::from_ref(&there.working));
        assert!(user_data(folder.path(), "three").here().is_empty());
    }

    /// Beside `dowse index` a search sometimes found no index, or left the nearest one out.
    #[test]
    fn who_reads_meanwhile_finds_every_set() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (user_data(folder.path(), "one"), user_data(folder.path(), "two"));
        let a = folder.path().join("a");
        let made = one.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        let reading = fs_err::File::open(made.join(REMEMBERED)).unwrap();
        two.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        let read: Remembered =
            serde_json::from_str(&std::io::read_to_string(reading).unwrap()).unwrap();
        assert_eq!(read.from, one.working, "what was open stays whole");
        assert_eq!(one.all()[0].from, two.working);
    }

    /// In a project with an index of its own, a search also gave what had been indexed from the home
    /// folder, and commands about one data folder found several.
    #[test]
    fn what_is_nearest_to_the_working_folder_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) =
            (user_data(folder.path(), "home"), user_data(folder.path(), "home/p"));
        let documents = user_data(folder.path(), "home/documents").working;
        let sub = user_data(folder.path(), "home/p/sub");
        let of_documents = home.place(&[documents], Purpose::Make).unwrap();
        let of_project =
            project.place(std::slice::from_ref(&project.working), Purpose::Make).unwrap();
        let found = |at: &UserData| -> Vec<PathBuf> {
            at.here().into_iter().map(|set| set.data_dir).collect()
        };
        assert_eq!(found(&home), std::slice::from_ref(&of_documents));
        assert_eq!(found(&project), std::slice::from_ref(&of_project));
        assert_eq!(found(&sub), std::slice::from_ref(&of_project));
        // A folder inside the project that was named from there is meant there, too.
        let of_sub = project.place(std::slice::from_ref(&sub.working), Purpose::Make).unwrap();
        assert_eq!(found(&sub), std::slice::from_ref(&of_sub));
        let both = project.here();
        assert_eq!(both.len(), 2);
        let inside: Vec<bool> = both.iter().map(|set| project.is_inside(set)).collect();
        assert_eq!(inside, [true, false], "the project itself is the one to index");
        assert_eq!(home.here().len(), 1);
    }

    /// A set whose file was damaged or gone was left out without a word.
    #[test]
    fn a_set_that_does_not_say_its_folders_is_found_by_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let here = user_data(folder.path(), "work");
        let inside = user_data(folder.path(), "a/deep");
        let a = fs_err::canonicalize(folder.path().join("a")).unwrap();
        let made = here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        let file = made.join(REMEMBERED);
        let folders_in = |_: &Path| Ok(vec![a.clone()]);
        let none = |_: &Path| Ok(vec![]);
        let whole = fs_err::read_to_string(&file).unwrap();
        let damages: [&[u8]; 5] =
            [b"", b"{", &whole.as_bytes()[..whole.len() / 2], b"\xff\xfe", b"{\"folders\": 3}"];
        for damage in damages {
            fs_err::write(&file, damage).unwrap();
            here.mend(&none);
            assert_eq!(fs_err::read(&file).unwrap(), damage, "nothing better is known");
            here.mend(&folders_in);
            assert_eq!(inside.here()[0].data_dir, made);
            assert_eq!(fs_err::read(made.join(SET_ASIDE)).unwrap(), damage);
        }
        // A folder that is only begun is no set; one with data is.
        fs_err::remove_file(&file).unwrap();
        here.mend(&folders_in);
        assert!(!file.exists() && here.all().is_empty());
        fs_err::create_dir(made.join(STORE)).unwrap();
        assert_eq!(here.all().len(), 1, "it is there, whatever it is of");
        here.mend(&folders_in);
        assert_eq!(inside.here()[0].folders, std::slice::from_ref(&a));
        // Who makes it again sets aside what cannot be read.
        fs_err::write(&file, "{").unwrap();
        here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        assert_eq!(here.here()[0].folders, [a]);
    }

    #[test]
    fn a_folder_inside_of_an_indexed_one_is_in_its_set() {
        let folder = tempfile::tempdir().unwrap();
        let here = user_data(folder.path(), "work");
        let wide = user_data(folder.path(), "documents").working;
        let near = user_data(folder.path(), "documents/near").working;
        let of_wide = here.place(std::slice::from_ref(&wide), Purpose::Make).unwrap();
        let of_near = here.place(std::slice::from_ref(&near), Purpose::Make).unwrap();
        let holding = |folders: &[PathBuf]| here.holding(folders).map(|set| set.data_dir);
        assert_eq!(holding(&[near.join("deep")]), Some(of_near));
        assert_eq!(holding(&[wide.join("deep"), near.join("deep")]), Some(of_wide));
        assert_eq!(holding(&[folder.path().join("elsewhere")]), None);
        assert_eq!(holding(&[wide, folder.path().join("elsewhere")]), None);
    }

    /// Beside the running demo every command said that nothing is indexed.
    #[test]
    fn the_demo_is_found_where_it_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let here = user_data(folder.path(), "work");
        let demo = here.working.join(DEMO);
        fs_err::create_dir_all(demo.join("data/store")).unwrap();
        assert!(here.here().is_empty(), "it is not built yet");
        fs_err::create_dir_all(demo.join("world")).unwrap();
        fs_err::write(demo.join("world/dowse.toml"), "").unwrap();
        let found = here.here();
        assert_eq!((found.len(), &found[0].data_dir), (1, &demo.join("data")));
        assert_eq!(found[0].configuration, Some(demo.join("world/dowse.toml")));
        assert!(user_data(folder.path(), "work/below").here().is_empty());
        // What was indexed from a folder above it is further away, and what is of this one is meant.
        let above = user_data(folder.path(), "");
        above.place(&[folder.path().join("a")], Purpose::Make).unwrap();
        assert_eq!(here.here()[0].data_dir, demo.join("data"));
        let own = here.place(&[folder.path().join("b")], Purpose::Make).unwrap();
        assert_eq!(here.here()[0].data_dir, own);
    }

    /// A search in a folder that was never indexed left its name behind, and every command that is
    /// about one data folder then found two.
    #[test]
    fn who_only_looks_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (user_data(folder.path(), "work"), user_data(folder.path(), "far"));
        let a = folder.path().join("a");
        let looked = here.place(std::slice::from_ref(&a), Purpose::Look).unwrap();
        assert!(!looked.exists() && here.remembered().is_empty());
        let made = here.place(std::slice::from_ref(&a), Purpose::Make).unwrap();
        assert_eq!(made, looked);
        elsewhere.place(&[a], Purpose::Look).unwrap();
        assert_eq!(here.here().len(), 1, "it is still remembered as of where it was made");
    }

    #[test]
    fn a_folder_of_an_earlier_version_is_used_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let here = user_data(folder.path(), "work");
        let earlier = here.working.join(EARLIER);
        fs_err::create_dir_all(earlier.join(STORE)).unwrap();
        assert_eq!(here.place(&[folder.path().to_owned()], Purpose::Make).unwrap(), earlier);
        let remembered = here.remembered();
        assert_eq!((remembered.len(), &remembered[0].data_dir), (1, &earlier));
        // From a folder below it, too, unless a configuration file has it.
        let below = user_data(folder.path(), "work/deep/er");
        let found = below.here();
        assert_eq!((found.len(), &found[0].data_dir), (1, &earlier));
        fs_err::write(here.working.join(CONFIGURATION), "").unwrap();
        assert!(below.here().is_empty());
        assert!(!here.sets.is_some_and(|sets| sets.exists()));
    }
}
