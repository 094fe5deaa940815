//! The bill of materials: every package that the binary of this platform is made of, in CycloneDX.
//!
//! It is what cargo resolves for this platform, beginning at the binary's own package: what only
//! tests and chores need is not in it, and what runs at build time alone is marked as excluded.
//! It has no time and no random number, so that the same sources give the same file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use serde_json::{Value, json};
use xshell::cmd;

use super::tools::Tools;
use super::{PACKAGE, emptied};
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::platform;

/// How long the check against the format's own rules may take.
const CHECK: Limit = Limit::minutes("check of the bill of materials", 20);
/// The version of the format.
const SPEC: &str = "1.6";
/// The package whose binary is shipped.
const BINARY: &str = "dowse";

pub(super) fn run(tools: &Tools, out: &Path, version: &str) -> anyhow::Result<()> {
    emptied(out)?;
    let metadata = resolved()?;
    let sums = sums(&fs_err::read_to_string(project::root().join("Cargo.lock"))?)?;
    let bill = bill(&metadata, &sums, version)?;
    let file = out.join(format!("{PACKAGE}-{}.cdx.json", platform()?));
    fs_err::write(&file, serde_json::to_string_pretty(&bill)? + "\n")?;
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let python = &tools.python;
    process::run(cmd!(shell, "{python} xtask/testbed/check_sbom.py {SPEC} {file}"), CHECK)?;
    let n_components = bill["components"].as_array().map_or(0, Vec::len);
    eprintln!("  {n_components} packages, valid CycloneDX {SPEC}");
    Ok(())
}

/// Gives what cargo resolves for this platform; packages of others need not be on this machine.
fn resolved() -> anyhow::Result<Metadata> {
    let options = ["--locked".to_owned(), "--filter-platform".to_owned(), project::host()?];
    let manifest = project::root().join("Cargo.toml");
    Ok(MetadataCommand::new().manifest_path(manifest).other_options(options).exec()?)
}

/// Gives the sha256 of every package that came from a registry, by name and version.
fn sums(lock: &str) -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = lock.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let sum = |package: &toml::Value| {
        let text = |key: &str| package.get(key)?.as_str().map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(sum).collect())
}

fn bill(
    metadata: &Metadata,
    sums: &BTreeMap<(String, String), String>,
    version: &str,
) -> anyhow::Result<Value> {
    let resolve = metadata.resolve.as_ref().context("cargo resolved nothing")?;
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|it| (&it.id, it)).collect();
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let root = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name.as_str() == BINARY)
        .context("the workspace has no package of the binary")?;
    // What a package needs, and whether that is in the binary or runs at build time alone.
    let needs = |id: &PackageId| -> Vec<(&PackageId, bool)> {
        let deps = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        let of = deps.filter_map(|dep| {
            let has = |wanted| dep.dep_kinds.iter().any(|kind| kind.kind == wanted);
            let is_built_in = has(DependencyKind::Normal);
            (is_built_in || has(DependencyKind::Build)).then_some((&dep.pkg, is_built_in))
        });
        of.collect()
    };
    // Built-in packages first: what is reached in both ways is in the binary.
    let mut built_in = BTreeSet::from([&root.id]);
    let mut next = vec![&root.id];
    while let Some(id) = next.pop() {
        let found = needs(id).into_iter().filter(|(_, is_built_in)| *is_built_in);
        next.extend(found.map(|(id, _)| id).filter(|id| built_in.insert(id)));
    }
    let mut all = built_in.clone();
    next.extend(&built_in);
    while let Some(id) = next.pop() {
        next.extend(needs(id).into_iter().map(|(id, _)| id).filter(|id| all.insert(id)));
    }
    let mut listed: Vec<&Package> = all.iter().filter_map(|id| packages.get(id).copied()).collect();
    listed.sort_by(|one, other| {
        (one.name.as_str(), &one.version).cmp(&(other.name.as_str(), &other.version))
    });
    let components = listed.iter().filter(|package| package.id != root.id).map(|package| {
        let sum = sums.get(&(package.name.to_string(), package.version.to_string()));
        component(package, sum, built_in.contains(&package.id))
    });
    let dependencies = listed.iter().map(|package| {
        let needed: BTreeSet<String> = needs(&package.id)
            .into_iter()
            .filter_map(|(id, _)| packages.get(id).map(|package| reference(package)))
            .collect();
        json!({ "ref": reference(package), "dependsOn": needed })
    });
    let mut whole = component(root, None, true);
    whole["type"] = json!("application");
    whole["name"] = json!(PACKAGE);
    whole["version"] = json!(version);
    Ok(json!({
        "$schema": format!("http://cyclonedx.org/schema/bom-{SPEC}.schema.json"),
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": { "component": whole },
        "components": components.collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// Names a package as tools that look for vulnerabilities do.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package, sum: Option<&String>, is_built_in: bool) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name.to_string(),
        "version": package.version.to_string(),
        "purl": reference(package),
        "scope": if is_built_in { "required" } else { "excluded" },
    });
    component["licenses"] = match (&package.license, &package.license_file) {
        // Older packages write `/` for `OR`.
        (Some(expression), _) => json!([{ "expression": expression.replace('/', " OR ") }]),
        (None, Some(file)) => json!([{ "license": { "name": format!("see {file}") } }]),
        (None, None) => json!([]),
    };
    if let Some(sum) = sum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_has_what_is_in_the_binary_and_nothing_of_tests() {
        let metadata = resolved().unwrap();
        let lock = fs_err::read_to_string(project::root().join("Cargo.lock")).unwrap();
        let bill = bill(&metadata, &sums(&lock).unwrap(), "9.9.9").unwrap();
        let whole = &bill["metadata"]["component"];
        assert_eq!((&whole["name"], &whole["version"]), (&json!(PACKAGE), &json!("9.9.9")));
        let components = bill["components"].as_array().unwrap();
        let find = |name: &str| components.iter().find(|component| component["name"] == name);
        for own in ["serve", "store", "model"] {
            assert!(find(own).unwrap()["hashes"].is_null(), "{own}");
        }
        let foreign = find("tantivy").unwrap();
        assert_eq!(foreign["scope"], "required");
        assert_eq!(foreign["hashes"][0]["content"].as_str().unwrap().len(), 64);
        for of_tests in ["testkit", "xtask", "insta", "proptest", "dowse"] {
            assert!(find(of_tests).is_none(), "{of_tests}");
        }
        // Every reference leads to a package of the bill, and each is there once.
        let refs: Vec<&Value> = components.iter().chain([whole]).map(|it| &it["bom-ref"]).collect();
        let unique: BTreeSet<String> = refs.iter().map(ToString::to_string).collect();
        assert_eq!(unique.len(), refs.len());
        for dependency in bill["dependencies"].as_array().unwrap() {
            let needed = dependency["dependsOn"].as_array().unwrap();
            assert!(needed.iter().chain([&dependency["ref"]]).all(|one| refs.contains(&one)));
        }
        assert!(components.iter().all(|component| component["licenses"] != json!([])));
    }
}
