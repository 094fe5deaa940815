//! What all providers share: an address, a key, a client, and the way errors are told.

use std::time::Duration;

use model::Deadline;
use net::{Client, Config, Reach, Request, RetryPolicy, Secret, Streaming};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// The largest answer of a provider.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// The longest text that is sent; what is longer is cut, as every model cuts it.
pub(crate) const MAX_TEXT_BYTES: usize = 32 * 1024;

/// One provider and how to reach it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// Provider and model, for errors and logs.
    pub(crate) name: String,
    base_url: String,
    api_key: Option<Secret>,
    client: Client,
}

impl Endpoint {
    /// Prepares a provider. The operator named its host, so it may be anywhere.
    pub(crate) fn new(
        name: String,
        base_url: &str,
        api_key: Option<Secret>,
        timeout: Duration,
    ) -> Result<Self> {
        let endpoint = Endpoint {
            name,
            base_url: base_url.trim_end_matches('/').to_owned(),
            api_key,
            client: Client::new(Config {
                answer_timeout: timeout,
                attempt_timeout: timeout,
                max_response_bytes: MAX_ANSWER_BYTES,
                retry: RetryPolicy::patient(),
                reach: Reach::public_and_host_of(base_url),
                ..Config::careful()
            }),
        };
        Request::get(&endpoint.base_url).map_err(|source| endpoint.failed(source))?;
        Ok(endpoint)
    }

    /// Adds the version to the base address of an OpenAI-compatible server that names none.
    pub(crate) fn with_version(mut self, version: &str) -> Self {
        let has_path = self.base_url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        if !has_path {
            self.base_url = format!("{}/{version}", self.base_url);
        }
        self
    }

    /// Sends JSON and reads JSON.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        deadline: &Deadline,
    ) -> Result<T> {
        let request = self.request(path, body)?;
        let response =
            self.client.send(&request, deadline).map_err(|source| self.failed(source))?;
        response.json().map_err(|source| self.failed(source))
    }

    /// Sends JSON and gives the answer as it arrives.
    pub(crate) fn stream(
        &self,
        path: &str,
        body: &impl Serialize,
        deadline: &Deadline,
    ) -> Result<Streaming> {
        let request = self.request(path, body)?;
        self.client.stream(&request, deadline).map_err(|source| self.failed(source))
    }

    /// Says that the provider failed.
    pub(crate) fn failed(&self, source: net::Error) -> Error {
        Error::Provider { provider: self.name.clone(), source }
    }

    /// Says that the provider's answer makes no sense.
    pub(crate) fn bad_answer(&self, problem: impl Into<String>) -> Error {
        Error::BadAnswer { provider: self.name.clone(), problem: problem.into() }
    }

    fn request(&self, path: &str, body: &impl Serialize) -> Result<Request> {
        let url = format!("{}{path}", self.base_url);
        let request = Request::post_json(&url, body).map_err(|source| self.failed(source))?;
        Ok(match &self.api_key {
            Some(key) => request.bearer(key),
            None => request,
        })
    }
}

/// Cuts a text to what is sent.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}
