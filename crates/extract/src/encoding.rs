//! Bytes → characters: byte order marks, declared encodings, and a guess where nothing is said.
//!
//! Line breaks come out as `\n`. What is no character in the encoding becomes U+FFFD and is
//! reported, never dropped.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::output::Output;
use crate::warning;

/// How much of a file a guess looks at.
const GUESS_BYTES: usize = 256 << 10;

/// Characters and how they were found.
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) encoding: &'static str,
    pub(crate) has_errors: bool,
}

/// Decodes bytes; `declared` is a label from a header, used when no byte order mark and no
/// valid UTF-8 speaks against it.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Decoded {
    if let Some(decoded) = decode_utf32(bytes) {
        return decoded;
    }
    if let Some((encoding, mark_len)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, bytes.get(mark_len..).unwrap_or_default());
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return decode_as(encoding, bytes);
    }
    let declared = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if is_iso_2022_jp(bytes) {
        return decode_as(encoding_rs::ISO_2022_JP, bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded {
            text: with_plain_line_breaks(Cow::Borrowed(text)),
            encoding: "UTF-8",
            has_errors: false,
        };
    }
    let encoding = match declared {
        // A page that says UTF-16 in an ASCII header is not UTF-16.
        Some(encoding) if encoding != UTF_16LE && encoding != UTF_16BE && encoding != UTF_8 => {
            encoding
        }
        _ if is_damaged_utf8(bytes) => UTF_8,
        _ => guess(bytes),
    };
    decode_as(encoding, bytes)
}

/// Decodes bytes and reports what could not be decoded.
pub(crate) fn decode_reported(bytes: &[u8], declared: Option<&str>, output: &mut Output) -> String {
    let decoded = decode(bytes, declared);
    if decoded.has_errors {
        output.warn(
            warning::BAD_CHARACTERS,
            format!("some bytes are not valid {}: they are replaced by U+FFFD", decoded.encoding),
        );
    }
    decoded.text
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Decoded {
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    Decoded { text: with_plain_line_breaks(text), encoding: encoding.name(), has_errors }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..GUESS_BYTES).unwrap_or(bytes);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// Guesses in what names of files are written, all of them together.
pub(crate) fn guess_of_names(names: &[&[u8]]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    for name in names {
        detector.feed(name, false);
        detector.feed(b"\n", false);
    }
    detector.feed(b"", true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Sees the escapes that switch to Japanese in an encoding whose every byte is ASCII.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let sample = bytes.get(..GUESS_BYTES).unwrap_or(bytes);
    sample.is_ascii()
        && [b"\x1b$B".as_slice(), b"\x1b$@", b"\x1b(J", b"\x1b(I"]
            .iter()
            .any(|escape| memchr::memmem::find(sample, escape).is_some())
}

/// Tells whether bytes are UTF-8 with few mistakes: a cut file, or a stray byte.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let mut n_good = 0_usize;
    let mut n_bad = 0_usize;
    for chunk in bytes.get(..GUESS_BYTES).unwrap_or(bytes).utf8_chunks() {
        n_good += chunk.valid().chars().filter(|char| !char.is_ascii()).count();
        n_bad += usize::from(!chunk.invalid().is_empty());
    }
    n_good >= n_bad.saturating_mul(8)
}

fn decode_utf32(bytes: &[u8]) -> Option<Decoded> {
    let (encoding, rest, read): (_, _, fn([u8; 4]) -> u32) =
        if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe, 0, 0]) {
            ("UTF-32LE", rest, u32::from_le_bytes)
        } else {
            ("UTF-32BE", bytes.strip_prefix(&[0, 0, 0xfe, 0xff])?, u32::from_be_bytes)
        };
    let mut has_errors = !rest.len().is_multiple_of(4);
    let text: String = rest
        .as_chunks::<4>()
        .0
        .iter()
        .map(|unit| {
            char::from_u32(read(*unit)).unwrap_or_else(|| {
                has_errors = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    Some(Decoded { text: with_plain_line_breaks(Cow::Owned(text)), encoding, has_errors })
}

/// Sees UTF-16 without a mark by where the zero bytes of its ASCII characters are.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = bytes.get(..4096).unwrap_or(bytes);
    if sample.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros_at =
        |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros_at(0), zeros_at(1));
    let n_units = sample.len() / 2;
    if odd * 10 >= n_units * 4 && even * 20 <= n_units {
        return Some(UTF_16LE);
    }
    (even * 10 >= n_units * 4 && odd * 20 <= n_units).then_some(UTF_16BE)
}

fn with_plain_line_breaks(text: Cow<'_, str>) -> String {
    if text.contains('\r') {
        return text.replace("\r\n", "\n").replace('\r', "\n");
    }
    text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], encoding: &str, text: &str) {
        let decoded = decode(bytes, None);
        assert_eq!((decoded.encoding, decoded.text.as_str()), (encoding, text));
        assert!(!decoded.has_errors);
    }

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn marks_decide() {
        check(b"\xef\xbb\xbfplain", "UTF-8", "plain");
        check(b"\xff\xfea\0\r\0\n\0b\0", "UTF-16LE", "a\nb");
        check(b"\xfe\xff\0a\0b", "UTF-16BE", "ab");
        check(b"\xff\xfe\0\0a\0\0\0", "UTF-32LE", "a");
        check(b"\0\0\xfe\xff\0\0\0a", "UTF-32BE", "a");
    }

    #[test]
    fn utf16_is_seen_without_a_mark() {
        let units: Vec<u8> = "plain words".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&units, "UTF-16LE", "plain words");
    }

    #[test]
    fn east_asian_encodings_are_guessed() {
        let japanese =
            "東京都の予算は、前年度に比べて増加しました。カタカナとひらがなが混ざる文章です。";
        check(&encoded(encoding_rs::SHIFT_JIS, japanese), "Shift_JIS", japanese);
        check(&encoded(encoding_rs::EUC_JP, japanese), "EUC-JP", japanese);
        check(&encoded(encoding_rs::ISO_2022_JP, japanese), "ISO-2022-JP", japanese);
        let chinese = "中华人民共和国的预算报告指出,今年的财政收入比去年增长了百分之五。";
        check(&encoded(encoding_rs::GB18030, chinese), "GBK", chinese);
    }

    #[test]
    fn central_european_encodings_are_guessed() {
        let text =
            "Příliš žluťoučký kůň úpěl ďábelské ódy. Šťastné a veselé Vánoce přeje ředitel školy.";
        check(&encoded(encoding_rs::WINDOWS_1250, text), "windows-1250", text);
        check(&encoded(encoding_rs::ISO_8859_2, text), "ISO-8859-2", text);
    }

    #[test]
    fn a_cut_file_stays_utf8() {
        let whole = "Învățământul și sănătatea țării".as_bytes();
        let decoded = decode(&whole[..whole.len() - 4], None);
        assert_eq!(decoded.encoding, "UTF-8");
        assert!(decoded.has_errors);
    }
}
