//! Text files in other encodings than UTF-8, read as UTF-8.
//!
//! A byte order mark decides. Without one, a file whose beginning is not UTF-8 is read in the
//! encoding that its bytes look like, unless most of what is not ASCII in it is good UTF-8: then
//! a few bytes are broken, and the rest would be ruined by another encoding.

use std::io::{Read, Result};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a file is looked at.
const LOOKED_AT: usize = 1 << 20;
/// How much is decoded at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// A file as UTF-8.
pub(super) struct Decoded {
    file: fs_err::File,
    /// What was read to find the encoding, and is not yet given.
    start: Vec<u8>,
    at: usize,
    decoding: Option<(Decoder, &'static Encoding)>,
    decoded: Vec<u8>,
    decoded_at: usize,
    is_ended: bool,
}

impl Decoded {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = fs_err::File::open(path)?;
        let mut start = Vec::new();
        file.by_ref().take(LOOKED_AT as u64).read_to_end(&mut start)?;
        let encoding = encoding_of(&start);
        let decoding = (encoding != UTF_8).then(|| (encoding.new_decoder(), encoding));
        Ok(Decoded {
            file,
            start,
            at: 0,
            decoding,
            decoded: Vec::new(),
            decoded_at: 0,
            is_ended: false,
        })
    }

    /// Names the encoding, where it is not UTF-8.
    pub(super) fn encoding(&self) -> Option<&'static str> {
        self.decoding.as_ref().map(|(_, encoding)| encoding.name())
    }

    fn read_raw(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = &self.start[self.at..];
        if rest.is_empty() {
            return self.file.read(buffer);
        }
        let n_bytes = rest.len().min(buffer.len());
        buffer[..n_bytes].copy_from_slice(&rest[..n_bytes]);
        self.at += n_bytes;
        Ok(n_bytes)
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.decoding.is_none() {
            return self.read_raw(buffer);
        }
        while self.decoded_at == self.decoded.len() && !self.is_ended {
            let mut raw = vec![0; BLOCK_BYTES];
            let n_read = self.read_raw(&mut raw)?;
            self.is_ended = n_read == 0;
            let Some((decoder, _)) = &mut self.decoding else { break };
            let needed = decoder.max_utf8_buffer_length(n_read).unwrap_or(4 * BLOCK_BYTES);
            self.decoded.clear();
            self.decoded.resize(needed, 0);
            let (_, _, n_written, _) =
                decoder.decode_to_utf8(&raw[..n_read], &mut self.decoded, self.is_ended);
            self.decoded.truncate(n_written);
            self.decoded_at = 0;
        }
        let rest = &self.decoded[self.decoded_at..];
        let n_bytes = rest.len().min(buffer.len());
        buffer[..n_bytes].copy_from_slice(&rest[..n_bytes]);
        self.decoded_at += n_bytes;
        Ok(n_bytes)
    }
}

fn encoding_of(start: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        return encoding;
    }
    if let Some(encoding) = utf16_without_mark(start) {
        return encoding;
    }
    let (n_good, n_bad) = beyond_ascii(start);
    if n_bad <= n_good {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start, start.len() < LOOKED_AT);
    detector.guess(None, Utf8Detection::Deny)
}

/// Tells UTF-16 without a mark by its zeros: text of our days has commas, digits and spaces, whose
/// high byte is zero, and no zero byte in any other encoding.
fn utf16_without_mark(start: &[u8]) -> Option<&'static Encoding> {
    const LOOKED_AT_ZEROS: usize = 4096;
    let looked_at = &start[..start.len().min(LOOKED_AT_ZEROS)];
    let n_zeros =
        |parity: usize| looked_at.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (n_high_first, n_low_first) = (n_zeros(0), n_zeros(1));
    let n_pairs = looked_at.len() / 2;
    // An eighth of the characters, and next to none the other way round.
    let is_clear = |many: usize, few: usize| many * 8 >= n_pairs && few * 16 <= many;
    if n_pairs < 4 {
        None
    } else if is_clear(n_low_first, n_high_first) {
        Some(UTF_16LE)
    } else if is_clear(n_high_first, n_low_first) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Counts what is beyond ASCII: characters of good UTF-8, and broken places.
fn beyond_ascii(mut bytes: &[u8]) -> (usize, usize) {
    let (mut n_good, mut n_bad) = (0, 0);
    loop {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                n_good += text.chars().filter(|char| !char.is_ascii()).count();
                return (n_good, n_bad);
            }
            Err(error) => {
                let (good, rest) = bytes.split_at(error.valid_up_to());
                n_good +=
                    String::from_utf8_lossy(good).chars().filter(|char| !char.is_ascii()).count();
                // A character that the end of what was read cuts is not broken.
                let Some(n_broken) = error.error_len() else { return (n_good, n_bad) };
                n_bad += 1;
                bytes = &rest[n_broken..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_is_told_by_its_zeros() {
        let text = "id,name\n1,Ana\n2,Ștefan\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(encoding_of(&little), UTF_16LE);
        assert_eq!(encoding_of(&big), UTF_16BE);
        assert_eq!(encoding_of(text.as_bytes()), UTF_8);
        assert_eq!(encoding_of(b"a\0b\0"), UTF_8);
        assert_eq!(encoding_of(b""), UTF_8);
    }
}
