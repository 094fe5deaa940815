//! The Python wheel: built by maturin or around a given binary, installed into a clean environment,
//! started from there and by `uvx`.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use xshell::cmd;

use super::tools::Tools;
use super::{PACKAGE, emptied, place, session};
use crate::process::{self, Limit};
use crate::project;

/// How long maturin may take; the binary is built already.
const WHEEL: Limit = Limit::minutes("build of the wheel", 60);
/// How long an environment with the wheel may take.
const INSTALL: Limit = Limit::minutes("installation of the wheel", 15);

pub(super) fn run(tools: &Tools, binary: &Path, out: &Path, version: &str) -> anyhow::Result<()> {
    emptied(out)?;
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let python = &tools.python;
    match profile(binary) {
        Some(profile) => {
            let build = cmd!(
                shell,
                "{python} -m maturin build --profile {profile} --locked --interpreter {python} --out {out}"
            );
            process::run(build, WHEEL)?;
        }
        None => stage(&shell, tools, binary, out, version)?,
    }
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
    session::answers(Command::new(environment.join("bin/dowse")))?;
    // The line that the README prints, with the file in the place of the name.
    let mut uvx = Command::new(&tools.uvx);
    uvx.args(["--quiet", "--offline", "--no-cache", "--from"]).arg(&wheel).arg("dowse");
    session::answers(uvx)?;
    // The line that clients make of `server.json`: runner, package, arguments.
    let mut uvx = Command::new(&tools.uvx);
    uvx.args(["--quiet", "--offline", "--no-cache", "--from"]).arg(&wheel).arg(PACKAGE);
    session::answers(uvx)?;
    connects_by_runner(tools, &wheel)
}

/// Holds that an entry which `dowse connect` makes for a client starts `uvx`, and not a file of its
/// cache, which is emptied.
fn connects_by_runner(tools: &Tools, wheel: &Path) -> anyhow::Result<()> {
    let folder = testkit::Folder::new();
    let mut uvx = Command::new(&tools.uvx);
    uvx.args(["--quiet", "--offline", "--no-cache", "--from"]).arg(wheel);
    uvx.args(["dowse", "connect", "cursor", "--json"]).arg(folder.path());
    let connected = process::read(uvx, INSTALL)?;
    anyhow::ensure!(connected.status.success(), "`connect` failed: {}", connected.stderr);
    let entry: serde_json::Value = serde_json::from_str(&connected.stdout)?;
    let command = &entry["entry"]["command"];
    anyhow::ensure!(command == "uvx", "`connect` under uvx writes the command {command}");
    Ok(())
}

/// Gives the profile by which cargo made the binary in this workspace, so that maturin finds it
/// built; none for a binary from anywhere else.
fn profile(binary: &Path) -> Option<&'static str> {
    let folder = binary.parent()?;
    if folder.parent()? != project::target_dir() {
        return None;
    }
    match folder.file_name()?.to_str()? {
        "dist" => Some("dist"),
        "debug" => Some("dev"),
        "release" => Some("release"),
        _ => None,
    }
}

/// Puts a binary that was built elsewhere into a wheel: maturin writes what describes the package,
/// `wheel` packs it. Its tag is that of this machine, not one that the Python registry takes.
fn stage(
    shell: &xshell::Shell,
    tools: &Tools,
    binary: &Path,
    out: &Path,
    version: &str,
) -> anyhow::Result<()> {
    let python = &tools.python;
    let work = testkit::Folder::new();
    let content = work.join("content");
    fs_err::create_dir_all(&content)?;
    let describe = cmd!(
        shell,
        "{python} -m maturin pep517 write-dist-info --locked --interpreter {python} --metadata-directory {content}"
    );
    process::run(describe, INSTALL)?;
    let data = format!("{}-{version}.data", PACKAGE.replace('-', "_"));
    let scripts = content.join(data).join("scripts");
    place(binary, &scripts.join("dowse"))?;
    place(&project::root().join("packaging/wheel/scripts").join(PACKAGE), &scripts.join(PACKAGE))?;
    process::run(cmd!(shell, "{python} -m wheel pack {content} --dest-dir {out}"), INSTALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary from elsewhere was answered with an hour of building another one.
    #[test]
    fn only_a_binary_of_this_workspace_is_built_again() {
        let target = project::target_dir();
        assert_eq!(profile(&target.join("dist/dowse")), Some("dist"));
        assert_eq!(profile(&target.join("debug/dowse")), Some("dev"));
        assert_eq!(profile(&target.join("release/dowse")), Some("release"));
        assert_eq!(profile(Path::new("/elsewhere/target/release/dowse")), None);
        assert_eq!(profile(&target.join("xtask/dowse")), None);
    }
}
