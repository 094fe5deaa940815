//! How our names fit into turbopuffer's: namespaces of 128 characters, ids of 64 bytes, tokens of
//! 39 bytes, attribute names of 128 characters.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The longest id that turbopuffer takes, in bytes.
pub(super) const MAX_ENGINE_ID_BYTES: usize = 64;
/// The longest filterable value that turbopuffer takes, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 4_096;
/// Tokens longer than this are left out by turbopuffer unless its schema says otherwise.
const MAX_TOKEN_BYTES: usize = 39;
/// How much of a longer token stays as it is; the rest of its room is taken by a hash.
const TOKEN_START_BYTES: usize = 22;
/// The longest name of a namespace that is taken over as it is; the rest is for a generation.
const MAX_PLAIN_NAMESPACE: usize = 116;
/// How much of a longer or foreign name of a namespace stays readable.
const NAMESPACE_START: usize = 80;
/// The longest name of an attribute that is taken over as it is.
const MAX_PLAIN_ATTRIBUTE: usize = 120;

/// Gives the name of a namespace in the engine. The first generation of a name that fits is the
/// name itself.
pub(super) fn namespace(prefix: &str, id: &str, generation: u32) -> String {
    let plain = format!("{prefix}{id}");
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let fits = !plain.is_empty()
        && plain.len() <= MAX_PLAIN_NAMESPACE
        && plain.chars().all(is_allowed)
        && plain.chars().any(|char| char != '.');
    let mut name = if fits {
        plain
    } else {
        let start: String = plain
            .chars()
            .map(|char| if is_allowed(char) { char } else { '-' })
            .take(NAMESPACE_START)
            .collect();
        format!("{start}.{}", hex(plain.as_bytes(), 16))
    };
    if generation > 0 {
        name.push_str(&format!(".g{generation}"));
    }
    name
}

/// Gives the id of a passage in the engine.
///
/// An id of a chunk of JSON (`table:pointer:hash:chunk_i`) becomes `{24 of sha256(pointer)}:{hash}:{i}`
/// with table and pointer as attributes; another one stays as it is where it fits, and is hashed
/// where it does not.
pub(super) fn passage_id(id: &str, pointer: &str) -> String {
    if let Some((hash, idx)) = chunk_of(id) {
        return format!("{}:{hash}:{idx}", hex(pointer.as_bytes(), 24));
    }
    if !id.is_empty() && id.len() <= MAX_ENGINE_ID_BYTES {
        return id.to_owned();
    }
    hex(id.as_bytes(), 48)
}

/// Gives a word as the engine keeps it.
pub(super) fn token(word: &str) -> Cow<'_, str> {
    if word.len() <= MAX_TOKEN_BYTES {
        return Cow::Borrowed(word);
    }
    let start = &word[..word.floor_char_boundary(TOKEN_START_BYTES)];
    Cow::Owned(format!("{start}#{}", hex(word.as_bytes(), 16)))
}

/// Gives the start of a word, cut so that it is the start of whatever [`token`] makes of it.
pub(super) fn token_prefix(prefix: &str) -> &str {
    &prefix[..prefix.floor_char_boundary(TOKEN_START_BYTES)]
}

/// Gives the attribute that holds the keywords of one of our attributes.
pub(super) fn keywords_attribute(name: &str) -> String {
    attribute("k_", name)
}

/// Gives the attribute that holds the number of one of our attributes.
pub(super) fn number_attribute(name: &str) -> String {
    attribute("n_", name)
}

/// Gives a value that is short enough to be filtered by; a longer one is matched by its start.
pub(super) fn value(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_VALUE_BYTES)]
}

fn attribute(kind: &str, name: &str) -> String {
    let mut spelled = kind.to_owned();
    for char in name.chars() {
        match char {
            '_' => spelled.push_str("__"),
            _ if char.is_ascii_alphanumeric() => spelled.push(char),
            _ => spelled.push_str(&format!("_{:x}_", u32::from(char))),
        }
    }
    if spelled.len() > MAX_PLAIN_ATTRIBUTE {
        spelled.truncate(NAMESPACE_START);
        spelled.push_str(&format!("_{}", hex(name.as_bytes(), 32)));
    }
    spelled
}

/// Gives the hash and the number of the chunk when an id is one of a chunk of JSON.
fn chunk_of(id: &str) -> Option<(&str, &str)> {
    let (rest, chunk) = id.rsplit_once(':')?;
    let idx = chunk.strip_prefix("chunk_")?;
    let (_, hash) = rest.rsplit_once(':')?;
    let is_number = !idx.is_empty() && idx.len() <= 10 && idx.bytes().all(|b| b.is_ascii_digit());
    let is_hash = hash.len() == 12 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (is_number && is_hash).then_some((hash, idx))
}

fn hex(bytes: &[u8], n_digits: usize) -> String {
    let digest = Sha256::digest(bytes);
    let mut digits = model::hex(digest);
    digits.truncate(n_digits);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_keep_their_names_where_they_fit() {
        let plain = "project_0d7a3e4e-5d2c-4a55-9a5e-0f6a6ad3a3aa_table_1d7a3e4e-5d2c-4a55-9a5e-0f6a6ad3a3aa";
        assert_eq!(namespace("", plain, 0), plain);
        assert_eq!(namespace("eu-", "a.b", 2), "eu-a.b.g2");
        let foreign = namespace("", "come/and go:一", 0);
        assert!(foreign.starts_with("come-and-go--."), "{foreign}");
        assert_ne!(foreign, namespace("", "come/and go:二", 0));
        assert!(namespace("", &"x".repeat(4_000), 9).len() <= 128);
        assert_ne!(namespace("", "..", 0), "..");
    }

    #[test]
    fn chunks_of_json_have_the_short_id() {
        let id = "table:%2Fa%2Fb:0123456789ab:chunk_17";
        let short = passage_id(id, "/a/b");
        assert_eq!(
            short,
            "5bba19ec98581e6279d3a30a:0123456789ab:17"
                .replace("5bba19ec98581e6279d3a30a", &hex(b"/a/b", 24))
        );
        assert!(short.len() <= MAX_ENGINE_ID_BYTES);
        assert_eq!(passage_id("report.pdf#3", "page 3"), "report.pdf#3");
        assert_eq!(passage_id(&"x".repeat(65), "").len(), 48);
        assert_eq!(passage_id("a:b:chunk_1", "/b"), "a:b:chunk_1");
    }

    #[test]
    fn long_words_keep_their_start() {
        let long = "ü".repeat(40);
        assert_eq!(token("short"), "short");
        assert!(token(&long).len() <= MAX_TOKEN_BYTES);
        assert!(token(&long).starts_with(token_prefix(&long)));
        assert_ne!(token(&long), token(&"ü".repeat(41)));
    }

    #[test]
    fn attributes_do_not_meet() {
        let names = ["year.of-it", "year_of_it", "year of it", "year__of__it", "n_x", "x"];
        let spelled: std::collections::BTreeSet<_> = names
            .iter()
            .flat_map(|name| [keywords_attribute(name), number_attribute(name)])
            .collect();
        assert_eq!(spelled.len(), names.len() * 2);
        assert!(keywords_attribute(&"é".repeat(1_000)).len() <= 128);
    }
}
