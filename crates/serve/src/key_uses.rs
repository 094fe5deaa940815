//! When each key of an endpoint was last used.
//!
//! A key is written down at most once a minute by each server, beside the endpoints in the
//! catalogue, so that servers that share one agree. API keys of the configuration are callers of
//! their own, and the audit says when they last called.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::{TenantId, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::{Change, ObjectKey, ObjectPage, Objects, TypedObject};

/// How often a use is written down, in milliseconds.
const EVERY_MILLIS: i64 = 60_000;

/// Characters of a key that are known in the clear anyway: the `begins` of [`contexts::StoredKey`].
const BEGINS_CHARS: usize = 10;

/// Keys that are remembered at most; beyond it the catalogue is written more often.
const MAX_REMEMBERED: usize = 10_000;

/// When this process last wrote each key down, by the id of its row.
static WRITTEN: Mutex<Option<HashMap<String, i64>>> = Mutex::new(None);

/// The last uses that a catalogue holds; none where there is no catalogue.
#[derive(Clone, Default)]
pub(crate) struct KeyUses {
    objects: Option<Arc<dyn Objects>>,
}

/// The last use of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeyUse {
    endpoint: String,
    begins: String,
    at: Timestamp,
}

impl TypedObject for KeyUse {
    type Id = str;

    const KIND: &'static str = "endpoint_key_use";

    fn id(&self) -> String {
        format!("{}/{}", self.endpoint, self.begins)
    }

    fn tenant(&self) -> TenantId {
        TenantId::local()
    }

    fn parent(&self) -> Option<String> {
        Some(self.endpoint.clone())
    }
}

impl KeyUses {
    pub(crate) fn kept_in(objects: Option<Arc<dyn Objects>>) -> Self {
        KeyUses { objects }
    }

    /// Writes down that a key of an endpoint was used, unless it was within the last minute.
    pub(crate) fn note(&self, endpoint: &str, key: &str, now: Timestamp) {
        let Some(objects) = &self.objects else { return };
        let begins = key.chars().take(BEGINS_CHARS).collect();
        let used = KeyUse { endpoint: endpoint.to_owned(), begins, at: now };
        {
            let mut written = WRITTEN.lock();
            let written = written.get_or_insert_with(HashMap::new);
            let is_fresh = |at: &i64| (0..EVERY_MILLIS).contains(&(now.0 - at));
            if written.get(&used.id()).is_some_and(is_fresh) {
                return;
            }
            if written.len() >= MAX_REMEMBERED {
                written.clear();
            }
            written.insert(used.id(), now.0);
        }
        let put = used.to_object(0).and_then(|row| objects.apply(&[Change::Put(row)]));
        if let Err(error) = put {
            tracing::warn!(%error, "the last use of a key could not be written down");
        }
    }

    /// Gives when the keys of an endpoint were last used, by what each begins with.
    pub(crate) fn of(&self, endpoint: &str) -> BTreeMap<String, Timestamp> {
        let Some(objects) = &self.objects else { return BTreeMap::new() };
        let page = ObjectPage { parent: Some(endpoint.to_owned()), ..ObjectPage::of(KeyUse::KIND) };
        match KeyUse::list(objects.as_ref(), &page) {
            Ok(uses) => uses.into_iter().map(|used| (used.begins, used.at)).collect(),
            Err(error) => {
                tracing::warn!(%error, "the last uses of keys could not be read");
                BTreeMap::new()
            }
        }
    }

    /// Forgets the keys of an endpoint that is gone.
    pub(crate) fn forget(&self, endpoint: &str) {
        let Some(objects) = &self.objects else { return };
        let gone = self.of(endpoint).into_keys().map(|begins| {
            Change::Delete(ObjectKey::new(KeyUse::KIND, format!("{endpoint}/{begins}")))
        });
        let gone: Vec<Change> = gone.collect();
        if !gone.is_empty()
            && let Err(error) = objects.apply(&gone)
        {
            tracing::warn!(%error, "the last uses of keys could not be forgotten");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_written_down_once_a_minute_and_goes_with_its_endpoint() {
        let folder = testkit::Folder::new();
        let config = store::Config::for_one_machine();
        let clock = testkit::fixed_clock();
        let catalogue = store::SqliteCatalogue::open(folder.path(), &config, clock).unwrap();
        let uses = KeyUses::kept_in(Some(Arc::new(catalogue)));
        let key = "dowse_AbCdEfGhIjKl";
        let last = |endpoint: &str| uses.of(endpoint).get("dowse_AbCd").copied();
        uses.note("key-uses-one", key, Timestamp(1_000));
        uses.note("key-uses-one", key, Timestamp(30_000));
        assert_eq!(last("key-uses-one"), Some(Timestamp(1_000)));
        uses.note("key-uses-one", key, Timestamp(61_000));
        uses.note("key-uses-two", key, Timestamp(61_500));
        assert_eq!(last("key-uses-one"), Some(Timestamp(61_000)));
        assert_eq!(last("key-uses-two"), Some(Timestamp(61_500)));
        uses.forget("key-uses-one");
        assert_eq!(last("key-uses-one"), None);
        assert_eq!(last("key-uses-two"), Some(Timestamp(61_500)));
        KeyUses::default().note("key-uses-one", key, Timestamp(1_000));
        assert!(KeyUses::default().of("key-uses-one").is_empty());
    }
}
