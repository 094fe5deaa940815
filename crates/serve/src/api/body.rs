//! Bodies within their limits, and their members in the types that a call wants.

use axum::extract::Request;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tools::{Code, ToolError};

use crate::http::body::{self, BodyError};
use crate::http::form::FormError;

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read(request: Request, limit: usize) -> Result<Bytes, ToolError> {
    body::read(request.into_body(), limit).await.map_err(|error| refused(&error))
}

/// Reads a body of JSON of a known form, within the limits of size and shape.
pub(crate) async fn read_json<T: DeserializeOwned + Send + 'static>(
    request: Request,
    limit: usize,
) -> Result<T, ToolError> {
    let bytes = read(request, limit).await?;
    parse_json(bytes).await
}

/// Reads JSON of a known form, within the limit of its shape.
pub(crate) async fn parse_json<T: DeserializeOwned + Send + 'static>(
    bytes: Bytes,
) -> Result<T, ToolError> {
    body::with_json(bytes, |bytes| parse_object(&bytes)).await.map_err(|error| refused(&error))?
}

/// Reads an object of a known form. The library would also take the members of one as a list.
fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, ToolError> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'[') {
        return Err(ToolError::bad_request(
            "the body does not fit: expected an object, received a list",
        )
        .with_hint("`GET /v1/openapi.json` describes every body"));
    }
    parse(body)
}

/// Says why a body cannot be taken.
pub(crate) fn refused(error: &BodyError) -> ToolError {
    match error {
        BodyError::TooLarge { limit } => too_large(*limit),
        BodyError::TooManyValues => ToolError::new(Code::TooLarge, error.to_string())
            .with_detail("allowed", body::MAX_JSON_VALUES)
            .with_hint("send less at once, or a document as a file"),
        BodyError::NoSpace => ToolError::new(Code::Unavailable, error.to_string())
            .with_hint("send large requests one after another"),
        BodyError::Form(FormError::Around | FormError::Parts) => {
            ToolError::new(Code::TooLarge, error.to_string())
                .with_hint("send what belongs to a document as the content of parts")
        }
        BodyError::Form(FormError::Boundary) | BodyError::TooSlow(_) | BodyError::BrokeOff => {
            ToolError::bad_request(error.to_string())
        }
    }
}

/// Says that a body is too large.
pub(crate) fn too_large(limit: usize) -> ToolError {
    let message = format!("the body is larger than {limit} bytes");
    ToolError::new(Code::TooLarge, message).with_detail("allowed", limit)
}

/// Reads JSON of a known form; an unknown member is an error that names it.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ToolError> {
    serde_json::from_slice(body).map_err(|error| unfit(&error))
}

/// Says why JSON cannot be read.
pub(crate) fn unfit(error: &serde_json::Error) -> ToolError {
    use serde_json::error::Category;
    let problem = match error.classify() {
        Category::Data => format!("the body does not fit: {error}"),
        Category::Io | Category::Syntax | Category::Eof => format!("the body is not JSON: {error}"),
    };
    ToolError::bad_request(problem).with_hint("`GET /v1/openapi.json` describes every body")
}
