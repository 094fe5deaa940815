//! Continuation tokens: where a page ended, in terms that survive a change of the data.
//!
//! A token is no secret and gives no rights: whoever alters one reads another page of the same
//! filtered rows. It names the query it belongs to, so that it cannot continue another one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use columns::Position;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::request::{QueryRequest, SortRequest};
use crate::{Error, Result};

/// The longest token that is read.
const MAX_TOKEN_BYTES: usize = 64 << 10;

#[derive(Serialize, Deserialize)]
struct Token {
    /// The query, so that a token of another one is refused.
    q: String,
    p: Position,
}

/// Writes the token of a position.
pub(crate) fn encode(query: &str, position: &Position) -> String {
    let token = Token { q: query.to_owned(), p: position.clone() };
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).expect("a token is plain data"))
}

/// Reads a token back.
pub(crate) fn decode(query: &str, token: &str) -> Result<Position> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(Error::BadCursor);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Error::BadCursor)?;
    let token: Token = serde_json::from_slice(&bytes).map_err(|_| Error::BadCursor)?;
    if token.q == query { Ok(token.p) } else { Err(Error::BadCursor) }
}

/// Names a group in a token.
pub(crate) fn group_key(values: &[serde_json::Value]) -> String {
    let hash = Sha256::digest(serde_json::to_vec(values).expect("values are plain data"));
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
