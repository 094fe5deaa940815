//! Sessions: a sealed cookie that holds what the person signed in with, so that every request
//! proves it anew. A key that is taken from the configuration, or a token that has expired, ends
//! the session at once; [`super::sessions`] remembers those that were ended by signing out.
//!
//! A sign-in by an identity provider ends in the same [`Session`] with the token it gave.

use std::collections::BTreeSet;

use http::HeaderMap;
use http::header::HeaderValue;
use model::{Caller, Clearance, Identity, TenantId, Timestamp};
use serde::{Deserialize, Serialize};

use super::seal::Seal;
use super::viewer::cookie_header;

/// The cookie of a session.
pub(super) const SESSION: &str = "dowse_session";

/// The cookie of an administrator who looks through somebody else's eyes.
pub(super) const VIEW_AS: &str = "dowse_view_as";

/// Browsers drop cookies that are larger than 4,096 bytes with their name and attributes.
const MAX_COOKIE_CHARS: usize = 3_800;

/// What a person signed in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Nobody can guess it; begins with the moment of its end.
    pub(super) id: String,
    /// An API key or a token; none where it is too large for a cookie.
    pub(super) credential: Option<String>,
    /// When it ends, in milliseconds.
    pub(super) expires_at: i64,
}

impl Session {
    /// Begins a session.
    pub(super) fn new(expires_at: i64, credential: Option<String>) -> Self {
        let id = format!("{:016x}-{}", expires_at.max(0), uuid::Uuid::new_v4().simple());
        Session { id, credential, expires_at }
    }

    /// Opens a cookie that has not ended.
    pub(super) fn open(seal: &Seal, sealed: &str, now: Timestamp) -> Option<Self> {
        let session: Session = serde_json::from_slice(&seal.open(SESSION, sealed)?).ok()?;
        (session.expires_at > now.0).then_some(session)
    }

    /// Makes the cookie; nothing when it is too large for a browser.
    pub(super) fn sealed(&self, seal: &Seal) -> Option<String> {
        let sealed = seal.seal(SESSION, &serde_json::to_vec(self).ok()?)?;
        (sealed.len() <= MAX_COOKIE_CHARS).then_some(sealed)
    }
}

/// As whom an administrator looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ViewAs {
    /// The administrator who chose it: another one's cookie means nothing.
    pub(super) chosen_by: String,
    pub(super) subject: String,
    pub(super) tenant: String,
    pub(super) department: Option<String>,
    pub(super) clearance: String,
    pub(super) roles: Vec<String>,
}

impl ViewAs {
    pub(super) fn open(seal: &Seal, sealed: &str, signed_in: &Caller) -> Option<Self> {
        let view: ViewAs = serde_json::from_slice(&seal.open(VIEW_AS, sealed)?).ok()?;
        (view.chosen_by == signed_in.client_key()).then_some(view)
    }

    pub(super) fn sealed(&self, seal: &Seal) -> Option<String> {
        seal.seal(VIEW_AS, &serde_json::to_vec(self).ok()?)
    }

    /// The roles and groups that were asked for and are not the caller's whom this describes.
    pub(super) fn left_out(&self, seen: &Caller) -> Vec<String> {
        self.roles.iter().filter(|role| !seen.roles.contains(*role)).cloned().collect()
    }

    /// The caller that this describes, never with more rights than the administrator has: another
    /// tenant only for operators, no higher clearance, no role of others, and access lists hold.
    pub(super) fn caller(
        &self,
        signed_in: &Caller,
        is_operator: bool,
        identity_of: impl Fn(&TenantId, &str) -> Identity,
    ) -> Caller {
        let tenant = match self.tenant.trim() {
            wanted if is_operator && !wanted.is_empty() => TenantId::new(wanted),
            _ => signed_in.tenant.clone(),
        };
        let clearance = self.clearance.parse().unwrap_or(Clearance::default());
        let subject = match self.subject.trim() {
            "" => "somebody".to_owned(),
            subject => subject.to_owned(),
        };
        let mut roles: BTreeSet<String> = self.roles.iter().cloned().collect();
        if !is_operator {
            // A role opens sources that the administrator's own roles may not.
            roles.retain(|role| role != Caller::ADMIN && signed_in.has_role(role));
        }
        let identity = identity_of(&tenant, &subject);
        Caller {
            subject,
            tenant,
            department: self.department.clone(),
            clearance: clearance.min(signed_in.clearance),
            roles,
            identity,
        }
    }
}

