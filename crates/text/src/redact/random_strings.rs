//! Strings that nobody writes by hand: keys and tokens, told by how evenly their characters are used.

use super::{PrivateKind, PrivatePiece, before};

/// The longest string that is taken as random: a key of many bits, an opaque token.
const MAX_RANDOM_BYTES: usize = 16_384;
/// A text that begins inside a string of so many random bytes began before it: what announces it
/// may be out of sight.
const MIN_HEADLESS_BYTES: usize = 8_192;
/// Shortest random string, by the alphabet it uses.
pub(super) const MIN_RANDOM_BYTES: usize = 16;
/// Bits for each character above which a string of letters and digits is random.
const MIN_ENTROPY_BITS: f64 = 3.4;
/// The same for hexadecimal digits, whose alphabet is smaller.
const MIN_HEX_ENTROPY_BITS: f64 = 2.8;

/// Finds a string that the text begins in the middle of, longer than what is looked at before a
/// piece: nothing else tells what it is.
pub(super) fn find_headless(text: &str, found: &mut Vec<PrivatePiece>) {
    let len = text.bytes().take_while(|byte| is_random_byte(*byte)).count();
    let run = text.as_bytes().get(..len).unwrap_or_default();
    let n_digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    if len >= MIN_HEADLESS_BYTES && n_digits * 64 > len && entropy_bits(run) >= MIN_ENTROPY_BITS {
        found.push(PrivatePiece { kind: PrivateKind::Password, bytes: 0..len });
    }
}

/// Finds random strings in a stretch; gives where the next search may start.
pub(super) fn find_random(
    text: &str,
    from: usize,
    to: usize,
    found: &mut Vec<PrivatePiece>,
) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    // A stretch that starts inside a string was cut out of it.
    let inside = !before(text, from.min(text.len()), 1).is_empty()
        && from
            .checked_sub(1)
            .and_then(|at| bytes.get(at))
            .is_some_and(|byte| is_random_byte(*byte));
    if inside {
        while bytes.get(at).is_some_and(|byte| is_random_byte(*byte)) {
            at += 1;
        }
    }
    while at < to && at < bytes.len() {
        let len = bytes.iter().skip(at).take_while(|byte| is_random_byte(**byte)).count();
        if len > 0 {
            let run = bytes.get(at..at + len).unwrap_or_default();
            if is_random(run) {
                let bytes = at..at + len;
                found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
            }
        }
        at += len.max(1);
    }
    at
}

fn is_random_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=')
}

fn is_random(run: &[u8]) -> bool {
    if !(MIN_RANDOM_BYTES..=MAX_RANDOM_BYTES).contains(&run.len()) {
        return false;
    }
    let n_digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let n_letters = run.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    // Dates, paths and identifiers made of words have few digits among their letters.
    let is_mixed = n_digits >= 3 && n_letters >= 3;
    let n_signs = run.len() - n_digits - n_letters;
    let is_hex = run.iter().all(u8::is_ascii_hexdigit);
    let min_bits = if is_hex { MIN_HEX_ENTROPY_BITS } else { MIN_ENTROPY_BITS };
    is_mixed && n_signs * 5 <= run.len() && entropy_bits(run) >= min_bits
}

/// Gives the Shannon entropy of a string's bytes, in bits for each byte.
fn entropy_bits(run: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in run {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let n_bytes = run.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / n_bytes;
            -share * share.log2()
        })
        .sum()
}
