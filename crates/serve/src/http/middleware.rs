//! What every request passes before its handler: an id, the proof that it was meant for this
//! server, the time-out of its body, and who sends it.
//!
//! A request with a body is identified before a byte of the body is read, whatever its address:
//! whoever has no right to call costs no more than a head.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use guard::{Denied, Entry, LoginFailure, Outcome};
use http::header::{AUTHORIZATION, COOKIE, EXPECT, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, HeaderValue};
use http_body_util::Limited;
use model::Caller;
use parking_lot::Mutex;
use tools::{Code, ToolError};
use tracing::Instrument;

use super::bodies::ARRIVING;
use super::body::timed;
use super::connections::ClientAddress;
use super::errors::{coded, unauthorized};
use super::leftover::ReadToEnd;
use crate::{App, Shared, console};

/// Addresses of programs, which prove who they are in the head of each request. Endpoints have
/// keys of their own, and the forms of the console a session: their handlers look at those
/// before they read a body.
const PROGRAMS: [&str; 3] = ["/api/", "/v1/", "/reconcile"];

/// Bytes of a body whose sender has shown neither a key nor a session: the form to sign in.
const ANONYMOUS_BODY_BYTES: usize = 16 * 1024;

/// The name of failed logins in the audit.
const LOGIN: &str = "login";

/// The header that carries a request's id, both ways.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Ids given by a client are kept up to this length.
const MAX_REQUEST_ID: usize = 64;

/// A request's id, in its extensions.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// What is known of the request that the current task answers.
struct CurrentRequest {
    client: IpAddr,
    id: String,
    /// Who it was found to be, by which header.
    caller: Mutex<Option<(String, Arc<Caller>)>>,
}

tokio::task_local! {
    static CURRENT: CurrentRequest;
}

/// Gives the request an id and refuses what was meant for another host or comes from a page of
/// another origin.
pub(crate) async fn enter(
    State(shared): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = request_id(request.headers());
    let span = tracing::info_span!(
        "request", id = %id, method = %request.method(), path = %request.uri().path()
    );
    request.extensions_mut().insert(RequestId(id.clone()));
    if let Ok(id) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(REQUEST_ID, id);
    }
    let app = shared.load();
    let server = &app.server;
    let foreign = refuse_foreign(&server.allowed_hosts, &server.allowed_origins, request.headers());
    let client = request.extensions().get::<ClientAddress>().map(|client| client.0);
    let current = CurrentRequest {
        client: client.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
        id: id.clone(),
        caller: Mutex::new(None),
    };
    let mut response = match foreign {
        // A browser that sends a form shows the answer to a person.
        Some(error) if console::wants_html(request.headers()) => {
            console::refused(&server.base_path(), &error)
        }
        Some(error) => coded(&error),
        None => {
            let answer = identify_before_body(app, request, next).instrument(span);
            CURRENT.scope(current, answer).await
        }
    };
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn identify_before_body(app: Arc<App>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (path, headers) = (request.uri().path(), request.headers());
    let is_program = path == "/mcp" || PROGRAMS.iter().any(|own| path.starts_with(own));
    let caller = match is_program {
        false => None,
        true => match identify(&app, headers).await {
            Ok(caller) => Some(caller).filter(|_| app.authenticator.is_required()),
            Err(refusal) => return refusal,
        },
    };
    let is_anonymous = app.authenticator.is_required()
        && !headers.contains_key(AUTHORIZATION)
        && !headers.contains_key(COOKIE);
    drop(app);
    let (head, body) = request.into_parts();
    let mut body = timed(body);
    if is_anonymous {
        body = Body::new(Limited::new(body, ANONYMOUS_BODY_BYTES));
    }
    if let Some(caller) = caller {
        body = match ARRIVING.count(&caller, body) {
            Ok(body) => body,
            Err(refused) => {
                let error = ToolError::new(Code::RateLimited, refused.to_string())
                    .with_detail("allowed", refused.allowed)
                    .with_hint("let some of them end, then try again");
                return coded(&error);
            }
        };
    }
    // Whoever asks first whether to send the body is told before it is sent.
    if is_program && !head.headers.contains_key(EXPECT) {
        body = ReadToEnd::of(body);
    }
    next.run(Request::from_parts(head, body)).await
}

