//! Measurements: `dowse bench` of a release build, since figures of other builds mean nothing.

use std::process::Command;

use crate::process::{self, Limit};
use crate::{project, testbed};

/// How long a release build and its benches may take.
const BENCH: Limit = Limit::minutes("bench", 60);

/// Builds the release binary and hands the names to `dowse bench`, which lists what there is.
///
/// Lookups are measured beside pg_trgm: the PostgreSQL of the test bed runs as long as the bench.
pub(crate) fn run(names: &[&str]) -> anyhow::Result<()> {
    let is_of_lookups = names.first() == Some(&"lookup");
    let postgres = if is_of_lookups {
        testbed::prepare()?;
        testkit::Postgres::start()
    } else {
        None
    };
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "dowse", "--", "bench"]).args(names);
    command.current_dir(project::root());
    if let Some(postgres) = &postgres {
        command.env("DOWSE_BENCH_POSTGRES", postgres.url());
    }
    process::run(command, BENCH)
}
