//! Reading a resource: the same guard as around a tool.

use std::sync::Arc;

use guard::release_text;
use model::Caller;
use tokio_util::sync::CancellationToken;
use tools::{Code, ResourceBody, ToolError};

use crate::App;
use crate::guarded::{self, CallContext, Counts, RunningCall, Via};

/// The name under which reads are limited, counted and audited.
const NAME: &str = "resources/read";

/// Bytes that are no text are given up to this size.
const MAX_BLOB_BYTES: usize = 4 * 1024 * 1024;

/// A resource to be read.
pub struct Request {
    /// Who reads.
    pub caller: Arc<Caller>,
    /// Its address.
    pub uri: String,
    /// The request's id, for log and audit.
    pub id: String,
    /// Cancelled when the client goes away.
    pub cancelled: CancellationToken,
}

/// What may leave of a resource.
#[derive(Debug)]
pub struct Read {
    /// Its type.
    pub mime_type: String,
    /// The content.
    pub body: ReadBody,
    /// Pieces of source text that were taken out.
    pub n_redacted: usize,
    /// Whether its end is missing; the text's last line says so.
    pub was_cut: bool,
}

/// The content of a resource.
#[derive(Debug)]
pub enum ReadBody {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Reads a resource, and writes down how it ended.
pub async fn read(app: &Arc<App>, request: Request) -> Result<Read, ToolError> {
    let running = RunningCall::enter(app);
    let Request { caller, uri, id, cancelled } = request;
    let call_context = CallContext { caller, name: NAME.to_owned(), id, cancelled, via: Via::Api };
    let result = guarded_read(app, &call_context, uri.clone()).await;
    let ended = match &result {
        Ok(read) => Ok(Counts { n_results: 1, n_redacted: read.n_redacted }),
        Err(error) => Err(error),
    };
    let id = call_context.id.clone();
    running.leave(app, call_context, Some(&uri), ended);
    result.map_err(|error| guarded::hide_internals(error, NAME, &id))
}

async fn guarded_read(
    app: &Arc<App>,
    call_context: &CallContext,
    uri: String,
) -> Result<Read, ToolError> {
    guarded::admit(app, call_context)?;
    let caps = app.caps();
    let caller = Arc::clone(&call_context.caller);
    let resources = app.resources.clone();
    guarded::run(app, call_context, move |deadline| {
        let Some(content) = resources.read(&caller, &uri, deadline)? else {
            return Err(unknown(&uri));
        };
        let mime_type = content.mime_type;
        match content.body {
            ResourceBody::SourceText(text) => {
                let outgoing = release_text(&text, &caps);
                Ok(Read {
                    mime_type,
                    body: ReadBody::Text(outgoing.text),
                    n_redacted: outgoing.n_redacted,
                    was_cut: outgoing.was_cut,
                })
            }
            ResourceBody::OwnText(text) => {
                Ok(Read { mime_type, body: ReadBody::Text(text), n_redacted: 0, was_cut: false })
            }
            ResourceBody::Bytes(bytes) if bytes.len() > MAX_BLOB_BYTES => {
                let message = format!("`{uri}` is larger than {MAX_BLOB_BYTES} bytes");
                Err(ToolError::new(Code::TooLarge, message))
            }
            ResourceBody::Bytes(bytes) => {
                Ok(Read { mime_type, body: ReadBody::Bytes(bytes), n_redacted: 0, was_cut: false })
            }
        }
    })
    .await
}

fn unknown(uri: &str) -> ToolError {
    let shown: String = uri.chars().take(200).collect();
    ToolError::new(Code::NotFound, format!("resource `{shown}` does not exist"))
        .with_hint("`resources/list` and the links in answers name those that do")
}
