//! Uploads: files as multipart, or texts as JSON. Whoever may not make one is refused before its
//! body is read; then it goes to disk as it arrives, and memory holds no more than one text.

use std::sync::Arc;

use axum::extract::Request;
use http::header::CONTENT_TYPE;
use knowledge::{
    CollectionId, Content, Intake, KnowledgeDocumentId, NewDocument, OcrRepair, ReceivedFile,
    UploadTarget, limits,
};
use serde_json::Value;
use tools::{Code, ToolError};

use super::rest::{REST_RATE, Rest};
use super::staging::{self, SizeLimit, Writing, broken};
use super::{body, upload_json};
use crate::guarded;

/// The longest part of a form that is no document, in bytes.
const MAX_FIELD_BYTES: usize = 64 * 1024;

/// A body that is announced as no longer than this is read into memory, in bytes.
const SMALL_BODY_BYTES: u64 = 64 * 1024;

/// What an upload is for.
pub(super) enum Target {
    /// New documents of this collection.
    Collection(CollectionId),
    /// The new content of this document.
    Document(KnowledgeDocumentId),
}

/// Checks that the caller may upload, and takes in what is sent.
pub(super) async fn read(
    rest: &Rest,
    target: Target,
    request: Request,
) -> Result<Vec<NewDocument>, ToolError> {
    let service =
        rest.app.knowledge.clone().ok_or_else(|| {
            ToolError::new(Code::Unavailable, "knowledge bases are not served here")
        })?;
    let (call_context, _gone) = rest.call_context(REST_RATE);
    let (caller, app) = (Arc::clone(&rest.caller), Arc::clone(&rest.app));
    let intake = guarded::run(&rest.app, &call_context, move |_| {
        let target = match &target {
            Target::Collection(id) => UploadTarget::Collection(id),
            Target::Document(id) => UploadTarget::Document(id),
        };
        let intake = service.begin_upload(&caller, target).map_err(tools::knowledge::error)?;
        staging::refuse_without_writes(&app)?;
        Ok(intake)
    })
    .await?;
    let limit = SizeLimit {
        n_bytes: rest.app.limits.upload_bytes as u64,
        hint: "raise `limits.upload_bytes` for documents of this size",
    };
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
        return form(&intake, request, limit).await;
    }
    staging::refuse_announced(&request, limit)?;
    if let Some(n_bytes) = staging::announced(&request).filter(|n| *n <= SMALL_BODY_BYTES) {
        let whole = staging::small_body(request.into_body(), n_bytes).await?;
        return guarded::run(&rest.app, &call_context, move |_| {
            upload_json::read(whole.as_slice(), &intake)
        })
        .await;
    }
    let whole = intake.file();
    staging::write_body(request.into_body(), whole.path(), limit).await?;
    guarded::run(&rest.app, &call_context, move |_| upload_json::read_file(whole.path(), &intake))
        .await
}

async fn form(
    intake: &Intake,
    request: Request,
    limit: SizeLimit,
) -> Result<Vec<NewDocument>, ToolError> {
    staging::refuse_announced(&request, limit)?;
    let mut parts = staging::open_form(request).await?;
    let (mut contents, mut title, mut metadata, mut repair) =
        (vec![], String::new(), Value::Null, OcrRepair::Off);
    let mut tags: Vec<String> = vec![];
    let mut left = limit.n_bytes;
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        let name = part.name().unwrap_or_default().to_owned();
        if let Some(file_name) = part.file_name().map(str::to_owned) {
            let name = if file_name.is_empty() { "file".to_owned() } else { file_name };
            let file = written(intake, part, SizeLimit { n_bytes: left, ..limit }).await?;
            left = left.saturating_sub(n_bytes(&file)?);
            contents.push(Content::Received { file, name: Some(name) });
        } else if name == "text" {
            let n_bytes_allowed = left.min(limits::MAX_TEXT_BYTES as u64);
            let text_limit = SizeLimit {
                n_bytes: n_bytes_allowed,
                hint: "send a text of this size as a part called `file`",
            };
            let file = written(intake, part, text_limit).await?;
            left = left.saturating_sub(n_bytes(&file)?);
            contents.push(Content::Received { file, name: None });
        } else {
            let text = field(part).await?;
            match name.as_str() {
                "title" => title = text,
                "metadata" => metadata = body::parse(text.as_bytes())?,
                "tags" => {
                    tags.extend(tags_in(&text)?);
                    // Now and not at the end: there may be a thousand parts of them.
                    knowledge::check_description("", &Value::Null, &tags)
                        .map_err(tools::knowledge::error)?;
                }
                "normalize_ocr" => repair = ocr(matches!(text.trim(), "true" | "1" | "on" | "yes")),
                other => {
                    let message = format!("unknown part `{other}`");
                    return Err(ToolError::bad_request(message).with_hint(
                        "send `file`, and `title`, `metadata`, `tags` or `normalize_ocr` where needed",
                    ));
                }
            }
        }
        if contents.len() > limits::MAX_DOCUMENTS_PER_UPLOAD {
            return Err(too_many_documents());
        }
    }
    if contents.is_empty() {
        let message = "the upload holds no file";
        return Err(ToolError::bad_request(message).with_hint("send a part called `file`"));
    }
    // A title names one document; several keep the names of their files.
    let title = if contents.len() == 1 { title } else { String::new() };
    Ok(contents
        .into_iter()
        .map(|content| NewDocument {
            title: title.clone(),
            content,
            metadata: metadata.clone(),
            tags: tags.clone(),
            ocr: repair,
            source: None,
        })
        .collect())
}

/// Reads tags: a JSON list, or words with commas between them; a part may come once for each.
fn tags_in(text: &str) -> Result<Vec<String>, ToolError> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(|_| {
            ToolError::bad_request("`tags` begins like a JSON list and is not a list of words")
                .with_hint("send `[\"hr\", \"pay\"]`, or `hr, pay`")
        });
    }
    Ok(text.split(',').map(|tag| tag.trim().to_owned()).collect())
}

/// Writes a part of a form to a file.
async fn written(
    intake: &Intake,
    mut part: axum::extract::multipart::Field<'_>,
    limit: SizeLimit,
) -> Result<ReceivedFile, ToolError> {
    let file = intake.file();
    let mut writing = Writing::begin(file.path().to_owned(), limit);
    while let Some(data) = part.chunk().await.map_err(broken)? {
        writing.add(data).await?;
    }
    writing.end().await?;
    Ok(file)
}

/// Reads a short part of a form.
async fn field(mut part: axum::extract::multipart::Field<'_>) -> Result<String, ToolError> {
    let mut bytes = Vec::new();
    while let Some(data) = part.chunk().await.map_err(broken)? {
        bytes.extend_from_slice(&data);
        if bytes.len() > MAX_FIELD_BYTES {
            return Err(body::too_large(MAX_FIELD_BYTES));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn n_bytes(file: &ReceivedFile) -> Result<u64, ToolError> {
    file.n_bytes().map_err(|error| ToolError::internal(error.to_string()))
}

pub(super) fn too_many_documents() -> ToolError {
    let allowed = limits::MAX_DOCUMENTS_PER_UPLOAD;
    ToolError::new(Code::TooLarge, format!("an upload holds at most {allowed} documents"))
        .with_detail("allowed", allowed)
        .with_hint("send the rest in another upload")
}

pub(super) fn ocr(is_wanted: bool) -> OcrRepair {
    if is_wanted { OcrRepair::On } else { OcrRepair::Off }
}
