//! What may be touched: resolved paths compared by component, and files opened beneath their
//! root.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use model::{Access, Caller};

use crate::name::path_of;
use crate::{Error, Result, RootConfig, platform};

/// Longer paths are refused before anything is asked of the disk.
const MAX_PATH_BYTES: usize = 4096;

/// What is said of a text that cannot be a path.
const NO_PATH: &str = "is not a path: one has 1 to 4096 bytes and no NUL";

/// One folder that may be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The resolved folder.
    pub path: PathBuf,
    /// Its path as text; answers and document ids begin with it.
    pub name: String,
    /// Who may use it.
    pub access: Access,
    /// Whether a configuration file names it.
    pub is_configured: bool,
    /// The path that was named, where it goes through a link that may be turned.
    pub link: Option<PathBuf>,
}

/// Every folder that may be searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots(Vec<Root>);

impl Roots {
    /// Resolves the configured folders, which start at `base` when they are relative.
    ///
    /// A folder that is not there now, such as a share that is down, stays a root: what was
    /// indexed of it can still be found. Fails when one is no folder, or has a name that is not
    /// Unicode.
    pub fn open(configs: &[RootConfig], base: &Path) -> Result<Self> {
        let roots = configs.iter().map(|config| {
            let path = base.join(config.path());
            let bad = |cause| Error::BadRoot { path: path.clone(), cause };
            let resolved = match fs_err::canonicalize(&path) {
                Ok(resolved) if resolved.is_dir() => resolved,
                Ok(_) => return Err(bad(std::io::Error::from(std::io::ErrorKind::NotADirectory))),
                Err(_) => lexically_resolved(&std::path::absolute(&path).map_err(bad)?),
            };
            let name = resolved
                .to_str()
                .ok_or_else(|| bad(std::io::Error::from(std::io::ErrorKind::InvalidInput)))?
                .to_owned();
            let is_configured = !matches!(config, RootConfig::Named(_));
            let named = lexically_resolved(&std::path::absolute(&path).map_err(bad)?);
            let link = (named != resolved && !platform::is_on_network(&resolved)).then_some(named);
            Ok(Root { path: resolved, name, access: config.access(), is_configured, link })
        });
        roots.collect::<Result<Vec<_>>>().map(Roots)
    }

    /// Lists the roots that a caller may use.
    pub fn visible(&self, caller: &Caller) -> Vec<&Root> {
        self.0.iter().filter(|root| caller.may_use(&root.access)).collect()
    }

    /// Lists all roots.
    pub fn all(&self) -> &[Root] {
        &self.0
    }

    /// Tells whether a link that names a root leads to another folder than it did when the roots
    /// were opened. Links to a network are not asked: that could hang.
    pub fn lead_elsewhere(&self) -> bool {
        self.0.iter().any(|root| {
            let now = root.link.as_deref().and_then(|link| fs_err::canonicalize(link).ok());
            now.is_some_and(|now| now != root.path && now.is_dir())
        })
    }

    /// Finds the root that a path of a caller lies in, and the resolved path.
    ///
    /// A path outside every root is forbidden whether it exists or not, so that nobody learns
    /// what is elsewhere. A path inside a root of the caller that belongs to an inner root of
    /// others is missing, as if nothing were there.
    ///
    /// Blanks and quotes around a path belong to it only where it leads somewhere with them.
    pub fn locate(&self, caller: &Caller, given: &str) -> Result<(&Root, PathBuf)> {
        self.locate_exactly(caller, given).or_else(|error| {
            let bare = given.trim().trim_matches(['"', '\'', '`']);
            let is_other = bare.len() < given.len() && !bare.is_empty();
            let found = is_other.then(|| self.locate_exactly(caller, bare).ok()).flatten();
            found.ok_or(error)
        })
    }

    fn locate_exactly(&self, caller: &Caller, given: &str) -> Result<(&Root, PathBuf)> {
        let refused = |resolved: &Path| match self.is_below_visible(caller, resolved) {
            true => Error::NotFound { path: shown(given) },
            false => Error::Forbidden { path: shown(given) },
        };
        if given.is_empty() || given.contains('\0') || given.len() > MAX_PATH_BYTES {
            return Err(Error::BadPath { path: shown(given), problem: NO_PATH });
        }
        let given_path = path_of(given);
        let mut path = given_path.as_path();
        let inside;
        if !path.is_absolute() {
            inside = self
                .only_inside(caller, Path::new(given))
                .or_else(|_| self.only_inside(caller, path))
                .map_err(|problem| Error::BadPath { path: shown(given), problem })?;
            path = &inside;
        }
        let Some(resolved) = self.resolved(caller, path) else {
            // What does not exist is missing only where the caller may look at all.
            return Err(refused(&lexically_resolved(path)));
        };
        let root = self.root_of(caller, &resolved).ok_or_else(|| refused(&resolved))?;
        Ok((root, resolved))
    }

    /// Tells whether a resolved path is at or below a root that the caller may use, whoever it
    /// belongs to.
    fn is_below_visible(&self, caller: &Caller, resolved: &Path) -> bool {
        self.visible(caller).iter().any(|root| resolved.starts_with(&root.path))
    }

