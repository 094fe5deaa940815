//! The way to the cluster: one client for each peer, driven by a runtime of its own behind blocking
//! calls, with a limit on every wait. What one peer cannot answer is asked of the next.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use model::Deadline;
use qdrant_client::{Qdrant, QdrantError};
use store::{Error, Result};
use tokio::runtime::{Builder, Runtime};

use crate::{ENGINE, QdrantConfig};

/// How long one attempt at a question may take.
const QUESTION_ATTEMPT: Duration = Duration::from_secs(10);
/// How long a question that has no deadline of its own may take.
pub(crate) const QUESTION_LIMIT: Duration = Duration::from_secs(30);
/// How long one attempt at a write may take.
const WRITE_ATTEMPT: Duration = Duration::from_secs(60);
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
    // Taken out when the engine goes, since a runtime must not be waited for everywhere.
    runtime: Option<Runtime>,
}

/// Whether a call may be repeated for as long as a write takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Question,
    Write,
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
        Ok(Client { peers, preferred: AtomicUsize::new(0), runtime: Some(runtime) })
    }

    /// Asks a question; a peer that does not answer is passed over.
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
        self.call(what, deadline, Patience::Question, call)
    }

    /// Writes; repeated until it went through on all shards, since a failed write may have been
    /// applied in part.
    pub(crate) fn write<T, F>(&self, what: &'static str, call: impl Fn(Qdrant) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        self.call(what, &Deadline::after(WRITE_LIMIT), Patience::Write, call)
    }

    fn call<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        patience: Patience,
        call: impl Fn(Qdrant) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let attempt = match patience {
            Patience::Question => QUESTION_ATTEMPT,
            Patience::Write => WRITE_ATTEMPT,
        };
        let mut wait = FIRST_WAIT;
        loop {
            let first = self.preferred.load(Ordering::Relaxed);
            let mut failure = None;
            for step in 0..self.peers.len() {
                let idx = (first + step) % self.peers.len();
                let (url, peer) = &self.peers[idx];
                match self.once(what, deadline, attempt, call(peer.clone())) {
                    Ok(value) => {
                        self.preferred.store(idx, Ordering::Relaxed);
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
            if patience == Patience::Question || deadline.remaining() < wait {
                return Err(failure);
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(FIRST_WAIT * 16);
        }
    }

    fn once<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        attempt: Duration,
        call: F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, QdrantError>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::sync_channel(1);
        let task = self.runtime().spawn(async move {
            let result = tokio::time::timeout(attempt, call).await;
            // Nobody may wait any more.
            let _ = sender.send(result);
        });
        loop {
            match receiver.recv_timeout(WAIT_SLICE.min(deadline.remaining())) {
                Ok(Ok(Ok(value))) => return Ok(value),
                Ok(Ok(Err(error))) => return Err(failure_of(what, &error)),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::EngineTimeout { engine: ENGINE, what });
                }
                Err(RecvTimeoutError::Timeout) if deadline.is_over() => {
                    task.abort();
                    return Err(Error::EngineTimeout { engine: ENGINE, what });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
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
        3 | 9 | 12 => Error::EngineRefused { engine: ENGINE, status: 400, reason },
        6 => Error::EngineRefused { engine: ENGINE, status: 409, reason },
        7 | 16 => Error::EngineRefused { engine: ENGINE, status: 401, reason },
        _ => Error::EngineUnavailable { engine: ENGINE, what, reason },
    }
}
