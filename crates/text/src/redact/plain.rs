//! The text as a reader takes it: without characters that cannot be seen, digits of every script
//! as the plain ones, full-width letters and signs as the narrow ones, thin spaces as spaces, lines of
//! boxes as those of tables, what was escaped as itself.
//!
//! Finders look at this as well, and what they find is said in the place of the source.

use unicode_normalization::UnicodeNormalization;

use super::{PrivatePiece, escapes};
use crate::blank::is_invisible;

/// What escapes begin with that programs write into strings.
const LETTERS: [&str; 9] = ["\\n", "\\t", "\\r", "\\b", "\\f", "\\v", "\\0", "\\u", "\\x"];

/// Lists what escapes begin with that are read: of JSON, of HTML, of addresses.
pub(super) fn signs() -> impl Iterator<Item = &'static str> {
    SIGNS.iter().map(|(sign, _)| *sign).chain(LETTERS)
}

/// Signs that are written in another way, longer ones before those that they begin with: as escapes,
/// or so that programs do not find an address.
const SIGNS: &[(&str, char)] = &[
    ("&#64;", '@'),
    ("&#064;", '@'),
    ("&#x40;", '@'),
    ("&#x0040;", '@'),
    ("&commat;", '@'),
    ("%40", '@'),
    ("%2540", '@'),
    ("\\x40", '@'),
    (" (at) ", '@'),
    (" [at] ", '@'),
    ("(at)", '@'),
    ("[at]", '@'),
    ("{at}", '@'),
    (" (dot) ", '.'),
    (" [dot] ", '.'),
    ("(dot)", '.'),
    ("[dot]", '.'),
    ("{dot}", '.'),
    ("&nbsp;", ' '),
    ("&#160;", ' '),
];

/// The zero of each set of ten decimal digits beyond ASCII, in order.
const ZEROS: &[u32] = &[
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
    0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950, 0x1fbf0,
];

/// A plain text, and where each of its bytes comes from.
pub(super) struct Plain {
    pub(super) text: String,
    /// For each byte of the text, the first byte of its character in the source; then the length
    /// of the source.
    from: Vec<usize>,
}

impl Plain {
    /// Makes the plain text; nothing where it is the source itself. `has_escapes` tells whether any
    /// of [`signs`] is in it.
    pub(super) fn of(source: &str, has_escapes: bool) -> Option<Plain> {
        if !has_escapes && (source.is_ascii() || !source.chars().any(is_changed)) {
            return None;
        }
        let mut plain = Plain {
            text: String::with_capacity(source.len()),
            from: Vec::with_capacity(source.len()),
        };
        let mut read_to = 0;
        for (at, char) in source.char_indices() {
            if at < read_to {
                continue;
            }
            let before = plain.text.len();
            match has_escapes.then(|| escape(source, at)).flatten() {
                None => push_plain(char, &mut plain.text),
                Some((escaped, n_bytes)) => {
                    push_plain(escaped, &mut plain.text);
                    read_to = at + n_bytes;
                }
            }
            plain.from.extend(std::iter::repeat_n(at, plain.text.len() - before));
        }
        plain.from.push(source.len());
        Some(plain)
    }

    /// Says in places of the source what was found in the plain text.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the place in the plain text means nothing afterwards"
    )]
    pub(super) fn in_source(&self, piece: PrivatePiece, source: &str) -> Option<PrivatePiece> {
        let start = *self.from.get(piece.bytes.start)?;
        let last = *self.from.get(piece.bytes.end.checked_sub(1)?)?;
        let n_bytes = match escape(source, last) {
            None => source.get(last..)?.chars().next()?.len_utf8(),
            Some((_, n_bytes)) => n_bytes,
        };
        let end = last + n_bytes;
        Some(PrivatePiece { kind: piece.kind, bytes: start..end })
    }
}

fn is_changed(char: char) -> bool {
    !char.is_ascii()
        && (is_invisible(char)
            || digit(char).is_some()
            || is_compatible(char)
            || plain_sign(char).is_some())
}