/// Reads a cookie.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    cookie_header(headers)
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value.to_owned())
}

/// Where cookies are sent.
pub(super) struct CookieScope<'a> {
    pub(super) base: &'a str,
    pub(super) is_https: bool,
}

/// Writes the header that sets a cookie, or takes it away where there is no value.
pub(super) fn set_cookie(
    scope: &CookieScope<'_>,
    name: &str,
    value: Option<&str>,
    seconds: u64,
) -> Option<HeaderValue> {
    let (value, seconds) = match value {
        Some(value) => (value, seconds),
        None => ("", 0),
    };
    let path = if scope.base.is_empty() { "/" } else { scope.base };
    let secure = if scope.is_https { "; Secure" } else { "" };
    let cookie = format!(
        "{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    );
    HeaderValue::from_str(&cookie).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal() -> Seal {
        Seal::new(&[7; 32])
    }

    #[test]
    fn a_session_ends() {
        let session = Session::new(1_000, Some("a key".to_owned()));
        let sealed = session.sealed(&seal()).unwrap();
        assert_eq!(Session::open(&seal(), &sealed, Timestamp(999)), Some(session));
        assert_eq!(Session::open(&seal(), &sealed, Timestamp(1_000)), None);
        let large = Session::new(1_000, Some("x".repeat(5_000)));
        assert_eq!(large.sealed(&seal()), None, "a browser would drop it in silence");
    }

    #[test]
    fn nobody_gains_by_viewing_as() {
        let admin = Caller {
            clearance: Clearance::Internal,
            identity: Identity::Key,
            tenant: TenantId::new("acme"),
            roles: BTreeSet::from(["admin".to_owned(), "hr".to_owned()]),
            ..Caller::local_admin()
        };
        let view = ViewAs {
            chosen_by: admin.client_key(),
            tenant: "other".to_owned(),
            clearance: "top_secret".to_owned(),
            roles: vec!["admin".to_owned(), "hr".to_owned(), "finance".to_owned()],
            ..ViewAs::default()
        };
        let seen = view.caller(&admin, false, |_, _| Identity::Key);
        assert_eq!(seen.tenant, admin.tenant);
        assert_eq!(seen.clearance, Clearance::Internal);
        assert_eq!(seen.roles, BTreeSet::from(["hr".to_owned()]));
        assert_eq!(view.left_out(&seen), ["admin", "finance"]);
        let sealed = view.sealed(&seal()).unwrap();
        assert!(ViewAs::open(&seal(), &sealed, &admin).is_some());
        assert!(ViewAs::open(&seal(), &sealed, &Caller::local_admin()).is_none());
        let local = view.caller(&Caller::local_admin(), true, |_, _| Identity::Key);
        assert_eq!(local.tenant, TenantId::new("other"));
        assert_eq!(local.identity, Identity::Key, "access lists hold for whom one views as");
    }

    #[test]
    fn cookies_are_read_and_scoped() {
        let mut headers = HeaderMap::new();
        headers.insert("cookie", HeaderValue::from_static("a=1; dowse_session=xyz; b=2"));
        assert_eq!(cookie(&headers, SESSION).as_deref(), Some("xyz"));
        assert_eq!(cookie(&headers, VIEW_AS), None);
        let scope = CookieScope { base: "/dowse", is_https: true };
        let set = set_cookie(&scope, SESSION, Some("v"), 60).unwrap();
        assert_eq!(
            set.to_str().unwrap(),
            "dowse_session=v; Path=/dowse; Max-Age=60; HttpOnly; SameSite=Strict; Secure"
        );
    }
}
