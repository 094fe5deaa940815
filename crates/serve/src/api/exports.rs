//! `/v1/exports/{token}`: all rows of a query, behind a random link that `query_table` gave.
//!
//! Whoever has the link gets what its caller's rows would show, as long as the link is good and
//! the caller may use the table. Each download is a call of that caller: it counts for the rate,
//! holds a slot but while it waits for its client, and is in the audit.

use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use model::Deadline;
use tables::{ExportLink, Exported, Service};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tools::tables::table_error;
use tools::{Code, ToolError};

use super::operation::{Api, Doc};
use super::rest::{REST_RATE, Rest};
use crate::guarded::{self, Counts, RunningCall, Via};
use crate::http::{HttpState, coded};

/// Pieces of a file between the writer and a slow client.
const PIECES_WAITING: usize = 8;
/// The size of a piece, in bytes.
const PIECE_BYTES: usize = 256 * 1024;
/// The longest that a download may take.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(900);

pub(super) fn routes() -> Api {
    let doc = Doc::media("charts", "All rows of a query, behind a link of query_table", "*/*");
    Api::default().get("/v1/exports/{token}", download, doc)
}

async fn download(State(http_state): State<HttpState>, Path(token): Path<String>) -> Response {
    let app = http_state.shared.load();
    let service = app.tables.clone();
    let (sought, looked_in) = (token.clone(), service.clone());
    let looked_up = tokio::task::spawn_blocking(move || {
        looked_in.map_or(Ok(None), |service| service.export_link(&sought))
    });
    let link = match looked_up.await {
        Ok(Ok(link)) => link,
        Ok(Err(error)) => return coded(&table_error(&error)),
        Err(_) => None,
    };
    let Some((service, link)) = service.zip(link) else {
        // The whole token would open the export: its beginning is enough to tell it by.
        let shown: String = token.chars().take(8).collect();
        let message = format!("the export `{shown}…` does not exist, or has expired");
        let missing = ToolError::new(Code::NotFound, message)
            .with_hint("call `query_table` with `export` again for another link");
        return coded(&missing);
    };
    let caller = Arc::new(link.caller.clone());
    let rest = Rest { app, caller, id: uuid(), via: Via::Api };
    let running = RunningCall::enter(&rest.app);
    let (mut call_context, gone) = rest.call_context(REST_RATE);
    let admitted = match guarded::admit(&rest.app, &call_context) {
        Ok(()) => guarded::slot(&rest.app, &call_context).await,
        Err(refused) => Err(refused),
    };
    "GET /v1/exports/{token}".clone_into(&mut call_context.name);
    let slot = match admitted {
        Ok(slot) => slot,
        Err(refused) => {
            running.leave(&rest.app, call_context, None, Err(&refused));
            return coded(&refused);
        }
    };
    let (sender, mut receiver) = mpsc::channel::<std::io::Result<Bytes>>(PIECES_WAITING);
    let format = link.format;
    let app = Arc::clone(&rest.app);
    tokio::task::spawn_blocking(move || {
        let _gone = gone;
        let ended = model::with_lender(slot.lender(), || write(&service, &link, sender));
        running.leave(&app, call_context, None, ended.as_ref().copied());
    });
    let body =
        Body::from_stream(futures::stream::poll_fn(move |context| receiver.poll_recv(context)));
    let name = format!("attachment; filename=\"export.{}\"", format.as_str());
    let headers = [
        (CONTENT_TYPE, format.media_type().to_owned()),
        (CONTENT_DISPOSITION, name),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, body).into_response()
}

fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Writes the rows; a failure on the way breaks the download off, so that nobody takes a part
/// for the whole.
#[expect(clippy::needless_pass_by_value, reason = "the stream ends when its sender is dropped")]
fn write(
    service: &Service,
    link: &ExportLink,
    sender: mpsc::Sender<std::io::Result<Bytes>>,
) -> Result<Counts, ToolError> {
    let n_redacted = AtomicUsize::new(0);
    let redact = |field: &str, text: &str| {
        let changed = tools::tables::redacted_cell(field, text);
        n_redacted.fetch_add(usize::from(changed.is_some()), Ordering::Relaxed);
        changed
    };
    let mut pieces = Pieces { sender: sender.clone(), piece: Vec::new() };
    let deadline = Deadline::after(DOWNLOAD_LIMIT);
    let (request, format) = (&link.request, link.format);
    let written = service.export(&link.caller, request, format, &redact, &mut pieces, &deadline);
    match written.and_then(|exported| {
        pieces.flush().map(|()| exported).map_err(|cause| tables::Error::Source {
            table: link.request.table.clone().unwrap_or_default(),
            cause: cause.into(),
        })
    }) {
        Ok(Exported { n_rows, n_marked, .. }) => {
            let n_redacted = n_marked + n_redacted.load(Ordering::Relaxed);
            Ok(Counts { n_results: n_rows, n_redacted, ..Counts::default() })
        }
        Err(error) => {
            let shown = table_error(&error);
            let _ = sender.blocking_send(Err(std::io::Error::other("the export failed")));
            Err(shown)
        }
    }
}

/// Sends what is written in pieces; waits for a client that reads slowly, and ends when it is
/// gone.
struct Pieces {
    sender: mpsc::Sender<std::io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = Ok(Bytes::from(std::mem::take(&mut self.piece)));
        let sent = match self.sender.try_send(piece) {
            Ok(()) => true,
            Err(TrySendError::Full(piece)) => {
                model::while_waiting(|| self.sender.blocking_send(piece)).is_ok()
            }
            Err(TrySendError::Closed(_)) => false,
        };
        match sent {
            true => Ok(()),
            false => Err(std::io::Error::new(ErrorKind::BrokenPipe, "the client is gone")),
        }
    }
}
