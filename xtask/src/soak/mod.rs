//! Many clients for a long time: mixed calls, uploads and deletions, files that change, reloads;
//! errors, latencies, memory, descriptors and disk over the whole run.
//!
//! An error is an answer that says so, a search of our own files that finds nothing, a line of the
//! log that is one, and a document that was acknowledged and is not there at the end.
//!
//! `cargo xtask soak [SECONDS] [--binary FILE] [--folder FOLDER]`: an hour, a build of the
//! workspace and a folder of our own making unless said otherwise. A run of ten minutes or more
//! also holds the spread of `searchFiles`: its p99 stays under ten times its p50.

mod calls;
pub(crate) mod trace;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use testkit::{Folder, Http, Response, Server};

use crate::binary;
use crate::chaos::Random;
use calls::{Client, Files};
use trace::{Seen, Trace};

/// Seconds unless the caller says otherwise.
const SECONDS: u64 = 3_600;

pub(crate) const CI_SECONDS: u64 = 20;

/// Clients at the same time.
const N_CLIENTS: u64 = 16;

/// Files of the folder that is searched, where it is of our own making.
const N_FILES: usize = 200;

/// The time between two changes of the configuration.
const RELOAD_EVERY: Duration = Duration::from_secs(7);

/// How long a run must be for its latencies to say something.
const LONG_RUN: Duration = Duration::from_secs(600);

/// How much longer one search in a hundred may take than one in two.
const MAX_SPREAD: f64 = 10.0;

const CONFIG: &str = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
    [limits]\nrate_per_minute = { default = 10000000, rest = 10000000, searchFiles = 10000000, \
    openFile = 10000000, summarizeResults = 10000000 }\n\
    [[tables]]\nname = \"stops\"\nsource = \"stops.csv\"\n[tables.fields]\n\
    name = { type = \"string\" }\nzone = { type = \"number\" }\n";

/// What is asked for.
struct Options {
    seconds: u64,
    binary: Option<PathBuf>,
    folder: Option<PathBuf>,
}

/// Runs as the arguments ask, and prints the figures.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let mut options = Options { seconds: SECONDS, binary: None, folder: None };
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        let mut value = || left.next().with_context(|| format!("`{argument}` needs a value"));
        match *argument {
            "--binary" => options.binary = Some(PathBuf::from(value()?)),
            "--folder" => options.folder = Some(PathBuf::from(value()?)),
            seconds => {
                options.seconds = seconds.parse().with_context(|| {
                    format!("`{seconds}`: usage: soak [SECONDS] [--binary FILE] [--folder FOLDER]")
                })?;
            }
        }
    }
    let lines = soak(&options)?;
    lines.iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}

/// Runs for so many seconds over a build of the workspace, and gives the figures.
pub(crate) fn run_for(seconds: u64) -> anyhow::Result<Vec<String>> {
    soak(&Options { seconds, binary: None, folder: None })
}

fn soak(options: &Options) -> anyhow::Result<Vec<String>> {
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => binary::build(binary::Kind::Shipped)?,
    };
    let folder = Folder::new();
    let (documents, files) = match &options.folder {
        Some(documents) => (fs_err::canonicalize(documents)?, Files::Others),
        None => (documents_of_our_own(&folder), Files::Ours),
    };
    folder.write("watched/note.md", "# A note\n\nIt changes now and then.\n");
    let stops: String = (0..500).map(|n| format!("Stop {n},{}\n", n % 7)).collect();
    folder.write("stops.csv", format!("name,zone\n{stops}"));
    let roots = format!("[files]\nroots = [{:?}, \"watched\"]\n", documents.display().to_string());
    let config = format!("{CONFIG}{roots}");
    let server = Server::start_with_config(&binary, &folder.write("dowse.toml", &config));
    server.wait_until_ready();
    let http = server.http().clone();
    if files == Files::Ours {
        // What was not indexed yet is no error of the run.
        http.post_json("/v1/call/indexFolder", &json!({ "root": documents }));
    }
    let client = Client::new(&http, &collection(&http)?, files);
    let (seen, stop) = (Mutex::new(Seen::default()), AtomicBool::new(false));
    let length = Duration::from_secs(options.seconds);
    let mut trace = Trace::new(server.id(), folder.join("data"), length);
    let begun = Instant::now();
    thread::scope(|scope| -> anyhow::Result<()> {
        for n in 0..N_CLIENTS {
            let (client, seen, stop) = (&client, &seen, &stop);
            scope.spawn(move || {
                let mut random = Random(n);
                while !stop.load(Ordering::Relaxed) {
                    client.call(&mut random, seen);
                }
            });
        }
        // The clients end whatever comes of the look at the server.
        let watched = watch(&folder, &config, begun, length, &mut trace);
        stop.store(true, Ordering::Relaxed);
        watched
    })?;
    let seen = seen.into_inner().map_err(|_| anyhow::anyhow!("a client panicked"))?;
    let mut lines = vec![format!("     Soak: {N_CLIENTS} clients for {} s", options.seconds)];
    lines.extend(seen.lines());
    lines.extend(trace.lines());
    let report = lines.join("\n");
    ensure!(seen.n_errors() == 0, "{} errors, as {:?}\n{report}", seen.n_errors(), seen.errors());
    trace.hold().with_context(|| report.clone())?;
    if length >= LONG_RUN {
        let spread = seen.spread("searchFiles");
        ensure!(spread < MAX_SPREAD, "p99 of `searchFiles` is {spread:.1} times its p50\n{report}");
    }
    let n_documents = client.settle().with_context(|| report.clone())?;
    lines.push(format!("     {n_documents} documents of those that were acknowledged are there"));
    let log = server.stderr();
    let logged = log.lines().find(|line| line.contains(" ERROR "));
    ensure!(logged.is_none(), "the server logged {logged:?}\n{report}");
    ensure!(server.stop().success(), "the server did not end well\n{report}");
    Ok(lines)
}

/// Changes the configuration and a file again and again, and looks at what the server uses.
fn watch(
    folder: &Folder,
    config: &str,
    begun: Instant,
    length: Duration,
    trace: &mut Trace,
) -> anyhow::Result<()> {
    let mut n_reloads = 0;
    while begun.elapsed() < length {
        thread::sleep(RELOAD_EVERY.min(length / 4));
        n_reloads += 1;
        folder.write("dowse.toml", format!("# {n_reloads}\n{config}"));
        folder.write("watched/note.md", format!("# A note\n\nIt changed {n_reloads} times.\n"));
        trace.look(begun.elapsed())?;
    }
    Ok(())
}

fn documents_of_our_own(folder: &Folder) -> PathBuf {
    for n in 0..N_FILES {
        let text =
            format!("# Report {n}\n\nThe tram to the castle costs {n} lei. Number{n} is free.\n");
        folder.write(format!("documents/report-{n}.md"), text);
    }
    folder.join("documents")
}

fn collection(http: &Http) -> anyhow::Result<String> {
    let id = |response: Response| -> anyhow::Result<String> {
        let value = response.json();
        Ok(value["id"].as_str().with_context(|| format!("no id in {value}"))?.to_owned())
    };
    let base = id(http.post_json("/v1/knowledge-bases", &json!({ "name": "soak" })))?;
    let path = format!("/v1/knowledge-bases/{base}/collections");
    id(http.post_json(&path, &json!({ "name": "all" })))
}
