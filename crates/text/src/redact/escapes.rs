//! Escapes as programs write them into strings: `\n`, `\t`, `\"`, `\u000a`, `\x0a`.
//!
//! Their letter is no part of the word behind them, and where a text is inside quotes they end a
//! value as the sign itself would. Windows paths have the same look, so that a text is always read
//! as it stands as well.

use super::{PrivatePiece, before};

/// Escapes inside escapes have more backslashes; so many are looked at.
const MAX_BACKSLASHES: usize = 8;
/// The longest escape with one backslash: `\u000a`.
const MAX_ESCAPE_BYTES: usize = 6;
/// How far before a value a quote of its line is looked for.
const QUOTE_BYTES: usize = 4_096;

/// How far before an escape the drive of a Windows path is looked for.
const PATH_BYTES: usize = 128;

/// Reads the escape at a place of a text, as [`read`] does.
///
/// Behind a part of a Windows path it may be the next part (`C:\password\token42`): what is seen
/// there parts words, but holds no name and value together as a tab or a line does.
pub(super) fn read_at(text: &str, at: usize) -> Option<(char, usize)> {
    let (char, n_bytes) = read(text.get(at..)?)?;
    match char.is_whitespace() && is_in_path(before(text, at, PATH_BYTES)) {
        true => Some(('\u{c}', n_bytes)),
        false => Some((char, n_bytes)),
    }
}

/// Tells whether a text ends in a Windows path, behind the name of one of its parts.
fn is_in_path(head: &str) -> bool {
    let mut words =
        head.rsplit(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '`'));
    let word = words.next().unwrap_or_default();
    let has_drive = || {
        word.match_indices(":\\").any(|(colon, _)| {
            let mut chars = word.get(..colon).unwrap_or_default().chars().rev();
            chars.next().is_some_and(|char| char.is_ascii_alphabetic())
                && !chars.next().is_some_and(char::is_alphanumeric)
        })
    };
    word.ends_with(char::is_alphanumeric) && (word.starts_with("\\\\") || has_drive())
}

/// Reads the escape that a text begins with: gives the sign that finders see in its place, and how
/// many bytes it is written in.
///
/// Quotes and backslashes are blanks, since they would end what they are in; those that are
/// written as themselves after a backslash are no part of a word anyhow.
fn read(text: &str) -> Option<(char, usize)> {
    let n_backslashes = n_backslashes(text.bytes());
    if n_backslashes == 0 {
        return None;
    }
    let code = text.get(n_backslashes..)?;
    let (char, n_bytes) = match code.bytes().next()? {
        b'n' => ('\n', 1),
        b't' => ('\t', 1),
        b'r' => ('\r', 1),
        b'b' | b'f' | b'v' | b'0' => ('\u{c}', 1),
        b'u' => (char::from_u32(hex(code, 4)?).unwrap_or(' '), 5),
        b'x' => (char::from_u32(hex(code, 2)?).filter(char::is_ascii).unwrap_or(' '), 3),
        _ => return None,
    };
    let seen = match char {
        '\n' | '\t' | '\r' => char,
        '"' | '\'' | '`' | '\\' => ' ',
        _ if char.is_control() => '\u{c}',
        _ => char,
    };
    Some((seen, n_backslashes + n_bytes))
}

fn hex(code: &str, n_digits: usize) -> Option<u32> {
    let digits = code.get(1..=n_digits)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

fn n_backslashes(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take(MAX_BACKSLASHES).take_while(|byte| *byte == b'\\').count()
}

/// Reads the last backslash of a run with what follows it, where that is a blank or a quote.
fn blank_len(text: &str) -> Option<usize> {
    if text.starts_with("\\\"") || text.starts_with("\\'") {
        return Some(2);
    }
    read(text).filter(|(char, _)| char.is_whitespace()).map(|(_, n_bytes)| n_bytes)
}

/// Gives where a value ends before its end: at an escape, where it is inside quotes. Elsewhere a
/// backslash is one of the value's own signs.
pub(super) fn value_end(text: &str, start: usize, end: usize) -> usize {
    let mut at = start;
    while let Some(found) = text.get(at..end).and_then(|rest| rest.find('\\')) {
        at += found;
        let rest = text.get(at..).unwrap_or_default();
        if blank_len(rest).is_some() {
            return if is_in_quotes(text, start) { at } else { end };
        }
        // A backslash that is escaped escapes nothing.
        at += if rest.starts_with("\\\\") { 2 } else { 1 };
    }
    end
}

fn is_in_quotes(text: &str, at: usize) -> bool {
    let line = before(text, at, QUOTE_BYTES).rsplit('\n').next().unwrap_or_default();
    line.contains(['"', '\'', '`'])
}

/// Leaves out of a piece the part of an escape that it begins or ends in.
pub(super) fn outside(mut piece: PrivatePiece, text: &str) -> Option<PrivatePiece> {
    if let Some((_, end)) = around(text, piece.bytes.start) {
        piece.bytes.start = end;
    }
    if let Some((start, _)) = around(text, piece.bytes.end)
        && n_backslashes(text.bytes().take(start + 1).rev()) % 2 == 1
    {
        piece.bytes.end = start;
    }
    (piece.bytes.start < piece.bytes.end).then_some(piece)
}

/// Gives the escape of a blank or a quote that a place is inside of.
fn around(text: &str, at: usize) -> Option<(usize, usize)> {
    let from = at.saturating_sub(MAX_ESCAPE_BYTES - 1);
    let head = text.as_bytes().get(from..at)?;
    let start = from + head.iter().rposition(|byte| *byte == b'\\')?;
    let end = start + blank_len(text.get(start..)?)?;
    (end > at).then_some((start, end))
}
