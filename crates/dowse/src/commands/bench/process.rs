//! A server in a process of its own, with its address, its CPU time and its memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// What a server prints before its address.
const LISTENING: &str = "listening on http://";

/// How long an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Ticks a second in `/proc/PID/stat`: Linux has shown this number to programs since ever.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running server; dropping it ends it.
pub(super) struct Process {
    child: Child,
    address: String,
    /// From the start of the process to its first answer.
    pub(super) start_time: Duration,
}

impl Process {
    /// Starts this binary with these arguments, and waits for its first answer at `path`.
    pub(super) fn start(arguments: &[&str], folder: &Path, path: &str) -> anyhow::Result<Process> {
        let begun = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().context("stderr was asked for")?;
        let mut process =
            Process { child, address: String::new(), start_time: Duration::default() };
        for line in BufReader::new(stderr).lines() {
            if let Some(address) = line?.strip_prefix(LISTENING) {
                process.address = address.to_owned();
                break;
            }
        }
        if process.address.is_empty() {
            bail!("the server did not come to listen");
        }
        process.connect()?.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))?;
        process.start_time = begun.elapsed();
        Ok(process)
    }

    /// Opens a connection that is kept.
    pub(super) fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        Ok(Connection { reader: BufReader::new(stream) })
    }

    /// Gives the CPU time of the process so far, its own and the system's for it.
    pub(super) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let stat = fs_err::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold spaces; times are the 12th and 13th fields after it.
        let (_, fields) = stat.rsplit_once(')').context("a line of `/proc` has a name")?;
        let ticks: f64 = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|field| field.parse::<f64>().unwrap_or(0.0))
            .sum();
        Ok(ticks / TICKS_PER_SECOND)
    }

    /// Gives the memory that the process holds, in MB.
    pub(super) fn resident_megabytes(&self) -> anyhow::Result<f64> {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        let kilobytes: f64 = kilobytes.context("`/proc` tells the size of a process")?;
        Ok(kilobytes / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, and there is nothing to be saved.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection, asked again and again.
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// Sends a request and gives the body of a good answer.
    pub(super) fn ask(&mut self, request: &str) -> anyhow::Result<String> {
        self.reader.get_mut().write_all(request.as_bytes())?;
        let mut n_bytes = 0;
        let mut status = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                bail!("the server closed the connection");
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if status.is_empty() {
                status = line.to_owned();
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                n_bytes = value.trim().parse()?;
            }
        }
        let mut body = vec![0; n_bytes];
        self.reader.read_exact(&mut body)?;
        let body = String::from_utf8(body)?;
        // The bare server has no page but its protocol; any answer shows that it is there.
        if !status.contains(" 2") && !request.starts_with("GET ") {
            bail!("the server answered `{status}`: {body}");
        }
        Ok(body)
    }
}
