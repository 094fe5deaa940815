//! Measurements: `dowse bench` of a release build, since figures of other builds mean nothing.

use std::process::Command;

use crate::process::{self, Limit};
use crate::project;

/// How long a release build and its benches may take.
const BENCH: Limit = Limit::minutes("bench", 60);

/// Builds the release binary and hands the names to `dowse bench`, which lists what there is.
pub(crate) fn run(names: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "dowse", "--", "bench"]).args(names);
    command.current_dir(project::root());
    process::run(command, BENCH)
}
