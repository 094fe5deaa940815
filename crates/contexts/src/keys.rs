//! Keys of endpoints: made once, shown once, kept as a hash.
//!
//! A key holds 256 random bits, so that a plain SHA-256 of it gives nothing away: there is no
//! list of likely keys to try.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;

use crate::ids::sha256;
use crate::object_ids::KeyId;
use crate::objects::StoredKey;
use ingest::new_id;

/// What every key begins with, so that people and scanners for secrets know it.
const PREFIX: &str = "dowse_";

/// Characters of a key that are kept in the clear.
const SHOWN_CHARS: usize = PREFIX.len() + 4;

/// Makes a key: the key itself, and what is kept of it.
pub(crate) fn make(now: Timestamp) -> (String, StoredKey) {
    let secret: [u8; 32] = rand::random();
    let key = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
    let stored = StoredKey {
        id: KeyId::new(new_id()),
        begins: key.chars().take(SHOWN_CHARS).collect(),
        sha256: sha256(key.as_bytes()),
        created_at: now,
    };
    (key, stored)
}

/// Tells whether a key is one of these.
pub(crate) fn is_one_of(key: &str, stored: &[StoredKey]) -> bool {
    let hash = sha256(key.as_bytes());
    stored.iter().any(|stored| stored.sha256 == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_again_and_cannot_be_read_back() {
        let (key, stored) = make(Timestamp(0));
        let (other, _) = make(Timestamp(0));
        assert_ne!(key, other);
        assert!(is_one_of(&key, std::slice::from_ref(&stored)));
        assert!(!is_one_of(&other, std::slice::from_ref(&stored)));
        assert!(!is_one_of("", std::slice::from_ref(&stored)));
        let written = serde_json::to_string(&stored).expect("a kept key can be written");
        assert!(!written.contains(&key[SHOWN_CHARS..]));
    }
}
