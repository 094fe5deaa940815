//! Bank account numbers: two letters, check digits, and the length that the country has.

use super::check_digits::mod_97;
use super::signs::next_digit;
use super::{PrivateKind, PrivatePiece};

/// The length of an account number in each country of the registry.
const LENGTHS: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SC", 31),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
];

/// Finds account numbers with right check digits, in groups or in one piece.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let bytes = text.as_bytes();
    let mut from = 2;
    // Two letters are before the check digits.
    while let Some(digit) = next_digit(bytes, from) {
        let at = digit - 2;
        let end = starts_account(bytes, at).and_then(|length| account_end(bytes, at, length));
        match end {
            Some(end) => {
                found.push(PrivatePiece { kind: PrivateKind::Iban, bytes: at..end });
                from = end + 2;
            }
            None => from = digit + 1,
        }
    }
}

/// Gives the length of the account number that could start here.
fn starts_account(bytes: &[u8], at: usize) -> Option<usize> {
    let [first, second, third, fourth] = bytes.get(at..at + 4)? else { return None };
    let shape = first.is_ascii_alphabetic()
        && second.is_ascii_alphabetic()
        && third.is_ascii_digit()
        && fourth.is_ascii_digit();
    let inside_word =
        at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    if !shape || inside_word {
        return None;
    }
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    LENGTHS.iter().find(|(code, _)| **code == country).map(|(_, length)| *length)
}

fn account_end(bytes: &[u8], start: usize, length: usize) -> Option<usize> {
    let mut account = Vec::with_capacity(length);
    let mut at = start;
    while account.len() < length {
        let byte = *bytes.get(at)?;
        // A no-break space; thinner ones are read as spaces before.
        if bytes.get(at..at + 2) == Some(&[0xc2, 0xa0]) {
            at += 2;
            continue;
        }
        let is_gap = matches!(byte, b' ' | b'-' | b'.')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if byte.is_ascii_alphanumeric() {
            account.push(byte);
        } else if !is_gap {
            return None;
        }
        at += 1;
    }
    let goes_on = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on && mod_97(&account)).then_some(at)
}
