//! Documents that arrive: their bytes go to a file as they come, whatever their size.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tools::{Code, ToolError};

use super::body::{refused, too_large};
use crate::App;
use crate::http::body::BodyError;
use crate::http::form;

/// Pieces of a body that wait to be written.
const MAX_WAITING_PIECES: usize = 16;

/// What a form may hold around its document, in bytes.
const MAX_AROUND_BYTES: u64 = 65_536;

/// The longest part of a form that is no document, in bytes.
const MAX_FIELD_BYTES: usize = 4_096;

/// How large a document may be, and who says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeLimit {
    /// Bytes of the document.
    pub(super) n_bytes: u64,
    /// What a larger one needs, as a hint.
    pub(super) hint: &'static str,
}

impl SizeLimit {
    pub(super) fn exceeded(&self) -> ToolError {
        too_large(usize::try_from(self.n_bytes).unwrap_or(usize::MAX)).with_hint(self.hint)
    }
}

/// Refuses an upload before its body is read while the disk is full. A catalogue that is away is
/// not asked about here: it may go between a look and the write, and the write itself answers with
/// the family's sentence for it.
pub(super) fn refuse_without_writes(app: &App) -> Result<(), ToolError> {
    let health = (app.readiness)();
    if !health.degraded.iter().any(|degraded| degraded.what == "disk") {
        return Ok(());
    }
    let hint =
        "try again when `/readyz` says `writes: true`; an administrator sees the reason there";
    Err(ToolError::new(Code::Unavailable, "nothing can be stored now: the disk is full")
        .with_hint(hint)
        .with_detail("retry_after_seconds", tools::STORE_RETRY_SECONDS))
}

/// What arrived beside the document.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    /// The name that stood in a form.
    pub(super) name: Option<String>,
}

/// Writes the document of a request to a file: its whole body, or the part `file` of a form.
pub(super) async fn receive(
    request: Request,
    file: &Path,
    limit: SizeLimit,
) -> Result<Arrived, ToolError> {
    refuse_announced(&request, limit)?;
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
        return receive_form(request, file, limit).await;
    }
    write_body(request.into_body(), file, limit).await?;
    Ok(Arrived::default())
}

/// Refuses a body before it is sent, where the client says how large it will be.
pub(super) fn refuse_announced(request: &Request, limit: SizeLimit) -> Result<(), ToolError> {
    if announced(request).unwrap_or(0) > limit.n_bytes.saturating_add(MAX_AROUND_BYTES) {
        return Err(limit.exceeded());
    }
    Ok(())
}

/// Gives how long the client says that its body is.
pub(super) fn announced(request: &Request) -> Option<u64> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok())
}

/// Reads a body into memory that is no longer than it was announced.
pub(super) async fn small_body(mut body: Body, n_bytes: u64) -> Result<Vec<u8>, ToolError> {
    let allowed = usize::try_from(n_bytes).unwrap_or(usize::MAX);
    let mut whole = Vec::with_capacity(allowed);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| refused(&BodyError::of(&error)))?;
        if let Ok(data) = frame.into_data() {
            if whole.len() + data.len() > allowed {
                return Err(too_large(allowed));
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole)
}

/// Writes a whole body to a file as it arrives.
pub(super) async fn write_body(
    mut body: Body,
    file: &Path,
    limit: SizeLimit,
) -> Result<(), ToolError> {
    let mut writing = Writing::begin(file.to_owned(), limit);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| refused(&BodyError::of(&error)))?;
        if let Ok(data) = frame.into_data() {
            writing.add(data).await?;
        }
    }
    writing.end().await
}

async fn receive_form(
    request: Request,
    file: &Path,
    limit: SizeLimit,
) -> Result<Arrived, ToolError> {
    let mut parts = open_form(request).await?;
    let mut arrived = Arrived::default();
    let mut has_file = false;
    while let Some(mut part) = parts.next_field().await.map_err(broken)? {
        match part.name() {
            Some("file") if !has_file => {
                has_file = true;
                let mut writing = Writing::begin(file.to_owned(), limit);
                while let Some(data) = part.chunk().await.map_err(broken)? {
                    writing.add(data).await?;
                }
                writing.end().await?;
            }
            Some("name") => {
                let mut text = Vec::new();
                while let Some(data) = part.chunk().await.map_err(broken)? {
                    text.extend_from_slice(&data);
                    if text.len() > MAX_FIELD_BYTES {
                        return Err(too_large(MAX_FIELD_BYTES));
                    }
                }
                arrived.name = Some(String::from_utf8_lossy(&text).into_owned());
            }
            other => {
                let message = format!("unknown part `{}`", other.unwrap_or_default());
                return Err(ToolError::bad_request(message)
                    .with_hint("send the document as `file`, once, and `name` where needed"));
            }
        }
    }
    if !has_file {
        let message = "the upload holds no document";
        return Err(ToolError::bad_request(message).with_hint("send a part called `file`"));
    }
    Ok(arrived)
}

/// Begins to read a form, with bounds on what is around its parts.
pub(super) async fn open_form(request: Request) -> Result<Multipart, ToolError> {
    let request = form::watched(request).map_err(|error| refused(&BodyError::Form(error)))?;
    Multipart::from_request(request, &())
        .await
        .map_err(|wrong| ToolError::bad_request(wrong.body_text()))
}

/// Says why a form cannot be read on.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn broken(wrong: axum::extract::multipart::MultipartError) -> ToolError {
    match BodyError::of(&wrong) {
        known @ (BodyError::TooSlow(_) | BodyError::Form(_)) => refused(&known),
        BodyError::BrokeOff
        | BodyError::TooLarge { .. }
        | BodyError::TooManyValues
        | BodyError::NoSpace => ToolError::bad_request(wrong.body_text()),
    }
}

/// A thread that writes to a file, and the line to it.
pub(super) struct Writing {
    pieces: Sender<Bytes>,
    ended: tokio::task::JoinHandle<std::io::Result<()>>,
    n_bytes: u64,
    limit: SizeLimit,
}

impl Writing {
    pub(super) fn begin(file: PathBuf, limit: SizeLimit) -> Self {
        let (pieces, waiting) = channel(MAX_WAITING_PIECES);
        let ended = tokio::task::spawn_blocking(move || write(&file, waiting));
        Writing { pieces, ended, n_bytes: 0, limit }
    }

    pub(super) async fn add(&mut self, piece: Bytes) -> Result<(), ToolError> {
        self.n_bytes += piece.len() as u64;
        if self.n_bytes > self.limit.n_bytes {
            return Err(self.limit.exceeded());
        }
        // A thread that gave up says why at the end; until then the rest is read and thrown away.
        let _ = self.pieces.send(piece).await;
        Ok(())
    }

    pub(super) async fn end(self) -> Result<(), ToolError> {
        drop(self.pieces);
        let failed = |cause: String| {
            ToolError::internal(format!("the document could not be written: {cause}"))
        };
        match self.ended.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(tools::disk_full(&error).unwrap_or_else(|| failed(error.to_string())))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

fn write(file: &Path, mut pieces: Receiver<Bytes>) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs_err::File::create(file)?);
    while let Some(piece) = pieces.blocking_recv() {
        file.write_all(&piece)?;
    }
    file.flush()
}
