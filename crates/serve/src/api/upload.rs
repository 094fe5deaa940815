//! Uploads: files as multipart, or text as JSON.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use http::header::CONTENT_TYPE;
use http_body_util::Limited;
use knowledge::{Content, NewDocument, OcrRepair};
use serde::Deserialize;
use serde_json::Value;
use tools::ToolError;

use super::body;
use crate::App;

/// A text as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextUpload {
    #[serde(default)]
    title: String,
    text: String,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    normalize_ocr: bool,
}

/// Many texts as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextUploads {
    documents: Vec<TextUpload>,
}

/// One text or many.
#[derive(Deserialize)]
#[serde(untagged)]
enum Uploads {
    Many(TextUploads),
    One(TextUpload),
}

/// Reads what was uploaded.
pub(super) async fn read(app: &App, request: Request) -> Result<Vec<NewDocument>, ToolError> {
    let limit = app.limits.upload_bytes;
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
        return multipart(request, limit).await;
    }
    let bytes = body::read(request, limit).await?;
    // The form with `documents` is told from the other first, so that a mistake in either gets
    // an error about that form.
    let value: Value = body::parse(&bytes)?;
    let uploads = match value.get("documents") {
        Some(_) => Uploads::Many(body::parse(&bytes)?),
        None => Uploads::One(body::parse(&bytes)?),
    };
    Ok(match uploads {
        Uploads::One(one) => vec![one.into()],
        Uploads::Many(many) => many.documents.into_iter().map(NewDocument::from).collect(),
    })
}

impl From<TextUpload> for NewDocument {
    fn from(upload: TextUpload) -> Self {
        NewDocument {
            title: upload.title,
            content: Content::Text(upload.text),
            metadata: upload.metadata,
            ocr: ocr(upload.normalize_ocr),
        }
    }
}

async fn multipart(request: Request, limit: usize) -> Result<Vec<NewDocument>, ToolError> {
    let request = request.map(|body| Body::new(Limited::new(body, limit)));
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|wrong| ToolError::bad_request(wrong.body_text()))?;
    let (mut files, mut title, mut metadata, mut repair) =
        (vec![], String::new(), Value::Null, OcrRepair::Off);
    while let Some(part) = parts.next_field().await.map_err(|wrong| broken(&wrong, limit))? {
        let name = part.name().unwrap_or_default().to_owned();
        let file_name = part.file_name().map(str::to_owned);
        let bytes = part.bytes().await.map_err(|wrong| broken(&wrong, limit))?;
        if let Some(file_name) = file_name {
            let name = if file_name.is_empty() { "file".to_owned() } else { file_name };
            files.push(Content::File { bytes: bytes.to_vec(), name });
            continue;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "title" => title = text,
            "text" => files.push(Content::Text(text)),
            "metadata" => metadata = body::parse(&bytes)?,
            "normalize_ocr" => repair = ocr(matches!(text.trim(), "true" | "1" | "on" | "yes")),
            other => {
                let message = format!("unknown part `{other}`");
                return Err(ToolError::bad_request(message).with_hint(
                    "send `file`, and `title`, `metadata` or `normalize_ocr` where needed",
                ));
            }
        }
    }
    if files.is_empty() {
        let message = "the upload holds no file";
        return Err(ToolError::bad_request(message).with_hint("send a part called `file`"));
    }
    // A title names one document; several keep the names of their files.
    let title = if files.len() == 1 { title } else { String::new() };
    Ok(files
        .into_iter()
        .map(|content| NewDocument {
            title: title.clone(),
            content,
            metadata: metadata.clone(),
            ocr: repair,
        })
        .collect())
}

fn broken(wrong: &axum::extract::multipart::MultipartError, limit: usize) -> ToolError {
    if wrong.status() == http::StatusCode::PAYLOAD_TOO_LARGE {
        return body::too_large(limit);
    }
    ToolError::bad_request(wrong.body_text())
}

fn ocr(asked: bool) -> OcrRepair {
    if asked { OcrRepair::On } else { OcrRepair::Off }
}
