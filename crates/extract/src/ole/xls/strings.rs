//! The strings of a workbook: one byte or two for a character, sometimes with formatting in
//! between, sometimes cut in the middle by the end of a record.

use encoding_rs::Encoding;

use crate::ole::bytes::{u16_at, utf16};

/// A string has two-byte characters.
const WIDE: u8 = 0x01;
/// A string has phonetic text behind it.
const PHONETIC: u8 = 0x04;
/// A string has runs of formatting behind it.
const RICH: u8 = 0x08;

/// Reads a string of Excel 97 and later behind its length: a byte of flags, then characters.
pub(super) fn flagged(bytes: &[u8], n_chars: usize) -> String {
    let Some((flags, chars)) = bytes.split_first() else { return String::new() };
    if flags & WIDE != 0 {
        let length = n_chars.saturating_mul(2).min(chars.len());
        return utf16(chars.get(..length).unwrap_or_default());
    }
    let chars = chars.get(..n_chars.min(chars.len())).unwrap_or_default();
    chars.iter().copied().map(char::from).collect()
}

/// Reads a string of earlier versions, in the code page of the workbook.
pub(super) fn paged(bytes: &[u8], n_bytes: usize, encoding: &'static Encoding) -> String {
    let bytes = bytes.get(..n_bytes.min(bytes.len())).unwrap_or_default();
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Reads the table of strings that cells refer to by number.
pub(super) fn shared_strings(bodies: &[&[u8]]) -> Vec<String> {
    let mut reader = Pieces { bodies, body_idx: 0, at: 8 };
    let mut strings = Vec::new();
    while let Some(string) = reader.string() {
        strings.push(string);
    }
    strings
}

/// A place in bytes that lie in several records.
struct Pieces<'a> {
    bodies: &'a [&'a [u8]],
    body_idx: usize,
    at: usize,
}

impl Pieces<'_> {
    fn string(&mut self) -> Option<String> {
        // A string never starts at the very end of a record.
        if self.rest().is_empty() {
            self.next_body()?;
        }
        let n_chars = usize::from(u16_at(self.rest(), 0)?);
        let flags = *self.rest().get(2)?;
        self.at += 3;
        let mut n_runs = 0;
        if flags & RICH != 0 {
            n_runs = usize::from(u16_at(self.rest(), 0)?);
            self.at += 2;
        }
        let mut n_phonetic = 0;
        if flags & PHONETIC != 0 {
            n_phonetic = u32::from_le_bytes(*self.rest().first_chunk()?) as usize;
            self.at += 4;
        }
        let string = self.characters(n_chars, flags & WIDE != 0)?;
        self.skip(n_runs.saturating_mul(4).saturating_add(n_phonetic));
        Some(string)
    }

    /// Reads characters; in a new record a new byte says how wide they are from there on.
    fn characters(&mut self, n_chars: usize, is_wide: bool) -> Option<String> {
        let mut string = String::new();
        let mut n_left = n_chars;
        let mut is_wide = is_wide;
        loop {
            let rest = self.rest();
            let width = if is_wide { 2 } else { 1 };
            let n_here = n_left.min(rest.len() / width);
            let bytes = rest.get(..n_here * width)?;
            if is_wide {
                string.push_str(&utf16(bytes));
            } else {
                string.extend(bytes.iter().copied().map(char::from));
            }
            self.at += n_here * width;
            n_left -= n_here;
            if n_left == 0 {
                return Some(string);
            }
            if self.next_body().is_none() {
                return (!string.is_empty()).then_some(string);
            }
            is_wide = self.rest().first()? & WIDE != 0;
            self.at += 1;
        }
    }

    fn rest(&self) -> &[u8] {
        self.bodies.get(self.body_idx).and_then(|body| body.get(self.at..)).unwrap_or_default()
    }

    fn next_body(&mut self) -> Option<()> {
        self.body_idx += 1;
        self.at = 0;
        self.bodies.get(self.body_idx).map(|_| ())
    }

    fn skip(&mut self, n_bytes: usize) {
        let mut n_left = n_bytes;
        while n_left > self.rest().len() {
            n_left -= self.rest().len();
            if self.next_body().is_none() {
                return;
            }
        }
        self.at += n_left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_go_on_in_the_next_record() {
        let first = [
            &[0; 8][..],
            &[3, 0, 0, b'o', b'n', b'e'],
            &[4, 0, RICH, 1, 0, b't', b'w', b'o', b'!', 0, 0, 0, 0],
            &[4, 0, 0, b'l', b'o'],
        ]
        .concat();
        let second = [&[WIDE, b'n', 0, 0x19, 0x02][..], &[1, 0, WIDE, 0xac, 0x20]].concat();
        assert_eq!(shared_strings(&[&first, &second]), ["one", "two!", "lonș", "€"]);
    }

    #[test]
    fn a_cut_table_gives_what_it_has() {
        let first = [&[0; 8][..], &[3, 0, 0, b'o', b'n', b'e'], &[9, 0, 0, b'c', b'u']].concat();
        assert_eq!(shared_strings(&[&first]), ["one", "cu"]);
        assert_eq!(shared_strings(&[&[]]), Vec::<String>::new());
    }
}
