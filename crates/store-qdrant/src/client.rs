//! The way to the cluster: one client for each peer, driven by a runtime of its own behind blocking
//! calls, with a limit on every wait. What one peer cannot answer is asked of the next, and a question
//! that one peer leaves without an answer is asked of the next as well: it may hang.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Deadline;
use parking_lot::Mutex;
use qdrant_client::{Qdrant, QdrantError};
use store::{Error, Result};
use tokio::runtime::{Builder, Runtime};

use crate::{ENGINE, QdrantConfig};

/// How long one attempt at a question may take.
const QUESTION_ATTEMPT: Duration = Duration::from_secs(10);
/// How long one peer has for a question before the next one is asked as well.
const ASK_NEXT_AFTER: Duration = Duration::from_secs(2);
/// After no peer answered in time, questions fail at once for this long instead of each waiting.
const HANGING_PAUSE: Duration = Duration::from_secs(5);
/// How long a question may take while the cluster was found to be away: it would wait in vain, and
/// may be the first to see that somebody is there again.
const AWAY_LIMIT: Duration = Duration::from_secs(2);
/// How long a question that has no deadline of its own may take.
pub(crate) const QUESTION_LIMIT: Duration = Duration::from_secs(30);
/// How long one attempt at a write may take: less than the lease of whoever writes.
const WRITE_ATTEMPT: Duration = Duration::from_secs(25);
/// How long a write may take with everything that has to be repeated.
const WRITE_LIMIT: Duration = Duration::from_secs(180);
/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// The wait before a write is tried again; it doubles, up to sixteen times itself.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How often a wait looks whether its caller has gone.
const WAIT_SLICE: Duration = Duration::from_millis(20);
/// Threads that drive connections.
const N_THREADS: usize = 2;

/// The peers of a cluster.
pub(crate) struct Client {
    peers: Vec<(String, Qdrant)>,
    /// The peer that answered last.
    preferred: AtomicUsize,
    /// When a question was left without an answer by all peers.
    hanging: Mutex<Option<Instant>>,
    /// Whether nobody answered when somebody looked last.
    is_away: AtomicBool,
    // Taken out when the engine goes, since a runtime must not be waited for everywhere.
    runtime: Option<Runtime>,
}

