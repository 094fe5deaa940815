//! Many clients for a long time: mixed calls, uploads, reloads; errors, latencies, memory,
//! descriptors and disk at the end.
//!
//! `cargo xtask soak [SECONDS]`, an hour unless said otherwise.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::{Folder, Http, Mcp, Request, Server};

use crate::binary;
use crate::chaos::Random;

/// Seconds unless the caller says otherwise.
const SECONDS: u64 = 3_600;

/// Seconds in CI.
pub(crate) const CI_SECONDS: u64 = 20;

/// Clients at the same time.
const N_CLIENTS: u64 = 16;

/// Files of the folder that is searched.
const N_FILES: usize = 200;

/// The time between two changes of the configuration.
const RELOAD_EVERY: Duration = Duration::from_secs(7);

/// The share of the run after which memory counts as settled.
const WARM_UP_SHARE: f64 = 0.25;

/// Memory may grow by this share after the warm-up, and by this much in any case.
const MAX_GROWTH_SHARE: f64 = 0.25;
const MAX_GROWTH_KIB: u64 = 64 * 1024;

const CONFIG: &str = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
    [limits]\nrate_per_minute = { default = 10000000, rest = 10000000, searchFiles = 10000000, \
    openFile = 10000000, summarizeResults = 10000000 }\n\
    [files]\nroots = [\"documents\"]\n";

/// What the clients saw.
#[derive(Default)]
struct Seen {
    latencies: BTreeMap<&'static str, Vec<Duration>>,
    errors: Vec<String>,
    n_errors: u64,
}

/// What the server uses.
#[derive(Debug, Clone, Copy)]
struct Usage {
    memory_kib: u64,
    n_descriptors: u64,
    disk_kib: u64,
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Usage { memory_kib, n_descriptors, disk_kib } = self;
        write!(f, "{memory_kib} KiB of memory, {n_descriptors} descriptors, {disk_kib} KiB of disk")
    }
}

/// Runs for so many seconds.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let seconds = match arguments {
        [] => SECONDS,
        [seconds] => seconds.parse().context("the argument is a number of seconds")?,
        _ => anyhow::bail!("usage: cargo xtask soak [SECONDS]"),
    };
    for line in run_for(seconds)? {
        eprintln!("{line}");
    }
    Ok(())
}

/// Runs for so many seconds, and gives the figures.
pub(crate) fn run_for(seconds: u64) -> anyhow::Result<Vec<String>> {
    let binary = binary::build(binary::Kind::Shipped)?;
    let folder = Folder::new();
    for n in 0..N_FILES {
        let text =
            format!("# Report {n}\n\nThe tram to the castle costs {n} lei. Number{n} is free.\n");
        folder.write(format!("documents/report-{n}.md"), text);
    }
    let config = folder.write("dowse.toml", CONFIG);
    let server = Server::start_with_config(&binary, &config);
    server.wait_until_ready();
    let http = server.http().clone();
    let collection = collection(&http)?;
    let (seen, stop) = (Mutex::new(Seen::default()), AtomicBool::new(false));
    let begun = Instant::now();
    let warm_up = Duration::from_secs_f64(seconds as f64 * WARM_UP_SHARE);
    let mut settled: Option<Usage> = None;
    thread::scope(|scope| -> anyhow::Result<()> {
        for client in 0..N_CLIENTS {
            let (http, collection, seen, stop) = (&http, collection.as_str(), &seen, &stop);
            scope.spawn(move || {
                let mut random = Random(client);
                while !stop.load(Ordering::Relaxed) {
                    one_call(http, collection, &mut random, seen);
                }
            });
        }
        let mut n_reloads = 0;
        while begun.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(RELOAD_EVERY.min(Duration::from_secs(seconds / 4 + 1)));
            n_reloads += 1;
            folder.write("dowse.toml", format!("# {n_reloads}\n{CONFIG}"));
            if settled.is_none() && begun.elapsed() >= warm_up {
                settled = Some(usage(server.id(), folder.path())?);
            }
        }
        stop.store(true, Ordering::Relaxed);
        Ok(())
    })?;
    let after = usage(server.id(), folder.path())?;
    let before = settled.context("the run was too short to settle")?;
    let seen = seen.into_inner().map_err(|_| anyhow::anyhow!("a client panicked"))?;
    let mut lines = vec![format!("     Soak: {N_CLIENTS} clients for {seconds} s")];
    lines.extend(seen.latencies.iter().map(|(name, latencies)| figures(name, latencies)));
    lines.push(format!("     after the warm-up {before}; at the end {after}"));
    let allowed = ((before.memory_kib as f64 * MAX_GROWTH_SHARE) as u64).max(MAX_GROWTH_KIB);
    let report = lines.join("\n");
    ensure!(seen.n_errors == 0, "{} errors, as {:?}\n{report}", seen.n_errors, seen.errors);
    ensure!(
        after.memory_kib <= before.memory_kib + allowed,
        "memory grew by more than {allowed} KiB\n{report}"
    );
    server.stop();
    Ok(lines)
}

