//! Ids that hold a source and its key, and look like neither.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Longer ids are not looked at.
const MAX_ID_BYTES: usize = 8192;

/// Makes the id of a key of a source.
pub(crate) fn encode(source: &str, key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{source}\0{key}"))
}

/// Gives source and key of an id, or nothing when it is none of ours.
pub(crate) fn decode(id: &str) -> Option<(String, String)> {
    if id.len() > MAX_ID_BYTES {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(id).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (source, key) = text.split_once('\0')?;
    Some((source.to_owned(), key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_nonsense_does_not() {
        let id = encode("files", "/a/b ü.txt\0page 3");
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(decode(&id), Some(("files".to_owned(), "/a/b ü.txt\0page 3".to_owned())));
        for nonsense in ["", "!", "aGVsbG8", &"A".repeat(MAX_ID_BYTES + 1)] {
            assert_eq!(decode(nonsense), None);
        }
    }
}
