//! Who looks at a page, and how the page asks for what it shows: by the same calls of tools and
//! REST that an agent makes, behind the same guard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Extension, FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Form, Router};
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderValue, REFERER};
use http::request::Parts;
use http::{HeaderMap, Method};
use model::{Caller, Identity, TenantId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Code, ToolError};
use tower::ServiceExt;
use tracing::Instrument;

use super::address;
use super::cost;
use super::layout;
use super::params::{Params, encoded};
use super::seal::Seal;
use super::session::{self, Session, ViewAs};
use super::sign_in;
use crate::App;
use crate::api::FromConsole;
use crate::call;
use crate::guarded::{self, CallContext, Counts, RunningCall, Via};
use crate::http::{HttpState, RequestId, coded, identify};

/// The most bytes of an answer of REST that a page reads.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The header in which a script sends the token of forms.
pub(super) const FORM_TOKEN_HEADER: &str = "x-dowse-form";

/// The header by which the console's own script says that it asks for a part of a page.
const FROM_SCRIPT_HEADER: &str = "x-requested-with";

/// The REST addresses, called inside the process.
#[derive(Clone)]
pub(crate) struct Api(pub(crate) Router);

/// A person at a page.
#[derive(Clone)]
pub(crate) struct Viewer {
    pub(crate) app: Arc<App>,
    /// As whom everything is asked.
    pub(crate) caller: Arc<Caller>,
    /// Who signed in; differs from `caller` while an administrator views as somebody else.
    pub(crate) signed_in: Arc<Caller>,
    /// Roles and groups that were asked for while viewing as somebody else, and were left out.
    pub(super) left_out: Vec<String>,
    /// The path before every link: empty, or as `/dowse`.
    pub(crate) base: String,
    /// This page's path and query below the base.
    pub(crate) here: String,
    /// Whether a script of the console asks, which shows the answer in its own place.
    pub(super) is_script: bool,
    /// The page that a form came from.
    back: Option<String>,
    session: String,
    id: String,
    api: Api,
}

/// What a tool answered.
pub(crate) struct ToolReply {
    /// The answer as an agent gets it, redacted and cut.
    pub(crate) value: Value,
    /// The same as the text that an agent reads.
    pub(crate) text: String,
    pub(crate) took: Duration,
}

impl Viewer {
    /// Gives the address of a page.
    pub(crate) fn href(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Gives the address of a page with a query.
    pub(crate) fn link(&self, path: &str, params: &Params) -> String {
        format!("{}{path}{}", self.base, params.to_query())
    }

    /// Gives the page below the base that a form came from, always one of this server; none where
    /// that is the start, or no form says.
    pub(super) fn back(&self) -> Option<&str> {
        self.back.as_deref().map(super::local_path).filter(|path| *path != "/")
    }

    /// Tells whether an administrator looks through somebody else's eyes.
    pub(crate) fn is_viewing_as(&self) -> bool {
        self.caller != self.signed_in
    }

    /// Tells what somebody of a name would prove to be: a key or a token.
    pub(super) fn identity_of(&self) -> impl Fn(&TenantId, &str) -> Identity + use<> {
        identity_of(&self.app)
    }

    /// What this person's calls come in on: the record names who signed in, also while they look as
    /// somebody else.
    pub(super) fn via(&self) -> Via {
        match self.is_viewing_as() {
            true => Via::ViewingAs(Arc::clone(&self.signed_in)),
            false => Via::Console,
        }
    }

    /// Writes down that the person began or stopped to look as somebody else.
    pub(super) fn record_view(&self, name: &str, view: Option<(&Caller, String)>) {
        let (caller, via, rights) = match view {
            Some((seen, rights)) => {
                let via = Via::ViewingAs(Arc::clone(&self.signed_in));
                (Arc::new(seen.clone()), via, Some(rights))
            }
            None => (Arc::clone(&self.caller), self.via(), None),
        };
        let call_context = CallContext {
            caller,
            name: name.to_owned(),
            id: self.id.clone(),
            cancelled: CancellationToken::new(),
            via,
        };
        RunningCall::enter(&self.app).leave(&self.app, call_context, rights, Ok(Counts::default()));
    }

    /// The same person looking as another caller.
    pub(super) fn seeing_as(&self, caller: Caller) -> Self {
        Viewer { caller: Arc::new(caller), ..self.clone() }
    }

    /// The same person with their own eyes.
    pub(crate) fn as_signed_in(&self) -> Self {
        Viewer { caller: Arc::clone(&self.signed_in), ..self.clone() }
    }

    /// Gives the token that every form of this session carries.
    pub(crate) fn form_token(&self) -> String {
        self.seal().form_token(&self.session)
    }

    pub(super) fn seal(&self) -> Seal {
        Seal::new(&self.app.console.secret)
    }

    /// Tells whether the lists of names in the configuration leave a tool to this person, whether
    /// or not there is anything for it to work on.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.app.tools.exposure().allows(name, &self.caller)
    }

