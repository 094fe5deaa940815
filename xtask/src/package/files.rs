//! What can only be checked on paper here: versions and names that must agree, the image file, the
//! Homebrew formula, and the description for the registry of MCP servers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::cmd;

use super::PACKAGE;
use super::tools::Tools;
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::Testbed;

/// How long the linter may take.
const LINT: Limit = Limit::minutes("hadolint", 10);
/// How long the parser of Ruby, or the check against a schema, may take.
const PARSE: Limit = Limit::minutes("check of a description", 10);

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
    // Clients run RUNNER IDENTIFIER ARGUMENTS, so that words in between reach the wrong program.
    for package in packages {
        let words = &package["runtimeArguments"];
        anyhow::ensure!(words.is_null(), "server.json has `runtimeArguments` {words}");
    }
    check_platforms(&npm, &bundle)?;
    // By these the registry of MCP servers sees that the packages belong to the server.
    let server_name = server["name"].as_str().unwrap_or_default();
    anyhow::ensure!(
        npm["mcpName"] == server_name,
        "packaging/npm/package.json says `mcpName` {}, server.json `{server_name}`",
        npm["mcpName"]
    );
    let readme = fs_err::read_to_string(project::root().join("README.md"))?;
    anyhow::ensure!(
        readme.contains(&format!("mcp-name: {server_name} ")),
        "README.md, which the wheel carries, does not say `mcp-name: {server_name}`"
    );
    let formula = fs_err::read_to_string(project::root().join(FORMULA))?;
    anyhow::ensure!(formula.contains(&format!("/v{version}.tar.gz\"")), "{FORMULA}: its version");
    Ok(())
}

/// Compares the platforms that packages name with those that a release builds.
fn check_platforms(npm: &Value, bundle: &Value) -> anyhow::Result<()> {
    let workflow = fs_err::read_to_string(project::root().join(".github/workflows/release.yml"))?;
    let named = workflow.lines().filter_map(|line| line.split_once(", npm: "));
    let built: BTreeSet<&str> = named.map(|(_, rest)| rest.trim_end_matches(['}', ' '])).collect();
    anyhow::ensure!(!built.is_empty(), "the release builds for no platform");
    let packages: BTreeSet<String> =
        built.iter().map(|platform| format!("{PACKAGE}-{platform}")).collect();
    let wanted: BTreeSet<String> = npm["optionalDependencies"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|it| it.0.clone())
        .collect();
    anyhow::ensure!(
        wanted == packages,
        "packaging/npm/package.json wants {wanted:?}, a release has {packages:?}"
    );
    let systems: BTreeSet<&str> =
        built.iter().map(|it| it.split_once('-').map_or(*it, |(system, _)| system)).collect();
    let claimed: BTreeSet<&str> = bundle["compatibility"]["platforms"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    anyhow::ensure!(
        claimed == systems,
        "packaging/mcpb/manifest.json claims {claimed:?}, a release has {systems:?}"
    );
    Ok(())
}

/// Where the Homebrew formula is.
const FORMULA: &str = "packaging/homebrew/dowse-search.rb";

/// Parses the Homebrew formula; installing it needs Homebrew and a published archive.
pub(super) fn parse_formula(bed: &Testbed, tools: &Tools) -> anyhow::Result<()> {
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let (node, modules) = (&bed.node, &tools.node_modules);
    let parse =
        cmd!(shell, "{node} --no-warnings xtask/testbed/parse_ruby.mjs {modules} {FORMULA}");
    process::run(parse, PARSE)
}

/// Checks `server.json` against the schema that it names: a file, or what its address gives.
pub(super) fn check_registry(tools: &Tools, schema: Option<PathBuf>) -> anyhow::Result<()> {
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let server: Value =
        serde_json::from_slice(&fs_err::read(project::root().join("server.json"))?)?;
    let address = server["$schema"].as_str().unwrap_or_default();
    let work = testkit::Folder::new();
    let schema = match schema {
        Some(schema) => schema,
        None => {
            let file = work.join("server.schema.json");
            if !download(&shell, address, &file)? {
                eprintln!("  server.json: not checked, since {address} cannot be reached");
                eprintln!("  hint: give the schema with `--server-schema FILE`");
                return Ok(());
            }
            file
        }
    };
    let python = &tools.python;
    let check = cmd!(shell, "{python} xtask/testbed/check_schema.py {schema} server.json");
    process::run(check, PARSE)?;
    eprintln!("  server.json is as its schema wants it");
    Ok(())
}

fn download(shell: &xshell::Shell, address: &str, file: &Path) -> anyhow::Result<bool> {
    let get =
        cmd!(shell, "curl --silent --fail --location --max-time 20 --output {file} {address}");
    Ok(process::read(get, PARSE)?.status.success())
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
