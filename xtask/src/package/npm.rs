//! The npm packages: one with the launcher, one with the binary of this platform; packed,
//! installed into an empty folder, started.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use xshell::cmd;

use super::{PACKAGE, emptied, place, session};
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::{Testbed, path_with, platform};

/// How long npm may take to pack or install.
const NPM: Limit = Limit::minutes("npm", 20);

pub(super) fn run(bed: &Testbed, binary: &Path, out: &Path, version: &str) -> anyhow::Result<()> {
    emptied(out)?;
    let shell = xshell::Shell::new()?;
    shell.set_var("PATH", path_with(&bed.node)?);
    let source = project::root().join("packaging/npm");
    let work = testkit::Folder::new();
    let platform = platform()?;

    let own = work.join("platform");
    place(binary, &own.join("dowse"))?;
    let name = format!("{PACKAGE}-{platform}");
    let (os, cpu) = platform.split_once('-').unwrap_or((platform, ""));
    let manifest: Value = serde_json::from_slice(&fs_err::read(source.join("package.json"))?)?;
    let described = json!({
        "name": name,
        "version": version,
        "description": format!("The binary of {PACKAGE} for {platform}"),
        "license": manifest["license"],
        "os": [os],
        "cpu": [cpu],
        "files": ["dowse"],
    });
    fs_err::write(own.join("package.json"), serde_json::to_vec_pretty(&described)?)?;
    let binary_package = pack(&shell, &own, out)?;

    let launcher = work.join("launcher");
    fs_err::create_dir_all(launcher.join("bin"))?;
    for file in ["package.json", "README.md", "bin/dowse.js"] {
        fs_err::copy(source.join(file), launcher.join(file))?;
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs_err::copy(project::root().join(file), launcher.join(file))?;
    }
    let launcher_package = pack(&shell, &launcher, out)?;

    let clean = work.join("clean");
    fs_err::create_dir_all(&clean)?;
    // Without the other platforms' packages, which nobody has published yet.
    let install = cmd!(
        shell,
        "npm install --no-audit --no-fund --omit=optional --offline --loglevel=error --prefix {clean} {binary_package} {launcher_package}"
    );
    process::run(install, NPM)?;
    let mut command = Command::new(clean.join("node_modules/.bin/dowse-search"));
    command.env("PATH", path_with(&bed.node)?);
    session::answers(command)
}

fn pack(shell: &xshell::Shell, folder: &Path, out: &Path) -> anyhow::Result<PathBuf> {
    let pack = cmd!(shell, "npm pack --json --loglevel=error --pack-destination {out} {folder}");
    let packed = process::read(pack, NPM)?;
    anyhow::ensure!(packed.status.success(), "npm pack failed: {}", packed.stderr);
    let listed: Value = serde_json::from_str(&packed.stdout)?;
    // Newer versions of npm give an object by package name, older ones a list.
    let first = listed.get(0).or_else(|| listed.as_object().and_then(|it| it.values().next()));
    let name = first.and_then(|package| package["filename"].as_str()).unwrap_or_default();
    Ok(out.join(name))
}
