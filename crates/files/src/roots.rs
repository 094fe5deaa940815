//! What may be touched: resolved paths compared by component, and files opened beneath their
//! root.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use model::{Access, Caller};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::{Error, Result, RootConfig};

/// Longer paths are refused before anything is asked of the disk.
const MAX_PATH_BYTES: usize = 4096;

/// One folder that may be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The resolved folder.
    pub path: PathBuf,
    /// Its path as text; answers and document ids begin with it.
    pub name: String,
    /// Who may use it.
    pub access: Access,
}

/// Every folder that may be searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots(Vec<Root>);

impl Roots {
    /// Resolves the configured folders, which start at `base` when they are relative.
    ///
    /// Fails when one does not exist, is no folder, or has a name that is not Unicode.
    pub fn open(configs: &[RootConfig], base: &Path) -> Result<Self> {
        let roots = configs.iter().map(|config| {
            let path = base.join(config.path());
            let bad = |cause| Error::BadRoot { path: path.clone(), cause };
            let resolved = fs_err::canonicalize(&path).map_err(bad)?;
            if !resolved.is_dir() {
                return Err(bad(std::io::Error::from(std::io::ErrorKind::NotADirectory)));
            }
            let name = resolved
                .to_str()
                .ok_or_else(|| bad(std::io::Error::from(std::io::ErrorKind::InvalidInput)))?
                .to_owned();
            Ok(Root { path: resolved, name, access: config.access() })
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

    /// Finds the root that a path of a caller lies in, and the resolved path.
    ///
    /// A path outside every root is forbidden whether it exists or not, so that nobody learns
    /// what stands elsewhere.
    pub fn locate(&self, caller: &Caller, given: &str) -> Result<(&Root, PathBuf)> {
        let forbidden = || Error::Forbidden { path: shown(given) };
        if given.is_empty() || given.contains('\0') || given.len() > MAX_PATH_BYTES {
            return Err(Error::BadRequest {
                problem: format!("a path has 1 to {MAX_PATH_BYTES} bytes and no NUL"),
            });
        }
        let path = Path::new(given);
        if !path.is_absolute() {
            return Err(Error::BadRequest {
                problem: format!("`{}` is not an absolute path", shown(given)),
            });
        }
        let resolved = match fs_err::canonicalize(path) {
            Ok(resolved) => resolved,
            Err(_) => {
                // What does not exist is missing only where the caller may look at all.
                let lexical = lexically_resolved(path);
                return match self.root_of(caller, &lexical) {
                    Some(_) => Err(Error::NotFound { path: shown(given) }),
                    None => Err(forbidden()),
                };
            }
        };
        let root = self.root_of(caller, &resolved).ok_or_else(forbidden)?;
        Ok((root, resolved))
    }

    /// Finds the innermost root of a resolved path.
    fn root_of(&self, caller: &Caller, resolved: &Path) -> Option<&Root> {
        self.visible(caller)
            .into_iter()
            .filter(|root| resolved.starts_with(&root.path))
            .max_by_key(|root| root.path.components().count())
    }
}

impl Root {
    /// Opens a file beneath the root. The kernel refuses every way out: `..`, absolute links,
    /// links that leave the root, and links of the process file system, even when something is
    /// swapped between check and open.
    pub fn open_beneath(&self, relative: &Path) -> std::io::Result<std::fs::File> {
        let root = rustix::fs::open(
            &self.path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        // A pipe or a device must not hold up the reader, so opening never blocks.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let file: OwnedFd = rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve)?;
        let file = std::fs::File::from(file);
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
        }
        Ok(file)
    }

    /// Reads a file beneath the root, up to a limit.
    pub fn read_beneath(&self, relative: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let n_read = self.open_beneath(relative)?.take(limit + 1).read_to_end(&mut bytes)?;
        if n_read as u64 > limit {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
        }
        Ok(bytes)
    }
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

/// A path as an error shows it.
fn shown(given: &str) -> String {
    given.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        folder: tempfile::TempDir,
        roots: Roots,
    }

    /// `allowed/inside.txt`, `allowed-not/secret.txt`, and links from one to the other.
    fn world() -> World {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs_err::create_dir_all(at("allowed/sub")).unwrap();
        fs_err::create_dir_all(at("allowed-not")).unwrap();
        fs_err::write(at("allowed/inside.txt"), "in").unwrap();
        fs_err::write(at("allowed-not/secret.txt"), "out").unwrap();
        std::os::unix::fs::symlink(at("allowed-not"), at("allowed/way-out")).unwrap();
        std::os::unix::fs::symlink(at("allowed-not/secret.txt"), at("allowed/link.txt")).unwrap();
        std::os::unix::fs::symlink("inside.txt", at("allowed/alias.txt")).unwrap();
        let roots = Roots::open(&[RootConfig::Path(at("allowed"))], Path::new("/")).unwrap();
        World { folder, roots }
    }

    #[track_caller]
    fn check(world: &World, given: &str, expected: &str) {
        let path = world.folder.path().join(given);
        let outcome = match world.roots.locate(&Caller::local_admin(), path.to_str().unwrap()) {
            Ok(_) => "inside",
            Err(Error::Forbidden { .. }) => "forbidden",
            Err(Error::NotFound { .. }) => "missing",
            Err(_) => "bad",
        };
        assert_eq!(outcome, expected, "{given}");
    }

    #[test]
    fn only_what_resolves_into_a_root_is_inside() {
        let world = world();
        check(&world, "allowed", "inside");
        check(&world, "allowed/inside.txt", "inside");
        check(&world, "allowed/./sub/../inside.txt", "inside");
        check(&world, "allowed/alias.txt", "inside");
        check(&world, "allowed/none.txt", "missing");
        check(&world, "allowed/../allowed/none.txt", "missing");
        check(&world, "allowed-not/secret.txt", "forbidden");
        check(&world, "allowed-not/none.txt", "forbidden");
        check(&world, "allowed/../allowed-not/secret.txt", "forbidden");
        check(&world, "allowed/way-out/secret.txt", "forbidden");
        check(&world, "allowed/link.txt", "forbidden");
        check(&world, "", "forbidden");
        assert!(world.roots.locate(&Caller::local_admin(), "relative.txt").is_err());
        assert!(world.roots.locate(&Caller::local_admin(), "/a\0b").is_err());
        assert!(world.roots.locate(&Caller::local_admin(), &"/x".repeat(4096)).is_err());
    }

    #[test]
    fn a_file_is_opened_beneath_its_root_or_not_at_all() {
        let world = world();
        let root = &world.roots.all()[0];
        assert_eq!(root.read_beneath(Path::new("inside.txt"), 10).unwrap(), b"in");
        assert_eq!(root.read_beneath(Path::new("alias.txt"), 10).unwrap(), b"in");
        for escape in
            ["link.txt", "way-out/secret.txt", "../allowed-not/secret.txt", "/etc/hostname", "sub"]
        {
            assert!(root.read_beneath(Path::new(escape), 10).is_err(), "{escape}");
        }
        assert!(root.read_beneath(Path::new("inside.txt"), 1).is_err());
    }

    #[test]
    fn a_root_that_a_caller_may_not_use_does_not_exist() {
        let world = world();
        let path = world.folder.path().join("allowed");
        let access = Access { tenants: vec![], roles: vec!["finance".to_owned()] };
        let config = RootConfig::Restricted { path: path.clone(), allow: access };
        let roots = Roots::open(&[config], Path::new("/")).unwrap();
        let mut caller = Caller::local_admin();
        caller.identity = model::Identity::Key;
        assert!(roots.visible(&caller).is_empty());
        assert!(matches!(
            roots.locate(&caller, path.to_str().unwrap()),
            Err(Error::Forbidden { .. })
        ));
    }
}
