//! What the rules look at: the members of the workspace, the packages under them, the files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand};

use super::crates::CrateTable;
use crate::project;

/// Everything that is read once and then only looked at.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(super) table: CrateTable,
    pub(super) members: Vec<Member>,
    /// Foreign packages as `name version`, with the licence each declares.
    pub(super) licences: BTreeMap<String, Option<String>>,
    /// Every text file, by its path relative to the root.
    pub(super) files: BTreeMap<String, String>,
}

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    pub(super) name: String,
    /// The folder of the crate, relative to the root.
    pub(super) folder: String,
    pub(super) uses: Vec<Use>,
}

/// One line under `[dependencies]` and its kin.
#[derive(Debug)]
pub(crate) struct Use {
    pub(super) name: String,
    /// The name that sources write: the library's, which may differ from the package's.
    pub(super) word: String,
    pub(super) kind: UseKind,
    /// Whether the used crate is a crate of this workspace.
    pub(super) is_member: bool,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UseKind {
    Product,
    Tests,
    Build,
}

/// The largest file that is read; what is larger is data.
const MAX_TEXT_BYTES: u64 = 2 << 20;

impl Workspace {
    /// Reads the clone that this program was built from.
    pub(crate) fn look() -> anyhow::Result<Workspace> {
        let root = project::root();
        let table = fs_err::read_to_string(root.join("xtask/crates.toml"))?;
        let table: CrateTable = toml::from_str(&table).context("xtask/crates.toml")?;
        // Packages of other systems need not be on this machine.
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--filter-platform".to_owned(), project::host()?])
            .exec()?;
        let members = metadata.workspace_packages().into_iter().map(|package| Member {
            name: package.name.to_string(),
            folder: package
                .manifest_path
                .parent()
                .and_then(|folder| folder.strip_prefix(&metadata.workspace_root).ok())
                .map(ToString::to_string)
                .unwrap_or_default(),
            uses: package.dependencies.iter().map(|used| use_of(&metadata, used)).collect(),
        });
        let members = members.collect();
        let resolve = metadata.resolve.as_ref().context("cargo metadata resolves packages")?;
        let licences = resolve
            .nodes
            .iter()
            .map(|node| &metadata[&node.id])
            .filter(|package| package.source.is_some())
            .map(|package| {
                (format!("{} {}", package.name, package.version), package.license.clone())
            })
            .collect();
        Ok(Workspace { table, members, licences, files: text_files()? })
    }

    /// Gives the Rust sources, path and text.
    pub(super) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Tells whether a file or folder of this path is in the clone.
    pub(super) fn holds(&self, path: &str) -> bool {
        project::root().join(path).exists()
    }
}

fn use_of(metadata: &Metadata, dependency: &Dependency) -> Use {
    let package = metadata.packages.iter().find(|package| package.name == dependency.name);
    let library = package
        .and_then(|package| {
            package.targets.iter().find(|target| target.is_lib() || target.is_proc_macro())
        })
        .map(|target| &target.name);
    let word = dependency.rename.as_ref().or(library).unwrap_or(&dependency.name);
    Use {
        name: dependency.name.clone(),
        word: word.replace('-', "_"),
        kind: match dependency.kind {
            DependencyKind::Development => UseKind::Tests,
            DependencyKind::Build => UseKind::Build,
            DependencyKind::Normal | DependencyKind::Unknown => UseKind::Product,
        },
        is_member: dependency.source.is_none(),
    }
}

fn text_files() -> anyhow::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for path in project::files()? {
        let full: PathBuf = project::root().join(&path);
        if fs_err::metadata(&full)?.len() > MAX_TEXT_BYTES {
            continue;
        }
        // What is not UTF-8 is no text, and no rule is about it.
        if let Ok(text) = String::from_utf8(fs_err::read(&full)?) {
            files.insert(path.to_string_lossy().into_owned(), text);
        }
    }
    Ok(files)
}
