//! The keys that an issuer publishes: fetched, remembered, and fetched again when one is missing.
//!
//! Ages are measured with a monotonic clock, so that a wall clock that steps neither stops nor
//! floods the issuer. A key that is known is never waited for: while one caller fetches, the
//! others go on with what is there.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::{
    AlgorithmParameters, Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse,
};
use parking_lot::Mutex;

use crate::Denied;
use crate::tokens::FetchKeys;

/// How long published keys are trusted without asking again.
pub(crate) const KEYS_TTL: Duration = Duration::from_secs(10 * 60);

/// How long to wait before asking again for the same key that was not there, or after a failure.
pub(crate) const REFETCH: Duration = Duration::from_secs(30);

/// How often the issuer is asked at most, whatever keys are named. A key that was published
/// before the last fetch is never missed.
pub(crate) const MIN_BETWEEN_FETCHES: Duration = Duration::from_secs(1);

/// Names of unknown keys that are remembered between two fetches.
const MAX_UNKNOWN: usize = 1_000;

/// Time since some moment, which never steps.
pub(crate) type Elapsed = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Gives the time since now.
pub(crate) fn monotonic() -> Elapsed {
    let begun = std::time::Instant::now();
    Arc::new(move || begun.elapsed())
}

/// The keys of one issuer.
pub(crate) struct PublishedKeys {
    url: String,
    fetch: FetchKeys,
    elapsed: Elapsed,
    known: Mutex<Known>,
    /// Held while the issuer is asked, so that it is asked once.
    fetching: Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Option<Arc<JwkSet>>,
    /// When the issuer was last asked, whatever came of it.
    asked_at: Option<Duration>,
    has_failed: bool,
    unknown: HashSet<String>,
}

impl PublishedKeys {
    pub(crate) fn new(url: String, fetch: FetchKeys, elapsed: Elapsed) -> Self {
        PublishedKeys { url, fetch, elapsed, known: Mutex::default(), fetching: Mutex::new(()) }
    }

    /// Gives the key with this name. Blocks while it is fetched, when it is not known.
    pub(crate) fn get(&self, kid: &str) -> Result<DecodingKey, Denied> {
        let found = {
            let known = self.known.lock();
            known.find(kid).map(|jwk| (jwk.clone(), known.is_stale((self.elapsed)())))
        };
        if let Some((jwk, is_stale)) = found {
            // Whoever comes while another fetches goes on with the key that is there.
            if !is_stale {
                return decoding_key(&jwk);
            }
            let Some(_fetching) = self.fetching.try_lock() else { return decoding_key(&jwk) };
            self.refresh(kid);
            return self.known_key(kid);
        }
        let _fetching = self.fetching.lock();
        // It may have come while this caller waited.
        if self.known.lock().wants_fetch(kid, (self.elapsed)()) {
            self.refresh(kid);
        }
        self.known_key(kid)
    }

    fn known_key(&self, kid: &str) -> Result<DecodingKey, Denied> {
        let known = self.known.lock();
        if known.keys.is_none() {
            return Err(Denied::KeysUnavailable);
        }
        let jwk = known
            .find(kid)
            .ok_or(Denied::Invalid { reason: "the token is signed with an unknown key" })?;
        decoding_key(jwk)
    }

    fn refresh(&self, kid: &str) {
        self.known.lock().asked_at = Some((self.elapsed)());
        let fetched =
            (self.fetch)(&self.url).and_then(|text| serde_json::from_str::<JwkSet>(&text).ok());
        let mut known = self.known.lock();
        known.has_failed = fetched.is_none();
        match fetched {
            Some(keys) => {
                known.keys = Some(Arc::new(keys));
                known.unknown.clear();
            }
            // Keys that were right ten minutes ago are better than turning everyone away.
            None => tracing::warn!("the issuer's keys cannot be fetched"),
        }
        if known.find(kid).is_none() && known.unknown.len() < MAX_UNKNOWN {
            known.unknown.insert(kid.to_owned());
        }
    }
}

impl Known {
    fn find(&self, kid: &str) -> Option<&Jwk> {
        self.keys.as_ref()?.find(kid)
    }

    fn is_stale(&self, now: Duration) -> bool {
        let allowed = if self.has_failed { REFETCH } else { KEYS_TTL };
        self.asked_at.is_none_or(|at| now.saturating_sub(at) >= allowed)
    }

    fn wants_fetch(&self, kid: &str, now: Duration) -> bool {
        let Some(asked_at) = self.asked_at else { return true };
        if self.find(kid).is_some() {
            return false;
        }
        let age = now.saturating_sub(asked_at);
        let is_new = !self.has_failed && !self.unknown.contains(kid);
        age >= if is_new { MIN_BETWEEN_FETCHES } else { REFETCH }
    }
}

/// Makes a key for RS256 of what was published, unless it is meant for something else.
fn decoding_key(jwk: &Jwk) -> Result<DecodingKey, Denied> {
    let unusable = Denied::Invalid { reason: "the token is signed with an unusable key" };
    let common = &jwk.common;
    let is_for_signatures = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature));
    let verifies = common
        .key_operations
        .as_ref()
        .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
    let is_rs256 = matches!(common.key_algorithm, None | Some(KeyAlgorithm::RS256));
    let AlgorithmParameters::RSA(parameters) = &jwk.algorithm else { return Err(unusable) };
    if !(is_for_signatures && verifies && is_rs256) {
        return Err(unusable);
    }
    DecodingKey::from_rsa_components(&parameters.n, &parameters.e).map_err(|_| unusable)
}
