//! Files as they are, beside what was read of them: links for those who may have them, and the
//! downloads behind the links.

use axum::body::Body;
use axum::extract::{Path, Request};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use tools::ToolError;

use super::layout::error_page;
use super::params::encoded;
use super::time::bytes;
use super::viewer::{Viewer, read_answer};

/// The link to the file of a document, for those who hold a role with which it may be had.
pub(super) fn link_of_document(viewer: &Viewer, id: &str, record: &Value) -> Markup {
    let service = viewer.app.knowledge.as_ref();
    let may_download = service.is_some_and(|service| service.may_download(&viewer.caller));
    let address = viewer.href(&format!("/knowledge/documents/{}/original", encoded(id)));
    html! {
        @if let (true, Some(n_bytes)) = (may_download, record["original_bytes"].as_u64()) {
            p { a .button href=(address) download { "Download the original (" (bytes(n_bytes)) ")" }
                span .note { " Private things in it are not redacted." } }
        }
    }
}

/// Sends the file that a document was made from.
pub(super) async fn of_document(viewer: Viewer, Path(id): Path<String>) -> Response {
    send(viewer, &format!("/v1/documents/{}/original", encoded(&id))).await
}

/// Sends what REST sends, or a page that says why it does not.
async fn send(viewer: Viewer, path: &str) -> Response {
    let Ok(request) = Request::get(path).body(Body::empty()) else {
        return error_page(&viewer, &ToolError::bad_request("the address names no file"));
    };
    let response = viewer.forward(request).await;
    if response.status().is_success() {
        return response;
    }
    match read_answer(response).await {
        Err(error) => error_page(&viewer, &error),
        Ok(_) => error_page(&viewer, &ToolError::bad_request("the address names no file")),
    }
}
