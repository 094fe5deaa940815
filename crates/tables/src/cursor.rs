//! Continuation tokens: where a page ended, in terms that survive a change of the data.
//!
//! A token gives no rights: whoever alters one reads another page of the same filtered rows. It
//! names the query it belongs to, so that it cannot continue another one.
//!
//! Nor does it tell what rows do not show. The values of a redacted field that rows are sorted by
//! are sealed, so that they can neither be read nor be made up, to ask which rows come behind them;
//! the key of a row in a database, which may be a hidden column, is sealed too; and hashes of rows
//! and groups are keyed, so that nobody can guess at hidden values until the hash fits.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use columns::{Position, RowMark};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::request::{QueryRequest, SortRequest};
use crate::seal::Seal;
use crate::{Error, Result};

/// The longest token that is read.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// A token as it was written before: JSON. Walks that began then go on.
#[derive(Deserialize)]
struct OldToken {
    q: String,
    p: Position,
}

/// What is first in a token of a row that is found by its number.
const NUMBERED: u8 = 1;
/// What was first in a token of a row that is found by its key, before keys were sealed.
const KEYED: u8 = 2;
/// What is first in a token of a row that is found by its key.
const SEALED: u8 = 3;
/// What is first in a token of a row that is found by its number, behind sealed values.
const NUMBERED_SEALED: u8 = 4;

/// Whether the values that rows are sorted by may be read and written by whoever holds a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortKeys {
    /// No field of the order is redacted.
    Shown,
    /// One is.
    Redacted,
}

/// Writes the token of a position: short, since a model reads it with every page.
pub(crate) fn encode(query: &str, position: &Position, sort: SortKeys, seal: &Seal) -> String {
    let Position { version, keys, row } = position;
    let mut bytes = vec![match (row, sort) {
        (RowMark::Numbered { .. }, SortKeys::Shown) => NUMBERED,
        (RowMark::Numbered { .. }, SortKeys::Redacted) => NUMBERED_SEALED,
        (RowMark::Keyed(_), _) => SEALED,
    }];
    bytes.extend(query_bytes(query));
    bytes.extend(version.to_le_bytes());
    match row {
        RowMark::Numbered { row, hash } => {
            bytes.extend((hash ^ seal.mask(&[*version, *row])).to_le_bytes());
            let row = row.to_le_bytes();
            let n_used = row.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
            bytes.extend([n_used as u8]);
            bytes.extend(&row[..n_used]);
            if !keys.is_empty() {
                let plain = serde_json::to_vec(keys).expect("keys are plain data");
                bytes.extend(match sort {
                    SortKeys::Shown => plain,
                    SortKeys::Redacted => seal.close(&plain),
                });
            }
        }
        RowMark::Keyed(key) => {
            let plain = serde_json::to_vec(&(keys, key)).expect("keys are plain data");
            bytes.extend(seal.close(&plain));
        }
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads a token back.
///
/// A position without keys is what is left of a token whose sealed keys another process made, or
/// whose keys should have been sealed.
pub(crate) fn decode(query: &str, token: &str, sort: SortKeys, seal: &Seal) -> Result<Position> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(Error::BadCursor);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Error::BadCursor)?;
    if bytes.first() == Some(&b'{') {
        let token: OldToken = serde_json::from_slice(&bytes).map_err(|_| Error::BadCursor)?;
        let position = (token.q == query).then_some(token.p).and_then(|p| unsealed(p, sort));
        return position.ok_or(Error::BadCursor);
    }
    read(query, &bytes, sort, seal).ok_or(Error::BadCursor)
}

/// Takes a position that anybody could have written.
fn unsealed(position: Position, sort: SortKeys) -> Option<Position> {
    match (sort, &position.row) {
        (SortKeys::Shown, _) => Some(position),
        (SortKeys::Redacted, RowMark::Numbered { .. }) => {
            Some(Position { keys: Vec::new(), ..position })
        }
        (SortKeys::Redacted, RowMark::Keyed(_)) => None,
    }
}