/// Tells who calls. The check may wait for the issuer's keys, so it runs where waiting is fine;
/// it is made once for each request.
pub(crate) async fn identify(app: &Arc<App>, headers: &HeaderMap) -> Result<Arc<Caller>, Response> {
    if !app.authenticator.is_required() {
        return Ok(Arc::new(Caller::local_admin()));
    }
    let authorization = match headers.get(AUTHORIZATION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(value)) => Some(value.to_owned()),
        Some(Err(_)) => return Err(refuse_login(app, &Denied::NotBearer).await),
    };
    if let Ok(Some((header, known))) = CURRENT.try_with(|current| current.caller.lock().clone())
        && authorization.as_ref() == Some(&header)
    {
        return Ok(known);
    }
    let checked = {
        let (app, authorization) = (Arc::clone(app), authorization.clone());
        tokio::task::spawn_blocking(move || app.authenticator.caller(authorization.as_deref()))
    };
    match checked.await {
        Ok(Ok(caller)) => {
            let caller = Arc::new(caller);
            let known = (authorization.unwrap_or_default(), Arc::clone(&caller));
            let _ = CURRENT.try_with(|current| *current.caller.lock() = Some(known));
            Ok(caller)
        }
        Ok(Err(denied)) => Err(refuse_login(app, &denied).await),
        Err(_) => Err(coded(&ToolError::new(Code::InternalError, "internal error"))),
    }
}

/// Turns a caller away: counted, written down, and more slowly the more often it happens.
pub(crate) async fn refuse_login(app: &Arc<App>, denied: &Denied) -> Response {
    let failure = match denied {
        Denied::Missing => LoginFailure::Missing,
        Denied::NotBearer | Denied::Invalid { .. } => LoginFailure::Invalid,
        Denied::KeysUnavailable => LoginFailure::KeysUnavailable,
    };
    app.metrics.login_failed(failure);
    // Clients ask without credentials to learn where to get some: that is no attempt.
    if failure == LoginFailure::Invalid
        && let Ok((client, id)) = CURRENT.try_with(|current| (current.client, current.id.clone()))
    {
        let failure = app.failed_logins.record(client);
        if failure.is_recorded() {
            let n_failures = failure.n_failures;
            tracing::warn!(%client, n_failures, reason = %denied, "a login failed");
            app.audit.record(&failed_login(app, client, id, denied));
        }
        tokio::time::sleep(failure.delay).await;
    }
    unauthorized(app, denied)
}

fn failed_login(app: &App, client: IpAddr, request: String, denied: &Denied) -> Entry {
    Entry {
        at: app.clock.now(),
        request,
        tool: LOGIN.to_owned(),
        tenant: "-".to_owned(),
        caller: client.to_string(),
        outcome: Outcome::Refused,
        code: Some(Code::Unauthorized.as_str().to_owned()),
        results: 0,
        redacted: 0,
        latency_ms: 0.0,
        tokens: None,
        best_score: None,
        query: Some(denied.to_string()),
        via: None,
        viewing_as: None,
    }
}

/// Refuses what was meant for another host, and pages of other origins.
pub(crate) fn refuse_foreign(
    allowed_hosts: &[String],
    allowed_origins: &[String],
    headers: &HeaderMap,
) -> Option<ToolError> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !guard::hosts::is_own_host(host, allowed_hosts) {
        let error = ToolError::new(Code::Forbidden, format!("host `{host}` is not served here"))
            .with_hint("add it to `server.allowed_hosts`");
        return Some(error);
    }
    let origin = headers.get(ORIGIN)?;
    let origin = origin.to_str().unwrap_or("unreadable");
    // A page of this server itself: its host was checked above.
    let is_same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
    if is_same || guard::hosts::is_own_origin(origin, allowed_origins) {
        return None;
    }
    let error = ToolError::new(Code::Forbidden, format!("origin `{origin}` may not call"))
        .with_hint("add it to `server.allowed_origins`");
    Some(error)
}

/// Gives the id that the middleware put into the request's headers.
pub(crate) fn request_id_of(headers: &HeaderMap) -> String {
    headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned()
}

fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(|id| {
        (1..=MAX_REQUEST_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    });
    match given {
        Some(id) => id.to_owned(),
        None => uuid::Uuid::new_v4().simple().to_string(),
    }
}
