//! Errors as HTTP answers, from the one table of codes.

use axum::response::{IntoResponse, Response};
use guard::Denied;
use http::StatusCode;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use tools::{Code, ErrorShape, ToolError};

use crate::App;

/// Writes an error with the status of its code.
pub(crate) fn coded(error: &ToolError) -> Response {
    let status =
        StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(error.to_json(ErrorShape::Coded))).into_response();
    if let Some(seconds) = error.details.get("retry_after_seconds").and_then(|s| s.as_u64()) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Turns a caller away, and tells them where to get a token.
pub(crate) fn unauthorized(app: &App, denied: &Denied) -> Response {
    let code = match denied {
        Denied::KeysUnavailable => Code::Unavailable,
        Denied::Missing | Denied::NotBearer | Denied::Invalid { .. } => Code::Unauthorized,
    };
    let mut response = coded(&ToolError::new(code, denied.to_string()));
    if code == Code::Unauthorized {
        let mut challenge = format!(
            "Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource\"",
            app.server.link_base()
        );
        if matches!(denied, Denied::Invalid { .. }) {
            challenge.push_str(", error=\"invalid_token\"");
        }
        if let Ok(challenge) = challenge.parse() {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
    response
}
