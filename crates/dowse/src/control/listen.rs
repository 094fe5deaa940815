//! The side that has the data folder open.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use ingest::JobProgress;

use super::gate::{Gate, Pass};
use super::message::{Frame, Request, Typed};
use super::{PATIENCE, socket_path};
use crate::platform::{LocalListener, LocalStream};
use crate::print;

/// Commands served at the same time.
const MAX_COMMANDS: usize = 16;

/// Sessions of MCP served at the same time: they last as long as their clients, and must not keep
/// commands out.
const MAX_SESSIONS: usize = 256;

/// The longest request: a text for a knowledge base may be among the words.
const MAX_REQUEST_BYTES: u64 = 4 * 1024 * 1024;

/// How often progress is sent.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What the process does for commands.
pub(crate) trait Host: Send + Sync + 'static {
    /// Writes an archive of everything. Calls `begin` once the archive is made, so that a failure
    /// before is told to the command.
    fn backup(&self, begin: &mut dyn FnMut() -> std::io::Result<LocalStream>)
    -> anyhow::Result<()>;

    /// Names the command of this process; nothing when it is about to end.
    fn command(&self) -> Option<&'static str>;

    /// Speaks MCP with one client until it leaves.
    fn mcp(&self, stream: LocalStream) -> anyhow::Result<()>;

    /// Does what was typed and gives the exit code. What it prints on this thread is sent.
    fn run(&self, typed: &Typed) -> anyhow::Result<u8>;
}

/// A process that listens. It has to be told when it is about to end, or cuts commands off.
pub(crate) struct Listening(Arc<Gate>);

impl Listening {
    /// Lets no command in any more, and waits for those that are being done, so long at most.
    pub(crate) fn finish_within(&self, limit: Duration) {
        self.0.close(limit);
    }

    /// Does what commands have asked for, however long that takes, and lets none in then.
    pub(crate) fn finish(&self) {
        self.0.close_when_empty();
    }
}

/// Listens until the process ends. Where that is not possible, commands have to wait until the
/// process ends, and the log says so.
pub(crate) fn listen(data_dir: &Path, host: Arc<dyn Host>) -> anyhow::Result<Listening> {
    let gate = Arc::new(Gate::default());
    let listening = Listening(Arc::clone(&gate));
    // Whoever holds the data folder owns the socket: one that is there is left from before.
    let listener = match LocalListener::bind(&socket_path(data_dir)) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(
                %error,
                "commands such as `dowse search` cannot use this process while it runs"
            );
            return Ok(listening);
        }
    };
    let running = Arc::new(Running::default());
    std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        while let Ok(stream) = listener.accept() {
            // A connection that is closed without a word has asked for nothing yet.
            let pass = host.command().and_then(|_| gate.enter());
            let Some(pass) = pass else { continue };
            let (host, running) = (Arc::clone(&host), Arc::clone(&running));
            let worker = std::thread::Builder::new().name("control command".to_owned());
            let started = worker.spawn(move || {
                if let Err(error) = answer(&stream, &*host, &running, pass) {
                    tracing::debug!(error = format!("{error:#}"), "a command was not answered");
                }
            });
            if let Err(error) = started {
                tracing::warn!(%error, "a command could not be served");
            }
        }
    })?;
    Ok(listening)
}

/// What is being done.
#[derive(Default)]
struct Running {
    n_commands: AtomicUsize,
    n_sessions: AtomicUsize,
}

/// One of those that are being done; it ends with this.
struct Slot<'a>(&'a AtomicUsize);

