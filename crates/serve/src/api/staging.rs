//! Documents that arrive: their bytes go to a file as they come, whatever their size.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use bytes::Bytes;
use fs_err::File;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use tokio::task::JoinHandle;
use tools::{Code, ToolError};

use super::body::{refused, too_large};
use crate::App;
use crate::http::body::BodyError;
use crate::http::form;

/// Bytes of a body that are written at once; as many may arrive meanwhile.
const WRITTEN_BYTES: usize = 256 * 1024;

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

/// A file that is written as its content arrives.
///
/// No thread waits for the content, since threads are few: whoever sends slowly holds a connection
/// and nothing else.
pub(super) struct Writing {
    /// What opens the file or writes to it at the moment; nothing once that failed.
    writing: Option<JoinHandle<std::io::Result<File>>>,
    failed: Option<std::io::Error>,
    /// What arrived since the last write.
    arrived: Vec<u8>,
    n_bytes: u64,
    limit: SizeLimit,
}

impl Writing {
    pub(super) fn begin(file: PathBuf, limit: SizeLimit) -> Self {
        let writing = tokio::task::spawn_blocking(move || File::create(file));
        Writing { writing: Some(writing), failed: None, arrived: Vec::new(), n_bytes: 0, limit }
    }

    pub(super) async fn add(&mut self, piece: Bytes) -> Result<(), ToolError> {
        self.n_bytes += piece.len() as u64;
        if self.n_bytes > self.limit.n_bytes {
            return Err(self.limit.exceeded());
        }
        // A write that failed is told at the end; until then the rest is read and thrown away.
        if self.failed.is_none() {
            self.arrived.extend_from_slice(&piece);
        }
        if self.arrived.len() >= WRITTEN_BYTES {
            self.write().await;
        }
        Ok(())
    }

    pub(super) async fn end(mut self) -> Result<(), ToolError> {
        self.write().await;
        self.settle().await;
        let Some(error) = self.failed else { return Ok(()) };
        Err(tools::disk_full(&error).unwrap_or_else(|| {
            ToolError::internal(format!("the document could not be written: {error}"))
        }))
    }

    /// Begins to write what arrived, once what was written before is done.
    async fn write(&mut self) {
        let arrived = std::mem::take(&mut self.arrived);
        if let Some(mut file) = self.settle().await {
            self.writing = Some(tokio::task::spawn_blocking(move || {
                file.write_all(&arrived)?;
                Ok(file)
            }));
        }
    }

    /// Waits for the write in progress; gives the file unless it failed.
    async fn settle(&mut self) -> Option<File> {
        let written = self.writing.take()?.await;
        match written.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(file) => Some(file),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(n_bytes: u64) -> SizeLimit {
        SizeLimit { n_bytes, hint: "" }
    }

    /// A few hundred bodies that did not go on held every thread of the server.
    #[test]
    fn a_slow_body_holds_no_thread() {
        let folder = testkit::Folder::new();
        let one_thread = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        one_thread.block_on(async {
            let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
            let mut held: Vec<Writing> =
                paths.iter().map(|path| Writing::begin(path.clone(), limit(1 << 30))).collect();
            for writing in &mut held {
                writing.add(Bytes::from(vec![b'x'; WRITTEN_BYTES + 1])).await.unwrap();
                writing.add(Bytes::from_static(b"y")).await.unwrap();
            }
            assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
            for writing in held {
                writing.end().await.unwrap();
            }
            for path in paths {
                let content = fs_err::read(path).unwrap();
                assert_eq!((content.len(), content.last()), (WRITTEN_BYTES + 2, Some(&b'y')));
            }
        });
    }

    #[tokio::test]
    async fn what_is_too_large_or_cannot_be_written_is_said() {
        let folder = testkit::Folder::new();
        let mut writing = Writing::begin(folder.path().join("a"), limit(3));
        writing.add(Bytes::from_static(b"abc")).await.unwrap();
        assert_eq!(writing.add(Bytes::from_static(b"d")).await.unwrap_err().code, Code::TooLarge);
        let mut nowhere = Writing::begin(folder.path().join("no/such/folder"), limit(1 << 30));
        for _ in 0..3 {
            nowhere.add(Bytes::from(vec![b'x'; WRITTEN_BYTES])).await.unwrap();
        }
        let error = nowhere.end().await.unwrap_err();
        assert!(error.message.contains("could not be written"), "{}", error.message);
    }
}
