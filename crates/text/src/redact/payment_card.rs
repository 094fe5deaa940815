//! Payment cards: a known issuer, its length, and a right check digit.

use super::check_digits::luhn;
use super::numbers::{Group, digits_of, is_inside_word};

/// Cards have at least this many digits; thirteen are article numbers today.
const MIN_CARD_DIGITS: usize = 14;
/// Cards have at most this many digits.
const MAX_CARD_DIGITS: usize = 19;

/// Gives how many of the first groups are a payment card.
pub(super) fn card_groups(text: &str, groups: &[Group]) -> Option<usize> {
    let mut n_digits = 0;
    for (idx, group) in groups.iter().enumerate() {
        n_digits += group.len();
        let breaks = idx > 0 && !matches!(group.separator, b' ' | b'-' | b'.' | b'/' | b'_');
        if breaks || n_digits > MAX_CARD_DIGITS {
            return None;
        }
        if n_digits < MIN_CARD_DIGITS {
            continue;
        }
        let card = groups.get(..=idx)?;
        // These signs are in dates and names: only groups of four are a card.
        let is_rare = card.iter().any(|group| matches!(group.separator, b'/' | b'_'));
        let is_fours = card.iter().all(|group| group.len() == 4);
        if is_shape(card) && (is_fours || !is_rare) && !is_inside_word(text, groups.first()?, group)
        {
            let digits = digits_of(text, card);
            if is_issuer(&digits) && luhn(&digits) {
                return Some(idx + 1);
            }
        }
    }
    None
}

/// One piece, groups of four, or the 4-6-5 and 4-6-4 of some issuers.
fn is_shape(groups: &[Group]) -> bool {
    match groups {
        [_] => true,
        [first, second, _] if first.len() == 4 && second.len() == 6 => true,
        [first, second] if first.len() == 8 && second.len() == 8 => true,
        [head @ .., last] => head.iter().all(|group| group.len() == 4) && last.len() <= 4,
        [] => false,
    }
}

fn is_issuer(digits: &[u8]) -> bool {
    let number = digits.iter().take(4).fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let n_digits = digits.len();
    match number {
        4000..=4999 => n_digits == 16 || n_digits == 19,
        5000..=5099 | 5600..=5899 | 6300..=6399 | 6700..=6799 => n_digits >= 16,
        5100..=5599 | 2221..=2720 => n_digits == 16,
        3400..=3499 | 3700..=3799 => n_digits == 15,
        3000..=3059 | 3600..=3699 | 3800..=3999 => n_digits == 14,
        3528..=3589 => n_digits == 16,
        6011 | 6440..=6599 | 6200..=6299 | 8100..=8171 | 2200..=2204 => n_digits >= 16,
        _ => false,
    }
}
