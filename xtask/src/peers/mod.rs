//! `cargo xtask peers`: Dowse beside what people would pick instead, in one run and one page.
//!
//! `cargo xtask peers --data FOLDER [--binary FILE] [--only SUBJECT]… [--out FILE]`. FOLDER has
//! `ir/scifact`, `office`, `tables/vega-datasets` and `romania/entities`. FILE keeps what was written
//! around the tables by hand. Each program is installed by
//! package name, gets a process of its own, and prints its figures as a line of JSON; what cannot be
//! installed or fails is named in the page with the reason, never left out in silence.
//! The measurements themselves are scripts under `xtask/peers`, since most peers are libraries of
//! Python.

mod install;
mod page;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use testkit::Postgres;

use crate::process::{self, Limit};
use crate::{project, testbed};
use install::Peers;
use page::Row;

/// How long one program may take for one subject.
const PEER: Limit = Limit::minutes("measurement of one program", 45);
const BUILD: Limit = Limit::minutes("release build", 120);

/// What is compared, and the programs of each comparison in the order of the table.
const SUBJECTS: [(&str, &[&str]); 6] = [
    ("folders", &["dowse", "recoll", "ripgrep-all"]),
    ("words", &["dowse", "bm25s", "tantivy", "fts5", "meilisearch", "qmd"]),
    ("hybrid", &["dowse", "lancedb", "chromadb", "sqlite-vec", "txtai"]),
    ("tables", &["dowse", "duckdb", "polars", "datasette"]),
    ("names", &["dowse", "rapidfuzz", "pg_trgm"]),
    ("calls", &["dowse", "fastmcp", "typescript"]),
];

/// What is asked for.
struct Options {
    data: PathBuf,
    binary: Option<PathBuf>,
    only: Vec<String>,
    out: Option<PathBuf>,
}

/// Installs, measures, and writes the page, or prints its tables where no file is named.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = read(arguments)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => release()?,
    };
    let testbed = testbed::prepare()?;
    let peers = install::prepare(&testbed)?;
    let postgres = Postgres::start().context("the test bed has no PostgreSQL")?;
    let mut rows = Vec::new();
    for (subject, programs) in SUBJECTS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == subject) {
            continue;
        }
        for program in programs {
            eprintln!("── {subject}: {program}");
            let mut command = Command::new(&peers.python);
            command.arg(project::root().join(format!("xtask/peers/{subject}.py")));
            command.arg(program).arg(&options.data).envs(peers.variables());
            command.env("DOWSE_BINARY", &binary).env("PEER_POSTGRES_URL", postgres.url());
            let found = measured(subject, program, &peers, command);
            found.iter().for_each(|row| eprintln!("{row}"));
            rows.extend(found);
        }
    }
    let tables = page::tables(&rows);
    match &options.out {
        Some(out) => {
            let page = fs_err::read_to_string(out).unwrap_or_default();
            fs_err::write(out, page::put_into(&page, &tables))?;
        }
        None => eprintln!("{tables}"),
    }
    Ok(())
}

/// Runs one program; what goes wrong becomes a row that says so.
fn measured(subject: &str, program: &str, peers: &Peers, command: Command) -> Vec<Row> {
    let skipped = |reason: String| vec![Row::skipped(subject, program, reason)];
    if let Some(reason) = peers.reason_without(program) {
        return skipped(reason);
    }
    match process::read(command, PEER) {
        Err(error) => skipped(format!("{error:#}")),
        Ok(finished) if !finished.status.success() => {
            let last = finished.stderr.lines().rfind(|line| !line.trim().is_empty());
            skipped(last.unwrap_or("it ended without a word").trim().to_owned())
        }
        Ok(finished) => {
            let lines = finished.stdout.lines().filter(|line| line.starts_with('{'));
            let rows: Result<Vec<Row>, _> = lines.map(serde_json::from_str).collect();
            rows.unwrap_or_else(|error| skipped(format!("its figures cannot be read: {error}")))
        }
    }
}

fn read(arguments: &[&str]) -> anyhow::Result<Options> {
    let (mut data, mut binary, mut only, mut out) = (None, None, Vec::new(), None);
    let mut left = arguments.iter();
    while let Some(name) = left.next() {
        let value = left.next().with_context(|| format!("`{name}` needs a value"))?;
        match *name {
            "--data" => data = Some(fs_err::canonicalize(value)?),
            "--binary" => binary = Some(fs_err::canonicalize(value)?),
            "--out" => out = Some(PathBuf::from(value)),
            "--only" => {
                let is_known = SUBJECTS.iter().any(|(subject, _)| subject == value);
                let known: Vec<&str> = SUBJECTS.iter().map(|(subject, _)| *subject).collect();
                anyhow::ensure!(is_known, "`--only` takes {}, not `{value}`", known.join(", "));
                only.push((*value).to_owned());
            }
            other => anyhow::bail!("`{other}` is no option of `cargo xtask peers`"),
        }
    }
    let data = data.context("`--data FOLDER` names the folder of public data sets")?;
    Ok(Options { data, binary, only, out })
}

fn release() -> anyhow::Result<PathBuf> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--package", "dowse", "--locked"]);
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    Ok(project::target_dir().join("release/dowse"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_a_script_that_knows_its_programs() {
        for (subject, programs) in SUBJECTS {
            let script = project::root().join(format!("xtask/peers/{subject}.py"));
            let script = fs_err::read_to_string(script).unwrap();
            for program in programs.iter().filter(|program| !install::is_left_out(program)) {
                assert!(script.contains(&format!("\"{program}\": ")), "{subject}: {program}");
            }
        }
    }

    #[test]
    fn options_are_read_and_unknown_ones_are_named() {
        let folder = testkit::Folder::new();
        let data = folder.path().to_string_lossy().into_owned();
        assert_eq!(read(&["--data", &data, "--only", "words"]).unwrap().only, ["words"]);
        let refusal = |arguments: &[&str]| read(arguments).err().unwrap().to_string();
        assert!(refusal(&["--data", &data, "--only", "colours"]).contains("`colours`"));
        assert!(refusal(&["--date", &data]).contains("`--date`"));
        assert!(refusal(&[]).contains("--data"));
    }
}
