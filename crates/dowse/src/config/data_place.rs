//! Where data is when there is no configuration file: in the user's data directory, one folder for
//! each set of folders, never in what is indexed.
//!
//! What was indexed is remembered with it, so that a search that names nothing knows where to look.
//! A `.dowse` that an earlier version made in the working folder is used as it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Config;

/// What earlier versions made in the working folder.
const EARLIER: &str = ".dowse";

/// The file in a data folder that says which folders it is of.
const REMEMBERED: &str = "folders.json";

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
    /// The working folder that they were named in.
    pub(crate) from: PathBuf,
    /// The data folder.
    #[serde(skip)]
    pub(crate) data_dir: PathBuf,
}

/// Where a user's data is.
#[derive(Debug, Clone)]
pub(crate) struct UserData {
    sets: PathBuf,
    working: PathBuf,
}

impl UserData {
    /// Finds the user's data directory: `$XDG_DATA_HOME/dowse`, else the platform's. Nothing when
    /// the environment names no home.
    pub(crate) fn find(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let base = set("XDG_DATA_HOME").or_else(|| {
            let of_home = if cfg!(target_os = "macos") {
                "Library/Application Support"
            } else {
                ".local/share"
            };
            Some(set("HOME")?.join(of_home))
        })?;
        let working = std::env::current_dir().and_then(fs_err::canonicalize).ok()?;
        Some(UserData { sets: base.join("dowse/folders"), working })
    }

    /// Chooses the data folder of a set of folders, and remembers them where something is made.
    ///
    /// # Errors
    ///
    /// When the data folder cannot be made.
    pub(crate) fn place(&self, folders: &[PathBuf], purpose: Purpose) -> anyhow::Result<PathBuf> {
        let earlier = self.working.join(EARLIER);
        if earlier.join("store").exists() {
            return Ok(earlier);
        }
        let folders: BTreeSet<PathBuf> = folders
            .iter()
            .map(|folder| fs_err::canonicalize(folder).unwrap_or_else(|_| folder.clone()))
            .collect();
        let data_dir = self.sets.join(name_of(&folders));
        if purpose == Purpose::Look {
            return Ok(data_dir);
        }
        let hint = "hint: name another folder for the data with `--data-dir`";
        fs_err::create_dir_all(&data_dir).context(hint)?;
        let remembered = Remembered {
            folders: folders.into_iter().collect(),
            from: self.working.clone(),
            data_dir: PathBuf::new(),
        };
        let text = serde_json::to_string_pretty(&remembered)?;
        fs_err::write(data_dir.join(REMEMBERED), text).context(hint)?;
        Ok(data_dir)
    }

    /// Gives what a search looks in that names nothing: what was indexed from the working folder or
    /// above it, or holds it; everything that is remembered where that is nothing.
    pub(crate) fn remembered(&self) -> Vec<Remembered> {
        let here = self.here();
        if here.is_empty() { self.all() } else { here }
    }

    /// Gives what was indexed from the working folder or above it, or holds it.
    pub(crate) fn here(&self) -> Vec<Remembered> {
        let earlier = self.working.join(EARLIER);
        if earlier.join("store").exists() {
            let from = self.working.clone();
            return vec![Remembered { folders: vec![], from, data_dir: earlier }];
        }
        let mut sets = self.all();
        sets.retain(|set| {
            self.working.starts_with(&set.from)
                || set.folders.iter().any(|folder| self.working.starts_with(folder))
        });
        sets
    }

    fn all(&self) -> Vec<Remembered> {
        let Ok(entries) = fs_err::read_dir(&self.sets) else { return vec![] };
        let mut all: Vec<Remembered> = entries
            .flatten()
            .filter_map(|entry| {
                let text = fs_err::read_to_string(entry.path().join(REMEMBERED)).ok()?;
                let remembered: Remembered = serde_json::from_str(&text).ok()?;
                Some(Remembered { data_dir: entry.path(), ..remembered })
            })
            .collect();
        all.sort_by(|one, other| one.folders.cmp(&other.folders));
        all
    }
}

/// Gives the folders that a data folder was made of, where it says so.
pub(crate) fn remembered_in(data_dir: &Path) -> Option<Vec<PathBuf>> {
    let text = fs_err::read_to_string(data_dir.join(REMEMBERED)).ok()?;
    let remembered: Remembered = serde_json::from_str(&text).ok()?;
    Some(remembered.folders)
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
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
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
            sets: folder.join("share/dowse/folders"),
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
        fs_err::create_dir_all(earlier.join("store")).unwrap();
        assert_eq!(here.place(&[folder.path().to_owned()], Purpose::Make).unwrap(), earlier);
        let remembered = here.remembered();
        assert_eq!((remembered.len(), &remembered[0].data_dir), (1, &earlier));
        assert!(!here.sets.exists());
    }
}
