//! Where things are: the root of the clone, the folders that builds and test beds use.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Gives the root of the clone, independent of the folder the chore was started from.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Gives the folder that builds go to, as cargo itself would choose it.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) if !folder.is_empty() => root().join(folder),
        _ => root().join("target"),
    }
}

/// Gives the name that rustc has for this platform.
pub(crate) fn host() -> anyhow::Result<String> {
    let shell = xshell::Shell::new()?;
    let version = xshell::cmd!(shell, "rustc -vV").quiet().read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names the host")?.to_owned())
}

/// Gives the files of the clone that git tracks or would track, relative to the root, sorted.
pub(crate) fn files() -> anyhow::Result<Vec<PathBuf>> {
    let shell = xshell::Shell::new()?;
    shell.change_dir(root());
    let listing = xshell::cmd!(shell, "git ls-files --cached --others --exclude-standard")
        .quiet()
        .read()
        .context("the chores read the list of files from git")?;
    let mut files: Vec<PathBuf> =
        listing.lines().map(PathBuf::from).filter(|path| root().join(path).is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}
