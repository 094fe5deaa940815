//! Ids of results: short, the same everywhere, and saying nothing of what they name.
//!
//! An id is derived from what it names, never issued: a letter for the family, and in 20 letters
//! and digits the first 88 bits of SHA-256 over the thing with its position beside it. Whoever
//! fetches it finds the thing again by comparing marks, and its rights are checked anew.
//!
//! Ids of earlier versions held the key itself in base64; they are still read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Longer ids are not looked at.
const MAX_ID_BYTES: usize = 8192;

const MARK_BYTES: usize = 11;

/// Characters of a short id: the letter, and 15 bytes in base64.
const SHORT_CHARS: usize = 21;

/// Characters of a short id that are the same for every place of one thing: the letter, and those
/// that its mark alone decides.
const SAME_THING_CHARS: usize = 1 + MARK_BYTES * 8 / 6;

/// What tells a thing from all others.
pub(crate) type Mark = [u8; MARK_BYTES];

/// What an id says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Read {
    /// A thing by its mark, and a place in it.
    Short { letter: char, mark: Mark, position: u32 },
    /// An id of an earlier version: the source and its key.
    Long { source: String, key: String },
}

pub(crate) fn mark(source: &str, thing: &str) -> Mark {
    let digest = Sha256::digest(format!("{source}\0{thing}").as_bytes());
    std::array::from_fn(|at| digest[at])
}

/// Makes the id of a place in a thing.
pub(crate) fn encode(letter: char, mark: &Mark, position: u32) -> String {
    let mut bytes = mark.to_vec();
    bytes.extend(hidden(mark, position).to_be_bytes());
    format!("{letter}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Reads an id, or gives nothing when it is none of ours.
pub(crate) fn decode(id: &str) -> Option<Read> {
    if id.len() > MAX_ID_BYTES {
        return None;
    }
    if id.len() == SHORT_CHARS && id.is_ascii() {
        let letter = id.chars().next()?;
        let bytes = URL_SAFE_NO_PAD.decode(&id[1..]).ok()?;
        let mark: Mark = bytes.get(..MARK_BYTES)?.try_into().ok()?;
        let position = u32::from_be_bytes(bytes.get(MARK_BYTES..)?.try_into().ok()?);
        return Some(Read::Short { letter, mark, position: hidden(&mark, position) });
    }
    let bytes = URL_SAFE_NO_PAD.decode(id).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (source, key) = text.split_once('\0')?;
    Some(Read::Long { source: source.to_owned(), key: key.to_owned() })
}

/// Gives what every id of a place in a file begins with.
pub fn file_prefix(path: &str) -> String {
    prefix('f', "files", path)
}

/// Gives what every id of a place in a document of a knowledge base begins with.
pub fn document_prefix(document: &str) -> String {
    prefix('k', "knowledge", document)
}

fn prefix(letter: char, source: &str, thing: &str) -> String {
    let mut id = encode(letter, &mark(source, thing), 0);
    id.truncate(SAME_THING_CHARS);
    id
}

/// Tells whether two ids name the same thing, wherever in it.
pub fn is_same_thing(one: &str, other: &str) -> bool {
    let thing = |id: &str| match decode(id)? {
        Read::Short { letter, mark, .. } => Some((letter, mark)),
        Read::Long { .. } => None,
    };
    one == other || thing(one).is_some_and(|one| thing(other) == Some(one))
}

/// Mixes a position with its mark, so that neighbours do not look alike; twice gives it back.
fn hidden(mark: &Mark, position: u32) -> u32 {
    position ^ u32::from_be_bytes([mark[0], mark[3], mark[6], mark[9]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_nonsense_does_not() {
        let path = "/srv/a b ü.txt";
        let mark = mark("files", path);
        for position in [0, 1, 4_000, u32::MAX] {
            let id = encode('f', &mark, position);
            assert!(id.len() <= 24, "{id}");
            assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(decode(&id), Some(Read::Short { letter: 'f', mark, position }));
        }
        assert_ne!(mark, super::mark("knowledge", path));
        for nonsense in ["", "!", "aGVsbG8", &"A".repeat(MAX_ID_BYTES + 1)] {
            assert_eq!(decode(nonsense), None);
        }
    }

    #[test]
    fn ids_of_earlier_versions_are_read() {
        let old = URL_SAFE_NO_PAD.encode("files\0/a/b.txt\u{1f}page 3");
        let read =
            Read::Long { source: "files".to_owned(), key: "/a/b.txt\u{1f}page 3".to_owned() };
        assert_eq!(decode(&old), Some(read));
    }
}
