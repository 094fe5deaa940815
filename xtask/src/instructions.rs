//! `cargo xtask instructions`: how many instructions the main paths take, counted by callgrind and
//! kept in `docs/instructions.txt`, since clocks of shared machines are too noisy to show that
//! something became a tenth slower.
//!
//! Each path runs twice with different numbers of rounds, and the difference counts: making the
//! fixture and starting the program do not. Valgrind shows programs a processor with AVX2 and
//! nothing newer, so that the counts do not depend on the machine. It comes from Debian's package
//! `valgrind` and is not installed here. The build is a release build of minutes, so that this is
//! no part of CI.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Folder, Server, wait_until};

use crate::process::{self, Limit};
use crate::project;

/// Where the counts are kept, from the root of the project.
const KEPT: &str = "docs/instructions.txt";
/// A path may take so much more than what is kept before it counts as slower.
const TOLERANCE: f64 = 0.05;
/// Rounds of the two runs of a path.
const ROUNDS: [u64; 2] = [2, 12];
/// Calls of the two runs of the server.
const CALLS: [u64; 2] = [100, 600];
/// The paths that `measure path` knows.
const PATHS: [&str; 5] = ["words", "vectors", "table", "analysis", "redaction"];

const BUILD: Limit = Limit::minutes("release build", 60);
const RUN: Limit = Limit::minutes("one run under callgrind", 10);
/// How long the server may take to end and to write what was counted.
const END: Duration = Duration::from_secs(120);

/// Counts, and writes the file or compares with it.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let is_check = match arguments {
        [] => false,
        ["--check"] => true,
        _ => anyhow::bail!("expected nothing or `--check`"),
    };
    anyhow::ensure!(
        process::exists("valgrind"),
        "`valgrind` is not there\nhint: it is in Debian's package `valgrind`: `apt-get install \
         valgrind`"
    );
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--locked", "-p", "measure", "-p", "dowse"]);
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    let binaries = project::target_dir().join("release");
    let mut counted = Vec::new();
    for path in PATHS {
        let measure = |rounds: u64| path_count(&binaries.join("measure"), path, rounds);
        counted.push((path, per_round(ROUNDS, measure)?));
        show(&counted);
    }
    counted.push(("call", per_round(CALLS, |calls| call_count(&binaries.join("dowse"), calls))?));
    show(&counted);
    let file = project::root().join(KEPT);
    if is_check {
        return compare(&fs_err::read_to_string(file)?, &counted);
    }
    let mut text = "# Instructions of the main paths, by `cargo xtask instructions`; see \
                    `crates/measure/src/paths.rs` for what each does.\n"
        .to_owned();
    for (path, count) in &counted {
        text.push_str(&format!("{path} {count}\n"));
    }
    Ok(fs_err::write(file, text)?)
}

fn show(counted: &[(&str, u64)]) {
    if let Some((path, count)) = counted.last() {
        eprintln!("{path:<12} {count:>14} instructions");
    }
}

/// Holds that no path takes clearly more than what is kept.
fn compare(kept: &str, counted: &[(&str, u64)]) -> anyhow::Result<()> {
    let mut slower = Vec::new();
    for (path, count) in counted {
        let before: u64 = kept
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{path} ")))
            .with_context(|| format!("`{KEPT}` has no `{path}`"))?
            .parse()?;
        let ratio = *count as f64 / before as f64;
        if ratio > 1.0 + TOLERANCE {
            slower.push(format!("`{path}` takes {ratio:.2} times what `{KEPT}` has"));
        }
    }
    anyhow::ensure!(
        slower.is_empty(),
        "{}\nhint: make it cheaper, or write the new counts with `cargo xtask instructions` and say \
         in the commit what they buy",
        slower.join("\n")
    );
    Ok(())
}

fn per_round(rounds: [u64; 2], count: impl Fn(u64) -> anyhow::Result<u64>) -> anyhow::Result<u64> {
    let [few, many] = rounds;
    Ok(count(many)?.saturating_sub(count(few)?) / (many - few))
}

fn under_callgrind(out: &Path, program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind"]);
    command.arg(format!("--callgrind-out-file={}", out.display())).arg(program);
    // One thread more or less in the pool would change the counts.
    command.env("RAYON_NUM_THREADS", "1");
    command
}

fn path_count(measure: &Path, path: &str, rounds: u64) -> anyhow::Result<u64> {
    let folder = Folder::new();
    let out = folder.join("counted");
    let mut command = under_callgrind(&out, measure);
    command.args(["path", path, &rounds.to_string()]);
    process::run(command, RUN)?;
    total(&out)
}

/// Counts what a server does for its start and so many calls of a tool that does next to nothing.
fn call_count(dowse: &Path, calls: u64) -> anyhow::Result<u64> {
    let folder = Folder::new();
    let out: PathBuf = folder.join("counted");
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[limits]\nrate_per_minute = { default = 4000000000 }\n",
    );
    let mut command = under_callgrind(&out, dowse);
    command.args(["serve", "--no-model", "--config", "dowse.toml", "--listen", "127.0.0.1:0"]);
    command.current_dir(folder.path());
    let server = Server::start_command(command);
    server.wait_until_ready();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"normalize_ocr_text","arguments":{"text":"サ-ビス"}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = BufReader::new(TcpStream::connect(server.http().authority())?);
    for _ in 0..calls {
        connection.get_mut().write_all(request.as_bytes())?;
        let answer = read_answer(&mut connection)?;
        anyhow::ensure!(answer.contains("normalized_text"), "the server answered `{answer}`");
    }
    drop(connection);
    let id = i32::try_from(server.id())?;
    kill_process(Pid::from_raw(id).context("a process has an id")?, Signal::TERM)?;
    anyhow::ensure!(
        wait_until(END, || total(&out).is_ok()),
        "the server did not end within {END:?}"
    );
    total(&out)
}

fn read_answer(connection: &mut impl BufRead) -> anyhow::Result<String> {
    let mut n_bytes = 0;
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(length) = line.strip_prefix("content-length: ") {
            n_bytes = length.parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; n_bytes];
    connection.read_exact(&mut body)?;
    Ok(String::from_utf8(body)?)
}

/// Reads the sum that callgrind writes at the end.
fn total(out: &Path) -> anyhow::Result<u64> {
    let text = fs_err::read_to_string(out)?;
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(line.context("callgrind wrote no total")?.trim().parse()?)
}
