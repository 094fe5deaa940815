//! Blocks of private keys in PEM or PGP armour, whole or cut off at either end.

use super::{PrivateKind, PrivatePiece};

/// What every line of armour starts with.
const DASHES: &str = "-----";
/// How far a header may reach: `-----BEGIN ENCRYPTED PRIVATE KEY-----` and a little more.
const MAX_HEADER_BYTES: usize = 64;
/// A passage can start in the middle of a key; this much of it is looked at before the end.
const MAX_HEADLESS_BYTES: usize = 8192;

/// Finds private key blocks.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut from = 0;
    // Everything before this has been given to a block or a search already.
    let mut free_from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(DASHES)).map(|at| from + at) {
        let Some(header_end) = private_header_end(text, at) else {
            from = at + 1;
            continue;
        };
        let is_begin = text.get(at + DASHES.len()..).is_some_and(|rest| rest.starts_with("BEGIN"));
        let (start, end) = if is_begin {
            (at, block_end(text, header_end))
        } else {
            (headless_start(text, at, free_from), header_end)
        };
        found.push(PrivatePiece { kind: PrivateKind::PrivateKey, bytes: start..end });
        from = end;
        free_from = end;
    }
}

/// Gives the end of a `BEGIN` or `END` line of a private key that starts at `at`.
fn private_header_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at + DASHES.len()..)?;
    let label = rest.strip_prefix("BEGIN ").or_else(|| rest.strip_prefix("END "))?;
    let label_len = label
        .bytes()
        .take(MAX_HEADER_BYTES)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    let label_len = label_len.count();
    let is_private = label.get(..label_len)?.contains("PRIVATE KEY");
    let closes = label.get(label_len..)?.starts_with(DASHES);
    let header_len = rest.len() - label.len() + label_len + 2 * DASHES.len();
    (is_private && closes).then_some(at + header_len)
}

/// Gives the end of the block whose header ends at `from`: its own last line, or the last
/// character that can belong to a key when that line is missing.
fn block_end(text: &str, from: usize) -> usize {
    let Some(rest) = text.get(from..) else { return from };
    // One walk up to the first line of dashes, so that many headers do not cost many walks.
    let mut body_len = rest.len();
    let mut n_dashes = 0;
    for (at, char) in rest.char_indices() {
        n_dashes = if char == '-' { n_dashes + 1 } else { 0 };
        if n_dashes == DASHES.len() {
            body_len = at + 1 - DASHES.len();
            break;
        }
        if !is_body(char) {
            body_len = at;
            break;
        }
    }
    let body_end = from + body_len;
    match private_header_end(text, body_end) {
        Some(end)
            if rest.get(body_len + DASHES.len()..).is_some_and(|rest| rest.starts_with("END")) =>
        {
            end
        }
        _ => from + rest.get(..body_len).map_or(0, |body| body.trim_end().len()),
    }
}

/// Gives the start of the key lines that stand before an `END` line.
fn headless_start(text: &str, end_line: usize, free_from: usize) -> usize {
    let mut start = end_line;
    for (at, char) in text.get(free_from..end_line).unwrap_or_default().char_indices().rev() {
        if !is_body(char) || end_line - (free_from + at) > MAX_HEADLESS_BYTES {
            break;
        }
        start = free_from + at;
    }
    // Prose before the key is made of the same letters; a line of a key has no spaces.
    let lines = text.get(start..end_line).unwrap_or_default();
    let mut key_start = end_line;
    let mut line_end = lines.len();
    while let Some(head) = lines.get(..line_end) {
        let line_start = head.rfind('\n').map_or(0, |at| at + 1);
        let line = head.get(line_start..).unwrap_or_default().trim();
        if line.contains(' ') {
            break;
        }
        key_start = start + line_start;
        if line_start == 0 {
            break;
        }
        line_end = line_start - 1;
    }
    key_start
}

/// Base64, header lines of encrypted keys, and line breaks written as `\n` inside JSON.
fn is_body(char: char) -> bool {
    char.is_ascii_alphanumeric()
        || matches!(char, '+' | '/' | '=' | '\\' | ',' | ':' | '.' | '-' | ' ' | '\n' | '\r' | '\t')
}
