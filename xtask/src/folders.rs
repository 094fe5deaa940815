//! A folder from nothing to found, beside recoll where it is installed: time, memory, words found;
//! then a changed file, a deleted one, and what an idle server costs.
//!
//! `cargo xtask folders [--files N | --folder FOLDER [--pairs FILE]] [--idle SECONDS]
//! [--binary FILE]`: 100,000 files of our own making unless a folder is given, ten idle minutes
//! unless said otherwise, a release build unless a binary is given.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::{Folder, Http, Mcp, Server};

use crate::process::{self, Limit};
use crate::{project, usage};

/// Files unless the caller says otherwise.
const N_FILES: usize = 100_000;

/// Idle seconds unless the caller says otherwise.
const IDLE_SECONDS: u64 = 600;

/// Words whose files are looked for.
const N_WORDS: usize = 200;

/// How long anything here may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// How often something is looked at that must happen.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What leaves the server in peace after its index is made, before it counts as idle.
const SETTLE: Duration = Duration::from_secs(20);

const BUILD: Limit = Limit::minutes("release build", 120);

/// What is asked for.
struct Options {
    n_files: usize,
    folder: Option<PathBuf>,
    pairs: Option<PathBuf>,
    idle_seconds: u64,
    binary: Option<PathBuf>,
}

/// A word, and the file that holds it.
struct Expected {
    word: String,
    file: PathBuf,
}

/// Runs the measurements and prints them.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = read(arguments)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => release()?,
    };
    let work = Folder::new();
    let folder = match &options.folder {
        Some(folder) => fs_err::canonicalize(folder)?,
        None => make(&work, options.n_files),
    };
    let expected = match &options.pairs {
        Some(pairs) => from_pairs(pairs, &folder)?,
        None => of_our_own(&folder, options.n_files),
    };
    let n_files = count(&folder)?;
    eprintln!("{n_files} files in {}", folder.display());
    measure(&binary, &work, &folder, n_files, &expected, &options)?;
    recoll(&work, &folder, &expected)
}

fn read(arguments: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        n_files: N_FILES,
        folder: None,
        pairs: None,
        idle_seconds: IDLE_SECONDS,
        binary: None,
    };
    let mut left = arguments.iter();
    while let Some(name) = left.next() {
        let value = left.next().with_context(|| format!("`{name}` needs a value"))?;
        match *name {
            "--files" => options.n_files = value.parse()?,
            "--folder" => options.folder = Some(PathBuf::from(value)),
            "--pairs" => options.pairs = Some(PathBuf::from(value)),
            "--idle" => options.idle_seconds = value.parse()?,
            "--binary" => options.binary = Some(PathBuf::from(value)),
            other => anyhow::bail!("`{other}` is no option of `cargo xtask folders`"),
        }
    }
    Ok(options)
}

fn release() -> anyhow::Result<PathBuf> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--package", "dowse", "--locked"]);
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    Ok(project::target_dir().join("release/dowse"))
}

/// Writes files of a few sentences, each with a word that no other has.
fn make(work: &Folder, n_files: usize) -> PathBuf {
    let words = ["tram", "castle", "ferry", "harbour", "report", "budget", "meeting", "garden"];
    for n in 0..n_files {
        let sentences: String = (0..12)
            .map(|line| {
                let word = |step: usize| words[(n / (line + step + 1) + step) % words.len()];
                format!("The {} near the {} belongs to item {line}.\n", word(1), word(3))
            })
            .collect();
        let path = format!("files/{:03}/{n}.md", n / 500);
        work.write(path, format!("# Note {n}\n\nIt is called uniquely{n}x.\n\n{sentences}"));
    }
    work.join("files")
}

fn of_our_own(folder: &Path, n_files: usize) -> Vec<Expected> {
    let step = (n_files / N_WORDS).max(1);
    (0..n_files)
        .step_by(step)
        .map(|n| Expected {
            word: format!("uniquely{n}x"),
            file: folder.join(format!("{:03}/{n}.md", n / 500)),
        })
        .collect()
}

/// Takes a long word from each expected text: a table of files with texts that they should give.
fn from_pairs(pairs: &Path, folder: &Path) -> anyhow::Result<Vec<Expected>> {
    let mut expected = vec![];
    for line in fs_err::read_to_string(pairs)?.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(file), Some(text)) = (columns.next(), columns.next()) else { continue };
        let text = fs_err::read(folder.join(text)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let words: BTreeSet<&str> = text
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| (6..=20).contains(&word.chars().count()))
            .collect();
        let longest = words.into_iter().max_by_key(|word| word.chars().count());
        expected.extend(
            longest.map(|word| Expected { word: word.to_lowercase(), file: folder.join(file) }),
        );
    }
    Ok(expected)
}

fn count(folder: &Path) -> anyhow::Result<usize> {
    let mut n_files = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        n_files += if entry.file_type()?.is_dir() { count(&entry.path())? } else { 1 };
    }
    Ok(n_files)
}

