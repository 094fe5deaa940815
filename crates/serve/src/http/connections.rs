//! Accepts connections within limits, and ends them gracefully.
//!
//! A connection over a limit is still answered, in a small lane of its own: `/healthz` and
//! `/readyz` as ever, everything else with 503 and the setting that holds it back. The lane keeps
//! the newest connections, so that whoever asks at once is served however many are silent.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::Request;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tools::{Code, ToolError};

use super::errors::coded;
use super::forwarded::client_address;
use super::pace::Paced;
use super::peers::{ConnectionLimits, Counted, Forwarded, InProgress, OverLimit, Peers};
use super::routes;
use crate::front::Front;
use crate::{App, Shared};

/// A connection that has not sent the head of a request by then is closed.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// A head of a request that is longer, in bytes, is not read on: at most twice as much is held of
/// each connection before it is known who sends it. As much of a body is read at once.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The same as [`HEAD_TIMEOUT`] for a connection over the limits.
pub(super) const OVER_LIMIT_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections over the limits that are answered at the same time; the oldest makes room.
const MAX_OVER_LIMIT: usize = 128;

/// Calls in progress have this long to end after shutdown begins.
const GRACE: Duration = Duration::from_secs(20);

/// How long to wait after the system refuses a connection for want of descriptors.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Seconds after which a client over a limit may come back.
pub(super) const RETRY_AFTER_SECONDS: u64 = 5;

/// The address of whoever sent a request: the peer's, or the one a trusted proxy names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

/// The server cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The listener has no address.
    #[error("the listening address is not known")]
    Address(#[source] std::io::Error),
}

/// Serves until `shutdown` is cancelled; then lets calls in progress end, within limits.
pub async fn run(
    listener: TcpListener,
    shared: Shared,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    serve(listener, shared, shutdown, None).await
}

/// Serves like [`run`], with another handler in front of the tools at `/mcp`.
///
/// # Errors
///
/// As [`run`].
pub async fn run_with(
    listener: TcpListener,
    shared: Shared,
    shutdown: CancellationToken,
    front: Arc<dyn Front>,
) -> Result<(), RunError> {
    serve(listener, shared, shutdown, Some(front)).await
}

async fn serve(
    listener: TcpListener,
    shared: Shared,
    shutdown: CancellationToken,
    front: Option<Arc<dyn Front>>,
) -> Result<(), RunError> {
    // Streams are told to end only after the grace, so that calls in progress can answer.
    let streams_end = CancellationToken::new();
    let router = routes::router(shared.clone(), streams_end.clone(), front);
    let graceful = GracefulShutdown::new();
    let peers = Arc::new(Peers::default());
    let lane = Arc::new(OverLimitLane::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok((stream, address)) => (stream, address.ip().to_canonical()),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without this every streamed answer waits for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        let app = shared.load();
        let is_proxy = app.server.trusts(peer);
        match peers.admit(peer, is_proxy, limits_of(&app)) {
            Ok(counted) => {
                let client = Client {
                    router: router.clone(),
                    shared: shared.clone(),
                    peers: Arc::clone(&peers),
                    peer,
                };
                serve_counted(stream, client, counted, &graceful);
            }
            Err(limit) => {
                app.metrics.connection_refused();
                lane.serve(stream, router.clone(), limit);
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(GRACE) => {
            let seconds = GRACE.as_secs();
            tracing::warn!("calls still running after the {seconds} s shutdown grace period");
        }
    }
    streams_end.cancel();
    Ok(())
}

fn limits_of(app: &App) -> ConnectionLimits {
    ConnectionLimits {
        total: app.limits.connections.max(1),
        per_peer: app.limits.connections_per_peer.max(1),
    }
}

/// What the requests of one connection need.
struct Client {
    router: Router,
    shared: Shared,
    peers: Arc<Peers>,
    peer: IpAddr,
}

fn serve_counted(stream: TcpStream, client: Client, counted: Counted, graceful: &GracefulShutdown) {
    let evicted = counted.connection.evicted.clone();
    let stream = Paced::new(stream, Arc::clone(&counted.connection.pace));
    let connection = Arc::clone(&counted.connection);
    let service = service_fn(move |request: Request<Incoming>| {
        let in_progress = connection.begin();
        client.answer(request, in_progress)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            },
            () = evicted.cancelled() => tracing::debug!("an idle connection made room"),
        }
        drop(counted);
    });
}

impl Client {
    fn answer(
        &self,
        mut request: Request<Incoming>,
        in_progress: InProgress,
    ) -> impl Future<Output = Result<http::Response<WhileSent>, Infallible>> + use<> {
        let app = self.shared.load();
        let address = client_address(self.peer, request.headers(), &app.server.trusted_proxies);
        request.extensions_mut().insert(ClientAddress(address));
        let forwarded = if app.server.trusts(self.peer) && !is_probe(request.uri().path()) {
            self.peers.forwarded(address, limits_of(&app)).map(Some)
        } else {
            Ok(None)
        };
        let answered = match forwarded {
            Ok(forwarded) => {
                let service = TowerToHyperService::new(self.router.clone());
                Ok((service.call(request), forwarded))
            }
            Err(limit) => Err(over_limit(limit)),
        };
        async move {
            let (response, forwarded) = match answered {
                Ok((answer, forwarded)) => (answer.await?, forwarded),
                Err(refusal) => (refusal, None),
            };
            Ok(response.map(|body| WhileSent { body, _held: (in_progress, forwarded) }))
        }
    }
}

/// An answer's body; the request is in progress until it is sent.
struct WhileSent {
    body: Body,
    _held: (InProgress, Option<Forwarded>),
}

impl HttpBody for WhileSent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Connections over the limits, oldest first.
#[derive(Default)]
struct OverLimitLane(Mutex<VecDeque<CancellationToken>>);

impl OverLimitLane {
    fn serve(self: &Arc<Self>, stream: TcpStream, router: Router, limit: OverLimit) {
        let ended = CancellationToken::new();
        let stream = Paced::new(stream, Arc::default());
        {
            let mut lane = self.0.lock();
            lane.retain(|one| !one.is_cancelled());
            if lane.len() >= MAX_OVER_LIMIT
                && let Some(oldest) = lane.pop_front()
            {
                oldest.cancel();
            }
            lane.push_back(ended.clone());
        }
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = is_probe(request.uri().path())
                .then(|| TowerToHyperService::new(router.clone()).call(request));
            async move {
                match answer {
                    Some(answer) => answer.await,
                    None => Ok(over_limit(limit)),
                }
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(OVER_LIMIT_HEAD_TIMEOUT)
            .max_buf_size(MAX_HEAD_BYTES)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection over the limits ended early");
                },
                () = ended.cancelled() => {}
            }
            ended.cancel();
        });
    }
}

/// Tells whether an address is answered beyond every limit.
fn is_probe(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

fn over_limit(limit: OverLimit) -> Response {
    let (message, setting) = match limit {
        OverLimit::Total => ("too many connections are open", "limits.connections"),
        OverLimit::Peer => {
            ("too many connections are open from your address", "limits.connections_per_peer")
        }
    };
    let hint = format!(
        "use fewer connections and come back in {RETRY_AFTER_SECONDS} s; the operator can raise \
         `{setting}`, or list a proxy under `server.trusted_proxies`"
    );
    coded(
        &ToolError::new(Code::Unavailable, message)
            .with_detail("retry_after_seconds", RETRY_AFTER_SECONDS)
            .with_hint(hint),
    )
}