    /// Calls a tool of `/mcp`.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Result<ToolReply, ToolError> {
        let tool =
            self.app.tools.get(name, &self.caller).ok_or_else(|| match self.has_tool(name) {
                true => {
                    ToolError::new(Code::NotFound, format!("the tool `{name}` is not served here"))
                        .with_hint("configure a source of its family")
                }
                false => ToolError::new(Code::NotFound, format!("your key has no tool `{name}`"))
                    .with_hint(
                        "`tools` or `hidden_tools` of the key, or of the server, leave it out",
                    ),
            })?;
        self.call(tool, arguments).await
    }

    /// Calls a tool, whoever serves it.
    pub(crate) async fn call(
        &self,
        tool: tools::Listed,
        arguments: Value,
    ) -> Result<ToolReply, ToolError> {
        let begun = Instant::now();
        let cancelled = CancellationToken::new();
        // A browser that goes away, or asks anew, drops this and ends the call, which is in a task
        // of its own to write down how it ended.
        let _gone = cancelled.clone().drop_guard();
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        let request = call::Request {
            caller: Arc::clone(&self.caller),
            tool,
            arguments,
            id: self.id.clone(),
            cancelled,
            progress: Arc::new(|_| {}),
        };
        let (app, via) = (Arc::clone(&self.app), self.via());
        let calling = async move { call::call_via(&app, request, via).await };
        let ended = tokio::spawn(calling.in_current_span()).await;
        match ended.map_err(|error| ToolError::internal(format!("the call stopped: {error}")))? {
            Ok(done) => Ok(ToolReply {
                value: done.outgoing.value,
                text: done.outgoing.text,
                took: begun.elapsed(),
            }),
            Err(failed) => Err(failed.error),
        }
    }

    /// Asks REST for something.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, ToolError> {
        self.rest(Method::GET, path, None).await
    }

    /// Asks REST to do something.
    pub(crate) async fn rest(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, ToolError> {
        self.send(method, path, body.map(|body| body.to_string())).await
    }

    /// Asks REST to do something, with JSON as it is written.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Value, ToolError> {
        let mut request = Request::builder().method(method).uri(path);
        let body = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(body)
            }
            None => Body::empty(),
        };
        let request = request
            .body(body)
            .map_err(|_| ToolError::bad_request(format!("`{path}` is not an address")))?;
        read_answer(self.forward(request).await).await
    }

    /// Sends a request to REST as it is, for this person.
    pub(crate) async fn forward(&self, mut request: Request) -> Response {
        // What the console's own route left there would be taken for the inner route's path.
        request.extensions_mut().clear();
        request.extensions_mut().insert(FromConsole(Arc::clone(&self.caller), self.via()));
        request.extensions_mut().insert(RequestId(self.id.clone()));
        match self.api.0.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Tells whether the session of a page that stays open has not been ended meanwhile.
    pub(super) async fn is_still_signed_in(&self) -> bool {
        !self.app.authenticator.is_required()
            || self.session.is_empty()
            || credential_of(&self.app, &self.session).await.is_some()
    }

    /// Ends the session everywhere.
    pub(super) async fn end_session(&self) {
        let now = self.app.clock.now();
        let Some(session) = Session::open(&self.seal(), &self.session, now) else { return };
        let (app, caller) = (Arc::clone(&self.app), self.signed_in.client_key());
        let ended = tokio::task::spawn_blocking(move || {
            app.console.sessions.end(&session, &caller, now);
        });
        if let Err(error) = ended.await {
            tracing::error!(%error, "a session could not be ended");
        }
    }

    /// Refuses to change anything while looking through somebody else's eyes.
    pub(crate) fn may_change(&self) -> Result<(), ToolError> {
        if self.is_viewing_as() {
            let message = "nothing can be changed while viewing as somebody else";
            return Err(ToolError::new(Code::Forbidden, message)
                .with_hint("press `Stop` in the bar at the top first"));
        }
        Ok(())
    }
}

