//! Strings of a document: plain stretches, escapes, and the characters that are kept.

use std::io::Read;
use std::ops::Range;

use super::error::{JsonError, Problem};
use super::walk::Walk;

impl<R: Read> Walk<R> {
    /// Reads a string behind its opening quote, and keeps some of its characters.
    pub(super) fn string(
        &mut self,
        kept: &Range<usize>,
        max_bytes: usize,
    ) -> Result<(), JsonError> {
        self.text.clear();
        self.n_chars = 0;
        loop {
            let rest = self.input.rest()?;
            let n_plain = plain_bytes(rest);
            if n_plain > 0 {
                // The buffer is UTF-8, and a plain stretch ends before an ASCII byte or with it.
                let plain = std::str::from_utf8(&rest[..n_plain]).unwrap_or_default();
                let n_chars = plain.chars().count();
                keep(&mut self.text, plain, self.n_chars, n_chars, kept);
                self.n_chars += n_chars;
                self.input.take_text(n_plain, n_chars);
            } else {
                match self.input.peek()? {
                    None => return Err(self.invalid(Problem::Ended { expected: "`\"`" })),
                    Some(b'"') => {
                        self.input.take(1);
                        return Ok(());
                    }
                    Some(b'\\') => {
                        let char = self.escape()?;
                        keep(&mut self.text, char.encode_utf8(&mut [0; 4]), self.n_chars, 1, kept);
                        self.n_chars += 1;
                    }
                    Some(code) => return Err(self.invalid(Problem::Control { code })),
                }
            }
            if self.text.len() > max_bytes {
                return Err(self.invalid(Problem::KeyTooLong { allowed: max_bytes }));
            }
        }
    }

    /// Reads an escape, whose backslash is next.
    fn escape(&mut self) -> Result<char, JsonError> {
        let position = self.input.position();
        self.input.take(1);
        let Some(byte) = self.input.peek()? else {
            return Err(self.invalid(Problem::Ended { expected: "an escape" }));
        };
        let char = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.input.take(1);
                let unit = self.hex()?;
                let lone =
                    JsonError::Invalid { problem: Problem::LoneSurrogate { unit }, position };
                if !(0xd800..0xe000).contains(&unit) {
                    return char::from_u32(u32::from(unit)).ok_or(lone);
                }
                // Only a low half right behind a high one makes a character.
                if unit >= 0xdc00 || self.input.peek()? != Some(b'\\') {
                    return Err(lone);
                }
                self.input.take(1);
                if self.input.peek()? != Some(b'u') {
                    return Err(lone);
                }
                self.input.take(1);
                let low = self.hex()?;
                return char::decode_utf16([unit, low]).next().and_then(Result::ok).ok_or(lone);
            }
            _ => {
                let found = self.input.next_char()?.unwrap_or_default();
                return Err(JsonError::Invalid { problem: Problem::BadEscape { found }, position });
            }
        };
        self.input.take(1);
        Ok(char)
    }

    fn hex(&mut self) -> Result<u16, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.input.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected("a hexadecimal digit")?) };
            self.input.take(1);
            unit = unit * 16 + digit as u16;
        }
        Ok(unit)
    }
}

/// Counts the bytes before the next quote, backslash or control character.
fn plain_bytes(rest: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    rest[..end].iter().position(|byte| *byte < 0x20).unwrap_or(end)
}

/// Adds the part of a piece that lies in the characters to be kept.
fn keep(text: &mut String, piece: &str, n_before: usize, n_chars: usize, kept: &Range<usize>) {
    if n_before >= kept.end || n_before + n_chars <= kept.start {
        return;
    }
    if n_before >= kept.start && n_before + n_chars <= kept.end {
        text.push_str(piece);
        return;
    }
    let from = kept.start.saturating_sub(n_before);
    let to = kept.end - n_before;
    text.extend(piece.chars().skip(from).take(to - from));
}