fn read(query: &str, bytes: &[u8], sort: SortKeys, seal: &Seal) -> Option<Position> {
    let (kind, rest) = bytes.split_first()?;
    let rest = rest.strip_prefix(query_bytes(query).as_slice())?;
    let (version, rest) = number(rest)?;
    match *kind {
        NUMBERED | NUMBERED_SEALED => {
            let (hash, rest) = number(rest)?;
            let (n_used, rest) = rest.split_first()?;
            let (used, rest) = rest.split_at_checked(usize::from(*n_used))?;
            let mut row = [0; 8];
            row.get_mut(..used.len())?.copy_from_slice(used);
            let row = u64::from_le_bytes(row);
            // The hash of a token that another process made is of no row: the number counts.
            let hash = hash ^ seal.mask(&[version, row]);
            let keys = match (rest, *kind) {
                ([], _) => Vec::new(),
                (keys, NUMBERED) => serde_json::from_slice(keys).ok()?,
                (sealed, _) => match seal.open(sealed) {
                    Some(keys) => serde_json::from_slice(&keys).ok()?,
                    None => Vec::new(),
                },
            };
            let position = Position { version, keys, row: RowMark::Numbered { row, hash } };
            if *kind == NUMBERED { unsealed(position, sort) } else { Some(position) }
        }
        SEALED => {
            let (keys, key) = serde_json::from_slice(&seal.open(rest)?).ok()?;
            Some(Position { version, keys, row: RowMark::Keyed(key) })
        }
        KEYED => {
            let (keys, key) = serde_json::from_slice(rest).ok()?;
            unsealed(Position { version, keys, row: RowMark::Keyed(key) }, sort)
        }
        _ => None,
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// The query in a token, so that a token of another one is refused.
fn query_bytes(query: &str) -> Vec<u8> {
    Sha256::digest(query)[..6].to_vec()
}

/// Names a group in a token.
pub(crate) fn group_key(values: &[columns::Value], seal: &Seal) -> String {
    let values: Vec<_> = values.iter().map(columns::Value::to_row_json).collect();
    let hash = seal.hash(&serde_json::to_vec(&values).expect("values are plain data"));
    model::hex(&hash[..8])
}

/// Writes the token of the groups behind one: by its key, or by their number when it is gone.
pub(crate) fn encode_group(key: &str, n_before: usize) -> String {
    format!("{n_before}-{key}")
}

/// Reads a token of groups back; a number alone counts them.
pub(crate) fn decode_group(token: &str) -> Result<(Option<String>, usize)> {
    let (n_before, key) = match token.split_once('-') {
        Some((n_before, key)) => (n_before, Some(key.to_owned())),
        None => (token, None),
    };
    Ok((key, n_before.parse().map_err(|_| Error::BadCursor)?))
}

/// Names a query by what decides its rows and their order. The page's size may change between
/// pages.
pub(crate) fn fingerprint(table: &str, request: &QueryRequest, sort: &[SortRequest]) -> String {
    let mut filters: Vec<_> = request.filters.iter().collect();
    filters.sort_by_key(|(name, _)| *name);
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&(table, filters)).expect("filters are plain data"));
    hash.update(format!("{sort:?}{:?}", request.time_zone));
    model::hex(&hash.finalize()[..6])
}

#[cfg(test)]
mod tests {
    use columns::Value;
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_short_read_back_and_belong_to_their_query() {
        let seal = Seal::own("a.csv");
        let numbered = |row: u64| RowMark::Numbered { row, hash: u64::MAX - 5 };
        let keyed = RowMark::Keyed(vec!["4".to_owned(), "资料".to_owned()]);
        let keys = vec![Value::Text("Zürich".into()), Value::Null];
        for (row, keys) in [
            (numbered(0), vec![]),
            (numbered(255), vec![]),
            (numbered(u64::MAX), keys.clone()),
            (keyed.clone(), vec![]),
            (keyed, keys),
        ] {
            let position = Position { version: 7, keys, row };
            let token = encode("f023ad18bbfd", &position, SortKeys::Shown, &seal);
            assert_eq!(decode("f023ad18bbfd", &token, SortKeys::Shown, &seal).unwrap(), position);
            assert!(decode("f023ad18bbfe", &token, SortKeys::Shown, &seal).is_err());
            for n_chars in 0..token.len().min(30) {
                assert!(
                    decode("f023ad18bbfd", &token[..n_chars], SortKeys::Shown, &seal).is_err(),
                    "{n_chars}"
                );
            }
        }
        let position = Position { version: u64::MAX, keys: vec![], row: numbered(49_999) };
        assert_eq!(encode("f023ad18bbfd", &position, SortKeys::Shown, &seal).len(), 35);
    }

