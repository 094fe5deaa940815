//! What can only be checked on paper here: versions and names that must agree, and the image file.

use serde_json::Value;
use xshell::cmd;

use super::PACKAGE;
use super::tools::Tools;
use crate::process::{self, Limit};
use crate::project;

/// How long the linter may take.
const LINT: Limit = Limit::minutes("hadolint", 2);

/// Compares the version and the name in every description of a package.
pub(super) fn check_versions(version: &str) -> anyhow::Result<()> {
    let read = |path: &str| -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&fs_err::read(project::root().join(path))?)?)
    };
    let npm = read("packaging/npm/package.json")?;
    let bundle = read("packaging/mcpb/manifest.json")?;
    let server = read("server.json")?;
    let mut said = vec![
        ("packaging/npm/package.json", npm["version"].clone()),
        ("packaging/mcpb/manifest.json", bundle["version"].clone()),
        ("server.json", server["version"].clone()),
    ];
    let packages = server["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    said.extend(packages.iter().map(|package| ("server.json", package["version"].clone())));
    let others = npm["optionalDependencies"].as_object().into_iter().flatten();
    said.extend(others.map(|(_, version)| ("packaging/npm/package.json", version.clone())));
    for (file, found) in said {
        anyhow::ensure!(found == version, "{file} says version {found}, the workspace {version}");
    }
    for (file, name) in [
        ("packaging/npm/package.json", &npm["name"]),
        ("packaging/mcpb/manifest.json", &bundle["name"]),
    ] {
        anyhow::ensure!(name == PACKAGE, "{file} is called {name}, expected `{PACKAGE}`");
    }
    for package in packages {
        let name = &package["identifier"];
        anyhow::ensure!(name == PACKAGE, "server.json names {name}, expected `{PACKAGE}`");
    }
    Ok(())
}

/// Lints the image file; building it needs a container engine, which need not be here.
pub(super) fn lint_image(tools: &Tools) -> anyhow::Result<()> {
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let hadolint = &tools.hadolint;
    process::run(cmd!(shell, "{hadolint} Dockerfile"), LINT)
}

#[cfg(test)]
mod tests {
    #[test]
    fn descriptions_agree_with_the_workspace() {
        super::check_versions(&super::super::version().unwrap()).unwrap();
    }
}
