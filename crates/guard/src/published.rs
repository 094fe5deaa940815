//! The keys that an issuer publishes: fetched, remembered, and fetched again when one is missing.
//!
//! Ages are measured with a monotonic clock, so that a wall clock that steps neither stops nor
//! floods the issuer. A key that is known is never waited for: while one caller fetches, the
//! others go on with what is there.
//!
//! A key that is not known is asked for at once, as often as a bucket of [`BURST`] allows that all
//! names share: a key that was just rotated works with the first token that it signs, and names
//! that somebody makes up cost the issuer one request in [`REFILL`] at most. An issuer that hangs
//! keeps [`MAX_WAITING`] callers waiting, and no thread more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// How long keys are trusted on after the issuer could not be asked.
pub(crate) const REFETCH: Duration = Duration::from_secs(30);

/// How often the issuer is asked in a row for keys that are not known.
pub(crate) const BURST: u32 = 5;

/// After so long it may be asked once more.
pub(crate) const REFILL: Duration = Duration::from_secs(2);

/// Callers with a key that is not known who may wait at the same time while the issuer is asked;
/// each takes a thread, and those that are left serve everybody else.
pub(crate) const MAX_WAITING: usize = 16;

/// The most keys of one name that are tried: each costs a check of the signature.
pub(crate) const MAX_NAMESAKES: usize = 4;

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
    known: Mutex<IssuerKeys>,
    /// Held while the issuer is asked, so that it is asked once.
    fetching: Mutex<()>,
    n_waiting: AtomicUsize,
}

/// A caller who waits for the issuer, until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(n_waiting: &'a AtomicUsize) -> Option<Self> {
        let waiting = Waiting(n_waiting);
        let n_before = n_waiting.fetch_add(1, Ordering::AcqRel);
        (n_before < MAX_WAITING).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Default)]
struct IssuerKeys {
    keys: Option<Arc<JwkSet>>,
    /// When the issuer was last asked, whatever came of it.
    asked_at: Option<Duration>,
    has_failed: bool,
    bucket: Bucket,
}

/// How often the issuer may still be asked for keys that are not known.
#[derive(Default)]
struct Bucket {
    n_taken: u32,
    /// When the bucket was last seen with something taken out.
    since: Duration,
}

impl Bucket {
    /// Takes one out, if there is one.
    fn take(&mut self, now: Duration) -> bool {
        let age = now.saturating_sub(self.since);
        let n_back = u32::try_from(age.as_millis() / REFILL.as_millis()).unwrap_or(u32::MAX);
        if n_back > 0 {
            self.n_taken = self.n_taken.saturating_sub(n_back);
            self.since += REFILL * n_back.min(u32::MAX / 4);
        }
        if self.n_taken == 0 {
            self.since = now;
        }
        let is_left = self.n_taken < BURST;
        self.n_taken += u32::from(is_left);
        is_left
    }
}

impl PublishedKeys {
    pub(crate) fn new(url: String, fetch: FetchKeys, elapsed: Elapsed) -> Self {
        PublishedKeys {
            url,
            fetch,
            elapsed,
            known: Mutex::default(),
            fetching: Mutex::new(()),
            n_waiting: AtomicUsize::new(0),
        }
    }

    /// Gives the usable keys with this name, at most [`MAX_NAMESAKES`]. Blocks while they are fetched, when
    /// none is known.
    pub(crate) fn get(&self, kid: &str) -> Result<Vec<DecodingKey>, Denied> {
        let found = {
            let known = self.known.lock();
            known.find(kid).map(|keys| (keys, known.is_stale((self.elapsed)())))
        };
        if let Some((keys, is_stale)) = found {
            // Whoever comes while another fetches goes on with the key that is there.
            if !is_stale {
                return decoding_keys(&keys);
            }
            let Some(_fetching) = self.fetching.try_lock() else { return decoding_keys(&keys) };
            self.refresh();
            return self.known_key(kid);
        }
        let Some(_waiting) = Waiting::begin(&self.n_waiting) else {
            return Err(Denied::KeysUnavailable);
        };
        let _fetching = self.fetching.lock();
        // It may have come while this caller waited.
        let wants_fetch = {
            let mut known = self.known.lock();
            known.find(kid).is_none() && known.bucket.take((self.elapsed)())
        };
        if wants_fetch {
            self.refresh();
        }
        self.known_key(kid)
    }

    fn known_key(&self, kid: &str) -> Result<Vec<DecodingKey>, Denied> {
        let known = self.known.lock();
        if known.keys.is_none() {
            return Err(Denied::KeysUnavailable);
        }
        let keys = known
            .find(kid)
            .ok_or(Denied::Invalid { reason: "the token is signed with an unknown key" })?;
        decoding_keys(&keys)
    }

    fn refresh(&self) {
        self.known.lock().asked_at = Some((self.elapsed)());
        let fetched = (self.fetch)(&self.url).and_then(|text| read_keys(&text));
        let mut known = self.known.lock();
        known.has_failed = fetched.is_none();
        match fetched {
            Some(keys) => known.keys = Some(Arc::new(keys)),
            // Keys that were right ten minutes ago are better than turning everyone away.
            None => tracing::warn!("the issuer's keys cannot be fetched"),
        }
    }
}

impl IssuerKeys {
    fn find(&self, kid: &str) -> Option<Vec<Jwk>> {
        let is_it = |jwk: &&Jwk| jwk.common.key_id.as_deref() == Some(kid);
        let keys: Vec<Jwk> = self.keys.as_ref()?.keys.iter().filter(is_it).cloned().collect();
        (!keys.is_empty()).then_some(keys)
    }

    fn is_stale(&self, now: Duration) -> bool {
        let allowed = if self.has_failed { REFETCH } else { KEYS_TTL };
        self.asked_at.is_none_or(|at| now.saturating_sub(at) >= allowed)
    }
}

/// Reads a list of keys. One of a kind that is not known is passed over: an issuer may publish
/// keys for others beside ours.
fn read_keys(text: &str) -> Option<JwkSet> {
    #[derive(serde::Deserialize)]
    struct Published {
        keys: Vec<serde_json::Value>,
    }
    let published: Published = serde_json::from_str(text).ok()?;
    let keys = published.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
    Some(JwkSet { keys: keys.collect() })
}

/// Makes keys for RS256 of those of one name; fails where none is usable. Which of several signed a
/// token is not said by its header, so all of them are tried.
fn decoding_keys(keys: &[Jwk]) -> Result<Vec<DecodingKey>, Denied> {
    let mut usable = Vec::new();
    let mut denied = Denied::Invalid { reason: "the token is signed with an unknown key" };
    for jwk in keys {
        match decoding_key(jwk) {
            Ok(_) if usable.len() >= MAX_NAMESAKES => break,
            Ok(key) => usable.push(key),
            Err(error) => denied = error,
        }
    }
    if usable.is_empty() { Err(denied) } else { Ok(usable) }
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