impl<'a> Slot<'a> {
    /// Takes one of `most`; otherwise says how many there are.
    fn take(running: &'a AtomicUsize, most: usize) -> Result<Self, usize> {
        let (n_before, slot) = (running.fetch_add(1, Ordering::AcqRel), Slot(running));
        if n_before < most { Ok(slot) } else { Err(n_before) }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(
    stream: &LocalStream,
    host: &dyn Host,
    running: &Running,
    pass: Pass,
) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    send(stream, &Frame::Entered)?;
    let mut line = String::new();
    // One byte more than a request may have tells a long one from one that is whole.
    BufReader::with_capacity(1, stream.try_clone()?.take(MAX_REQUEST_BYTES + 1))
        .read_line(&mut line)?;
    if line.is_empty() {
        // It was only looked whether somebody is here.
        return Ok(());
    }
    if line.len() as u64 > MAX_REQUEST_BYTES {
        let message = format!("the command has more than {MAX_REQUEST_BYTES} bytes");
        return send(stream, &Frame::Failed(vec![message]));
    }
    let request = match serde_json::from_str(&line) {
        Ok(request) => request,
        Err(_) => {
            let message = "the running process is of another version; restart it".to_owned();
            return send(stream, &Frame::Failed(vec![message]));
        }
    };
    let slot = match &request {
        Request::Mcp => Slot::take(&running.n_sessions, MAX_SESSIONS),
        Request::Backup | Request::Host | Request::Run(_) => {
            Slot::take(&running.n_commands, MAX_COMMANDS)
        }
    };
    let _slot = match slot {
        Ok(slot) => slot,
        Err(n_before) => {
            let message =
                format!("{n_before} commands are running already; try again when some end");
            return send(stream, &Frame::Failed(vec![message]));
        }
    };
    match request {
        Request::Host => match host.command() {
            Some(command) => send(stream, &Frame::Line(command.to_owned())),
            None => Ok(()),
        },
        // A session that is refused without a word is begun again, with whoever comes next.
        Request::Mcp if host.command().is_none() => Ok(()),
        Request::Backup => {
            let has_begun = Cell::new(false);
            let mut begin = || {
                has_begun.set(true);
                send(stream, &Frame::Begin).map_err(std::io::Error::other)?;
                stream.try_clone()
            };
            match host.backup(&mut begin) {
                Err(error) if !has_begun.get() => send(stream, &failed(&error)),
                ended => ended,
            }
        }
        Request::Mcp => {
            // Sessions last as long as their clients, and go on through the next process.
            drop(pass);
            stream.set_read_timeout(None)?;
            send(stream, &Frame::Begin)?;
            host.mcp(stream.try_clone()?)
        }
        Request::Run(typed) => {
            let sink = FrameSink::new(stream.try_clone()?);
            let ended = print::elsewhere(sink, || host.run(&typed));
            send(stream, &ended.map_or_else(|error| failed(&error), Frame::Exit))
        }
    }
}

fn failed(error: &anyhow::Error) -> Frame {
    Frame::Failed(error.chain().map(ToString::to_string).collect())
}

fn send(mut stream: &LocalStream, frame: &Frame) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(frame).context("a frame is plain data")?;
    line.push(b'\n');
    Ok(stream.write_all(&line)?)
}

/// Sends what a command prints to the one who typed it.
struct FrameSink {
    stream: LocalStream,
    is_gone: Cell<bool>,
    told: RefCell<Option<(Instant, Option<JobProgress>)>>,
}

impl FrameSink {
    fn new(stream: LocalStream) -> Self {
        FrameSink { stream, is_gone: Cell::new(false), told: RefCell::new(None) }
    }

    fn send(&self, frame: &Frame) {
        if send(&self.stream, frame).is_err() {
            self.is_gone.set(true);
        }
    }
}

impl print::Sink for FrameSink {
    fn line(&self, text: &str) {
        self.send(&Frame::Line(text.to_owned()));
    }

    fn note(&self, text: &str) {
        self.send(&Frame::Note(text.to_owned()));
    }

    fn progress(&self, progress: Option<&JobProgress>) {
        let progress = progress.cloned();
        {
            let told = self.told.borrow();
            let is_known = |(at, said): &(Instant, Option<JobProgress>)| {
                *said == progress || (progress.is_some() && at.elapsed() < PROGRESS_EVERY)
            };
            if told.as_ref().is_some_and(is_known) {
                return;
            }
        }
        *self.told.borrow_mut() = Some((Instant::now(), progress.clone()));
        self.send(&Frame::Progress(progress));
    }

    fn is_gone(&self) -> bool {
        self.is_gone.get()
    }
}
