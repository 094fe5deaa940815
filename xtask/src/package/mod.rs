//! `cargo xtask package`: every package around the one binary, each installed and started.
//!
//! Nothing is published. A package that can be built here is installed into a clean place and has
//! to answer a search over pipes; what can only be checked on paper (the image, the formula,
//! the registry's description) is validated by its own tool or by the facts that must agree. Beside
//! them is a bill of materials of the binary.

mod bundle;
mod files;
mod npm;
mod sbom;
mod session;
mod system;
mod tools;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Limit};
use crate::{project, testbed};

/// How long a release build may take from nothing.
const BUILD: Limit = Limit::minutes("build of the release binary", 60);

/// The name of every package; the plain name belongs to other projects.
const PACKAGE: &str = "dowse-search";

/// Builds, installs and starts all packages.
///
/// `--binary FILE` packages a binary that is there, such as one of the dist profile; otherwise the
/// release binary is built. `--out FOLDER` says where packages go, `--server-schema FILE` has the
/// schema of `server.json` where its address cannot be reached.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (mut binary, mut out) = (None, project::target_dir().join("package"));
    let mut schema = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (*argument, rest.next()) {
            ("--binary", Some(path)) => binary = Some(std::path::absolute(path)?),
            ("--out", Some(path)) => out = std::path::absolute(path)?,
            ("--server-schema", Some(path)) => schema = Some(std::path::absolute(path)?),
            (other, _) => anyhow::bail!(
                "`{other}` is not understood: expected `--binary FILE`, `--out FOLDER` or \
                 `--server-schema FILE`"
            ),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => release_binary()?,
    };
    let version = version()?;
    let bed = testbed::prepare()?;
    let tools = tools::install(&bed)?;
    fs_err::create_dir_all(&out)?;
    files::check_versions(&version)?;
    system::check(&binary)?;
    eprintln!("── wheel");
    wheel::run(&tools, &binary, &out.join("wheels"), &version)?;
    eprintln!("── npm");
    npm::run(&bed, &binary, &out.join("npm"), &version)?;
    eprintln!("── bundle");
    bundle::run(&bed, &tools, &binary, &out.join("mcpb"))?;
    eprintln!("── bill of materials");
    sbom::run(&tools, &out.join("sbom"), &version)?;
    eprintln!("── image");
    files::lint_image(&tools)?;
    eprintln!("── descriptions");
    files::parse_formula(&bed, &tools)?;
    files::check_registry(&tools, schema)?;
    eprintln!("packages are in {}", out.display());
    Ok(())
}

fn release_binary() -> anyhow::Result<PathBuf> {
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--locked", "--package", "dowse", "--bin", "dowse"]);
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    Ok(project::target_dir().join("release/dowse"))
}

/// Reads the version from the workspace, where it is said once.
fn version() -> anyhow::Result<String> {
    let manifest = fs_err::read_to_string(project::root().join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse()?;
    let version = manifest
        .get("workspace")
        .and_then(|table| table.get("package"))
        .and_then(|table| table.get("version"))
        .and_then(toml::Value::as_str);
    Ok(version.ok_or_else(|| anyhow::anyhow!("the workspace has no version"))?.to_owned())
}

/// Copies a file and makes it executable.
fn place(binary: &Path, target: &Path) -> anyhow::Result<()> {
    if let Some(folder) = target.parent() {
        fs_err::create_dir_all(folder)?;
    }
    // The copy keeps the permissions of the original.
    fs_err::copy(binary, target)?;
    Ok(())
}

/// Makes an empty folder.
fn emptied(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    fs_err::create_dir_all(folder)?;
    Ok(())
}
