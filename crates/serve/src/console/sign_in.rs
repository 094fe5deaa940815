//! `/sign-in`: a key or a token becomes a session.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use model::Caller;

use super::address;
use super::frame::{bare, mark};
use super::layout::respond;
use super::params::Params;
use super::seal::Seal;
use super::session::{self, CookieScope, SESSION, Session, VIEW_AS, set_cookie};
use super::viewer::Posted;
use super::{go_to, local_path};
use crate::App;
use crate::guarded;
use crate::http::{HttpState, identify};

/// The longest key or token that is looked at; with it, the form is within what is read of those
/// who have shown nothing yet.
const MAX_CREDENTIAL_CHARS: usize = 12_288;

/// What the token of the sign-in form is bound to, since there is no session yet.
const BEFORE_SESSION: &str = "sign-in";

/// Asks for a key or token.
pub(super) async fn show(State(http_state): State<HttpState>, params: Params) -> Response {
    let app = http_state.shared.load();
    if !app.authenticator.is_required() {
        return Redirect::to(&format!("{}/", app.server.base_path())).into_response();
    }
    respond(StatusCode::OK, &form(&app, params.get("next").unwrap_or("/"), None))
}

/// The form with the status and the headers of a refusal, for who reads pages and does not say so.
pub(super) fn asked_for(app: &App, next: &str, refusal: &Response) -> Response {
    let mut asked = respond(refusal.status(), &form(app, next, None));
    for (name, value) in refusal.headers() {
        asked.headers_mut().entry(name).or_insert_with(|| value.clone());
    }
    asked.headers_mut().remove(CONTENT_LENGTH);
    asked
}

/// Begins a session, or says why not.
pub(super) async fn enter(
    State(http_state): State<HttpState>,
    headers: HeaderMap,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Response {
    let app = http_state.shared.load();
    let seal = Seal::new(&app.console.secret);
    let params = Params::new(pairs);
    let next = params.get("next").unwrap_or("/").to_owned();
    let refuse = |status, message: &str| respond(status, &form(&app, &next, Some(message)));
    if !seal.is_form_token(BEFORE_SESSION, params.text("form_token")) {
        return refuse(StatusCode::FORBIDDEN, "The page was too old. Try again.");
    }
    let credential = params.text("credential").trim().to_owned();
    let header = HeaderValue::from_str(&format!("Bearer {credential}"))
        .ok()
        .filter(|_| !credential.is_empty() && credential.len() <= MAX_CREDENTIAL_CHARS);
    let Some(header) = header else {
        return refuse(StatusCode::BAD_REQUEST, "Enter a key or a token.");
    };
    let mut proof = HeaderMap::new();
    proof.insert(AUTHORIZATION, header);
    let Ok(caller) = identify(&app, &proof).await else {
        tracing::info!("a sign-in to the console was refused");
        return refuse(StatusCode::UNAUTHORIZED, "This key or token is not known, or has expired.");
    };
    if let Err(refused) = guarded::admit_to_console(&app, &caller) {
        return refuse(StatusCode::TOO_MANY_REQUESTS, &refused.message);
    }
    let Some(sealed) = begin(&app, &caller, credential).await else {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "This token is too large for a cookie, and cannot be stored here just now. Try again.",
        );
    };
    let base = app.server.base_path();
    let scope = scope(&app, &base);
    let seconds = app.console.session.as_secs();
    let mut response = Redirect::to(&format!("{base}{}", page_after(&next))).into_response();
    let old_view = session::cookie(&headers, VIEW_AS).map(|_| set_cookie(&scope, VIEW_AS, None, 0));
    let session = set_cookie(&scope, SESSION, Some(&sealed), seconds);
    for cookie in [session, old_view.flatten()].into_iter().flatten() {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The page that one goes on to: not an address that takes forms alone, as that of signing out.
fn page_after(next: &str) -> &str {
    let path = local_path(next);
    if address::is_page(path) { path } else { "/" }
}

/// Begins a session, and gives its cookie. A token that no cookie can hold is kept in the
/// catalogue; nothing when that cannot be done.
async fn begin(app: &Arc<App>, caller: &Caller, credential: String) -> Option<String> {
    let now = app.clock.now();
    let expires_at = now.0.saturating_add(app.console.session.as_millis() as i64);
    let small = Session::new(expires_at, Some(credential.clone()));
    if let Some(sealed) = small.sealed(&Seal::new(&app.console.secret)) {
        return Some(sealed);
    }
    let (app, caller) = (Arc::clone(app), caller.client_key());
    let kept = tokio::task::spawn_blocking(move || {
        let seal = Seal::new(&app.console.secret);
        let session = Session::new(expires_at, None);
        app.console.sessions.keep(&seal, &session, &caller, &credential, now)?;
        session.sealed(&seal).ok_or_else(|| "the system gives no randomness".to_owned())
    });
    let problem = match kept.await {
        Ok(Ok(sealed)) => return Some(sealed),
        Ok(Err(problem)) => problem,
        Err(error) => error.to_string(),
    };
    tracing::error!(problem, "a large token could not be stored for a session");
    None
}

/// Ends the session, in this browser and for whoever has a copy of its cookie.
pub(super) async fn leave(posted: Posted) -> Response {
    let viewer = posted.viewer;
    viewer.end_session().await;
    let mut response = go_to(&viewer, "/sign-in");
    let scope = scope(&viewer.app, &viewer.base);
    for name in [SESSION, VIEW_AS] {
        if let Some(cookie) = set_cookie(&scope, name, None, 0) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    response
}

/// Cookies go to the console's own path, and over HTTPS alone where people come over HTTPS.
pub(super) fn scope<'a>(app: &App, base: &'a str) -> CookieScope<'a> {
    CookieScope { base, is_https: app.server.link_base().starts_with("https:") }
}

fn form(app: &App, next: &str, problem: Option<&str>) -> Markup {
    let base = app.server.base_path();
    let token = Seal::new(&app.console.secret).form_token(BEFORE_SESSION);
    let body = html! {
        main #main .alone {
            h1 { (mark()) "Dowse" }
            p { "Sign in with an API key or a token of this server. You see what an agent with the same key sees." }
            @if let Some(problem) = problem { div .problem role="alert" { p { (problem) } } }
            form method="post" action=(format!("{base}/sign-in")) {
                input type="hidden" name="form_token" value=(token);
                input type="hidden" name="next" value=(next);
                label for="credential" { "Key or token" }
                input #credential type="password" name="credential" autocomplete="current-password" required autofocus;
                button .primary type="submit" { "Sign in" }
            }
        }
    };
    bare(&base, "Sign in", &body)
}
