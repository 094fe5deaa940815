//! The coefficients of the score, fitted on judged sets by the program in `crates/fit`.

use std::process::Command;

use crate::process::{self, Limit};
use crate::project;

/// How long embedding the sets and fitting may take.
const FIT: Limit = Limit::minutes("fit", 240);

/// Builds the program and hands the arguments on.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "fit", "--"]).args(arguments);
    command.current_dir(project::root());
    process::run(command, FIT)
}
