//! One worker process, seen from the side that asks.

use std::io::Read;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use model::Warning;

use crate::error::{Cap, Error};
use crate::output::Output;
use crate::pool::PoolConfig;
use crate::pool::protocol::{Input, WriteError, read_answer, write_request};
use crate::{Caps, Confinement, Extracted, platform};

/// A worker checks its own time; it gets so much more before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// How much of what a dead worker said last is read.
const LAST_WORDS_BYTES: u64 = 4 << 10;

/// What became of a document.
pub(super) enum Outcome {
    Answered(Extracted, Vec<Warning>, Confinement),
    /// The worker was dead before it could be asked.
    NotAsked,
    Failed(Error),
}

/// What the thread that talks to a worker came back with.
enum WorkerReply {
    Answered(std::io::Result<(Extracted, Vec<Warning>, Confinement)>),
    NotHeard,
    Unreadable(std::io::Error),
}

/// A running worker; killed when dropped.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    n_documents: u32,
}

impl Worker {
    pub(super) fn start(config: &PoolConfig) -> crate::Result<Self> {
        let failed =
            |source| Error::Spawn { program: config.program.display().to_string(), source };
        let mut command = Command::new(&config.program);
        platform::prepare(&mut command);
        let mut child = command
            .args(&config.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.expect("both ends were asked to be pipes");
        Ok(Worker { child, requests, answers, n_documents: 0 })
    }

    pub(super) fn n_documents(&self) -> u32 {
        self.n_documents
    }

    /// Hands over a document and waits, at most its time cap and some grace.
    pub(super) fn ask(&mut self, document: Input<'_>, name: &str, caps: &Caps) -> Outcome {
        self.n_documents += 1;
        let is_first = self.n_documents == 1;
        let Worker { child, requests, answers, .. } = self;
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The other side stops listening only when it has given up.
                let _ = match write_request(requests, &document, name, caps) {
                    Ok(()) => sender.send(WorkerReply::Answered(read_answer(answers, caps))),
                    Err(WriteError::Pipe) => sender.send(WorkerReply::NotHeard),
                    Err(WriteError::Source(error)) => sender.send(WorkerReply::Unreadable(error)),
                };
            });
            let limit = caps.time.saturating_add(GRACE);
            match receiver.recv_timeout(limit) {
                Ok(WorkerReply::Answered(Ok((extracted, warnings, confinement)))) => {
                    Outcome::Answered(extracted, warnings, confinement)
                }
                Ok(WorkerReply::Unreadable(source)) => {
                    let _ = child.kill();
                    Outcome::Failed(Error::Read { source })
                }
                Ok(WorkerReply::NotHeard) if !is_first => Outcome::NotAsked,
                Ok(WorkerReply::NotHeard | WorkerReply::Answered(Err(_))) => {
                    Outcome::Failed(cause_of_death(child, caps))
                }
                Err(_) => {
                    // Ends the pipes too, and with them the thread that waits on them.
                    let _ = child.kill();
                    Outcome::Failed(Error::WorkerKilled { after: limit })
                }
            }
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cause_of_death(child: &mut Child, caps: &Caps) -> Error {
    let _ = child.kill();
    let status = child.wait();
    let mut last_words = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        let _ = stderr.take(LAST_WORDS_BYTES).read_to_end(&mut last_words);
    }
    let last_words = String::from_utf8_lossy(&last_words);
    if last_words.contains("memory allocation") {
        return Output::new(caps, 0).capped(Cap::Memory);
    }
    let status =
        status.map_or_else(|error| error.to_string(), |status| in_words(status, &last_words));
    Error::WorkerDied { status }
}

fn in_words(status: ExitStatus, last_words: &str) -> String {
    if last_words.contains("overflowed its stack") {
        return "its stack overflowed".to_owned();
    }
    status.to_string()
}
