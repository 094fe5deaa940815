//! What is remembered of sessions beyond their cookies: that they have ended, and credentials that
//! are too large for a cookie. It is kept in the catalogue, so that servers that share one agree,
//! until the session would have ended by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{TenantId, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::{Change, ObjectPage, Objects, TypedObject};

use super::seal::Seal;
use super::session::Session;
use crate::key_uses::KeyUses;

/// Sessions of one person whose credential is kept here; the oldest makes room for one more.
const MAX_KEPT_PER_CALLER: usize = 20;

/// Rows of sessions that are over which one sign-in or sign-out takes away.
const SWEPT: usize = 100;

/// Sessions that ended in this process, with when they would have ended by themselves. They stay
/// ended while the catalogue is away, and over a change of the configuration.
static ENDED: Mutex<BTreeMap<String, i64>> = Mutex::new(BTreeMap::new());

/// Tells of sessions what their cookies cannot.
#[derive(Clone, Default)]
pub struct Sessions {
    objects: Option<Arc<dyn Objects>>,
}

/// One session as the catalogue keeps it. Its id begins with the moment at which it ends, so that
/// those that are over come first in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredSession {
    id: String,
    caller: String,
    expires_at: i64,
    is_ended: bool,
    /// A credential that is too large for a cookie, sealed.
    credential: Option<String>,
}

impl TypedObject for StoredSession {
    type Id = str;

    const KIND: &'static str = "console_session";

    fn id(&self) -> String {
        self.id.clone()
    }

    fn tenant(&self) -> TenantId {
        TenantId::local()
    }

    fn parent(&self) -> Option<String> {
        Some(self.caller.clone())
    }
}

impl Sessions {
    /// Remembers them in a catalogue.
    pub fn kept_in(objects: Arc<dyn Objects>) -> Self {
        Sessions { objects: Some(objects) }
    }

    /// Gives what remembers when keys of endpoints were used, in the same catalogue.
    pub(crate) fn key_uses(&self) -> KeyUses {
        KeyUses::kept_in(self.objects.clone())
    }

    /// Gives the credential of a session that was not ended.
    ///
    /// While the catalogue does not answer, sessions go on whose cookie holds the credential: it
    /// is proved anew by every request anyway.
    pub(super) fn credential(&self, seal: &Seal, session: &Session) -> Option<String> {
        if ENDED.lock().contains_key(&session.id) {
            return None;
        }
        let Some(objects) = &self.objects else { return session.credential.clone() };
        let kept = match StoredSession::load(objects.as_ref(), &session.id) {
            Ok(kept) => kept.map(|(kept, _)| kept),
            Err(error) => {
                tracing::warn!(%error, "the catalogue cannot tell whether a session has ended");
                None
            }
        };
        match kept {
            Some(kept) if kept.is_ended => None,
            Some(kept) => session.credential.clone().or_else(|| {
                let credential = seal.open(&purpose(&kept.id), kept.credential.as_deref()?)?;
                String::from_utf8(credential).ok()
            }),
            None => session.credential.clone(),
        }
    }