/// Gives the key or token of a session that has not ended.
async fn credential_of(app: &Arc<App>, cookie: &str) -> Option<String> {
    let seal = Seal::new(&app.console.secret);
    let session = Session::open(&seal, cookie, app.clock.now())?;
    let app = Arc::clone(app);
    // A catalogue may be far away.
    let opened =
        tokio::task::spawn_blocking(move || app.console.sessions.credential(&seal, &session));
    opened.await.ok().flatten()
}

/// Reads an answer of REST, or its error.
pub(crate) async fn read_answer(response: Response) -> Result<Value, ToolError> {
    let is_ok = response.status().is_success();
    let bytes = axum::body::to_bytes(response.into_body(), MAX_ANSWER_BYTES)
        .await
        .map_err(|_| ToolError::new(Code::TooLarge, "the answer is too large for a page"))?;
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!({}));
    if is_ok {
        return Ok(value);
    }
    let error = &value["error"];
    let code = error["code"].as_str().unwrap_or_default();
    let code = Code::ALL.iter().find(|known| known.as_str() == code);
    let message = error["message"].as_str().unwrap_or("the call failed");
    let mut failed = ToolError::new(code.copied().unwrap_or(Code::InternalError), message);
    if let Some(details) = error["details"].as_object() {
        failed.details = details.clone();
    }
    Err(failed)
}

impl FromRequestParts<HttpState> for Viewer {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        http_state: &HttpState,
    ) -> Result<Self, Response> {
        let app = http_state.shared.load();
        let seal = Seal::new(&app.console.secret);
        let base = app.server.base_path();
        let session = session::cookie(&parts.headers, session::SESSION).unwrap_or_default();
        let mut headers = HeaderMap::new();
        if let Some(given) = parts.headers.get(AUTHORIZATION) {
            headers.insert(AUTHORIZATION, given.clone());
        } else if let Some(credential) = credential_of(&app, &session).await
            && let Ok(value) = HeaderValue::from_str(&format!("Bearer {credential}"))
        {
            headers.insert(AUTHORIZATION, value);
        }
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let signed_in = identify(&app, &headers).await;
        if !layout::wants_html(&parts.headers)
            && let Err(refusal) = signed_in
        {
            // Whoever takes anything is refused like a program, and sees where to sign in.
            let is_section = parts.method == Method::GET && layout::is_section(parts.uri.path());
            return Err(match is_section && layout::takes_anything(&parts.headers) {
                true => sign_in::asked_for(&app, &here, &refusal),
                false => refusal,
            });
        }
        let Ok(signed_in) = signed_in else {
            // Other methods come from forms of a session that has ended.
            let next = if parts.method == Method::GET { here.as_str() } else { "/" };
            let address = format!("{base}/sign-in?next={}", encoded(next));
            return Err(Redirect::to(&address).into_response());
        };
        let (caller, left_out) = session::cookie(&parts.headers, session::VIEW_AS)
            .filter(|_| signed_in.is_admin())
            .and_then(|sealed| ViewAs::open(&seal, &sealed, &signed_in))
            .map_or_else(
                || (Arc::clone(&signed_in), Vec::new()),
                |view| {
                    let is_operator = app.console.is_operator(&signed_in);
                    let identity_of = identity_of(&app);
                    let seen = view.caller(&signed_in, is_operator, identity_of);
                    let left_out = view.left_out(&seen);
                    (Arc::new(seen), left_out)
                },
            );
        let Extension(api) = Extension::<Api>::from_request_parts(parts, http_state)
            .await
            .map_err(|_| layout::failed(&base, "the console is not served here"))?;
        let id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
        let is_script = parts.headers.contains_key(FROM_SCRIPT_HEADER);
        let viewer = Viewer {
            app,
            caller,
            signed_in,
            left_out,
            base,
            here,
            is_script,
            back: None,
            session,
            id,
            api,
        };
        if let Err(refused) = guarded::admit_to_console(&viewer.app, &viewer.signed_in) {
            return Err(refusal(&viewer, &parts.headers, &refused));
        }
        cost::get_ready();
        Ok(viewer)
    }
}

