//! What is asked: a method, an address, headers, perhaps a key and a body.

use serde::Serialize;
use url::Url;

use crate::{Error, Result, Secret};

/// The methods this workspace uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Ask with a body; every use here can be repeated without harm.
    Post,
    /// Replace.
    Put,
    /// Remove.
    Delete,
}

impl Method {
    /// Gives the method's name in HTTP.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

/// A request that can be sent as often as the retry policy says.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) secret_headers: Vec<SecretHeader>,
    pub(crate) body: Vec<u8>,
}

/// A header whose value is a prefix and a key, such as `Bearer ` and the token.
#[derive(Debug, Clone)]
pub(crate) struct SecretHeader {
    pub(crate) name: String,
    pub(crate) prefix: &'static str,
    pub(crate) secret: Secret,
}

impl Request {
    /// Starts a request.
    ///
    /// Fails when the address is not an `http` or `https` URL with a host.
    pub fn new(method: Method, url: &str) -> Result<Self> {
        let bad = || Error::BadUrl { received: without_secrets(url) };
        let url = Url::parse(url).map_err(|_| bad())?;
        let is_http = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        if !is_http {
            return Err(Error::BadUrl { received: shown(&url) });
        }
        Ok(Request {
            method,
            url,
            headers: Vec::new(),
            secret_headers: Vec::new(),
            body: Vec::new(),
        })
    }

    /// Starts a GET request.
    pub fn get(url: &str) -> Result<Self> {
        Request::new(Method::Get, url)
    }

    /// Starts a POST request with a JSON body.
    pub fn post_json(url: &str, body: &impl Serialize) -> Result<Self> {
        Ok(Request::new(Method::Post, url)?.json(body))
    }

    /// Sets the body to the JSON form of a value.
    pub fn json(self, body: &impl Serialize) -> Self {
        let bytes =
            serde_json::to_vec(body).expect("request bodies are plain structures with text keys");
        self.header("content-type", "application/json").bytes(bytes)
    }

    /// Sets the body.
    pub fn bytes(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// Adds a header. A header that was set before under the same name is replaced.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds `Authorization: Bearer …`.
    pub fn bearer(self, secret: &Secret) -> Self {
        self.with_secret("authorization", "Bearer ", secret)
    }

    /// Gives the address as it may be shown: without user name, password, query and fragment.
    pub fn shown_url(&self) -> String {
        shown(&self.url)
    }

    fn with_secret(mut self, name: &str, prefix: &'static str, secret: &Secret) -> Self {
        self.secret_headers.push(SecretHeader {
            name: name.to_owned(),
            prefix,
            secret: secret.clone(),
        });
        self
    }
}

/// Gives a URL without the parts in which people put keys.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that cannot carry user names, and then there is none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Cuts what may be secret from a text that could not be read as a URL.
fn without_secrets(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let text = match text.rsplit_once('@') {
        Some((_, host)) => host,
        None => text,
    };
    text.chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        let shown = match Request::get(url) {
            Ok(request) => request.shown_url(),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn addresses_are_checked_and_shown_without_keys() {
        check("https://example.org/v1/embed", "https://example.org/v1/embed");
        check("https://me:pw@example.org/v1?key=sk-1#x", "https://example.org/v1");
        check(
            "ftp://me:pw@example.org/?key=1",
            "cannot use address `ftp://example.org/`: expected an `http` or `https` URL with a host",
        );
        check(
            "me:pw@example.org:99999?key=1",
            "cannot use address `me:pw@example.org:99999`: expected an `http` or `https` URL with a host",
        );
        check(
            "http://",
            "cannot use address `http://`: expected an `http` or `https` URL with a host",
        );
    }

    #[test]
    fn a_request_does_not_print_its_keys() {
        let request = Request::get("https://example.org").unwrap().bearer(&Secret::new("sk-42"));
        assert!(!format!("{request:?}").contains("sk-42"));
    }
}
