//! A whole answer, read under a limit.

use serde::de::DeserializeOwned;
use ureq::http;
use url::Url;

use crate::client::{Failure, translate};
use crate::request::shown;
use crate::{Error, Result};

/// A success status with its headers and body.
#[derive(Debug, Clone)]
pub struct Response {
    /// The HTTP status, 200 to 299.
    pub status: u16,
    /// Within the limit of the request.
    pub body: Vec<u8>,
    url: Url,
    headers: http::HeaderMap,
}

impl Response {
    /// Gives a header's value when it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads the body as JSON.
    ///
    /// Fails when it is not JSON, or not of the expected shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|source| Error::NotJson { url: shown(&self.url), source })
    }

    /// Gives the address that answered, without user name, password and query.
    pub fn shown_url(&self) -> String {
        shown(&self.url)
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other error stays as it is")]
pub(crate) fn read_body(
    url: &Url,
    answer: http::Response<ureq::Body>,
    max_bytes: u64,
) -> std::result::Result<Response, Failure> {
    let (parts, mut body) = answer.into_parts();
    // The library refuses a body that reaches its limit; ours is the largest accepted size.
    let limit = max_bytes.saturating_add(1);
    let body = body.with_config().limit(limit).read_to_vec().map_err(|error| {
        Failure::from(match translate(url, error) {
            Error::TooLarge { url, .. } => Error::TooLarge { url, allowed: max_bytes },
            other => other,
        })
    })?;
    Ok(Response { status: parts.status.as_u16(), body, url: url.clone(), headers: parts.headers })
}