/// Reads the escape or the sign in words at a place: gives the sign, and how many bytes it is
/// written in.
fn escape(source: &str, at: usize) -> Option<(char, usize)> {
    let rest = source.get(at..)?;
    // Almost every character begins neither.
    if !matches!(rest.as_bytes().first()?, b'&' | b'%' | b'\\' | b' ' | b'(' | b'[' | b'{') {
        return None;
    }
    if let Some((sign, char)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Some((*char, sign.len()));
    }
    escapes::read_at(source, at)
}

/// Gives the sign that a plain table has in the place of a line of a box, and a plain number in the
/// place of a raised dot.
fn plain_sign(char: char) -> Option<char> {
    match char {
        '·' | '‧' | '∙' | '⋅' => Some('.'),
        '│' | '┃' | '║' => Some('|'),
        '─' | '━' | '═' => Some('-'),
        '┌'..='╋' | '╒'..='╬' => Some('|'),
        _ => None,
    }
}

fn push_plain(char: char, text: &mut String) {
    if char.is_ascii() {
        text.push(char);
    } else if is_invisible(char) {
    } else if let Some(digit) = digit(char) {
        text.push(digit);
    } else if let Some(line) = plain_sign(char) {
        text.push(line);
    } else if is_compatible(char) {
        text.extend(std::iter::once(char).nfkc());
    } else {
        text.push(char);
    }
}

fn digit(char: char) -> Option<char> {
    let code = u32::from(char);
    let zero = match ZEROS.binary_search(&code) {
        Ok(exact) => ZEROS.get(exact),
        Err(after) => ZEROS.get(after.checked_sub(1)?),
    };
    char::from_digit(code.checked_sub(*zero?)?, 10)
}

/// Full-width forms, letters in circles, mathematical letters: those whose plain form is ASCII.
fn is_compatible(char: char) -> bool {
    let is_candidate = matches!(
        u32::from(char),
        0x2000..=0x200a | 0x202f | 0x2070..=0x209c | 0x2100..=0x214f | 0x2460..=0x24ff | 0x3000 | 0xfe50..=0xfe6b
            | 0xff01..=0xff5e | 0x1d400..=0x1d7cd | 0x1f130..=0x1f149
    );
    is_candidate && std::iter::once(char).nfkc().all(|plain| plain.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let has_escapes = signs().any(|sign| source.contains(sign));
        let plain = Plain::of(source, has_escapes).map_or(source.to_owned(), |plain| plain.text);
        assert_eq!(plain, expected);
    }

    #[test]
    fn what_looks_the_same_is_the_same() {
        check("ana＠ｅｘａｍｐｌｅ．ｏｒｇ", "ana@example.org");
        check("٤١١١ ۴۱۱۱ ４１１１ 𝟒𝟏𝟏𝟏", "4111 4111 4111 4111");
        check("ana\u{200b}@\u{2060}exam\u{ad}ple.org", "ana@example.org");
        check("ⓐⓝⓐ@ｂ.ro", "ana@b.ro");
        check("4111\u{202f}1111\u{2009}1111", "4111 1111 1111");
        check("│ a │\n├───┼", "| a |\n|---|");
        check("pass\\u0077ord &#64; %40 \\u0022", "password @ @  ");
        check(r"a\npass \\tb \u000ac \u002b40 C:\q", "a\npass \tb \nc +40 C:\\q");
        check("ann (at) example [dot] org, 4111&nbsp;1111", "ann@example.org, 4111 1111");
        check("日本語 ștefan", "日本語 ștefan");
        assert!(Plain::of("plain", false).is_none() && Plain::of("日本語", false).is_none());
    }

    #[test]
    fn signs_begin_with_what_is_looked_at() {
        for sign in signs() {
            assert!(sign.starts_with(['&', '%', '\\', ' ', '(', '[', '{']), "{sign}");
        }
    }

    #[test]
    fn zeros_are_in_order() {
        assert!(ZEROS.windows(2).all(|pair| pair[0] + 10 <= pair[1]));
    }
}
