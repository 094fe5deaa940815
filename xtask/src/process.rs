//! Running other programs with a time limit that has a name.
//!
//! Every program that a chore starts ends by itself or is ended here: first asked (SIGTERM, so
//! that a test runner can name the test that hangs), then killed. Programs that only live for
//! the length of a call belong here; servers under test are started by `testkit::Server`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// How long one kind of program may run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// What the limit is for, as an error names it.
    pub(crate) name: &'static str,
    /// How long the program may take.
    pub(crate) duration: Duration,
}

impl Limit {
    /// Makes a limit of whole minutes.
    pub(crate) const fn minutes(name: &'static str, minutes: u64) -> Self {
        Limit { name, duration: Duration::from_secs(minutes * 60) }
    }
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(15);
/// How long the output of a program that ended is waited for: a grandchild may hold the pipe.
const DRAIN: Duration = Duration::from_secs(2);
/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Runs a program on this terminal; an exit code other than zero is an error.
pub(crate) fn run(command: impl Into<Command>, limit: Limit) -> anyhow::Result<()> {
    let mut command = command.into();
    let mut child = spawn(&mut command)?;
    let status = wait(&mut child, Instant::now(), limit)?;
    anyhow::ensure!(status.success(), "`{}` failed: {status}", line_of(&command));
    Ok(())
}

/// Runs a program and hands on what it prints line by line, keeping the lines that `keep` wants.
///
/// A failure is an error that carries the kept lines as well, since they name what failed.
pub(crate) fn run_keeping(
    command: impl Into<Command>,
    limit: Limit,
    keep: fn(&str) -> bool,
) -> anyhow::Result<Vec<String>> {
    let mut command = command.into();
    let mut kept = Vec::new();
    let status = watch(&mut command, limit, |_, line| {
        eprintln!("{line}");
        if keep(&line) {
            kept.push(line);
        }
    })?;
    let lines = kept.join("\n");
    anyhow::ensure!(status.success(), "`{}` failed: {status}\n{lines}", line_of(&command));
    Ok(kept)
}

/// Runs a program and gives back what it printed, whatever its exit code.
pub(crate) fn read(command: impl Into<Command>, limit: Limit) -> anyhow::Result<Finished> {
    let mut command = command.into();
    command.stdin(Stdio::null());
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let status = watch(&mut command, limit, |stream, line| {
        let text = match stream {
            Stream::Stdout => &mut stdout,
            Stream::Stderr => &mut stderr,
        };
        text.push_str(&line);
        text.push('\n');
    })?;
    Ok(Finished { status, stdout, stderr })
}

/// Tells whether a program can be started at all.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[derive(Debug, Clone, Copy)]
enum Stream {
    Stdout,
    Stderr,
}

/// Runs a program and gives every line of both streams to `each`, in the order they come.
fn watch(
    command: &mut Command,
    limit: Limit,
    mut each: impl FnMut(Stream, String),
) -> anyhow::Result<ExitStatus> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = spawn(command)?;
    let (sender, lines) = mpsc::channel();
    let stdout = child.stdout.take().context("stdout was asked for")?;
    let stderr = child.stderr.take().context("stderr was asked for")?;
    forward(Stream::Stdout, stdout, sender.clone());
    forward(Stream::Stderr, stderr, sender);
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(POLL) {
            Ok((stream, line)) => each(stream, line),
            Err(RecvTimeoutError::Disconnected) => return wait(&mut child, started, limit),
            Err(RecvTimeoutError::Timeout) => match ended {
                Some((status, at)) if at.elapsed() >= DRAIN => return Ok(status),
                Some(_) => {}
                None => ended = child.try_wait()?.map(|status| (status, Instant::now())),
            },
        }
        if ended.is_none() && started.elapsed() >= limit.duration {
            return wait(&mut child, started, limit);
        }
    }
}

fn spawn(command: &mut Command) -> anyhow::Result<Child> {
    command.spawn().with_context(|| format!("cannot start `{}`", line_of(command)))
}

/// Waits for the end, and ends the program itself when the limit is reached.
fn wait(child: &mut Child, started: Instant, limit: Limit) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if started.elapsed() >= limit.duration {
            break;
        }
        thread::sleep(POLL);
    }
    ask_to_end(child);
    let asked = Instant::now();
    while asked.elapsed() < GRACE && child.try_wait()?.is_none() {
        thread::sleep(POLL);
    }
    // The program may have ended in the last moment; then there is nothing left to kill.
    let _ = child.kill();
    child.wait()?;
    anyhow::bail!("ran out of time: `{}` is {} s", limit.name, limit.duration.as_secs())
}

fn ask_to_end(child: &Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // A program that is already gone needs no signal.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// Reads a stream on a thread of its own, which ends with the stream or with its reader.
fn forward(
    stream: Stream,
    pipe: impl Read + Send + 'static,
    lines: mpsc::Sender<(Stream, String)>,
) {
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut raw = Vec::new();
        while matches!(reader.read_until(b'\n', &mut raw), Ok(n_bytes) if n_bytes > 0) {
            let line = String::from_utf8_lossy(&raw).trim_end().to_owned();
            raw.clear();
            if lines.send((stream, line)).is_err() {
                return;
            }
        }
    });
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn failure_shows_the_command_and_the_kept_lines() {
        let limit = Limit::minutes("a test command", 1);
        let keep = |line: &str| line.contains("Summary");
        let kept = run_keeping(shell("echo noise; echo 'Summary 3'"), limit, keep).unwrap();
        assert_eq!(kept, ["Summary 3"]);
        let error = run_keeping(shell("echo 'Summary 4' >&2; exit 3"), limit, keep).unwrap_err();
        assert!(error.to_string().contains("Summary 4"), "{error}");
        assert!(error.to_string().contains("exit 3"), "{error}");
    }

    #[test]
    fn time_limit_is_named() {
        let limit = Limit { name: "patience", duration: Duration::from_millis(100) };
        let error = run(shell("exec sleep 60"), limit).unwrap_err();
        assert_eq!(error.to_string(), "ran out of time: `patience` is 0 s");
    }

    #[test]
    fn grandchild_that_holds_the_pipe_is_not_waited_for() {
        let script = "sleep 30 & echo $!";
        let finished = read(shell(script), Limit::minutes("a test", 1)).unwrap();
        assert!(finished.status.success());
        let pid = finished.stdout.trim().parse().ok().and_then(rustix::process::Pid::from_raw);
        // Still running: its pipe was left, not drained to the end.
        rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn both_streams_are_read() {
        let finished =
            read(shell("echo out; echo err >&2; exit 2"), Limit::minutes("a test", 1)).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(finished.status.code(), Some(2));
    }
}
