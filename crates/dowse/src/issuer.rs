//! Fetching the keys that the issuer of tokens publishes.

use std::sync::Arc;
use std::time::Duration;

use guard::FetchKeys;
use model::Deadline;
use net::{Client, Config, Reach, Request, RetryPolicy};

/// How long the issuer may take. Callers wait for it, so it is short.
const FETCH_LIMIT: Duration = Duration::from_secs(5);

/// A list of keys is a few kilobytes.
const MAX_KEYS_BYTES: u64 = 1024 * 1024;

/// Fetches over HTTP. The operator named the address, so it may be on a private network.
pub(crate) fn fetch_keys() -> FetchKeys {
    Arc::new(|url| {
        let client = Client::new(Config {
            connect_timeout: FETCH_LIMIT,
            answer_timeout: FETCH_LIMIT,
            attempt_timeout: FETCH_LIMIT,
            max_response_bytes: MAX_KEYS_BYTES,
            retry: RetryPolicy::never(),
            reach: Reach::public_and_host_of(url),
            ..Config::careful()
        });
        let fetched = Request::get(url)
            .and_then(|request| client.send(&request, &Deadline::after(FETCH_LIMIT)));
        match fetched {
            Ok(response) => String::from_utf8(response.body).ok(),
            Err(error) => {
                tracing::warn!(%error, "the issuer's keys cannot be fetched");
                None
            }
        }
    })
}
