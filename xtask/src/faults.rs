//! Several servers over one PostgreSQL and a Qdrant cluster, with faults that last longer and come
//! more often than in CI: `cargo xtask faults`.

use std::process::Command;

use crate::process::{self, Limit};
use crate::{project, testbed};

/// How long all of it may take, the build included.
const FAULTS: Limit = Limit::minutes("tests of faults", 60);

/// Runs the tests of several servers in their long form.
pub(crate) fn run() -> anyhow::Result<()> {
    let testbed = testbed::prepare()?;
    let mut command = Command::new("cargo");
    command
        .args(["test", "--package", "dowse", "--test", "it", "--locked", "servers::"])
        // Each starts several servers and databases of its own.
        .args(["--", "--test-threads", "1"])
        .current_dir(project::root())
        .envs(testbed.variables())
        .env("DOWSE_FAULTS", "long");
    process::run(command, FAULTS)
}
