//! CI and the test command: steps in order, each timed, each with a limit, the first failure ends.
//!
//! What a test runner says at its end is kept and printed once more at the very end, so that the
//! last lines of a long log are the ones that matter.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;

use crate::process::{self, Limit};
use crate::testbed::{self, Testbed};
use crate::{chaos, clients, conformance, generate, project, soak, tidy, usage};

/// How long the format check may take.
const FORMAT: Limit = Limit::minutes("format", 2);
/// How long clippy may take, all dependencies checked for the first time.
const CLIPPY: Limit = Limit::minutes("clippy", 30);
/// How long the documentation may take.
const DOCS: Limit = Limit::minutes("docs", 20);
/// How long all tests may take, everything compiled for the first time.
const TESTS: Limit = Limit::minutes("tests", 45);
/// How long the doc tests may take.
const DOC_TESTS: Limit = Limit::minutes("doc tests", 20);

/// How long the look at dependencies may take, the list of advisories fetched.
const DENY: Limit = Limit::minutes("cargo-deny", 10);

/// The seed of the faults and of the laws in CI: a change is judged by what it does, not by which
/// cases were drawn. `cargo xtask test` draws others every time and says which.
const CI_SEED: u64 = 1;

/// Where the laws read their seed.
const LAW_SEED: &str = "PROPTEST_RNG_SEED";

/// Checks licences, sources and advisories of dependencies. The tool and the list of advisories
/// come from elsewhere: where one cannot be had, that is said, and `tidy` still checks licences.
pub(crate) fn deny() -> anyhow::Result<()> {
    if !process::exists("cargo-deny") {
        eprintln!(
            "cargo-deny is not installed (`cargo install cargo-deny`): `tidy` checks licences"
        );
        return Ok(());
    }
    cargo(&["deny", "check", "bans", "licenses", "sources"], DENY)?;
    let advisories = process::read(cargo_command(&["deny", "check", "advisories"]), DENY)?;
    let is_away = advisories.stderr.contains("failed to fetch advisory database")
        || advisories.stderr.contains("unable to load advisory database");
    if is_away {
        eprintln!("the list of advisories could not be downloaded: they are not checked");
        return Ok(());
    }
    eprintln!("{}", advisories.stderr.trim_end());
    anyhow::ensure!(advisories.status.success(), "a dependency has an advisory: see deny.toml");
    Ok(())
}

/// Does everything: the checks first, since they are quick, then the tests.
pub(crate) fn ci() -> anyhow::Result<()> {
    let mut run = Run::start();
    run.step("format", || cargo(&["fmt", "--all", "--check"], FORMAT))?;
    run.step("tidy", tidy::run)?;
    run.step("clippy", || {
        let arguments = ["clippy", "--workspace", "--all-targets", "--locked"];
        cargo(&[&arguments[..], &["--", "-D", "warnings"]].concat(), CLIPPY)
    })?;
    run.step("docs", docs)?;
    run.step("dependencies", deny)?;
    run.tests(CI_SEED)?;
    run.step("reference pages", || generate::run(generate::Mode::Check))?;
    run.finish();
    Ok(())
}

/// Runs all tests, their laws over cases that no run had before.
pub(crate) fn test() -> anyhow::Result<()> {
    let mut run = Run::start();
    let law_seed = match std::env::var(LAW_SEED) {
        Ok(given) => given.parse().with_context(|| format!("{LAW_SEED}: `{given}`"))?,
        Err(_) => RandomState::new().build_hasher().finish(),
    };
    eprintln!("cases of laws are drawn with {LAW_SEED}={law_seed}: set it to draw them again");
    run.tests(law_seed)?;
    run.finish();
    Ok(())
}

/// One run: its steps and what the test runners said at their end.
struct Run {
    started: Instant,
    steps: Vec<(&'static str, f64)>,
    closing_lines: Vec<String>,
}

impl Run {
    fn start() -> Self {
        Run { started: Instant::now(), steps: Vec::new(), closing_lines: Vec::new() }
    }

