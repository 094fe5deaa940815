//! The Python wheel: built by maturin, installed into a clean environment, started.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use xshell::cmd;

use super::tools::Tools;
use super::{PACKAGE, emptied, session};
use crate::process::{self, Limit};
use crate::project;

/// How long maturin may take; the binary is built already.
const WHEEL: Limit = Limit::minutes("build of the wheel", 60);
/// How long an environment with the wheel may take.
const INSTALL: Limit = Limit::minutes("installation of the wheel", 5);

pub(super) fn run(tools: &Tools, binary: &Path, out: &Path, version: &str) -> anyhow::Result<()> {
    emptied(out)?;
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    // The profile whose folder the binary is in, so that cargo finds it built.
    let profile = binary.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let profile = match &*profile {
        "dist" => "dist",
        "debug" => "dev",
        _ => "release",
    };
    let python = &tools.python;
    let build = cmd!(
        shell,
        "{python} -m maturin build --profile {profile} --locked --interpreter {python} --out {out}"
    );
    process::run(build, WHEEL)?;
    let wheel = fs_err::read_dir(out)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .context("maturin made no wheel")?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let expected = format!("{}-{version}-", PACKAGE.replace('-', "_"));
    anyhow::ensure!(name.starts_with(&expected), "the wheel is called `{name}`");
    let clean = testkit::Folder::new();
    let environment = clean.join("environment");
    process::run(cmd!(shell, "{python} -m venv {environment}"), INSTALL)?;
    let pip = environment.join("bin/python");
    process::run(
        cmd!(shell, "{pip} -m pip install --quiet --no-index --disable-pip-version-check {wheel}"),
        INSTALL,
    )?;
    session::answers(Command::new(environment.join("bin/dowse")))
}
