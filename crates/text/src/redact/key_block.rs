//! Blocks of private keys in PEM or PGP armour, whole or cut off at either end.

use std::ops::Range;

use super::{PrivateKind, PrivatePiece};

/// What every line of armour starts with.
const DASHES: &str = "-----";
/// One of these is in every text in which a block is found by its header.
pub(super) const SIGNS: &[&str] = &[DASHES, PUTTY];
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

/// What comes before the lines of a private key of PuTTY; their number follows.
const PUTTY: &str = "Private-Lines: ";

/// Finds the private lines of keys of PuTTY.
pub(super) fn find_putty(text: &str, found: &mut Vec<PrivatePiece>) {
    for (at, _) in text.match_indices(PUTTY) {
        let rest = text.get(at..).unwrap_or_default();
        let Some((first, lines)) = rest.split_once('\n') else { continue };
        let n_lines = lines.split_inclusive('\n').take_while(|line| is_key_line(line));
        let len: usize = n_lines.map(str::len).sum();
        let start = at + first.len() + 1;
        let end = start + lines.get(..len).map_or(0, |lines| lines.trim_end().len());
        if start < end {
            found.push(PrivatePiece { kind: PrivateKind::PrivateKey, bytes: start..end });
        }
    }
}

/// Lines of a key without either of its ends have this many characters, but for the last one.
const KEY_LINE_CHARS: [usize; 3] = [64, 70, 76];

/// Whole lines of base64 that make a stretch without ends a key.
const MIN_KEY_LINES: usize = 2;

/// Finds the middle of a key: lines of base64 from the first character of the text, or up to its
/// last one, whose `BEGIN` or `END` may be beyond the edge.
pub(super) fn find_middle(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut push = |range: Range<usize>, n_full: usize| {
        if n_full >= MIN_KEY_LINES {
            found.push(PrivatePiece { kind: PrivateKind::PrivateKey, bytes: range });
        }
    };
    let (head_len, n_full) = key_lines(text.split_inclusive('\n'));
    let head_end = text.get(..head_len).map_or(0, |head| head.trim_end().len());
    push(0..head_end, n_full);
    if head_len == text.len() {
        return;
    }
    let (tail_len, n_full) = key_lines(text.split_inclusive('\n').rev());
    let tail_end = text.trim_end().len();
    push((text.len() - tail_len).min(tail_end)..tail_end, n_full);
}

/// Gives the length of the lines of a key that come first, and how many of them are whole ones.
fn key_lines<'a>(lines: impl Iterator<Item = &'a str>) -> (usize, usize) {
    lines.take_while(|line| is_key_line(line)).fold((0, 0), |(len, n_full), line| {
        let is_full = KEY_LINE_CHARS.contains(&line.trim_end().len());
        (len + line.len(), n_full + usize::from(is_full))
    })
}

fn is_key_line(line: &str) -> bool {
    let line = line.trim_end();
    let is_base64 =
        line.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    is_base64 && !line.is_empty() && line.len() <= 76
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

/// Gives the start of the key lines that are before an `END` line.
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
