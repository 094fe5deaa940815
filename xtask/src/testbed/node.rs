//! Node 22 and the npm packages.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::cmd;

use super::stamp;
use crate::process::{self, Limit};
use crate::project;

/// The version of node that is installed; the suite needs 22, the inspector 22.19.
const NODE_VERSION: &str = "22.23.3";
/// How long npm may take to fetch node itself.
const NODE_INSTALL: Limit = Limit::minutes("installation of node", 5);
/// How long npm may take to fetch the clients and the suite.
const PACKAGES_INSTALL: Limit = Limit::minutes("installation of the npm packages", 10);

/// Installs node from the npm package that carries the binary, and gives the program's path.
///
/// The package of the platform is asked for by name: the package `node` would choose it in an
/// install script, and npm is about to stop running those unasked.
pub(super) fn install_node(folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder.join("node");
    let package = format!("node-{}", platform()?);
    let wanted = format!("{package}@{NODE_VERSION}");
    stamp::once(&folder, &wanted, || {
        anyhow::ensure!(
            process::exists("npm"),
            "`npm` is needed to fetch node {NODE_VERSION}; hint: install your system's `npm` package"
        );
        eprintln!("testbed: installing {wanted}");
        let shell = xshell::Shell::new()?;
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-save --loglevel=error --prefix {folder} {wanted}"
        );
        process::run(install, NODE_INSTALL)
    })?;
    let node = folder.join("node_modules").join(package).join("bin/node");
    anyhow::ensure!(node.is_file(), "npm installed `{wanted}` without `{}`", node.display());
    Ok(node)
}

/// Installs the packages of `xtask/testbed/package.json` and gives their `node_modules`.
pub(super) fn install_packages(folder: &Path, node: &Path) -> anyhow::Result<PathBuf> {
    let manifest = project::root().join("xtask/testbed/package.json");
    let wanted = fs_err::read_to_string(&manifest)?;
    let folder = folder.join("npm");
    stamp::once(&folder, &wanted, || {
        eprintln!("testbed: installing the packages of xtask/testbed/package.json");
        fs_err::copy(&manifest, folder.join("package.json"))?;
        let shell = xshell::Shell::new()?;
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-package-lock --loglevel=error --prefix {folder}"
        )
        .env("PATH", path_with(node)?);
        process::run(install, PACKAGES_INSTALL)
    })?;
    Ok(folder.join("node_modules"))
}

/// Gives a `PATH` on which `node` is the installed one, for programs that start node themselves.
pub(crate) fn path_with(node: &Path) -> anyhow::Result<std::ffi::OsString> {
    let bin = node.parent().context("node is in a folder")?.to_owned();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&inherited)))?)
}

/// Gives the name of this platform in npm packages.
pub(crate) fn platform() -> anyhow::Result<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Ok("linux-x64"),
        ("linux", "aarch64") => Ok("linux-arm64"),
        ("macos", "x86_64") => Ok("darwin-x64"),
        ("macos", "aarch64") => Ok("darwin-arm64"),
        (os, arch) => anyhow::bail!("no npm package carries node for `{os}` on `{arch}`"),
    }
}
