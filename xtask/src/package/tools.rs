//! The tools that packages are built and checked with, installed by package name outside the clone.

use std::path::PathBuf;

use testkit::bed;
use xshell::cmd;

use crate::process::{self, Limit};
use crate::project;
use crate::testbed::{Testbed, path_with, stamp};

/// The version of the bundle's tool.
const MCPB: &str = "@anthropic-ai/mcpb@2.1.2";
/// The parser of Ruby, compiled for node: the Homebrew formula is read without a Ruby.
const PRISM: &str = "@ruby/prism@1.9.0";
/// How long the tools may take to install.
const INSTALL: Limit = Limit::minutes("installation of the packaging tools", 10);

pub(super) struct Tools {
    /// A Python with maturin, `wheel`, `jsonschema` and the rules of CycloneDX.
    pub(super) python: PathBuf,
    /// What runs a Python package without installing it.
    pub(super) uvx: PathBuf,
    /// The linter of image files.
    pub(super) hadolint: PathBuf,
    /// The script of the bundle's tool, run by node.
    pub(super) mcpb: PathBuf,
    /// Where the parser of Ruby is, for node.
    pub(super) node_modules: PathBuf,
}

/// Installs what is missing.
pub(super) fn install(bed: &Testbed) -> anyhow::Result<Tools> {
    let shell = xshell::Shell::new()?;
    let folder = bed::folder().join("packaging-python");
    let python = folder.join("bin/python");
    let requirements = project::root().join("xtask/testbed/packaging.txt");
    stamp::once(&folder, &fs_err::read_to_string(&requirements)?, || {
        process::run(cmd!(shell, "python3 -m venv {folder}"), INSTALL)?;
        let install = cmd!(
            shell,
            "{python} -m pip install --quiet --disable-pip-version-check --requirement {requirements}"
        );
        process::run(install, INSTALL)
    })?;
    let npm = bed::folder().join("packaging-npm");
    stamp::once(&npm, &format!("{MCPB} {PRISM}"), || {
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-save --loglevel=error --prefix {npm} {MCPB} {PRISM}"
        )
        .env("PATH", path_with(&bed.node)?);
        process::run(install, INSTALL)
    })?;
    let node_modules = npm.join("node_modules");
    let mcpb = node_modules.join("@anthropic-ai/mcpb/dist/cli/cli.js");
    let (hadolint, uvx) = (folder.join("bin/hadolint"), folder.join("bin/uvx"));
    Ok(Tools { hadolint, uvx, python, mcpb, node_modules })
}
