//! What is shown one time: a form that makes something is answered by the address of a page, so
//! that loading it again makes nothing, and what only its answer knows travels to that page.
//!
//! It goes in a sealed cookie, which any server can open and which the page takes away.

use axum::response::Response;
use http::HeaderMap;
use http::header::SET_COOKIE;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::session::{cookie, set_cookie};
use super::sign_in::scope;
use super::viewer::Viewer;

/// The cookie with what a page shows once.
const ONCE: &str = "dowse_once";

/// Seconds that a browser has to follow to the page.
const SECONDS: u64 = 120;

/// Adds a value for the next page to an answer.
pub(super) fn hand_on(viewer: &Viewer, response: &mut Response, value: &impl Serialize) {
    let sealed = serde_json::to_vec(value).ok();
    let sealed = sealed.and_then(|value| viewer.seal().seal(ONCE, &value));
    let cookie = set_cookie(&scope(&viewer.app, &viewer.base), ONCE, sealed.as_deref(), SECONDS);
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}

/// Takes the value that the page before handed on.
pub(super) fn take<T: DeserializeOwned>(viewer: &Viewer, headers: &HeaderMap) -> Option<T> {
    let sealed = cookie(headers, ONCE)?;
    serde_json::from_slice(&viewer.seal().open(ONCE, &sealed)?).ok()
}

/// Takes the value away from the browser.
pub(super) fn forget(viewer: &Viewer, response: &mut Response) {
    if let Some(cookie) = set_cookie(&scope(&viewer.app, &viewer.base), ONCE, None, 0) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