impl Client {
    /// Makes the clients; nothing is sent yet.
    pub(crate) fn open(config: &QdrantConfig) -> Result<Self> {
        let refused = |reason: String| Error::EngineSettings { engine: ENGINE, reason };
        if config.urls.is_empty() {
            return Err(refused("`store.qdrant.urls` names no peer".to_owned()));
        }
        let mut peers = vec![];
        let runtime = Builder::new_multi_thread()
            .worker_threads(N_THREADS)
            .thread_name("qdrant")
            .enable_all()
            .build()?;
        let _entered = runtime.enter();
        for url in &config.urls {
            if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
                let example = "`http://127.0.0.1:6334`";
                return Err(refused(format!(
                    "`{url}` is not the address of a peer, such as {example}"
                )));
            }
            let mut peer = Qdrant::from_url(url)
                // It would print to the standard output, which belongs to the protocol.
                .skip_compatibility_check()
                .timeout(WRITE_ATTEMPT)
                .connect_timeout(CONNECT_LIMIT);
            if let Some(key) = &config.key {
                peer = peer.api_key(key.reveal());
            }
            let peer = peer.build().map_err(|error| refused(format!("`{url}`: {error}")))?;
            peers.push((url.clone(), peer));
        }
        drop(_entered);
        Ok(Client {
            peers,
            preferred: AtomicUsize::new(0),
            hanging: Mutex::default(),
            is_away: AtomicBool::new(false),
            runtime: Some(runtime),
        })
    }

    /// Looks whether anybody answers. While nobody does, questions wait for less.
    pub(crate) fn look<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        call: impl Fn(Qdrant) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let looked = self.ask_within(what, deadline, call);
        self.is_away.store(looked.is_err(), Ordering::Relaxed);
        looked
    }

    /// Asks a question. A peer that cannot be reached is passed over, and one that does not answer
    /// is not waited for alone.
    pub(crate) fn ask<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        call: impl Fn(Qdrant) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let answer = match self.is_away.load(Ordering::Relaxed) {
            true => self.ask_within(what, &deadline.part(1.0, AWAY_LIMIT), call),
            false => return self.ask_within(what, deadline, call),
        };
        if answer.is_ok() {
            self.is_away.store(false, Ordering::Relaxed);
        }
        answer
    }

    fn ask_within<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        call: impl Fn(Qdrant) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        if self.hanging.lock().is_some_and(|since| since.elapsed() < HANGING_PAUSE) {
            return Err(Error::EngineTimeout { engine: ENGINE, what });
        }
        let first = self.preferred.load(Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        let mut tasks = vec![];
        let (mut n_failed, mut asked_at) = (0, Instant::now());
        let answer = loop {
            let is_due = tasks.len() == n_failed || asked_at.elapsed() >= ASK_NEXT_AFTER;
            if is_due && tasks.len() < self.peers.len() {
                let idx = (first + tasks.len()) % self.peers.len();
                let (asked, sender) = (call(self.peers[idx].1.clone()), sender.clone());
                asked_at = Instant::now();
                tasks.push(self.runtime().spawn(async move {
                    let result = tokio::time::timeout(QUESTION_ATTEMPT, asked).await;
                    // Nobody may wait any more.
                    let _ = sender.send((idx, result));
                }));
            }
            let (idx, error) = match receiver.recv_timeout(WAIT_SLICE.min(deadline.remaining())) {
                Ok((idx, Ok(Ok(value)))) => {
                    self.preferred.store(idx, Ordering::Relaxed);
                    *self.hanging.lock() = None;
                    break Ok(value);
                }
                Ok((idx, Ok(Err(error)))) => (idx, failure_of(what, &error)),
                Ok((idx, Err(_))) => (idx, Error::EngineTimeout { engine: ENGINE, what }),
                Err(RecvTimeoutError::Timeout) if !deadline.is_over() => continue,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    break Err(Error::EngineTimeout { engine: ENGINE, what });
                }
            };
            if is_final(&error) {
                break Err(error);
            }
            let url = &self.peers[idx].0;
            tracing::debug!(url, %error, what, "a peer of Qdrant did not answer");
            n_failed += 1;
            if n_failed == self.peers.len() {
                if matches!(error, Error::EngineTimeout { .. }) {
                    *self.hanging.lock() = Some(Instant::now());
                }
                break Err(error);
            }
        };
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        answer
    }

    /// Writes; repeated until it went through on all shards, since a failed write may have been
    /// applied in part. One peer at a time: two writes of one point at once may leave its replicas
    /// unlike each other.
    pub(crate) fn write<T, F>(&self, what: &'static str, call: impl Fn(Qdrant) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let deadline = Deadline::after(WRITE_LIMIT);
        let mut wait = FIRST_WAIT;
        loop {
            let first = self.preferred.load(Ordering::Relaxed);
            let mut failure = None;
            for step in 0..self.peers.len() {
                let idx = (first + step) % self.peers.len();
                let (url, peer) = &self.peers[idx];
                match self.write_once(what, call(peer.clone())) {
                    Ok(value) => {
                        self.preferred.store(idx, Ordering::Relaxed);
                        *self.hanging.lock() = None;
                        return Ok(value);
                    }
                    Err(error) if is_final(&error) => return Err(error),
                    Err(error) => {
                        tracing::debug!(url, %error, what, "a peer of Qdrant did not answer");
                        failure = Some(error);
                    }
                }
                if deadline.is_over() {
                    return Err(Error::EngineTimeout { engine: ENGINE, what });
                }
            }
            let failure = failure.unwrap_or(Error::EngineTimeout { engine: ENGINE, what });
            if deadline.remaining() < wait {
                return Err(failure);
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(FIRST_WAIT * 16);
        }
    }

    /// Tells whether any peer says yes; those that do not answer say nothing.
    pub(crate) fn any_says<F>(&self, what: &'static str, call: impl Fn(Qdrant) -> F) -> bool
    where
        F: Future<Output = std::result::Result<bool, QdrantError>> + Send + 'static,
    {
        let says = |peer: &Qdrant| matches!(self.write_once(what, call(peer.clone())), Ok(true));
        self.peers.iter().any(|(_, peer)| says(peer))
    }

    fn write_once<T, F>(&self, what: &'static str, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.runtime().spawn(async move {
            let _ = sender.send(tokio::time::timeout(WRITE_ATTEMPT, call).await);
        });
        match receiver.recv() {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(error))) => Err(failure_of(what, &error)),
            Ok(Err(_)) | Err(mpsc::RecvError) => Err(Error::EngineTimeout { engine: ENGINE, what }),
        }
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime is there until the client is dropped")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Tells whether another peer or another try would say the same.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::EngineRefused { .. } | Error::EngineMissing { .. })
}

fn failure_of(what: &'static str, error: &QdrantError) -> Error {
    let QdrantError::ResponseError { status } = error else {
        return Error::EngineUnavailable { engine: ENGINE, what, reason: error.to_string() };
    };
    let reason = status.message().to_owned();
    // The numbers of gRPC: 3 bad argument, 5 not found, 6 already there, 7 no permission,
    // 9 precondition, 12 unimplemented, 16 no authentication.
    match status.code() as i32 {
        5 => Error::EngineMissing { engine: ENGINE, what },
        // A peer that has just heard of a collection, or moves a part of it, has not all of its
        // shards for a moment.
        9 if reason.contains("shard") => Error::EngineUnavailable { engine: ENGINE, what, reason },
        3 | 9 | 12 => Error::EngineRefused { engine: ENGINE, status: 400, reason },
        6 => Error::EngineRefused { engine: ENGINE, status: 409, reason },
        7 | 16 => Error::EngineRefused { engine: ENGINE, status: 401, reason },
        _ => Error::EngineUnavailable { engine: ENGINE, what, reason },
    }
}
