//! Bytes in hexadecimal digits, for names made of hashes.

use std::fmt::Write;

/// Writes bytes in lower-case hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        // A string takes everything that is written to it.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex([0x00, 0x0a, 0xff]), "000aff");
        assert_eq!(hex(b""), "");
    }
}
