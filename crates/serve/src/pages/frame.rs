//! What every page shares: who is looking, what is around a call, and the headers of HTML.

use std::sync::Arc;

use axum::response::{Html, IntoResponse, Response};
use http::HeaderMap;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use model::{Caller, Deadline};
use tokio_util::sync::CancellationToken;
use tools::ToolError;

use crate::App;
use crate::guarded::{CallContext, Via, perform};
use crate::http::{coded, identify, request_id_of};

/// Pages load nothing from anywhere and run no script.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'";

/// Does work for whoever asks, with everything that is around a call.
pub(super) async fn for_caller<T: Send + 'static>(
    app: &Arc<App>,
    headers: &HeaderMap,
    name: &str,
    query: Option<&str>,
    work: impl FnOnce(&Caller, &Deadline) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, Response> {
    let caller = identify(app, headers).await?;
    let call_context = CallContext {
        caller: Arc::clone(&caller),
        name: name.to_owned(),
        id: request_id_of(headers),
        cancelled: CancellationToken::new(),
        via: Via::Api,
    };
    perform(app, call_context, query, move |deadline| work(&caller, deadline))
        .await
        .map_err(|error| coded(&error))
}

/// Gives a page that others may show in a frame.
pub(super) fn framed_html(page: String, ancestors: &str) -> Response {
    let mut response = Html(page).into_response();
    let headers = response.headers_mut();
    let policy = format!("{POLICY}; frame-ancestors {ancestors}");
    let policy = HeaderValue::from_str(&policy)
        .unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
