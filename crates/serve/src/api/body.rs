//! Bodies within their limits, and their members in the types that a call wants.

use axum::extract::Request;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tools::{Code, ToolError};

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read(request: Request, limit: usize) -> Result<Bytes, ToolError> {
    match Limited::new(request.into_body(), limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(_) => Err(ToolError::bad_request("the body broke off")),
    }
}

/// Says that a body is too large.
pub(crate) fn too_large(limit: usize) -> ToolError {
    let message = format!("the body is larger than {limit} bytes");
    ToolError::new(Code::TooLarge, message).with_detail("allowed", limit)
}

/// Reads JSON of a known form; an unknown member is an error that names it.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ToolError> {
    serde_json::from_slice(body).map_err(|error| {
        use serde_json::error::Category;
        let problem = match error.classify() {
            Category::Data => format!("the body does not fit: {error}"),
            Category::Io | Category::Syntax | Category::Eof => {
                format!("the body is not JSON: {error}")
            }
        };
        ToolError::bad_request(problem).with_hint("`GET /v1/openapi.json` describes every body")
    })
}
