//! What of a cell a caller's condition may see. Redaction takes private pieces out of rows; a
//! condition that saw them would give them back, digit by digit, by which rows it finds.
//!
//! So a condition of [`Sight::Shown`](crate::Sight) holds only where it holds whatever the private
//! pieces of the cell may be. A number that redaction hides fulfils none.

use crate::Value;
use crate::query::{Case, Range, Test};

/// Below this, and below zero, a whole number is neither a card nor a telephone number.
pub(crate) const MIN_PRIVATE_NUMBER: i64 = 1_000_000;

/// Gives what redaction leaves of a text, where that is not the text itself: the pieces before,
/// between and behind the private ones. The marks in their place are none, or a condition that
/// names a mark beside a guess would tell whether the guess is right.
pub(crate) fn public_pieces<'a>(column: &str, text: &'a str) -> Option<Vec<&'a str>> {
    if text::is_secret_name(column) {
        return (!text.trim().is_empty()).then(|| vec![""]);
    }
    let private = text::find_private(text);
    if private.is_empty() {
        return None;
    }
    let starts = std::iter::once(0).chain(private.iter().map(|piece| piece.bytes.end));
    let ends = private.iter().map(|piece| piece.bytes.start).chain([text.len()]);
    let pieces = starts.zip(ends).map(|(start, end)| text.get(start..end).unwrap_or_default());
    Some(pieces.collect())
}

/// Tells whether a test that a text fulfils is fulfilled whatever its private pieces hold.
pub(crate) fn holds_in_public(test: &Test, pieces: &[&str]) -> bool {
    let beginning = pieces.first().copied().unwrap_or_default();
    match test {
        Test::Contains { text: wanted, case } => {
            pieces.iter().any(|piece| contains(piece, wanted, *case))
        }
        // Whoever names the whole text names its private pieces.
        Test::AnyOf(_) | Test::HoldsAll(_) => false,
        Test::Within(ranges) => ranges.iter().any(|range| is_within(range, beginning)),
        Test::HasPrefix(prefixes) => prefixes.iter().any(|prefix| beginning.starts_with(prefix)),
        Test::Not(inner) => !holds_in_public(inner, pieces),
    }
}

/// Tells whether redaction hides a number.
pub(crate) fn is_hidden(column: &str, number: &Value) -> bool {
    if text::is_secret_name(column) {
        return true;
    }
    if let Value::Decimal(number) = number {
        let is_whole = number.is_whole() && !number.is_negative();
        return is_whole && !text::find_private(&number.to_string()).is_empty();
    }
    let whole = match number {
        Value::Integer(number) => Some(*number),
        Value::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        Value::Real(_)
        | Value::Decimal(_)
        | Value::Null
        | Value::Text(_)
        | Value::Boolean(_)
        | Value::Timestamp(_)
        | Value::List(_) => None,
    };
    whole.is_some_and(|number| {
        number >= MIN_PRIVATE_NUMBER && !text::find_private(&number.to_string()).is_empty()
    })
}

/// Tells whether every text with this beginning lies within a range.
fn is_within(range: &Range, beginning: &str) -> bool {
    let Range { low, high } = range;
    let is_above = *low == Value::Null || low.as_str().is_some_and(|low| beginning >= low);
    let is_below = *high == Value::Null
        || high.as_str().is_some_and(|high| beginning < high && !high.starts_with(beginning));
    is_above && is_below
}

pub(crate) fn contains(text: &str, needle: &str, case: Case) -> bool {
    match case {
        Case::Sensitive => memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some(),
        Case::Ignored => text.to_lowercase().contains(&needle.to_lowercase()),
    }
}
