//! Reading documents in processes that can be killed.
//!
//! A thread cannot be stopped and memory it takes cannot be taken back, so risky readers run in
//! worker processes: the same executable, started again with a hidden argument. A worker that
//! crashes, hangs or takes too much memory ends alone; its document gets a warning, and the next
//! document gets a new worker.

mod process;
mod protocol;

pub mod worker;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;
use model::Warning;
use parking_lot::{Condvar, Mutex};

use crate::error::{Cap, Error};
use crate::output::Output;
use crate::{Caps, Confinement, Extracted, Format, platform};

use process::{Outcome, Worker};
use protocol::Input;

/// A worker is replaced after so many documents, so that what a reader leaks stays small.
pub const DOCUMENTS_PER_WORKER: u32 = 500;

/// More workers than this gain nothing: what they read comes from one disk and goes to one writer.
pub const MAX_WORKERS: usize = 16;

/// Memory that a machine has for each worker; few documents need a quarter of their cap.
const MEMORY_BYTES_PER_WORKER: u64 = 512 << 20;

/// How workers are started.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// The executable; it must call [`worker::main_if_asked`] first thing.
    pub program: PathBuf,
    /// Its arguments; the first must be [`worker::ARGUMENT`].
    pub arguments: Vec<OsString>,
    /// The most workers at one time; more callers wait.
    pub n_workers: usize,
}

impl PoolConfig {
    /// Starts workers from the executable that is running, as many as [`default_workers`].
    ///
    /// # Errors
    ///
    /// When the system does not tell where that is.
    pub fn this_executable() -> crate::Result<Self> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Spawn { program: "current executable".to_owned(), source })?;
        let arguments = vec![OsString::from(worker::ARGUMENT)];
        Ok(PoolConfig { program, arguments, n_workers: default_workers() })
    }
}

/// Gives how many documents this machine reads side by side: one for each processor it may use, as
/// far as its memory allows, at most [`MAX_WORKERS`].
pub fn default_workers() -> usize {
    let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
    workers_for(n_processors, platform::memory_bytes())
}

fn workers_for(n_processors: usize, memory_bytes: Option<u64>) -> usize {
    let by_memory = memory_bytes.map_or(usize::MAX, |bytes| {
        usize::try_from(bytes / MEMORY_BYTES_PER_WORKER).unwrap_or(usize::MAX)
    });
    n_processors.min(by_memory).clamp(1, MAX_WORKERS)
}

/// Worker processes, started when needed and used again. Shared by reference between threads.
#[derive(Debug)]
pub struct Pool {
    config: PoolConfig,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: VecDeque<Worker>,
    n_busy: usize,
    confinement: Option<Confinement>,
}

