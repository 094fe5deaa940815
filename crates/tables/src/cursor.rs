//! Continuation tokens: where a page ended, in terms that survive a change of the data.
//!
//! A token is no secret and gives no rights: whoever alters one reads another page of the same
//! filtered rows. It names the query it belongs to, so that it cannot continue another one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use columns::{Position, RowMark};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::request::{QueryRequest, SortRequest};
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
/// What is first in a token of a row that is found by its key.
const KEYED: u8 = 2;

/// Writes the token of a position: short, since a model reads it with every page.
pub(crate) fn encode(query: &str, position: &Position) -> String {
    let Position { version, keys, row } = position;
    let mut bytes = vec![match row {
        RowMark::Numbered { .. } => NUMBERED,
        RowMark::Keyed(_) => KEYED,
    }];
    bytes.extend(query_bytes(query));
    bytes.extend(version.to_le_bytes());
    match row {
        RowMark::Numbered { row, hash } => {
            bytes.extend(hash.to_le_bytes());
            let row = row.to_le_bytes();
            let n_used = row.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
            bytes.extend([n_used as u8]);
            bytes.extend(&row[..n_used]);
            if !keys.is_empty() {
                bytes.extend(serde_json::to_vec(keys).expect("keys are plain data"));
            }
        }
        RowMark::Keyed(key) => {
            bytes.extend(serde_json::to_vec(&(keys, key)).expect("keys are plain data"));
        }
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads a token back.
pub(crate) fn decode(query: &str, token: &str) -> Result<Position> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(Error::BadCursor);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Error::BadCursor)?;
    if bytes.first() == Some(&b'{') {
        let token: OldToken = serde_json::from_slice(&bytes).map_err(|_| Error::BadCursor)?;
        return if token.q == query { Ok(token.p) } else { Err(Error::BadCursor) };
    }
    read(query, &bytes).ok_or(Error::BadCursor)
}

fn read(query: &str, bytes: &[u8]) -> Option<Position> {
    let (kind, rest) = bytes.split_first()?;
    let rest = rest.strip_prefix(query_bytes(query).as_slice())?;
    let (version, rest) = number(rest)?;
    match *kind {
        NUMBERED => {
            let (hash, rest) = number(rest)?;
            let (n_used, rest) = rest.split_first()?;
            let (used, rest) = rest.split_at_checked(usize::from(*n_used))?;
            let mut row = [0; 8];
            row.get_mut(..used.len())?.copy_from_slice(used);
            let row = u64::from_le_bytes(row);
            let keys = match rest {
                [] => Vec::new(),
                keys => serde_json::from_slice(keys).ok()?,
            };
            Some(Position { version, keys, row: RowMark::Numbered { row, hash } })
        }
        KEYED => {
            let (keys, key) = serde_json::from_slice(rest).ok()?;
            Some(Position { version, keys, row: RowMark::Keyed(key) })
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
pub(crate) fn group_key(values: &[columns::Value]) -> String {
    let values: Vec<_> = values.iter().map(columns::Value::to_row_json).collect();
    let hash = Sha256::digest(serde_json::to_vec(&values).expect("values are plain data"));
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
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
    hash.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use columns::Value;

    use super::*;

    #[test]
    fn tokens_are_short_read_back_and_belong_to_their_query() {
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
            let token = encode("f023ad18bbfd", &position);
            assert_eq!(decode("f023ad18bbfd", &token).unwrap(), position);
            assert!(decode("f023ad18bbfe", &token).is_err());
            for n_chars in 0..token.len().min(30) {
                assert!(decode("f023ad18bbfd", &token[..n_chars]).is_err(), "{n_chars}");
            }
        }
        let position = Position { version: u64::MAX, keys: vec![], row: numbered(49_999) };
        assert_eq!(encode("f023ad18bbfd", &position).len(), 35);
    }

    #[test]
    fn tokens_of_earlier_versions_are_read() {
        let old = r#"{"q":"f0","p":{"version":7,"keys":[],"row":{"numbered":{"row":3,"hash":9}}}}"#;
        let row = RowMark::Numbered { row: 3, hash: 9 };
        let position = Position { version: 7, keys: vec![], row };
        assert_eq!(decode("f0", &URL_SAFE_NO_PAD.encode(old)).unwrap(), position);
        assert!(decode("f1", &URL_SAFE_NO_PAD.encode(old)).is_err());
    }
}
