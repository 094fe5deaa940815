//! Signed tokens: RS256 by the issuer's published keys, or HS256 by a shared secret.
//!
//! Published keys are cached for ten minutes. A token that names an unknown key makes the cache
//! fetch once more, so that a rotated key works at once, but never more often than every thirty
//! seconds, so that made-up key names cannot turn this server into a flood on the issuer.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use model::{Caller, Clearance, Clock, Identity, TenantId, Timestamp};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::{ClaimNames, Denied, JwtConfig, SetupError};

/// Gets the text behind the issuer's key address, or nothing when it cannot be had.
pub type FetchKeys = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How long published keys are trusted without asking again.
const KEYS_TTL_MS: i64 = 10 * 60 * 1000;

/// How long to wait before asking again for a key that was not there.
const REFETCH_MS: i64 = 30 * 1000;

/// How far the issuer's clock may be off.
const SKEW_SECONDS: i64 = 30;

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Checks tokens of one issuer.
pub(crate) struct Tokens {
    config: JwtConfig,
    check: SignatureCheck,
    clock: Clock,
}

enum SignatureCheck {
    Secret(Box<DecodingKey>),
    Published { url: String, fetch: FetchKeys, cache: Mutex<Cache> },
}

#[derive(Default)]
struct Cache {
    keys: Option<Arc<JwkSet>>,
    fetched_at: Option<Timestamp>,
}

impl Tokens {
    pub(crate) fn new(
        config: JwtConfig,
        variable: &dyn Fn(&str) -> Option<String>,
        fetch: FetchKeys,
        clock: Clock,
    ) -> Result<Self, SetupError> {
        let check = match (&config.jwks_url, &config.hs256_secret_env) {
            (Some(url), None) => {
                SignatureCheck::Published { url: url.clone(), fetch, cache: Mutex::default() }
            }
            (None, Some(name)) => {
                let secret =
                    variable(name).filter(|secret| !secret.is_empty()).ok_or_else(|| {
                        SetupError::MissingVariable {
                            setting: "auth.jwt.hs256_secret_env".to_owned(),
                            variable: name.clone(),
                        }
                    })?;
                SignatureCheck::Secret(Box::new(DecodingKey::from_secret(secret.as_bytes())))
            }
            (None, None) | (Some(_), Some(_)) => return Err(SetupError::TokenCheck),
        };
        Ok(Tokens { config, check, clock })
    }

    /// Tells who a token speaks for.
    pub(crate) fn caller(&self, token: &str) -> Result<Caller, Denied> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Denied::Invalid { reason: "the token is too long" });
        }
        let header = decode_header(token).map_err(|_| Denied::Invalid {
            reason: "it is neither a known key nor a readable token",
        })?;
        let claims = match &self.check {
            SignatureCheck::Secret(key) => self.claims(token, key, Algorithm::HS256)?,
            SignatureCheck::Published { url, fetch, cache } => {
                let kid = header.kid.ok_or(Denied::Invalid { reason: "the token names no key" })?;
                let key = published_key(&kid, url, fetch, cache, self.clock.now())?;
                self.claims(token, &key, Algorithm::RS256)?
            }
        };
        self.check_times(&claims)?;
        caller(&claims, &self.config.claims)
    }

    fn claims(
        &self,
        token: &str,
        key: &DecodingKey,
        algorithm: Algorithm,
    ) -> Result<Map<String, Value>, Denied> {
        let mut validation = Validation::new(algorithm);
        validation.set_audience(&[&self.config.audience]);
        validation.set_issuer(&[&self.config.issuer]);
        validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        // Times are checked below, against the clock that was given.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let data = decode::<Map<String, Value>>(token, key, &validation).map_err(|error| {
            use jsonwebtoken::errors::ErrorKind;
            #[expect(clippy::wildcard_enum_match_arm, reason = "the list grows; all say no")]
            let reason = match error.kind() {
                ErrorKind::InvalidAudience => "the token is meant for another audience",
                ErrorKind::InvalidIssuer => "the token comes from another issuer",
                ErrorKind::MissingRequiredClaim(_) => {
                    "the token lacks one of the claims `exp`, `aud`, `iss`"
                }
                ErrorKind::InvalidAlgorithm => "the token is signed in a way that is not accepted",
                _ => "the token's signature is not valid",
            };
            Denied::Invalid { reason }
        })?;
        Ok(data.claims)
    }

    fn check_times(&self, claims: &Map<String, Value>) -> Result<(), Denied> {
        let now = self.clock.now().seconds();
        let seconds = |name: &str| claims.get(name).and_then(Value::as_f64).map(|at| at as i64);
        let expires =
            seconds("exp").ok_or(Denied::Invalid { reason: "the token's `exp` is not a time" })?;
        if expires.saturating_add(SKEW_SECONDS) < now {
            return Err(Denied::Invalid { reason: "the token has expired" });
        }
        if seconds("nbf").is_some_and(|starts| starts.saturating_sub(SKEW_SECONDS) > now) {
            return Err(Denied::Invalid { reason: "the token is not valid yet" });
        }
        Ok(())
    }
}

fn published_key(
    kid: &str,
    url: &str,
    fetch: &FetchKeys,
    cache: &Mutex<Cache>,
    now: Timestamp,
) -> Result<DecodingKey, Denied> {
    // The lock is held while fetching: callers that need the same keys wait for one fetch.
    let mut cache = cache.lock();
    let age = cache.fetched_at.map(|at| now.millis().saturating_sub(at.millis()));
    let has_key = cache.keys.as_ref().is_some_and(|keys| keys.find(kid).is_some());
    let must_fetch = match age {
        None => true,
        Some(age) => age >= KEYS_TTL_MS || (!has_key && age >= REFETCH_MS),
    };
    if must_fetch {
        cache.fetched_at = Some(now);
        match fetch(url).and_then(|text| serde_json::from_str::<JwkSet>(&text).ok()) {
            Some(keys) => cache.keys = Some(Arc::new(keys)),
            // Keys that were right ten minutes ago are better than turning everyone away.
            None => tracing::warn!("the issuer's keys cannot be fetched"),
        }
    }
    let keys = cache.keys.as_ref().ok_or(Denied::KeysUnavailable)?;
    let jwk = keys
        .find(kid)
        .ok_or(Denied::Invalid { reason: "the token is signed with an unknown key" })?;
    DecodingKey::from_jwk(jwk)
        .map_err(|_| Denied::Invalid { reason: "the token is signed with an unusable key" })
}

fn caller(claims: &Map<String, Value>, names: &ClaimNames) -> Result<Caller, Denied> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    let subject =
        text(&names.subject).ok_or(Denied::Invalid { reason: "the token names no subject" })?;
    // A token without a tenant is refused: no default could be safe for every deployment.
    let tenant = text(&names.tenant)
        .ok_or(Denied::Invalid { reason: "the token names no tenant" })
        .map(TenantId::new)?;
    let clearance = match claims.get(&names.clearance) {
        None | Some(Value::Null) => Clearance::default(),
        Some(value) => {
            value.as_str().and_then(|name| name.parse().ok()).ok_or(Denied::Invalid {
                reason: "the token's clearance is none of the known levels",
            })?
        }
    };
    let mut roles = BTreeSet::new();
    for name in [names.roles.as_str(), "role"] {
        match claims.get(name) {
            Some(Value::String(role)) => {
                roles.insert(role.clone());
            }
            Some(Value::Array(list)) => {
                roles.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    Ok(Caller {
        subject,
        tenant,
        department: text(&names.department),
        clearance,
        roles,
        identity: Identity::Token,
    })
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