fn identity_of(app: &Arc<App>) -> impl Fn(&TenantId, &str) -> Identity + use<> {
    let app = Arc::clone(app);
    move |tenant, subject| app.authenticator.identity_of(tenant, subject)
}

/// An error in the form that whoever asks can show: a page, a part of one, or JSON.
fn refusal(viewer: &Viewer, headers: &HeaderMap, error: &ToolError) -> Response {
    if layout::wants_html(headers) {
        layout::error_page(viewer, error)
    } else if headers.contains_key(FROM_SCRIPT_HEADER) {
        layout::error_part(error)
    } else {
        coded(error)
    }
}

/// A form that was sent, from one of this server's own pages.
pub(crate) struct Posted {
    pub(crate) viewer: Viewer,
    pub(crate) params: Params,
}

impl FromRequest<HttpState> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, http_state: &HttpState) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let mut viewer = Viewer::from_request_parts(&mut parts, http_state).await?;
        let came_from = came_from(&viewer, &parts.headers);
        let form = Form::<Vec<(String, String)>>::from_request(
            Request::from_parts(parts, body),
            http_state,
        );
        let Ok(Form(pairs)) = form.await else {
            let error = ToolError::bad_request("the form could not be read");
            return Err(layout::error_page(&viewer, &error));
        };
        let params = Params::new(pairs);
        viewer.back = params.get("next").map(str::to_owned).or(came_from);
        check_token(&viewer, params.text("form_token"))?;
        Ok(Posted { viewer, params })
    }
}

/// Gives the page below the base that a browser says a form was on.
fn came_from(viewer: &Viewer, headers: &HeaderMap) -> Option<String> {
    let uri: http::Uri = headers.get(REFERER)?.to_str().ok()?.parse().ok()?;
    let path = uri.path_and_query()?.as_str().strip_prefix(viewer.base.as_str())?;
    address::is_page(path).then(|| path.to_owned())
}

/// Refuses what does not come from a page of this server.
#[expect(clippy::result_large_err, reason = "a refusal is a whole page")]
pub(crate) fn check_token(viewer: &Viewer, token: &str) -> Result<(), Response> {
    if viewer.seal().is_form_token(&viewer.session, token) {
        return Ok(());
    }
    let error = ToolError::new(Code::Forbidden, "this form does not come from this console")
        .with_hint("load the page again and send the form from there");
    Err(layout::error_page(viewer, &error))
}

/// Gives the cookies of a request, for those who read their own.
pub(super) fn cookie_header(headers: &HeaderMap) -> &str {
    headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