/// One call of one client, whichever comes.
fn one_call(http: &Http, collection: &str, random: &mut Random, seen: &Mutex<Seen>) {
    let n = random.below(N_FILES);
    let mcp = |tool: &str, arguments: Value| -> Result<(), String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let response = Mcp::new(http, "/mcp").send("tools/call", &params);
        let value: Value = serde_json::from_slice(&response.body).map_err(|e| e.to_string())?;
        let is_error = value["result"]["isError"] == true || value.get("error").is_some();
        if is_error || response.status != 200 { Err(format!("{tool}: {value}")) } else { Ok(()) }
    };
    let begun = Instant::now();
    let (name, result) = match random.below(20) {
        0..=8 => {
            let query = format!("tram castle number{n}");
            ("searchFiles", mcp("searchFiles", json!({ "query": query })))
        }
        9..=12 => ("search", mcp("search", json!({ "query": format!("report {n}") }))),
        13 | 14 => ("listRoots", mcp("listRoots", json!({}))),
        15 | 16 => {
            ("tools/list", expect(&Mcp::new(http, "/mcp").send("tools/list", &json!({})), 200))
        }
        17 => {
            let body =
                json!({ "title": "soak", "text": format!("Soak document of word soak{n}.") });
            let path = format!("/v1/collections/{collection}/documents");
            ("upload", expect(&http.send(&Request::new("POST", &path).json(&body)), 202))
        }
        18 => ("readyz", expect(&http.get("/readyz"), 200)),
        _ => ("normalize_ocr_text", mcp("normalize_ocr_text", json!({ "text": "キャリ-" }))),
    };
    let took = begun.elapsed();
    let Ok(mut seen) = seen.lock() else { return };
    seen.latencies.entry(name).or_default().push(took);
    if let Err(error) = result {
        seen.n_errors += 1;
        if seen.errors.len() < 5 {
            seen.errors.push(error);
        }
    }
}

fn expect(response: &testkit::Response, status: u16) -> Result<(), String> {
    if response.status == status { Ok(()) } else { Err(response.text()) }
}

fn figures(name: &str, latencies: &[Duration]) -> String {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| {
        let index = ((sorted.len() as f64 - 1.0) * share) as usize;
        sorted.get(index).map_or(0.0, |latency| latency.as_secs_f64() * 1_000.0)
    };
    let (p50, p99) = (at(0.5), at(0.99));
    format!("     {name:20} {:7} calls, p50 {p50:6.1} ms, p99 {p99:6.1} ms", sorted.len())
}

fn collection(http: &Http) -> anyhow::Result<String> {
    let id = |response: testkit::Response| -> anyhow::Result<String> {
        let value = response.json();
        Ok(value["id"].as_str().with_context(|| format!("no id in {value}"))?.to_owned())
    };
    let base = id(http.post_json("/v1/knowledge-bases", &json!({ "name": "soak" })))?;
    let path = format!("/v1/knowledge-bases/{base}/collections");
    id(http.post_json(&path, &json!({ "name": "all" })))
}

fn usage(process: u32, folder: &Path) -> anyhow::Result<Usage> {
    let status = fs_err::read_to_string(format!("/proc/{process}/status"))?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.and_then(|line| line.split_whitespace().next()?.parse().ok());
    Ok(Usage {
        memory_kib: memory.context("the system does not say how much memory is used")?,
        n_descriptors: fs_err::read_dir(format!("/proc/{process}/fd"))?.count() as u64,
        disk_kib: size_of(&folder.join("data"))? / 1_024,
    })
}

fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut n_bytes = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        // A file may go while it is looked at.
        let Ok(metadata) = entry.metadata() else { continue };
        n_bytes +=
            if metadata.is_dir() { size_of(&entry.path()).unwrap_or(0) } else { metadata.len() };
    }
    Ok(n_bytes)
}