    /// Tells whether a path belongs to a root that the caller may use.
    pub(crate) fn may_see(&self, caller: &Caller, path: &Path) -> bool {
        self.root_of(caller, path).is_some()
    }

    /// Resolves a path on the disk: as it is written, else with names in another Unicode form, since
    /// some systems store `é` as `e` with an accent and show both alike.
    ///
    /// Whether the caller may use what it resolves to is another question.
    fn resolved(&self, caller: &Caller, path: &Path) -> Option<PathBuf> {
        let is_plain = path.to_str().is_none_or(str::is_ascii);
        match fs_err::canonicalize(path) {
            Ok(resolved) => Some(resolved),
            Err(_) if is_plain => None,
            Err(_) => {
                let path = lexically_resolved(path);
                let roots = self.visible(caller);
                roots.into_iter().find_map(|root| self.in_other_form(caller, root, &path))
            }
        }
    }

    /// Follows a path beneath a root by names that are equivalent to its own. Only folders that the
    /// caller may use are listed, so that nobody learns what is elsewhere.
    fn in_other_form(&self, caller: &Caller, root: &Root, path: &Path) -> Option<PathBuf> {
        let mut parts = path.components();
        for component in root.path.components() {
            if !is_same_name(parts.next()?.as_os_str(), component.as_os_str()) {
                return None;
            }
        }
        let mut resolved = root.path.clone();
        for part in parts {
            self.root_of(caller, &resolved)?;
            resolved = fs_err::canonicalize(entry_named(&resolved, part.as_os_str())?).ok()?;
        }
        Some(resolved)
    }

    /// Finds what a relative path names where that is one thing: inside a root that the caller
    /// may use, or from the name of such a root on.
    fn only_inside(
        &self,
        caller: &Caller,
        path: &Path,
    ) -> std::result::Result<PathBuf, &'static str> {
        let mut found: Vec<PathBuf> = Vec::new();
        for root in self.visible(caller) {
            let name = root.path.file_name().unwrap_or_default();
            let from_name = path.strip_prefix(name).ok().map(|rest| root.path.join(rest));
            for candidate in std::iter::once(root.path.join(path)).chain(from_name) {
                // A way out of the root is no name of something in it.
                let resolved = self.resolved(caller, &candidate);
                let resolved = resolved.filter(|resolved| {
                    self.root_of(caller, resolved).is_some_and(|owner| owner == root)
                });
                found.extend(resolved);
            }
        }
        found.sort();
        found.dedup();
        match found.len() {
            0 => Err("is not an absolute path, and no root has it"),
            1 => Ok(found.remove(0)),
            _ => Err("is in several places: an absolute path names one of them"),
        }
    }

    /// Lists the roots inside another one: what is in them belongs to them alone.
    pub(crate) fn inside(&self, outer: &Root) -> Vec<&Root> {
        self.0
            .iter()
            .filter(|root| root.path != outer.path && root.path.starts_with(&outer.path))
            .collect()
    }

    /// Tells whether another root holds this one: its files are indexed once.
    pub(crate) fn is_inside_another(&self, inner: &Root) -> bool {
        self.0.iter().any(|root| root.path != inner.path && inner.path.starts_with(&root.path))
    }

    /// Finds the innermost root of a resolved path, whoever may use it.
    pub(crate) fn owner_of(&self, resolved: &Path) -> Option<&Root> {
        self.0
            .iter()
            .filter(|root| resolved.starts_with(&root.path))
            .max_by_key(|root| root.path.components().count())
    }

    /// Finds the root that a resolved path belongs to, if the caller may use it: what is in an
    /// inner root is not readable through an outer one.
    fn root_of(&self, caller: &Caller, resolved: &Path) -> Option<&Root> {
        self.owner_of(resolved).filter(|root| caller.may_use(&root.access))
    }
}

impl Root {
    /// Opens a file beneath the root; every way out of it is refused.
    pub fn open_beneath(&self, relative: &Path) -> std::io::Result<std::fs::File> {
        open_beneath(&self.path, relative)
    }
}

/// Opens a file beneath a folder; every way out of the folder is refused, and so is what is no
/// file.
///
/// # Errors
///
/// When there is no such file beneath the folder, or it may not be read.
pub fn open_beneath(folder: &Path, relative: &Path) -> std::io::Result<std::fs::File> {
    let file = platform::open_beneath(folder, relative)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
    }
    Ok(file)
}

/// Takes `.` and `..` out of a path that does not exist, without asking the disk.
fn lexically_resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                resolved.push(component);
            }
        }
    }
    resolved
}

/// Finds an entry of a folder: the one that is named so, else the only one whose name is equivalent.
fn entry_named(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let exact = folder.join(name);
    if fs_err::symlink_metadata(&exact).is_ok() {
        return Some(exact);
    }
    let entries = fs_err::read_dir(folder).ok()?.flatten();
    let mut alike = entries.filter(|entry| is_same_name(&entry.file_name(), name));
    let found = alike.next()?;
    alike.next().is_none().then(|| found.path())
}

fn is_same_name(one: &OsStr, other: &OsStr) -> bool {
    let texts = one.to_str().zip(other.to_str());
    one == other || texts.is_some_and(|(one, other)| text::is_equivalent(one, other))
}

/// A path as an error shows it.
fn shown(given: &str) -> String {
    given.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
