//! Plain tool calls over HTTP, answered without the protocol library.
//!
//! A call that names a tool and its arguments and asks for nothing else (no progress, no metadata
//! of the version without a handshake) has one request and one answer. The library would parse its
//! JSON a second time, make a service, two tasks and a channel for it, and write its answer through
//! them: that was as much work as everything that the guard does. Whatever is not plain goes to
//! the library, and [`tests`] hold that both give the same answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::{
    CallToolResult, JsonRpcResponse, JsonRpcVersion2_0, NumberOrString, ProtocolVersion,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::Listed;
use tracing::Instrument;

use super::handler::Visit;
use super::http::PROTOCOL_VERSION;
use super::translate;
use crate::call::{Request, call};

/// Members of `params` that a plain call may have.
const MEMBERS: [&str; 3] = ["name", "arguments", "_meta"];

/// Keys of `_meta` that change how a call is answered begin with this.
const PROTOCOL_KEYS: &str = "io.modelcontextprotocol/";

/// Asks for the progress of a call while it runs.
const PROGRESS_TOKEN: &str = "progressToken";

pub(super) struct PlainCall {
    id: NumberOrString,
    tool: Listed,
    arguments: Map<String, Value>,
}

impl PlainCall {
    /// Takes a message whose outer form was checked, unless it is something else than a plain call.
    pub(super) fn of(
        mut message: Map<String, Value>,
        headers: &HeaderMap,
        visit: &Visit,
    ) -> Option<Self> {
        if message.get("method")?.as_str()? != "tools/call" || !has_plain_headers(headers) {
            return None;
        }
        let id = match message.get("id")? {
            Value::Number(number) => NumberOrString::Number(number.as_i64()?),
            Value::String(text) => NumberOrString::String(Arc::from(text.as_str())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let params = message.get_mut("params")?.as_object_mut()?;
        let is_plain = params.iter().all(|(name, value)| {
            MEMBERS.contains(&name.as_str()) && (name != "_meta" || is_plain_meta(value))
        });
        if !is_plain {
            return None;
        }
        let tool = visit.registry.get(params.get("name")?.as_str()?, &visit.caller)?;
        let arguments = match params.get_mut("arguments") {
            None => Map::new(),
            Some(Value::Object(arguments)) => std::mem::take(arguments),
            Some(_) => return None,
        };
        Some(PlainCall { id, tool, arguments })
    }

    /// Makes the call and writes its answer. It is cancelled when the client goes away or the
    /// server stops, and its end is written down all the same.
    pub(super) async fn answer(self, visit: Visit, shutdown: CancellationToken) -> Response {
        let cancelled = CancellationToken::new();
        let request = Request {
            caller: visit.caller,
            tool: self.tool,
            arguments: self.arguments,
            id: visit.request_id,
            cancelled: cancelled.clone(),
            progress: Arc::new(|_| {}),
        };
        let app = visit.app;
        let calling = Box::pin(async move {
            match call(&app, request).await {
                Ok(done) => translate::answer(done),
                Err(failed) => translate::error(&failed),
            }
        });
        match finish(calling, cancelled, shutdown).await {
            Some(result) => response(self.id, result),
            None => (StatusCode::INTERNAL_SERVER_ERROR, "the call ended without an answer")
                .into_response(),
        }
    }
}

/// Waits for a call. One that is over at once stays in this task; another goes on in a task of its
/// own, so that it can write down how it ended when nobody waits for it any more.
async fn finish(
    mut calling: Pin<Box<impl Future<Output = CallToolResult> + Send + 'static>>,
    cancelled: CancellationToken,
    shutdown: CancellationToken,
) -> Option<CallToolResult> {
    let begun = std::future::poll_fn(|context| Poll::Ready(calling.as_mut().poll(context))).await;
    if let Poll::Ready(result) = begun {
        return Some(result);
    }
    let gone = cancelled.drop_guard();
    let task = tokio::spawn(calling.in_current_span());
    tokio::select! {
        result = task => {
            gone.disarm();
            result.ok()
        }
        () = shutdown.cancelled() => None,
    }
}

fn response(id: NumberOrString, mut result: CallToolResult) -> Response {
    // Versions with a handshake do not know the field.
    result.result_type = None;
    let message = JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result };
    match serde_json::to_vec(&message) {
        Ok(body) => {
            let json = HeaderValue::from_static("application/json");
            ([(CONTENT_TYPE, json)], body).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Holds that the headers are those of a version with a handshake, in the forms that are answered.
fn has_plain_headers(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or(""));
    let is_known = text(PROTOCOL_VERSION).is_none_or(|version| {
        version < ProtocolVersion::NO_INITIALIZE.as_str()
            && ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version)
    });
    let accepts_both = text(ACCEPT).is_some_and(|accept| {
        accept.contains("application/json") && accept.contains("text/event-stream")
    });
    let is_json = text(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
    is_known && accepts_both && is_json
}

fn is_plain_meta(meta: &Value) -> bool {
    let is_plain = |key: &String| key != PROGRESS_TOKEN && !key.starts_with(PROTOCOL_KEYS);
    meta.as_object().is_some_and(|meta| meta.keys().all(is_plain))
}
