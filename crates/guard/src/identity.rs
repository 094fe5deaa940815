//! From the headers of a request to a caller.

use model::{Caller, Clock};
use subtle::ConstantTimeEq;

use crate::keys::{Keys, read_key};
use crate::tokens::Tokens;
use crate::{AuthConfig, Denied, FetchKeys, SetupError};

/// Knows every way to prove an identity that the configuration allows.
pub struct Authenticator {
    keys: Keys,
    tokens: Option<Tokens>,
    /// Opens `/metrics` and nothing else.
    metrics_key: Option<Vec<u8>>,
}

impl Authenticator {
    /// Sets up identity. Without any `auth` section everyone is the local administrator, which
    /// is why the server then binds to loopback only.
    ///
    /// Fails when a variable that should hold a key or secret is not set, or a key is too short.
    pub fn new(
        config: &AuthConfig,
        variable: &dyn Fn(&str) -> Option<String>,
        fetch: FetchKeys,
        clock: Clock,
    ) -> Result<Self, SetupError> {
        let tokens = match &config.jwt {
            Some(jwt) => Some(Tokens::new(jwt.clone(), variable, fetch, clock)?),
            None => None,
        };
        let metrics_key = match &config.metrics_key_env {
            Some(name) => Some(read_key("`auth.metrics_key_env`", name, variable)?),
            None => None,
        };
        Ok(Authenticator { keys: Keys::load(&config.keys, variable)?, tokens, metrics_key })
    }

    /// Tells whether callers have to prove who they are.
    pub fn is_required(&self) -> bool {
        !self.keys.is_empty() || self.tokens.is_some()
    }

    /// Tells whether this `Authorization` header is the key that opens `/metrics` alone.
    pub fn is_metrics_key(&self, authorization: Option<&str>) -> bool {
        let (Some(key), Some(given)) = (&self.metrics_key, authorization.and_then(bearer)) else {
            return false;
        };
        bool::from(key.ct_eq(given.as_bytes()))
    }

    /// Tells who calls, from the value of the `Authorization` header. May block while the
    /// issuer's keys are fetched.
    pub fn caller(&self, authorization: Option<&str>) -> Result<Caller, Denied> {
        if !self.is_required() {
            return Ok(Caller::local_admin());
        }
        let token = bearer(authorization.ok_or(Denied::Missing)?).ok_or(Denied::NotBearer)?;
        if let Some(caller) = self.keys.find(token) {
            return Ok(caller.clone());
        }
        match &self.tokens {
            Some(tokens) => tokens.caller(token),
            None => Err(Denied::Invalid { reason: "the key is not known" }),
        }
    }
}

/// Gives the token of a bearer header.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
