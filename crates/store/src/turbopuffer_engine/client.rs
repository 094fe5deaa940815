//! The way to turbopuffer: the official client, driven by a runtime of its own behind blocking
//! calls, with a limit on every wait.
//!
//! The client itself repeats what was refused in passing (408, 409, 429, 5xx, no connection) with
//! jitter, and follows `Retry-After`. An answer that broke off half-way is asked for again here.
//! Everything that is sent can be sent twice.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use model::Deadline;
use net::Secret;
use tokio::runtime::{Builder, Runtime};
use turbopuffer::types::{
    DistanceMetric, MultiQueryResult, Query, QueryConfigConsistencyLevel, Row,
};
use turbopuffer::{Client as Official, reqwest};

use super::TurbopufferConfig;
use super::row::Schema;
use crate::{Error, Result};

/// How long one attempt at a query may take.
const QUERY_ATTEMPT: Duration = Duration::from_secs(10);
/// How long one attempt at a write may take.
const WRITE_ATTEMPT: Duration = Duration::from_secs(60);
/// How long a write may take with everything that has to be repeated.
const WRITE_LIMIT: Duration = Duration::from_secs(180);
/// How long a question that has no deadline of its own may take.
pub(super) const QUESTION_LIMIT: Duration = Duration::from_secs(30);
/// How often an answer that broke off is asked for in all.
const MAX_BROKEN_ANSWERS: u32 = 3;
/// The wait before the second try at an answer that broke off; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How often a wait looks whether its caller has gone.
const WAIT_SLICE: Duration = Duration::from_millis(20);
/// Threads that drive connections.
const N_THREADS: usize = 2;
/// Queries that turbopuffer takes in one request.
pub(super) const MAX_QUERIES: usize = 16;
/// Rows that turbopuffer gives for one query.
pub(super) const MAX_ROWS: usize = 10_000;

/// A connection to turbopuffer.
pub(super) struct Client {
    client: Official,
    key: Secret,
    // Taken out when the store goes, since a runtime must not be waited for everywhere.
    runtime: Option<Runtime>,
}

/// One write: both parts are applied together or not at all.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) upserts: Vec<Row>,
    pub(super) deletes: Vec<String>,
}

