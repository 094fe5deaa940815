//! Signed tokens: RS256 by the issuer's published keys, or HS256 by a shared secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use model::{Caller, Clearance, Clock, Identity, TenantId};
use serde_json::{Map, Value};

use crate::published::{Elapsed, PublishedKeys, monotonic};
use crate::{ClaimNames, Denied, JwtConfig, SetupError, signature};

/// Gets the text behind the issuer's key address, or nothing when it cannot be had.
pub type FetchKeys = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How far the issuer's clock may be off.
const SKEW_SECONDS: i64 = 30;

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// A shared secret has at least as many bytes as the hash gives (RFC 7518, section 3.2).
const MIN_SECRET_BYTES: usize = 32;

/// The longest name of a subject or tenant, in characters.
const MAX_NAME_CHARS: usize = 256;

/// Checks tokens of one issuer.
pub(crate) struct Tokens {
    config: JwtConfig,
    check: SignatureCheck,
    /// The shared secret, which no answer may show.
    secret: Option<Vec<u8>>,
    clock: Clock,
}

enum SignatureCheck {
    Secret(Box<DecodingKey>),
    Published(PublishedKeys),
}

impl Tokens {
    pub(crate) fn new(
        config: JwtConfig,
        variable: &dyn Fn(&str) -> Option<String>,
        fetch: FetchKeys,
        clock: Clock,
    ) -> Result<Self, SetupError> {
        Tokens::with_elapsed(config, variable, fetch, clock, monotonic())
    }

    fn with_elapsed(
        config: JwtConfig,
        variable: &dyn Fn(&str) -> Option<String>,
        fetch: FetchKeys,
        clock: Clock,
        elapsed: Elapsed,
    ) -> Result<Self, SetupError> {
        signature::install();
        let (check, secret) = match (&config.jwks_url, &config.hs256_secret_env) {
            (Some(url), None) => {
                let keys = PublishedKeys::new(url.clone(), fetch, elapsed);
                (SignatureCheck::Published(keys), None)
            }
            (None, Some(name)) => {
                let secret = shared_secret(name, variable)?;
                let key = DecodingKey::from_secret(&secret);
                (SignatureCheck::Secret(Box::new(key)), Some(secret))
            }
            (None, None) | (Some(_), Some(_)) => return Err(SetupError::TokenCheck),
        };
        Ok(Tokens { config, check, secret, clock })
    }

    /// Gives the secret that tokens are signed with, where the issuer shares one.
    pub(crate) fn secret(&self) -> Option<&[u8]> {
        self.secret.as_deref()
    }

    /// Tells who a token speaks for.
    pub(crate) fn caller(&self, token: &str) -> Result<Caller, Denied> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Denied::Invalid { reason: "the token is too long" });
        }
        let header = decode_header(token).map_err(|_| Denied::Invalid {
            reason: "it is neither a known key nor a readable token",
        })?;
        // Whatever must be understood is not (RFC 7515, section 4.1.11).
        if header.crit.is_some() {
            return Err(Denied::Invalid { reason: "the token's `crit` header is not understood" });
        }
        let claims = match &self.check {
            SignatureCheck::Secret(key) => self.claims(token, key, Algorithm::HS256)?,
            SignatureCheck::Published(keys) => {
                // A token that is signed in another way must not make anybody fetch keys.
                if header.alg != Algorithm::RS256 {
                    return Err(Denied::Invalid {
                        reason: "the token is signed in a way that is not accepted",
                    });
                }
                let kid = header.kid.ok_or(Denied::Invalid { reason: "the token names no key" })?;
                self.claims_by_any(token, &keys.get(&kid)?)?
            }
        };
        self.check_times(&claims)?;
        caller(&claims, &self.config.claims)
    }

    /// Reads the claims by the first key that fits: an issuer may publish several of one name.
    fn claims_by_any(
        &self,
        token: &str,
        keys: &[DecodingKey],
    ) -> Result<Map<String, Value>, Denied> {
        let mut denied = Denied::Invalid { reason: "the token is signed with an unusable key" };
        for key in keys {
            match self.claims(token, key, Algorithm::RS256) {
                Ok(claims) => return Ok(claims),
                Err(error) => denied = error,
            }
        }
        Err(denied)
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
        let expires = seconds(claims, "exp")
            .flatten()
            .ok_or(Denied::Invalid { reason: "the token's `exp` is not a time" })?;
        if expires.saturating_add(SKEW_SECONDS) < now {
            return Err(Denied::Invalid { reason: "the token has expired" });
        }
        match seconds(claims, "nbf") {
            None => Ok(()),
            Some(None) => Err(Denied::Invalid { reason: "the token's `nbf` is not a time" }),
            Some(Some(starts)) if starts.saturating_sub(SKEW_SECONDS) > now => {
                Err(Denied::Invalid { reason: "the token is not valid yet" })
            }
            Some(Some(_)) => Ok(()),
        }
    }
}

/// Reads a time: nothing where the claim is absent, and no time where it is something else.
fn seconds(claims: &Map<String, Value>, name: &str) -> Option<Option<i64>> {
    claims.get(name).map(|value| value.as_f64().map(|at| at as i64))
}

fn shared_secret(
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<u8>, SetupError> {
    let secret = variable(name).filter(|secret| !secret.is_empty()).ok_or_else(|| {
        SetupError::MissingVariable {
            setting: "`auth.jwt.hs256_secret_env`".to_owned(),
            variable: name.to_owned(),
        }
    })?;
    // Blanks can be guessed.
    let length = secret.trim().len();
    if length < MIN_SECRET_BYTES {
        let (variable, minimum) = (name.to_owned(), MIN_SECRET_BYTES);
        return Err(SetupError::ShortSecret { variable, length, minimum });
    }
    Ok(secret.into_bytes())
}

fn caller(claims: &Map<String, Value>, names: &ClaimNames) -> Result<Caller, Denied> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    let named = |name: &str| text(name).filter(|text| is_name(text));
    let subject =
        named(&names.subject).ok_or(Denied::Invalid { reason: "the token names no subject" })?;
    // A token without a tenant is refused: no default could be safe for every deployment.
    let tenant = named(&names.tenant)
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
    let groups = match claims.get(&names.groups) {
        Some(Value::String(group)) => vec![group.as_str()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    roles.extend(groups.into_iter().map(Caller::role_of_group));
    Ok(Caller {
        subject,
        tenant,
        department: text(&names.department),
        clearance,
        roles,
        identity: Identity::Token,
    })
}

/// Tells whether a name holds characters that cannot be seen, so that it looks like another.
pub(crate) fn has_unseen(name: &str) -> bool {
    let is_unseen = |char: char| {
        char.is_control() || text::is_invisible(char) || matches!(char, '\u{2028}' | '\u{2029}')
    };
    name.chars().any(is_unseen)
}

/// A name that can be told from others: not empty, not endless, without control characters and
/// characters that cannot be seen.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && text.trim() == text
        && text.chars().count() <= MAX_NAME_CHARS
        && !has_unseen(text)
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
