//! `dowse bench overhead`: what the guard adds to a call, beside a bare MCP server in one run.
//!
//! Both servers are processes of their own, so that the client's work is not counted. Calls are
//! made over one connection, one after the other, of a tool that does next to nothing.

use anyhow::Context;
use model::Report;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::process::Process;
use super::show;
use crate::bench_cli::OverheadArgs;
use crate::commands::block_on;
use crate::{platform, print};

/// What a call through the whole guard may cost, in microseconds of CPU.
const TARGET_MICROSECONDS: f64 = 150.0;

/// What the server may hold without a model, in MB.
const TARGET_MEGABYTES: f64 = 40.0;

/// How long a start on an existing data folder may take, in milliseconds.
const TARGET_START_MS: f64 = 300.0;

/// Calls before those that count, so that caches are warm and threads are there.
const WARM_UP_CALLS: u32 = 500;

/// The servers take turns this often, so that a busy moment of the machine hits both.
const ROUNDS: u32 = 5;

/// The configuration under test: as shipped, but for the rate, which no agent reaches.
const CONFIG: &str = "data_dir = \"data\"\n[limits]\nrate_per_minute = { default = 4000000000 }\n";

pub(super) fn overhead(args: &OverheadArgs) -> anyhow::Result<()> {
    if args.serve_bare {
        return serve_bare();
    }
    let folder = std::env::temp_dir().join(format!("dowse-bench-{}", std::process::id()));
    fs_err::create_dir_all(&folder)?;
    fs_err::write(folder.join("dowse.toml"), CONFIG)?;
    let measured = measure(args.calls, &folder);
    fs_err::remove_dir_all(&folder)?;
    show(&measured?);
    Ok(())
}

fn measure(n_calls: u32, folder: &std::path::Path) -> anyhow::Result<Report> {
    let guarded = ["serve", "--config", "dowse.toml", "--listen", "127.0.0.1:0"];
    // The first start makes the data folder, the second finds it.
    drop(Process::start(&guarded, folder, "/readyz")?);
    let guarded = Process::start(&guarded, folder, "/readyz")?;
    let idle_megabytes = guarded.resident_megabytes()?;
    let bare = Process::start(&["bench", "overhead", "--serve-bare"], folder, "/")?;

    let n_calls_each = (n_calls / ROUNDS).max(1);
    call(&bare, WARM_UP_CALLS)?;
    call(&guarded, WARM_UP_CALLS)?;
    let (mut bare_seconds, mut guarded_seconds) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        bare_seconds += call(&bare, n_calls_each)?;
        guarded_seconds += call(&guarded, n_calls_each)?;
    }
    let microseconds = |seconds: f64| seconds * 1e6 / f64::from(n_calls_each * ROUNDS);
    let (bare_cost, guarded_cost) = (microseconds(bare_seconds), microseconds(guarded_seconds));

    let mut report = Report::new(format!("overhead, {} calls each", n_calls_each * ROUNDS));
    report.add("bare MCP server", bare_cost, "µs CPU per call");
    let target = format!("target: at most {TARGET_MICROSECONDS}");
    report.add_noted("through the guard", guarded_cost, "µs CPU per call", target);
    report.add("ratio", guarded_cost / bare_cost, "");
    let target = format!("target: under {TARGET_MEGABYTES}");
    report.add_noted("idle memory", idle_megabytes, "MB", target);
    let target = format!("target: under {TARGET_START_MS}, on an existing data folder");
    report.add_noted("start", guarded.start_time.as_secs_f64() * 1e3, "ms", target);
    Ok(report)
}

/// Makes calls over one connection and gives the CPU seconds they took the server.
fn call(server: &Process, n_calls: u32) -> anyhow::Result<f64> {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"normalize_ocr_text","arguments":{"text":"サ-ビス"}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = server.connect()?;
    let before = server.cpu_seconds()?;
    for _ in 0..n_calls {
        let answer = connection.ask(&request)?;
        anyhow::ensure!(answer.contains("normalized_text"), "the server answered `{answer}`");
    }
    Ok(server.cpu_seconds()? - before)
}

fn serve_bare() -> anyhow::Result<()> {
    block_on(async {
        let shutdown = CancellationToken::new();
        platform::shutdown_on_signal(shutdown.clone())?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        print::note(format!("listening on http://{}", listener.local_addr()?));
        ::serve::bench::bare_server(listener, shutdown).await.context("the bare server stopped")
    })
}