impl Pool {
    /// Makes a pool; no process is started yet.
    pub fn new(config: PoolConfig) -> Self {
        Pool { config, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Tells whether the next caller has to wait.
    pub fn is_busy(&self) -> bool {
        self.state.lock().n_busy >= self.config.n_workers.max(1)
    }

    /// Makes a pool of one worker of the same kind, for what must not wait until this one is free.
    pub fn beside(&self) -> Self {
        Pool::new(PoolConfig { n_workers: 1, ..self.config.clone() })
    }

    /// Reads a document in a worker. Never fails: what goes wrong is a warning.
    pub fn extract(&self, bytes: &[u8], name: &str, caps: &Caps) -> (Extracted, Vec<Warning>) {
        self.extract_input(Input::Bytes(bytes), name, caps)
    }

    /// Reads a file as [`Pool::extract`] does. Its bytes go from the disk to the worker and never
    /// through the memory of this process; `name` helps where the content leaves a choice.
    pub fn extract_file(&self, path: &Path, name: &str, caps: &Caps) -> (Extracted, Vec<Warning>) {
        match fs::File::open(path) {
            Ok(file) => self.extract_open(file.file(), name, caps),
            Err(source) => given_up(&Error::Read { source }, name),
        }
    }

    /// Reads a file that is open already, from its start.
    pub fn extract_open(
        &self,
        file: &std::fs::File,
        name: &str,
        caps: &Caps,
    ) -> (Extracted, Vec<Warning>) {
        match file.metadata() {
            Ok(metadata) => {
                let document = Input::File { file, n_bytes: metadata.len() };
                self.extract_input(document, name, caps)
            }
            Err(source) => given_up(&Error::Read { source }, name),
        }
    }

    fn extract_input(
        &self,
        document: Input<'_>,
        name: &str,
        caps: &Caps,
    ) -> (Extracted, Vec<Warning>) {
        if document.n_bytes() > caps.input_bytes {
            return given_up(&Output::new(caps, 0).capped(Cap::Input), name);
        }
        let _turn = self.turn();
        let mut worker = match self.idle_or_new() {
            Ok(worker) => worker,
            Err(error) => return given_up(&error, name),
        };
        let mut outcome = worker.ask(document, name, caps);
        if matches!(outcome, Outcome::NotAsked) {
            // The worker was gone before it heard of this document: that is not its fault.
            outcome = match Worker::start(&self.config) {
                Ok(fresh) => {
                    worker = fresh;
                    worker.ask(document, name, caps)
                }
                Err(error) => return given_up(&error, name),
            };
        }
        match outcome {
            Outcome::Answered(extracted, warnings, confinement) => {
                self.note_confinement(confinement);
                if worker.n_documents() < DOCUMENTS_PER_WORKER {
                    self.state.lock().idle.push_back(worker);
                }
                (extracted, warnings)
            }
            Outcome::NotAsked => {
                given_up(&Error::WorkerDied { status: "at its start".to_owned() }, name)
            }
            Outcome::Failed(error) => given_up(&error, name),
        }
    }

    /// Gives what workers are kept from, once one has answered.
    pub fn confinement(&self) -> Option<Confinement> {
        self.state.lock().confinement
    }

    /// Counts the processes that wait for work.
    pub fn n_idle(&self) -> usize {
        self.state.lock().idle.len()
    }

    /// Keeps what a worker said, and logs what it could still do, once.
    fn note_confinement(&self, confinement: Confinement) {
        let before = self.state.lock().confinement.replace(confinement);
        if before != Some(confinement) && !confinement.is_whole() {
            let allowed = confinement.missing().join(", ");
            tracing::warn!(allowed, "extraction workers are only partly confined by this system");
        }
    }

    fn turn(&self) -> Turn<'_> {
        let mut state = self.state.lock();
        while state.n_busy >= self.config.n_workers.max(1) {
            self.freed.wait(&mut state);
        }
        state.n_busy += 1;
        Turn { pool: self }
    }

    fn idle_or_new(&self) -> crate::Result<Worker> {
        let idle = self.state.lock().idle.pop_front();
        match idle {
            Some(worker) => Ok(worker),
            None => Worker::start(&self.config),
        }
    }
}

/// The right to use one worker, given back when dropped.
struct Turn<'a> {
    pool: &'a Pool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pool.state.lock().n_busy -= 1;
        self.pool.freed.notify_one();
    }
}

fn given_up(error: &Error, name: &str) -> (Extracted, Vec<Warning>) {
    let format = Format::of_extension(&crate::format::extension_of(name)).unwrap_or(Format::Binary);
    let extracted = Extracted::without_text(format, error.outcome(), error.to_string());
    (extracted, vec![Warning::new(error.code(), error.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_workers_follows_the_machine() {
        let gigabytes = |n: u64| Some(n << 30);
        assert_eq!(workers_for(1, gigabytes(64)), 1);
        assert_eq!(workers_for(8, gigabytes(64)), 8);
        assert_eq!(workers_for(64, gigabytes(512)), MAX_WORKERS);
        assert_eq!(workers_for(8, gigabytes(1)), 2);
        assert_eq!(workers_for(8, Some(100 << 20)), 1);
        assert_eq!(workers_for(4, None), 4);
    }
}