impl Client {
    /// Makes a client; nothing is sent yet.
    pub(super) fn open(config: &TurbopufferConfig) -> Result<Self> {
        let refused = |reason: String| Error::EngineSettings {
            engine: ENGINE,
            reason: config.key.blank_out(&reason),
        };
        // Another part of the program may have installed a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder();
        if config.base_url.as_deref().is_some_and(is_loopback) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| refused(error.to_string()))?;
        let mut builder = Official::builder()
            .api_key(config.key.reveal())
            .http_client(http)
            .telemetry(false)
            .timeout(WRITE_ATTEMPT);
        if let Some(base_url) = &config.base_url {
            builder = builder.base_url(base_url);
        }
        if let Some(region) = &config.region {
            builder = builder.region(region);
        }
        let client = builder.build().map_err(|error| refused(error.to_string()))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(N_THREADS)
            .thread_name("turbopuffer")
            .enable_all()
            .build()?;
        Ok(Client { client, key: config.key.clone(), runtime: Some(runtime) })
    }

    /// Writes a change; it is durable and seen by every later query when this returns `Ok`.
    pub(super) fn write(&self, namespace: &str, change: &Change, schema: &Schema) -> Result<()> {
        if change.upserts.is_empty() && change.deletes.is_empty() {
            return Ok(());
        }
        let limit = Deadline::after(WRITE_LIMIT);
        let written = self.call("write", &limit, || {
            let mut request = self.client.namespace(namespace).write().timeout(WRITE_ATTEMPT);
            if !change.upserts.is_empty() {
                request = request.upsert_rows(&change.upserts).schema(schema.attributes.clone());
                if schema.dimensions.is_some() {
                    request = request.distance_metric(DistanceMetric::CosineDistance);
                }
            }
            if !change.deletes.is_empty() {
                request = request.deletes(change.deletes.iter().map(String::as_str));
            }
            async move { request.send().await.map(|_| ()) }
        });
        match written {
            // What is not there cannot be deleted, and is gone as it should be.
            Err(Error::EngineMissing { .. }) if change.upserts.is_empty() => Ok(()),
            written => written,
        }
    }

    /// Asks several questions of one namespace at one moment; more than the engine takes at once
    /// are sent in several requests.
    pub(super) fn ask(
        &self,
        namespace: &str,
        queries: &[Query],
        deadline: &Deadline,
    ) -> Result<Vec<turbopuffer::types::SingleQueryResult>> {
        let mut results = Vec::with_capacity(queries.len());
        for queries in queries.chunks(MAX_QUERIES) {
            let answer: MultiQueryResult = self.call("query", deadline, || {
                let request = self
                    .client
                    .namespace(namespace)
                    .multi_query(queries)
                    .consistency(QueryConfigConsistencyLevel::Strong)
                    .timeout(QUERY_ATTEMPT);
                async move { request.send().await }
            })?;
            if answer.results.len() != queries.len() {
                return Err(Error::EngineRefused {
                    engine: ENGINE,
                    status: 200,
                    reason: format!(
                        "it gave `{}` results for `{}` queries",
                        answer.results.len(),
                        queries.len()
                    ),
                });
            }
            results.extend(answer.results);
        }
        Ok(results)
    }

    /// Gives the attributes that a namespace has; nothing when there is no such namespace.
    pub(super) fn attributes(&self, namespace: &str) -> Result<Option<Vec<String>>> {
        let limit = Deadline::after(QUESTION_LIMIT);
        let metadata = self.call("metadata", &limit, || {
            let request = self.client.namespace(namespace).metadata().timeout(QUERY_ATTEMPT);
            async move { request.send().await }
        });
        match metadata {
            Ok(metadata) => Ok(Some(metadata.schema.into_keys().collect())),
            Err(Error::EngineMissing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Erases a namespace; one that is not there is erased already.
    pub(super) fn erase(&self, namespace: &str) -> Result<()> {
        let limit = Deadline::after(WRITE_LIMIT);
        let erased = self.call("delete", &limit, || {
            let request = self.client.namespace(namespace).delete_all().timeout(WRITE_ATTEMPT);
            async move { request.send().await.map(|_| ()) }
        });
        match erased {
            Err(Error::EngineMissing { .. }) => Ok(()),
            erased => erased,
        }
    }

    /// Runs a request to its end, or until the deadline.
    fn call<T, F>(
        &self,
        what: &'static str,
        deadline: &Deadline,
        mut request: impl FnMut() -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = turbopuffer::Result<T>> + Send + 'static,
    {
        let mut n_broken = 0;
        loop {
            let error = match self.wait_for(request(), deadline) {
                Some(Ok(answer)) => return Ok(answer),
                Some(Err(error)) => error,
                None => return Err(Error::EngineTimeout { engine: ENGINE, what }),
            };
            n_broken += 1;
            let is_cut =
                matches!(error, turbopuffer::Error::Connection(_)) && !error.is_retryable();
            let is_broken = is_cut || matches!(error, turbopuffer::Error::Decode { .. });
            let wait =
                FIRST_WAIT.saturating_mul(1 << n_broken).mul_f64(rand::random_range(0.5..=1.0));
            if !is_broken || n_broken == MAX_BROKEN_ANSWERS || wait >= deadline.remaining() {
                return Err(self.explain(what, &error));
            }
            std::thread::sleep(wait);
        }
    }

    /// Waits for an answer; gives nothing when the deadline came first.
    fn wait_for<T: Send + 'static>(
        &self,
        request: impl Future<Output = turbopuffer::Result<T>> + Send + 'static,
        deadline: &Deadline,
    ) -> Option<turbopuffer::Result<T>> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let runtime = self.runtime.as_ref().expect("the runtime is taken out only by drop");
        let task = runtime.spawn(async move {
            // The receiver is gone when the deadline came first.
            let _ = sender.send(request.await);
        });
        loop {
            match receiver.recv_timeout(WAIT_SLICE.min(deadline.remaining())) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !deadline.is_over() => {}
                Err(_) => {
                    task.abort();
                    return None;
                }
            }
        }
    }

    /// Says what went wrong without showing the key.
    fn explain(&self, what: &'static str, error: &turbopuffer::Error) -> Error {
        let reason = || self.key.blank_out(&model::with_causes(error));
        if error.is_timeout() {
            return Error::EngineTimeout { engine: ENGINE, what };
        }
        match error.status().map(|status| status.as_u16()) {
            Some(404) => Error::EngineMissing { engine: ENGINE, what },
            None | Some(408 | 409 | 429 | 500..) => {
                Error::EngineUnavailable { engine: ENGINE, what, reason: reason() }
            }
            Some(status) => Error::EngineRefused { engine: ENGINE, status, reason: reason() },
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The name of the engine in errors.
pub(super) const ENGINE: &str = "turbopuffer";

fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    url.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}
