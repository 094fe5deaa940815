//! A Python environment with the `mcp` client and a PostgreSQL that starts without root.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::cmd;

use super::stamp;
use crate::process::{self, Limit};
use crate::project;

/// How long the virtual environment and its packages may take.
const PYTHON_INSTALL: Limit = Limit::minutes("installation of the Python packages", 10);
/// How long Python may take to say where a package is.
const PYTHON_ANSWER: Limit = Limit::minutes("a question to Python", 1);

/// Makes the environment and gives its interpreter.
pub(super) fn install(folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder.join("python");
    let python = folder.join("bin/python");
    let requirements = project::root().join("xtask/testbed/requirements.txt");
    let wanted = fs_err::read_to_string(&requirements)?;
    stamp::once(&folder, &wanted, || {
        anyhow::ensure!(
            process::exists("python3"),
            "`python3` is needed for the Python client and PostgreSQL; hint: install your system's `python3` and `python3-venv` packages"
        );
        eprintln!("testbed: installing the packages of xtask/testbed/requirements.txt");
        let shell = xshell::Shell::new()?;
        process::run(cmd!(shell, "python3 -m venv {folder}"), PYTHON_INSTALL)?;
        let install = cmd!(
            shell,
            "{python} -m pip install --quiet --disable-pip-version-check --requirement {requirements}"
        );
        process::run(install, PYTHON_INSTALL)
    })?;
    Ok(python)
}

/// Finds the folder with `initdb` and `postgres` inside the installed wheel.
pub(super) fn postgres_bin(python: &Path) -> anyhow::Result<PathBuf> {
    let shell = xshell::Shell::new()?;
    let question = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let answer = process::read(cmd!(shell, "{python} -c {question}"), PYTHON_ANSWER)?;
    let packages = PathBuf::from(answer.stdout.trim());
    let initdb = find_file(&packages, "initdb")
        .with_context(|| format!("no `initdb` below `{}`", packages.display()))?;
    let bin = initdb.parent().context("a file stands in a folder")?;
    if rustix::process::geteuid().is_root() { readable_copy(bin) } else { Ok(bin.to_owned()) }
}

/// Copies the installation to where an unprivileged user can run it.
///
/// PostgreSQL refuses to run as root, and root's cache folder is usually closed to others.
fn readable_copy(bin: &Path) -> anyhow::Result<PathBuf> {
    let installation = bin.parent().context("`bin` stands in an installation")?;
    let copy = std::env::temp_dir().join("dowse-testbed-postgres");
    let requirements = project::root().join("xtask/testbed/requirements.txt");
    stamp::once(&copy, &fs_err::read_to_string(requirements)?, || {
        let shell = xshell::Shell::new()?;
        process::run(cmd!(shell, "cp -R {installation}/. {copy}"), PYTHON_ANSWER)?;
        process::run(cmd!(shell, "chmod -R a+rX {copy}"), PYTHON_ANSWER)
    })?;
    Ok(copy.join("bin"))
}

fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs_err::read_dir(folder).ok()?.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if entry.file_name() == name {
                return Some(entry.path());
            }
        }
    }
    None
}
