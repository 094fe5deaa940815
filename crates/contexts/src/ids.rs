//! The deterministic ids of strings and chunks in the store.
//!
//! An id names the table, the place and the version of the content, so that writing the same
//! chunk twice is writing it once, and whoever finds an id in an engine knows where it is from.

use model::{DocumentId, PassageId, hex};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::object_ids::TableId;

/// Everything but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Characters of a content hash that are in an id.
const HASH_CHARS: usize = 12;

/// Characters of a pointer's hash that are in a short id.
const POINTER_HASH_CHARS: usize = 24;

/// Room for `:chunk_` and a number behind the id of a string.
const CHUNK_BYTES: usize = 20;

/// Names a string of a table, within the bytes that the store takes for an id.
pub(crate) fn node_id(
    table: &TableId,
    pointer: &str,
    content_hash: &str,
    max_bytes: usize,
) -> NodeId {
    let hash: String = content_hash.chars().take(HASH_CHARS).collect();
    let readable = format!("{table}:{}:{hash}", utf8_percent_encode(pointer, ENCODED));
    if readable.len() + CHUNK_BYTES <= max_bytes {
        return NodeId { id: readable, before_chunk: ":chunk_" };
    }
    let mut pointer_hash = sha256(pointer.as_bytes());
    pointer_hash.truncate(POINTER_HASH_CHARS);
    NodeId { id: format!("{pointer_hash}:{hash}"), before_chunk: ":" }
}

/// Names a chunk whatever the engine takes: its id in answers.
pub(crate) fn chunk_id(table: &TableId, pointer: &str, content_hash: &str, index: u32) -> String {
    node_id(table, pointer, content_hash, usize::MAX).chunk(index).to_string()
}

/// The id of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeId {
    id: String,
    before_chunk: &'static str,
}

impl NodeId {
    pub(crate) fn document(&self) -> DocumentId {
        DocumentId::new(self.id.as_str())
    }

    pub(crate) fn chunk(&self, index: u32) -> PassageId {
        PassageId::new(format!("{}{}{index}", self.id, self.before_chunk))
    }
}

/// Writes SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "5ddbc2c6-e0a4-4ba1-a1a6-84c1b1b1a3cd";

    #[track_caller]
    fn check(pointer: &str, max_bytes: usize, expected: &str) {
        let id = node_id(&TableId::new(TABLE), pointer, &sha256(b"text"), max_bytes);
        assert_eq!(id.chunk(3).as_str(), expected);
        assert!(id.chunk(599).as_str().len() <= max_bytes);
    }

    #[test]
    fn ids_have_the_form_of_the_contract() {
        check(
            "/articles/0/content",
            4_096,
            "5ddbc2c6-e0a4-4ba1-a1a6-84c1b1b1a3cd:%2Farticles%2F0%2Fcontent:982d9e3eb996:chunk_3",
        );
        check("", 4_096, "5ddbc2c6-e0a4-4ba1-a1a6-84c1b1b1a3cd::982d9e3eb996:chunk_3");
        check(
            "/a~1b/ü:",
            4_096,
            "5ddbc2c6-e0a4-4ba1-a1a6-84c1b1b1a3cd:%2Fa~1b%2F%C3%BC%3A:982d9e3eb996:chunk_3",
        );
        check("/articles/0/content", 64, "9532d6b06de8290696ecd25f:982d9e3eb996:3");
    }

    #[test]
    fn every_part_tells_chunks_apart() {
        let id = |table: &str, pointer: &str, content: &str, index: u32| {
            node_id(&TableId::new(table), pointer, &sha256(content.as_bytes()), 64).chunk(index)
        };
        let one = id(TABLE, "/a", "x", 0);
        assert_ne!(one, id(TABLE, "/b", "x", 0));
        assert_ne!(one, id(TABLE, "/a", "y", 0));
        assert_ne!(one, id(TABLE, "/a", "x", 1));
        assert_eq!(one, id(TABLE, "/a", "x", 0));
    }
}
