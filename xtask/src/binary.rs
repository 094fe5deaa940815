//! The binary under test, built as developers build it, with or without the fixtures.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, Limit};
use crate::project;

/// How long the binary may take to build, after the tests have built most of it.
const BUILD: Limit = Limit::minutes("build of the binary", 30);

/// Which binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What users get.
    Shipped,
    /// The same with the tools, prompts and resources that the conformance suite calls by name.
    WithFixtures,
}

/// Builds the binary and gives the path of a copy that later builds leave alone.
pub(crate) fn build(kind: Kind) -> anyhow::Result<PathBuf> {
    let mut command = Command::new("cargo");
    // Over the whole workspace, so that dependencies have the same features as in the tests and
    // are not compiled a second time.
    command.args(["build", "--quiet", "--workspace", "--bin", "dowse", "--locked"]);
    let name = match kind {
        Kind::Shipped => "dowse",
        Kind::WithFixtures => {
            command.args(["--features", "dowse/conformance"]);
            "dowse-with-fixtures"
        }
    };
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    let folder = project::target_dir().join("xtask");
    fs_err::create_dir_all(&folder)?;
    let copy = folder.join(name);
    // A copy over a running program would fail; removing its name does not disturb it.
    if copy.exists() {
        fs_err::remove_file(&copy)?;
    }
    fs_err::copy(project::target_dir().join("debug/dowse"), &copy)?;
    Ok(copy)
}
