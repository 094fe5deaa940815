//! The official MCP conformance suite against the real binary: `cargo xtask conformance`.
//!
//! Two binaries, two revisions each. With the fixtures that the suite calls by name (cargo feature
//! `conformance`, same router and middleware) nothing may fail. The shipped binary has no such
//! fixtures, so what fails there is listed in `xtask/conformance/`, and the suite is strict both
//! ways: a new failure and a listed one that passes are both errors. The suite calls an empty run
//! a success, so scenarios and passes are counted here as well.

mod summary;

use std::path::PathBuf;
use std::process::Command;

use testkit::{Folder, Server};

use crate::binary::{self, Kind};
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::Testbed;
use summary::Summary;

/// How long one run of the suite may take.
const SUITE: Limit = Limit::minutes("one run of the conformance suite", 10);

/// A revision of MCP, and what the pinned suite has for it.
struct Revision {
    name: &'static str,
    n_scenarios: usize,
    /// Checks that pass when every fixture is there; fewer means that something was left out.
    n_checks: usize,
}

/// The revisions that are tested: the last one of each era.
const REVISIONS: [Revision; 2] = [
    Revision { name: "2025-11-25", n_scenarios: 33, n_checks: 83 },
    Revision { name: "2026-07-28", n_scenarios: 40, n_checks: 152 },
];

/// The configuration under test: everything as shipped, apart from rates, since the suite is
/// faster than any agent.
const CONFIG: &str = "\
data_dir = \"data\"

[limits]
rate_per_minute = { default = 1000000 }
";

/// Builds both binaries and runs the suite on them; gives one closing line for each run.
pub(crate) fn run(testbed: &Testbed) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for kind in [Kind::WithFixtures, Kind::Shipped] {
        let binary = binary::build(kind)?;
        let folder = Folder::new();
        let config = folder.write("dowse.toml", CONFIG);
        for revision in &REVISIONS {
            let server = Server::start_with_config(&binary, &config);
            server.wait_until_ready();
            let summary = run_suite(testbed, kind, revision.name, &server.url("/mcp"))?;
            check_counts(kind, revision, &summary)?;
            let line = closing_line(kind, revision.name, &summary);
            eprintln!("{line}");
            lines.push(line);
        }
    }
    Ok(lines)
}

fn run_suite(testbed: &Testbed, kind: Kind, revision: &str, url: &str) -> anyhow::Result<Summary> {
    let suite = testbed.node_modules.join("@modelcontextprotocol/conformance/dist/index.js");
    let mut command = Command::new(&testbed.node);
    command.arg(suite).args(["server", "--url", url, "--suite", "all"]);
    command.args(["--spec-version", revision]);
    command.arg("--output-dir").arg(results(kind, revision)?);
    if kind == Kind::Shipped {
        command.arg("--expected-failures").arg(expected_failures(revision));
    }
    let finished = process::read(command, SUITE)?;
    let summary = Summary::parse(&finished.stdout);
    let is_good = finished.status.success()
        && summary.as_ref().is_some_and(|summary| summary.n_passed > 0)
        && (kind == Kind::Shipped || summary.as_ref().is_some_and(|summary| summary.n_failed == 0));
    match summary {
        Some(summary) if is_good => Ok(summary),
        _ => anyhow::bail!(
            "conformance at {revision}, {}: {}\n{}\n{}",
            name(kind),
            finished.status,
            summary::last_part(&finished.stdout),
            finished.stderr
        ),
    }
}

/// Holds a run to the numbers of the pinned suite.
fn check_counts(kind: Kind, revision: &Revision, summary: &Summary) -> anyhow::Result<()> {
    let Revision { name, n_scenarios, n_checks } = revision;
    anyhow::ensure!(
        summary.n_scenarios >= *n_scenarios,
        "the suite ran {} scenarios at {name} and has {n_scenarios}",
        summary.n_scenarios
    );
    let is_complete = summary.n_passed >= *n_checks && summary.n_empty == 0;
    anyhow::ensure!(
        kind == Kind::Shipped || is_complete,
        "with fixtures, {} checks passed at {name} instead of {n_checks}, and {} scenarios checked nothing",
        summary.n_passed,
        summary.n_empty
    );
    Ok(())
}

/// Makes an empty folder for the checks of a run, to be read when one fails.
fn results(kind: Kind, revision: &str) -> anyhow::Result<PathBuf> {
    let name = name(kind).replace(' ', "-");
    let folder = project::target_dir().join("xtask/conformance").join(format!("{name}-{revision}"));
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    fs_err::create_dir_all(&folder)?;
    Ok(folder)
}

fn expected_failures(revision: &str) -> PathBuf {
    project::root().join(format!("xtask/conformance/shipped-{revision}.yml"))
}

fn closing_line(kind: Kind, revision: &str, summary: &Summary) -> String {
    format!(
        "     Conformance {revision}, {}: {} scenarios, {} checks passed, {} failed{}",
        name(kind),
        summary.n_scenarios,
        summary.n_passed,
        summary.n_failed,
        if kind == Kind::Shipped { " as listed" } else { "" }
    )
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Shipped => "shipped binary",
        Kind::WithFixtures => "with fixtures",
    }
}
