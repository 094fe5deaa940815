//! Sending: attempts, redirects, and the translation of what went wrong.

use std::time::Duration;

use model::Deadline;
use ureq::http;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use url::Url;

use crate::reach::{GuardedResolver, Refused};
use crate::request::shown;
use crate::response::read_body;
use crate::retry::{MAX_RETRY_AFTER, is_passing_status, read_retry_after, wait};
use crate::{Error, Method, Reach, Request, Response, Result, RetryPolicy, Streaming};

/// How many redirects one request may take.
const MAX_REDIRECTS: u32 = 5;
/// Idle connections that are kept for the next request.
const MAX_IDLE_CONNECTIONS: usize = 8;
/// The part of a failed answer that is read for the error message.
const MAX_ERROR_BODY_BYTES: u64 = 16 * 1024;
/// The part of it that is shown.
const MAX_EXCERPT_CHARS: usize = 300;

/// Limits of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How long making a connection may take, the secure handshake included.
    pub connect_timeout: Duration,
    /// How long one attempt may take until the answer begins.
    pub answer_timeout: Duration,
    /// How long one attempt may take in all, the body included.
    pub attempt_timeout: Duration,
    /// The largest body that is accepted.
    pub max_response_bytes: u64,
    /// The longest line of a streamed body.
    pub max_line_bytes: usize,
    /// When a failed request is sent again.
    pub retry: RetryPolicy,
    /// Which addresses may be reached.
    pub reach: Reach,
}

impl Config {
    /// Limits that suit a call to an API on the public Internet.
    pub fn careful() -> Self {
        Config {
            connect_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(60),
            attempt_timeout: Duration::from_secs(120),
            max_response_bytes: 64 * 1024 * 1024,
            max_line_bytes: 1024 * 1024,
            retry: RetryPolicy::patient(),
            reach: Reach::PublicOnly,
        }
    }
}

/// A pool of connections with one set of limits. Cheap to clone, safe to share.
#[derive(Debug, Clone)]
pub struct Client {
    agent: ureq::Agent,
    config: Config,
}

impl Client {
    /// Makes a client. Connections are made when they are needed.
    pub fn new(config: Config) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let agent_config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // A proxy would resolve names where this crate cannot check them.
            .proxy(None)
            .max_idle_connections(MAX_IDLE_CONNECTIONS)
            .timeout_connect(Some(config.connect_timeout))
            .timeout_recv_response(Some(config.answer_timeout))
            .tls_config(tls)
            .user_agent(concat!("dowse/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = GuardedResolver::new(config.reach.clone());
        let agent = ureq::Agent::with_parts(agent_config, DefaultConnector::default(), resolver);
        Client { agent, config }
    }

    /// Gives the limits.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Sends a request and reads the whole answer.
    ///
    /// Fails when no attempt brought a success status before the deadline, or a limit was hit.
    pub fn send(&self, request: &Request, deadline: &Deadline) -> Result<Response> {
        self.with_attempts(request, deadline, |client| {
            let Followed { url, answer, .. } = client.follow(request, deadline)?;
            read_body(&url, answer, client.config.max_response_bytes)
        })
    }

    /// Sends a request and gives the answer's body as it arrives.
    ///
    /// Attempts are repeated only until an answer begins; a stream that breaks is the caller's.
    pub fn stream(&self, request: &Request, deadline: &Deadline) -> Result<Streaming> {
        self.with_attempts(request, deadline, |client| {
            let followed = client.follow(request, deadline)?;
            Ok(Streaming::new(followed, &client.config, deadline))
        })
    }

    fn with_attempts<T>(
        &self,
        request: &Request,
        deadline: &Deadline,
        attempt: impl Fn(&Client) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        let mut n_failures = 0;
        loop {
            let failure = match attempt(self) {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            n_failures += 1;
            let is_last = n_failures >= self.config.retry.max_attempts;
            if is_last || !failure.error.is_passing() {
                return Err(failure.error);
            }
            let pause = match failure.retry_after {
                Some(pause) if pause > MAX_RETRY_AFTER.min(deadline.remaining()) => {
                    return Err(come_back_later(failure.error, pause));
                }
                Some(pause) => pause,
                None => self.config.retry.wait_after(n_failures),
            };
            tracing::debug!(url = request.shown_url(), n_failures, "request failed, trying again");
            if !wait(pause, deadline) {
                return Err(failure.error);
            }
        }
    }

    /// Makes one attempt and follows its redirects.
    fn follow(
        &self,
        request: &Request,
        deadline: &Deadline,
    ) -> std::result::Result<Followed, Failure> {
        let mut url = request.url.clone();
        let mut hops = Vec::new();
        let mut method = request.method;
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.once(request, method, &url, deadline)?;
            let status = answer.status().as_u16();
            match status {
                200..=299 => return Ok(Followed { url, answer, hops }),
                301 | 302 | 303 | 307 | 308 => {
                    let target = redirect_target(&url, &answer)
                        .ok_or_else(|| Failure::from(too_many_redirects(&url)))?;
                    // A body is never sent to another place than the one it was meant for.
                    let keeps_body = matches!(status, 307 | 308) && same_origin(&url, &target);
                    let has_body = method != Method::Get;
                    if has_body && !keeps_body {
                        if status == 303 {
                            method = Method::Get;
                        } else {
                            return Err(too_many_redirects(&target).into());
                        }
                    }
                    url = target;
                    hops.push(answer.into_parts().0.headers);
                }
                _ => return Err(status_failure(request, &url, answer)),
            }
        }
        Err(too_many_redirects(&url).into())
    }

    fn once(
        &self,
        request: &Request,
        method: Method,
        url: &Url,
        deadline: &Deadline,
    ) -> std::result::Result<http::Response<ureq::Body>, Failure> {
        let left = deadline.remaining().min(self.config.attempt_timeout);
        if left.is_zero() {
            let phase = "the deadline passed before the request".to_owned();
            return Err(Error::TimedOut { url: shown(url), phase }.into());
        }
        let body = if method == Method::Get { Vec::new() } else { request.body.clone() };
        let prepared = prepare(request, method, url, body)?;
        let answer = self.agent.configure_request(prepared).timeout_global(Some(left)).build();
        self.agent.run(answer).map_err(|error| translate(url, error).into())
    }
}

/// An answer, where it came from, and the headers of the redirects on the way.
pub(crate) struct Followed {
    pub(crate) url: Url,
    pub(crate) answer: http::Response<ureq::Body>,
    pub(crate) hops: Vec<http::HeaderMap>,
}

/// An error, and how long the server asked to wait.
pub(crate) struct Failure {
    error: Error,
    retry_after: Option<Duration>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, retry_after: None }
    }
}

