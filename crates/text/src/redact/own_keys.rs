//! Keys that this process itself takes from its callers, which have no format of their own: whoever
//! wrote one into a document gave it to every reader.
//!
//! This is the one thing that redaction knows of its process; it is set when keys are loaded.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use aho_corasick::AhoCorasick;

use super::{PrivateKind, PrivatePiece};

static OWN_KEYS: RwLock<Option<Arc<AhoCorasick>>> = RwLock::new(None);

/// How often keys were given.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Hides these keys wherever they are in a text, in the place of those that were given before.
pub fn hide_keys<'a>(keys: impl IntoIterator<Item = &'a [u8]>) {
    let keys: Vec<&[u8]> = keys.into_iter().filter(|key| !key.is_empty()).collect();
    let finder = match keys.is_empty() {
        true => None,
        false => AhoCorasick::new(keys).ok().map(Arc::new),
    };
    if let Ok(mut own) = OWN_KEYS.write() {
        *own = finder;
    }
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Tells apart what was known to be private before keys were given and after.
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let finder = OWN_KEYS.read().ok().and_then(|own| own.clone());
    let Some(finder) = finder else { return };
    let pieces = finder.find_iter(text);
    found.extend(pieces.map(|key| PrivatePiece { kind: PrivateKind::Token, bytes: key.range() }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact;

    #[test]
    fn keys_of_the_configuration_are_hidden() {
        let key = "correct-horse-battery-staple";
        let text = format!("call it with {key} please");
        hide_keys([key.as_bytes()]);
        assert_eq!(redact(&text).text, "call it with [token] please");
        hide_keys([]);
        assert_eq!(redact(&text).text, text);
    }
}