    /// Keeps the credential of a session for its cookie.
    ///
    /// Fails when there is no catalogue, or it does not take it.
    pub(super) fn keep(
        &self,
        seal: &Seal,
        session: &Session,
        caller: &str,
        credential: &str,
        now: Timestamp,
    ) -> Result<(), String> {
        let objects = self.objects.as_ref().ok_or("there is no catalogue here")?;
        let sealed = seal.seal(&purpose(&session.id), credential.as_bytes());
        let kept = StoredSession {
            id: session.id.clone(),
            caller: caller.to_owned(),
            expires_at: session.expires_at,
            is_ended: false,
            credential: Some(sealed.ok_or("the system gives no randomness")?),
        };
        let of_caller =
            ObjectPage { parent: Some(caller.to_owned()), ..ObjectPage::of(StoredSession::KIND) };
        let written = StoredSession::list(objects.as_ref(), &of_caller).and_then(|known| {
            let alive = known.iter().filter(|known| known.credential.is_some());
            let n_over = (alive.clone().count() + 1).saturating_sub(MAX_KEPT_PER_CALLER);
            let mut changes: Vec<Change> = alive.take(n_over).map(delete).collect();
            changes.extend(over(objects.as_ref(), now)?);
            changes.push(Change::Put(kept.to_object(0)?));
            objects.apply(&changes)
        });
        written.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Ends a session everywhere, whoever holds a copy of its cookie.
    pub(super) fn end(&self, session: &Session, caller: &str, now: Timestamp) {
        {
            let mut ended = ENDED.lock();
            ended.retain(|_, expires_at| *expires_at > now.0);
            ended.insert(session.id.clone(), session.expires_at);
        }
        let Some(objects) = &self.objects else { return };
        let ended = StoredSession {
            id: session.id.clone(),
            caller: caller.to_owned(),
            expires_at: session.expires_at,
            is_ended: true,
            credential: None,
        };
        let written = over(objects.as_ref(), now).and_then(|mut changes| {
            changes.push(Change::Put(ended.to_object(0)?));
            objects.apply(&changes)
        });
        if let Err(error) = written {
            tracing::error!(%error, "other servers were not told that a session has ended");
        }
    }
}

/// Takes away rows of sessions that are over.
fn over(objects: &dyn Objects, now: Timestamp) -> store::Result<Vec<Change>> {
    let first = ObjectPage { limit: SWEPT, ..ObjectPage::of(StoredSession::KIND) };
    let first = StoredSession::list(objects, &first)?;
    Ok(first.iter().filter(|kept| kept.expires_at <= now.0).map(delete).collect())
}

fn delete(kept: &StoredSession) -> Change {
    Change::Delete(store::ObjectKey::new(StoredSession::KIND, &kept.id))
}

/// A sealed credential opens for its own session alone.
fn purpose(id: &str) -> String {
    format!("session {id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn two_servers() -> (testkit::Folder, Arc<dyn Objects>, Sessions, Sessions) {
        let folder = testkit::Folder::new();
        let config = store::Config::for_one_machine();
        let clock = testkit::fixed_clock();
        let catalogue = store::SqliteCatalogue::open(folder.path(), &config, clock).unwrap();
        let objects: Arc<dyn Objects> = Arc::new(catalogue);
        let (one, other) = (Arc::clone(&objects), Arc::clone(&objects));
        (folder, objects, Sessions::kept_in(one), Sessions::kept_in(other))
    }

    fn session(expires_at: i64, credential: Option<&str>) -> Session {
        Session::new(expires_at, credential.map(str::to_owned))
    }

    #[test]
    fn a_session_that_has_ended_stays_so_on_every_server() {
        let (_folder, _, one, other) = two_servers();
        let seal = Seal::new(&[7; 32]);
        let (ended, alive) = (session(9_000, Some("a key")), session(9_000, Some("a key")));
        one.end(&ended, "acme/ann", NOW);
        // What this process remembers is another question: the catalogue alone has to tell.
        ENDED.lock().remove(&ended.id);
        assert_eq!(other.credential(&seal, &ended), None);
        assert_eq!(other.credential(&seal, &alive).as_deref(), Some("a key"));
        let alone = Sessions::default();
        alone.end(&alive, "acme/ann", NOW);
        assert_eq!(alone.credential(&seal, &alive), None);
    }

    #[test]
    fn a_large_credential_is_kept_sealed_until_its_session_ends() {
        let (_folder, objects, one, other) = two_servers();
        let seal = Seal::new(&[7; 32]);
        let large = "t".repeat(8_000);
        let begun = session(9_000, None);
        one.keep(&seal, &begun, "acme/ann", &large, NOW).unwrap();
        assert_eq!(other.credential(&seal, &begun).as_deref(), Some(large.as_str()));
        assert_eq!(other.credential(&Seal::new(&[8; 32]), &begun), None);
        let (kept, _) = StoredSession::load(objects.as_ref(), &begun.id).unwrap().unwrap();
        assert!(!kept.credential.unwrap().contains("tttt"));
        other.end(&begun, "acme/ann", NOW);
        ENDED.lock().remove(&begun.id);
        assert_eq!(one.credential(&seal, &begun), None);
    }

    #[test]
    fn what_is_kept_is_bounded_and_goes_with_its_time() {
        let (_folder, objects, one, _) = two_servers();
        let seal = Seal::new(&[7; 32]);
        let count = || StoredSession::list(objects.as_ref(), &ObjectPage::of("console_session"));
        let begun: Vec<Session> =
            (0..MAX_KEPT_PER_CALLER as i64 + 5).map(|n| session(9_000 + n, None)).collect();
        for session in &begun {
            one.keep(&seal, session, "acme/ann", "a token", NOW).unwrap();
        }
        assert_eq!(count().unwrap().len(), MAX_KEPT_PER_CALLER);
        assert_eq!(one.credential(&seal, &begun[0]), None, "the oldest made room");
        assert!(one.credential(&seal, begun.last().unwrap()).is_some());
        one.end(&session(99_000, Some("a key")), "acme/bob", Timestamp(50_000));
        assert_eq!(count().unwrap().len(), 1);
    }
}