/// Turns the HTTP library's error into one of this crate.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's list grows")]
pub(crate) fn translate(url: &Url, error: ureq::Error) -> Error {
    match error {
        ureq::Error::Timeout(phase) => {
            Error::TimedOut { url: shown(url), phase: phase.to_string() }
        }
        ureq::Error::BodyExceedsLimit(allowed) => Error::TooLarge { url: shown(url), allowed },
        ureq::Error::BadUri(_) => Error::BadUrl { received: shown(url) },
        ureq::Error::Io(io) => match io.get_ref().and_then(|inner| inner.downcast_ref::<Refused>())
        {
            Some(refused) => {
                Error::AddressNotAllowed { host: refused.host.clone(), address: refused.address }
            }
            None => Error::Transport { url: shown(url), source: Box::new(ureq::Error::Io(io)) },
        },
        other => Error::Transport { url: shown(url), source: Box::new(other) },
    }
}

fn prepare(
    request: &Request,
    method: Method,
    url: &Url,
    body: Vec<u8>,
) -> Result<http::Request<Vec<u8>>> {
    let mut builder = http::Request::builder().method(method.as_str()).uri(url.as_str());
    let headers = builder.headers_mut().ok_or_else(|| Error::BadUrl { received: shown(url) })?;
    let mut add = |name: &str, value: &str| {
        let bad = || Error::BadHeader { name: name.to_owned() };
        let key: http::HeaderName = name.parse().map_err(|_| bad())?;
        let value = http::HeaderValue::from_str(value).map_err(|_| bad())?;
        headers.insert(key, value);
        Ok(())
    };
    for (name, value) in &request.headers {
        add(name, value)?;
    }
    if same_origin(&request.url, url) {
        for header in &request.secret_headers {
            add(&header.name, &format!("{}{}", header.prefix, header.secret.reveal()))?;
        }
    }
    builder.body(body).map_err(|_| Error::BadUrl { received: shown(url) })
}

fn redirect_target(url: &Url, answer: &http::Response<ureq::Body>) -> Option<Url> {
    let location = answer.headers().get(http::header::LOCATION)?.to_str().ok()?;
    let target = url.join(location).ok()?;
    // A secure address never leads to an insecure one.
    let keeps_secure =
        target.scheme() == "https" || (target.scheme() == "http" && url.scheme() == "http");
    keeps_secure.then_some(target)
}

fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

fn too_many_redirects(url: &Url) -> Error {
    Error::Redirect { url: shown(url), allowed: MAX_REDIRECTS }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other error stays as it is")]
fn come_back_later(error: Error, pause: Duration) -> Error {
    match error {
        Error::Status { url, status, .. } => {
            Error::ComeBackLater { url, status, seconds: pause.as_secs() }
        }
        other => other,
    }
}

fn status_failure(request: &Request, url: &Url, mut answer: http::Response<ureq::Body>) -> Failure {
    let status = answer.status().as_u16();
    let retry_after = answer
        .headers()
        .get(http::header::RETRY_AFTER)
        .filter(|_| is_passing_status(status))
        .and_then(|value| value.to_str().ok())
        .and_then(read_retry_after)
        .map(Duration::from_secs);
    let body = answer
        .body_mut()
        .with_config()
        .limit(MAX_ERROR_BODY_BYTES)
        .lossy_utf8(true)
        .read_to_string()
        .unwrap_or_default();
    Failure {
        error: Error::Status { url: shown(url), status, excerpt: excerpt(request, &body) },
        retry_after,
    }
}

/// Gives the beginning of an answer on one line, with the request's own secrets blanked out.
fn excerpt(request: &Request, body: &str) -> String {
    let mut text = body.split_whitespace().collect::<Vec<_>>().join(" ");
    for header in &request.secret_headers {
        text = header.secret.blank_out(&text);
    }
    if text.is_empty() {
        return "no further word".to_owned();
    }
    text.chars().take(MAX_EXCERPT_CHARS).collect()
}
