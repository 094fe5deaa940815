//! Strangers who hold connections and say little, and how soon a probe is answered beside them.
//!
//! `cargo xtask hostile [CONNECTIONS] [--binary FILE]`: 2,048 connections unless said otherwise,
//! each with a request without a token whose body never comes; a connection that the server closes
//! is opened again. The server demands keys. Meanwhile `/healthz` and a caller with a key are
//! asked again and again.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use testkit::{Folder, Http, Request, Server};

use crate::binary;
use crate::soak::trace::{line, quantile};

/// Connections unless the caller says otherwise.
const N_CONNECTIONS: usize = 2_048;

/// Threads that hold them.
const N_THREADS: usize = 16;

/// How long it is measured.
const LENGTH: Duration = Duration::from_secs(20);

/// What a probe may take, one in a hundred left out.
const MAX_P99: Duration = Duration::from_millis(100);

const KEY: &str = "a key of somebody who may ask";

const CONFIG: &str = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
    [[auth.keys]]\nname = \"one\"\nkey_env = \"HOSTILE_KEY\"\ntenant = \"acme\"\n\
    roles = [\"admin\"]\n";

/// Runs as the arguments ask.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (arguments, binary) = match arguments {
        [before @ .., "--binary", binary] => (before, PathBuf::from(binary)),
        _ => (arguments, binary::build(binary::Kind::Shipped)?),
    };
    let n_connections = match arguments {
        [] => N_CONNECTIONS,
        [number] => number.parse().context("the argument is a number of connections")?,
        _ => anyhow::bail!("usage: cargo xtask hostile [CONNECTIONS] [--binary FILE]"),
    };
    let folder = Folder::new();
    let config = folder.write("dowse.toml", CONFIG);
    let mut command = std::process::Command::new(binary);
    command.arg("serve").arg("--config").arg(config).args(["--listen", "127.0.0.1:0"]);
    command.env("HOSTILE_KEY", KEY);
    let server = Server::start_command(command);
    server.wait_until_ready();
    let http = server.http();
    let (is_over, n_opened) = (AtomicBool::new(false), AtomicU64::new(0));
    let (probes, calls) = thread::scope(|scope| -> anyhow::Result<_> {
        for _ in 0..N_THREADS {
            scope.spawn(|| hold(http, n_connections / N_THREADS, &is_over, &n_opened));
        }
        let measured = measure(http, n_connections as u64, &n_opened);
        is_over.store(true, Ordering::Relaxed);
        measured
    })?;
    let n_opened = n_opened.into_inner();
    eprintln!("     {n_connections} hostile connections, opened {n_opened} times");
    eprintln!("{}", line("healthz", &probes));
    eprintln!("{}", line("a caller with a key", &calls));
    let mut sorted = probes;
    sorted.sort_unstable();
    let p99 = quantile(&sorted, 0.99);
    ensure!(p99 < MAX_P99.as_secs_f64(), "p99 of `/healthz` is {:.0} ms", p99 * 1_000.0);
    ensure!(server.stop().success(), "the server did not end well");
    Ok(())
}

/// Holds connections with unfinished requests, and opens those again that the server closes.
fn hold(http: &Http, n_connections: usize, is_over: &AtomicBool, n_opened: &AtomicU64) {
    let mut held: Vec<Option<TcpStream>> = (0..n_connections).map(|_| None).collect();
    while !is_over.load(Ordering::Relaxed) {
        for slot in &mut held {
            if slot.as_mut().is_none_or(is_closed) {
                *slot = unfinished(http).ok();
                n_opened.fetch_add(1, Ordering::Relaxed);
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Sends half of a request: every second one stops in its head, the others before their body.
fn unfinished(http: &Http) -> std::io::Result<TcpStream> {
    let mut connection = http.connect()?;
    let number = connection.local_addr()?.port();
    let head = "POST /reconcile HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\
                Content-Type: application/x-www-form-urlencoded\r\n";
    connection.write_all(head.as_bytes())?;
    if number % 2 == 0 {
        connection.write_all(b"\r\nqueries=")?;
    }
    connection.set_nonblocking(true)?;
    Ok(connection)
}

/// Tells whether the server has ended a connection; what it answered before that is thrown away.
fn is_closed(connection: &mut TcpStream) -> bool {
    let mut bytes = [0; 1_024];
    loop {
        match connection.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

/// Asks for some time, once all connections were opened.
fn measure(
    http: &Http,
    n_connections: u64,
    n_opened: &AtomicU64,
) -> anyhow::Result<(Vec<Duration>, Vec<Duration>)> {
    let begun = Instant::now();
    while n_opened.load(Ordering::Relaxed) < n_connections {
        ensure!(begun.elapsed() < LENGTH, "the connections could not be opened");
        thread::sleep(Duration::from_millis(10));
    }
    let ask = |request: &Request| -> anyhow::Result<(u16, Duration)> {
        let asked = Instant::now();
        let raw = http.exchange(&request.bytes(http.authority()))?;
        let answer = testkit::parse_response(&raw).context("no answer")?;
        Ok((answer.status, asked.elapsed()))
    };
    let probe = Request::new("GET", "/healthz");
    let call =
        Request::new("GET", "/v1/openapi.json").header("Authorization", &format!("Bearer {KEY}"));
    let (mut probes, mut calls) = (vec![], vec![]);
    let begun = Instant::now();
    while begun.elapsed() < LENGTH {
        let (status, took) = ask(&probe).context("`/healthz` is not answered")?;
        ensure!(status == 200, "`/healthz` answers {status}");
        probes.push(took);
        // From the same address as the strangers, so that it may be refused; the time counts.
        calls.push(ask(&call)?.1);
        thread::sleep(Duration::from_millis(5));
    }
    Ok((probes, calls))
}
