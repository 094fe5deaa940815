//! Pages of other origins that may use the reconciliation service from a browser, as its
//! specification asks. Which origins those are was decided by the middleware before; here the browser is told.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, HeaderValue, ORIGIN, VARY,
};
use http::{Method, StatusCode};

/// How long a browser remembers what it may do, in seconds.
const REMEMBERED_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// Answers a browser's question before the call, and marks every answer for its origin.
pub(super) async fn allow(request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = if request.method() == Method::OPTIONS {
        let allowed = [
            (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST")),
            (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type")),
            (ACCESS_CONTROL_MAX_AGE, REMEMBERED_SECONDS),
        ];
        (StatusCode::NO_CONTENT, allowed).into_response()
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    response
}

/// Gives the sources that may show a page in a frame: this machine, and the configured origins.
pub(super) fn frame_ancestors(allowed_origins: &[String]) -> String {
    let mut ancestors = "'self' http://localhost:* http://127.0.0.1:*".to_owned();
    for origin in allowed_origins {
        let is_plain =
            origin.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';' && byte != b',');
        if is_plain {
            ancestors.push(' ');
            ancestors.push_str(origin);
        }
    }
    ancestors
}