    fn tests(&mut self, law_seed: u64) -> anyhow::Result<()> {
        let testbed = self.step("testbed", testbed::prepare)?;
        let lines = self.step("tests", || crate_tests(&testbed, law_seed))?;
        self.closing_lines.extend(lines);
        let lines = self.step("doc tests", || doc_tests(&testbed))?;
        self.closing_lines.extend(lines);
        let lines = self.step("conformance", || conformance::run(&testbed))?;
        self.closing_lines.extend(lines);
        let lines = self.step("clients", || clients::run(&testbed))?;
        self.closing_lines.extend(lines);
        let line = self.step("chaos", || chaos::rounds_of(chaos::CI_ROUNDS, CI_SEED))?;
        self.closing_lines.push(line);
        let lines = self.step("soak", || soak::run_for(soak::CI_SECONDS))?;
        self.closing_lines.extend(lines);
        Ok(())
    }

    fn step<T>(
        &mut self,
        name: &'static str,
        action: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        eprintln!("── {name}");
        let started = Instant::now();
        let result = action();
        self.steps.push((name, started.elapsed().as_secs_f64()));
        result.map_err(|error| error.context(format!("step `{name}` failed")))
    }

    fn finish(self) {
        eprintln!("──");
        for (name, seconds) in &self.steps {
            eprintln!("{seconds:8.1} s  {name}");
        }
        eprintln!("{:8.1} s  in all", self.started.elapsed().as_secs_f64());
        if let Ok(seconds) = usage::cpu_seconds_of_ended() {
            eprintln!("{:8.1} CPU minutes", seconds / 60.0);
        }
        for line in &self.closing_lines {
            eprintln!("{line}");
        }
    }
}

fn docs() -> anyhow::Result<()> {
    let mut command = cargo_command(&["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    process::run(command, DOCS)
}

/// Runs the tests of all crates with nextest, or with cargo alone where it is not installed.
fn crate_tests(testbed: &Testbed, law_seed: u64) -> anyhow::Result<Vec<String>> {
    let has_nextest = process::exists("cargo-nextest");
    let arguments: &[&str] = if has_nextest {
        &["nextest", "run", "--workspace", "--locked"]
    } else {
        eprintln!(
            "cargo-nextest is not installed: tests run under `cargo test`, without time-outs of their own"
        );
        &["test", "--workspace", "--all-targets", "--locked", "--no-fail-fast"]
    };
    let mut command = cargo_command(arguments);
    command.envs(testbed.variables()).env(LAW_SEED, law_seed.to_string());
    process::run_keeping(command, TESTS, is_closing_line)
}

fn doc_tests(testbed: &Testbed) -> anyhow::Result<Vec<String>> {
    let mut command = cargo_command(&["test", "--workspace", "--doc", "--locked"]);
    command.envs(testbed.variables());
    let lines = process::run_keeping(command, DOC_TESTS, is_closing_line)?;
    Ok(vec![summed(&lines)])
}

/// Tells whether a test runner closes with this line, or names what failed in it.
fn is_closing_line(line: &str) -> bool {
    let line = line.trim_start();
    ["Summary [", "test result:", "FAIL [", "TIMEOUT [", "SIGNAL ["]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Sums the closing lines of many crates up to one.
fn summed(lines: &[String]) -> String {
    let count = |word: &str| -> u64 {
        let counts = lines.iter().flat_map(|line| line.split(['.', ';'])).filter_map(|part| {
            part.trim().strip_suffix(word).and_then(|number| number.trim().parse::<u64>().ok())
        });
        counts.sum()
    };
    format!(
        "     Doc tests of {} crates: {} passed, {} failed, {} ignored",
        lines.len(),
        count("passed"),
        count("failed"),
        count("ignored")
    )
}

fn cargo(arguments: &[&str], limit: Limit) -> anyhow::Result<()> {
    process::run(cargo_command(arguments), limit)
}

fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(project::root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_found_and_summed() {
        let nextest = "     Summary [   1.182s] 13 tests run: 13 passed, 0 skipped";
        assert!(is_closing_line(nextest));
        assert!(!is_closing_line("        PASS [   0.011s] testkit http"));
        let doc = "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(
            summed(&[doc.to_owned(), doc.to_owned()]),
            "     Doc tests of 2 crates: 4 passed, 0 failed, 2 ignored"
        );
    }
}