fn measure(
    binary: &Path,
    work: &Folder,
    folder: &Path,
    n_files: usize,
    expected: &[Expected],
    options: &Options,
) -> anyhow::Result<()> {
    let config = format!(
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [{:?}]\n\
         [limits]\nrate_per_minute = {{ searchFiles = 10000000, rest = 10000000 }}\n",
        folder.display().to_string()
    );
    let config = work.write("dowse.toml", config);
    let begun = Instant::now();
    let server = Server::start_with_config(binary, &config);
    let http = server.http().clone();
    until("the first answer", || !hits(&http, "the").is_empty())?;
    eprintln!("dowse: first answer after {:.2} s", begun.elapsed().as_secs_f64());
    until("the whole index", || n_indexed(&http) >= n_files && is_idle(&http))?;
    let took = begun.elapsed().as_secs_f64();
    let peak = usage::peak_kib(server.id())? / 1_024;
    eprintln!("dowse: everything after {took:.1} s, {:.0} files/s", n_files as f64 / took);
    eprintln!("dowse: {peak} MB at the peak");
    let n_found = expected.iter().filter(|one| finds(&http, one)).count();
    eprintln!("dowse: {n_found} of {} words found in their file", expected.len());
    if options.folder.is_none() {
        let place = folder.join("000/0.md");
        let changed = Instant::now();
        fs_err::write(&place, "It is called metamorphosed now.")?;
        until("the changed file", || !hits(&http, "metamorphosed").is_empty())?;
        eprintln!("dowse: a changed file is found after {:.2} s", changed.elapsed().as_secs_f64());
        let deleted = Instant::now();
        fs_err::remove_file(&place)?;
        until("the deleted file", || hits(&http, "metamorphosed").is_empty())?;
        eprintln!("dowse: a deleted file is gone after {:.2} s", deleted.elapsed().as_secs_f64());
    }
    thread::sleep(SETTLE);
    let (cpu, written) = (usage::cpu_seconds(server.id())?, usage::written_bytes(server.id())?);
    thread::sleep(Duration::from_secs(options.idle_seconds));
    let cpu = usage::cpu_seconds(server.id())? - cpu;
    let written = usage::written_bytes(server.id())? - written;
    let share = 100.0 * cpu / options.idle_seconds.max(1) as f64;
    let seconds = options.idle_seconds;
    eprintln!("dowse: in {seconds} idle seconds {share:.3} % of a core, {written} bytes written");
    server.stop();
    Ok(())
}

/// The same folder, indexed by recoll in one run.
fn recoll(work: &Folder, folder: &Path, expected: &[Expected]) -> anyhow::Result<()> {
    let has_recoll = Command::new("recollindex").arg("-h").stderr(Stdio::null()).output().is_ok();
    if !has_recoll {
        eprintln!("recoll: not installed, so not measured");
        return Ok(());
    }
    let config = work.join("recoll");
    work.write("recoll/recoll.conf", format!("topdirs = {}\n", folder.display()));
    let begun = Instant::now();
    let mut indexing = Command::new("recollindex")
        .args(["-c".as_ref(), config.as_os_str()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak = 0;
    let ended = loop {
        peak = peak.max(usage::peak_kib(indexing.id()).unwrap_or(0));
        match indexing.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    ensure!(ended.success(), "recollindex ended with {ended}");
    let took = begun.elapsed().as_secs_f64();
    eprintln!(
        "recoll: everything after {took:.1} s, {} MB at the peak of its main process",
        peak / 1_024
    );
    let mut n_found = 0;
    for one in expected {
        let found = Command::new("recollq")
            .args(["-c".as_ref(), config.as_os_str()])
            .args(["-b", "-n", "10", &one.word])
            .stderr(Stdio::null())
            .output()?;
        let found = String::from_utf8_lossy(&found.stdout).into_owned();
        n_found += usize::from(found.contains(&*one.file.to_string_lossy()));
    }
    eprintln!("recoll: {n_found} of {} words found in their file", expected.len());
    Ok(())
}

fn until(what: &str, is_true: impl Fn() -> bool) -> anyhow::Result<()> {
    let begun = Instant::now();
    while !is_true() {
        ensure!(begun.elapsed() < PATIENCE, "{what} did not come");
        thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

fn hits(http: &Http, query: &str) -> Vec<Value> {
    let params = json!({ "name": "searchFiles", "arguments": { "query": query, "k": 10 } });
    let response = Mcp::new(http, "/mcp").send("tools/call", &params);
    let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    answer["result"]["structuredContent"]["items"].as_array().cloned().unwrap_or_default()
}

fn finds(http: &Http, expected: &Expected) -> bool {
    let file = expected.file.to_string_lossy();
    hits(http, &expected.word).iter().any(|item| item["path"] == *file)
}

fn n_indexed(http: &Http) -> usize {
    let roots: Value = serde_json::from_slice(&http.get("/v1/roots").body).unwrap_or_default();
    let roots = roots["roots"].as_array().cloned().unwrap_or_default();
    roots.iter().filter_map(|root| root["files"].as_u64()).sum::<u64>() as usize
}

fn is_idle(http: &Http) -> bool {
    let jobs: Value = serde_json::from_slice(&http.get("/v1/jobs").body).unwrap_or_default();
    let jobs = jobs["jobs"].as_array().cloned().unwrap_or_default();
    !jobs.iter().any(|job| matches!(job["status"].as_str(), Some("queued" | "running")))
}