    /// The key may be a hidden column or an address, and a hash can be guessed at.
    #[test]
    fn tokens_do_not_tell_keys_and_hashes() {
        let seal = Seal::own("sqlite:a.db#people");
        let row = RowMark::Keyed(vec!["ana@example.org".to_owned()]);
        let position = Position { version: 0, keys: vec![Value::Integer(734_912)], row };
        let token = encode("f0", &position, SortKeys::Shown, &seal);
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("ana@") && !text.contains("734"), "{text}");
        assert_ne!(
            token,
            encode("f0", &position, SortKeys::Shown, &seal),
            "equal keys do not look alike"
        );
        assert!(decode("f0", &token, SortKeys::Shown, &Seal::own("sqlite:b.db#people")).is_err());
        let position = Position {
            version: 1,
            keys: vec![],
            row: RowMark::Numbered { row: 3, hash: 0x0102_0304_0506_0708 },
        };
        let bytes =
            URL_SAFE_NO_PAD.decode(encode("f0", &position, SortKeys::Shown, &seal)).unwrap();
        assert!(!bytes.windows(8).any(|eight| eight == 0x0102_0304_0506_0708_u64.to_le_bytes()));
        let group = [Value::Text("ana@example.org".into())];
        assert_ne!(group_key(&group, &seal), group_key(&group, &Seal::own("other.csv")));
    }

    /// A token that says "behind this value" would answer which rows are, whatever they show.
    #[test]
    fn keys_of_a_redacted_field_are_neither_told_nor_made_up() {
        let seal = Seal::own("a.csv");
        let keys = vec![Value::Text("ana@example.org".into())];
        let row = RowMark::Numbered { row: 3, hash: 9 };
        let position = Position { version: 7, keys, row };
        let token = encode("f0", &position, SortKeys::Redacted, &seal);
        let text = String::from_utf8_lossy(&URL_SAFE_NO_PAD.decode(&token).unwrap()).into_owned();
        assert!(!text.contains("ana"), "{text}");
        assert_eq!(decode("f0", &token, SortKeys::Redacted, &seal).unwrap(), position);
        let elsewhere = decode("f0", &token, SortKeys::Redacted, &Seal::own("b.csv")).unwrap();
        assert_eq!((elsewhere.keys.len(), elsewhere.version), (0, 7), "the row's number is left");
        let old = json!({ "q": "f0", "p": position }).to_string();
        for forged in [encode("f0", &position, SortKeys::Shown, &seal), URL_SAFE_NO_PAD.encode(old)]
        {
            assert!(decode("f0", &forged, SortKeys::Redacted, &seal).unwrap().keys.is_empty());
        }
        let keyed = Position { row: RowMark::Keyed(vec!["7".to_owned()]), ..position };
        let old = json!({ "q": "f0", "p": keyed }).to_string();
        let forged = URL_SAFE_NO_PAD.encode(old);
        assert!(decode("f0", &forged, SortKeys::Redacted, &seal).is_err());
        assert!(decode("f0", &forged, SortKeys::Shown, &seal).is_ok());
    }

    /// Servers that share a database continue each other's pages.
    #[test]
    fn tokens_of_a_shared_database_open_on_every_server() {
        let (one, other) = (Seal::own("postgres://u:p@h/d#t"), Seal::own("postgres://u:p@h/d#t"));
        let row = RowMark::Keyed(vec!["7".to_owned()]);
        let position = Position { version: 0, keys: vec![], row };
        assert_eq!(
            decode("f0", &encode("f0", &position, SortKeys::Shown, &one), SortKeys::Shown, &other)
                .unwrap(),
            position
        );
    }

    #[test]
    fn tokens_of_earlier_versions_are_read() {
        let old = r#"{"q":"f0","p":{"version":7,"keys":[],"row":{"numbered":{"row":3,"hash":9}}}}"#;
        let row = RowMark::Numbered { row: 3, hash: 9 };
        let position = Position { version: 7, keys: vec![], row };
        let seal = Seal::own("a.csv");
        assert_eq!(
            decode("f0", &URL_SAFE_NO_PAD.encode(old), SortKeys::Shown, &seal).unwrap(),
            position
        );
        assert!(decode("f1", &URL_SAFE_NO_PAD.encode(old), SortKeys::Shown, &seal).is_err());
    }
}
