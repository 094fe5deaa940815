//! From the headers of a request to a caller.

use model::{Caller, Clock, Identity, TenantId};
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
        let keys = Keys::load(&config.keys, variable)?;
        // It opens one page, and is given to whoever reads that page.
        if let (Some(key), Some(name)) = (&metrics_key, &config.metrics_key_env)
            && let Some(caller) = keys.find_bytes(key)
        {
            let names = [caller.subject.clone(), name.clone()];
            return Err(SetupError::SameKey { names });
        }
        let secret = tokens.as_ref().and_then(Tokens::secret);
        text::hide_keys(keys.values().chain(metrics_key.as_deref()).chain(secret));
        Ok(Authenticator { keys, tokens, metrics_key })
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
            Some(tokens) => tokens.caller(token).map(|caller| self.apart(caller)),
            None => Err(Denied::Invalid { reason: "the key is not known" }),
        }
    }
}

impl Authenticator {
    /// Names the subject of a token so that it is no key's: what is kept of a key under its name
    /// (objects, roles in projects, rates, the audit) is not of a token that has the same.
    fn apart(&self, mut caller: Caller) -> Caller {
        let subject = &caller.subject;
        let is_taken = self.keys.has_name(&caller.tenant, subject)
            || *subject == Caller::local_admin().subject
            || Caller::RESERVED.iter().any(|prefix| subject.starts_with(prefix));
        if is_taken {
            caller.subject = format!("{}{subject}", Caller::TOKEN);
        }
        caller
    }

    /// Tells what a caller of this name would prove to be: a key where one has the name, else a
    /// token.
    pub fn identity_of(&self, tenant: &TenantId, subject: &str) -> Identity {
        if self.keys.has_name(tenant, subject) { Identity::Key } else { Identity::Token }
    }
}

/// Gives the token of a bearer header.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A token whose subject is the name of a key had all that the key had made.
    #[test]
    fn a_token_is_not_the_key_of_the_same_name() {
        const SECRET: &str = "a shared secret of decent length";
        let config: AuthConfig = serde_json::from_value(serde_json::json!({
            "keys": [{ "name": "ann", "key_env": "ANN", "tenant": "acme" }],
            "jwt": { "issuer": "i", "audience": "dowse", "hs256_secret_env": "SECRET" },
        }))
        .unwrap();
        let variable = |name: &str| match name {
            "ANN" => Some("0123456789abcdef".to_owned()),
            _ => Some(SECRET.to_owned()),
        };
        let clock = Clock::fixed(model::Timestamp(0));
        let guard = Authenticator::new(&config, &variable, Arc::new(|_| None), clock).unwrap();
        let caller = |sub: &str, tenant: &str| {
            let claims = serde_json::json!({
                "iss": "i", "aud": "dowse", "exp": 60, "sub": sub, "tenant_id": tenant,
            });
            let token = testkit::tokens::hs256(&claims, SECRET.as_bytes());
            guard.caller(Some(&format!("Bearer {token}"))).unwrap()
        };
        let key = guard.caller(Some("Bearer 0123456789abcdef")).unwrap();
        for (sub, tenant, subject) in [
            ("ann", "acme", "token:ann"),
            ("ann", "other", "ann"),
            ("bob", "acme", "bob"),
            ("local", "local", "token:local"),
            ("token:ann", "acme", "token:token:ann"),
            ("key:ann", "acme", "token:key:ann"),
            ("endpoint:7", "acme", "token:endpoint:7"),
        ] {
            let token = caller(sub, tenant);
            assert_eq!((&*token.subject, token.own_name()), (subject, sub));
            assert_ne!(token.client_key(), key.client_key());
            // What an earlier version kept under a name alone is the key's, where there is one.
            assert_eq!(token.made(sub, None), subject == sub);
            assert!(token.made(sub, Some(Identity::Token)));
            assert!(!token.made(sub, Some(Identity::Key)));
        }
        assert!(key.made("ann", None) && key.made("ann", Some(Identity::Key)));
        assert!(!key.made("ann", Some(Identity::Token)));
    }

    #[test]
    fn the_key_of_metrics_is_nobody_elses() {
        let set_up = |metrics: &str| {
            let config: AuthConfig = serde_json::from_value(serde_json::json!({
                "metrics_key_env": "METRICS",
                "keys": [{ "name": "ann", "key_env": "ANN" }],
            }))
            .unwrap();
            let variable = |name: &str| match name {
                "ANN" => Some("0123456789abcdef".to_owned()),
                _ => Some(metrics.to_owned()),
            };
            let clock = Clock::fixed(model::Timestamp(0));
            Authenticator::new(&config, &variable, Arc::new(|_| None), clock).map(|_| ())
        };
        assert!(set_up("fedcba9876543210").is_ok());
        let error = set_up("0123456789abcdef").unwrap_err();
        assert!(error.to_string().contains("`ann` and `METRICS`"), "{error}");
    }
}
