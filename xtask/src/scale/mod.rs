//! The figures of docs/scale.md: PostgreSQL with Qdrant beside SQLite with the embedded engine, and
//! what a second server costs the first.
//!
//! `cargo xtask scale [OPTION…] SET…` starts a PostgreSQL that waits for its disk and a Qdrant
//! cluster, lets `dowse bench scale` fill both, waits until Qdrant has built what it builds, and lets
//! it measure. `cargo xtask servers [OPTION…] SET` pins two servers to a core each.

mod servers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use testkit::{Folder, Postgres, Qdrant};

use crate::process::{self, Limit};
use crate::{project, testbed, usage};

pub(crate) use servers::run as servers;

const BUILD: Limit = Limit::minutes("release build", 120);
const FILL: Limit = Limit::minutes("filling of both stores", 600);
const MEASURE: Limit = Limit::minutes("measurement", 120);
/// How long Qdrant may take to build its graphs.
const SETTLE: Duration = Duration::from_secs(6 * 3600);
/// How often it is looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What both commands are asked for.
#[derive(Debug)]
struct Options {
    sets: Vec<PathBuf>,
    passages: Vec<String>,
    real: Option<String>,
    questions: Option<String>,
    models: Option<PathBuf>,
    cache: Option<PathBuf>,
    binary: Option<PathBuf>,
    n_peers: usize,
    shards: u32,
    replicas: u32,
    engine: String,
    n_documents: usize,
    seconds: u64,
}

/// Measures both stores at every size.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = read(arguments)?;
    let binary = binary_of(&options)?;
    testbed::prepare()?;
    let postgres = Postgres::start_durable().context("the test bed has no PostgreSQL")?;
    let qdrant = Qdrant::start(options.n_peers).context("the test bed has no Qdrant")?;
    let work = Folder::new();
    eprintln!("stores in {}", work.path().display());
    let config = work.write("dowse.toml", configuration(&options, &postgres, Some(&qdrant)));
    let cache = options.cache.clone().unwrap_or_else(|| project::target_dir().join("bench-scale"));
    let bench = |is_fill: bool| {
        let mut command = Command::new(&binary);
        command.args(["bench", "scale", "--config"]).arg(&config).arg("--cache").arg(&cache);
        command.arg("--folder").arg(work.join("stores"));
        for n_passages in &options.passages {
            command.args(["--passages", n_passages]);
        }
        for (name, value) in [("--real", &options.real), ("--questions", &options.questions)] {
            if let Some(value) = value {
                command.args([name, value.as_str()]);
            }
        }
        if is_fill {
            command.arg("--fill");
        }
        command.args(&options.sets);
        command
    };
    process::run(bench(true), FILL)?;
    let begun = Instant::now();
    let is_settled = testkit::wait_until(SETTLE, || {
        std::thread::sleep(LOOK_AGAIN);
        qdrant.is_settled()
    });
    ensure!(is_settled, "Qdrant still builds after {} s", SETTLE.as_secs());
    eprintln!("Qdrant settled after {:.0} s", begun.elapsed().as_secs_f64());
    let memory = || -> anyhow::Result<u64> {
        qdrant.process_ids().into_iter().map(usage::memory_kib).sum::<anyhow::Result<u64>>()
    };
    eprintln!("Qdrant, memory of all peers: {} MB", memory()? / 1024);
    eprintln!("Qdrant, disk of all peers: {} MB", disk_bytes(qdrant.folder()) / 1_000_000);
    let size = "SELECT pg_database_size(current_database()) / 1000000";
    eprintln!("PostgreSQL, disk: {} MB", postgres.run(size).trim());
    eprintln!("embedded, disk: {} MB", disk_bytes(&work.join("stores")) / 1_000_000);
    process::run(bench(false), MEASURE)?;
    eprintln!("Qdrant, memory of all peers after the searches: {} MB", memory()? / 1024);
    Ok(())
}

fn read(arguments: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        sets: vec![],
        passages: vec![],
        real: None,
        questions: None,
        models: None,
        cache: None,
        binary: None,
        n_peers: 3,
        shards: 6,
        replicas: 2,
        engine: "embedded".to_owned(),
        n_documents: 400,
        seconds: 20,
    };
    let mut left = arguments.iter();
    while let Some(name) = left.next() {
        if !name.starts_with("--") {
            options.sets.push(fs_err::canonicalize(name)?);
            continue;
        }
        let value = left.next().with_context(|| format!("`{name}` needs a value"))?;
        match *name {
            "--passages" => options.passages.push((*value).to_owned()),
            "--real" => options.real = Some((*value).to_owned()),
            "--questions" => options.questions = Some((*value).to_owned()),
            "--models" => options.models = Some(fs_err::canonicalize(value)?),
            "--cache" => options.cache = Some(PathBuf::from(value)),
            "--binary" => options.binary = Some(fs_err::canonicalize(value)?),
            "--peers" => options.n_peers = value.parse()?,
            "--shards" => options.shards = value.parse()?,
            "--replicas" => options.replicas = value.parse()?,
            "--engine" => options.engine = (*value).to_owned(),
            "--documents" => options.n_documents = value.parse()?,
            "--seconds" => options.seconds = value.parse()?,
            other => anyhow::bail!("`{other}` is no option of `cargo xtask scale`"),
        }
    }
    ensure!(!options.sets.is_empty(), "name a judged set in BEIR layout");
    Ok(options)
}

fn binary_of(options: &Options) -> anyhow::Result<PathBuf> {
    if let Some(binary) = &options.binary {
        return Ok(binary.clone());
    }
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--package", "dowse", "--locked"]);
    command.current_dir(project::root());
    process::run(command, BUILD)?;
    Ok(project::target_dir().join("release/dowse"))
}

/// Gives the file for servers and measurements.
fn configuration(options: &Options, postgres: &Postgres, qdrant: Option<&Qdrant>) -> String {
    let models = match &options.models {
        Some(models) => format!("models_dir = {models:?}\n"),
        None => String::new(),
    };
    let engine = match qdrant {
        None => String::new(),
        Some(qdrant) => format!(
            "[store.qdrant]\nurls = {:?}\nshards = {}\nreplicas = {}\n",
            qdrant.urls(),
            options.shards,
            options.replicas
        ),
    };
    let name = if qdrant.is_some() { "qdrant" } else { "embedded" };
    format!(
        "{models}[limits]\nrate_per_minute = {{ default = 1000000 }}\n[store]\n\
         catalogue = \"postgres\"\nengine = \"{name}\"\n[store.postgres]\nurl = \"{}\"\n{engine}",
        postgres.url()
    )
}

/// Gives what the files of a folder occupy: those of Qdrant have holes.
fn disk_bytes(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = fs_err::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => disk_bytes(&entry.path()),
            Ok(data) => data.blocks() * 512,
            // It may go while it is looked at.
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_ones_are_named() {
        let folder = Folder::new();
        let set = folder.path().to_string_lossy().into_owned();
        let options = read(&["--passages", "20", "--peers", "1", &set]).unwrap();
        assert_eq!(
            (options.n_peers, options.passages, options.sets.len()),
            (1, vec!["20".to_owned()], 1)
        );
        let refusal = |arguments: &[&str]| read(arguments).unwrap_err().to_string();
        assert!(refusal(&["--peer", "1", &set]).contains("`--peer`"));
        assert!(refusal(&["--peers"]).contains("needs a value"));
        assert!(refusal(&[]).contains("name a judged set"));
    }
}
