//! What of a cell a caller's condition may see. Redaction takes private pieces out of rows; a
//! condition that saw them would give them back, digit by digit, by which rows it finds.
//!
//! So a condition of [`Sight::Shown`](crate::Sight) holds only where it holds of the cell as it is
//! and of the cell as redaction leaves it. A number that redaction hides fulfils none.

use crate::Value;
use crate::query::{Case, Range, Test};

/// Below this, and below zero, a whole number is neither a card nor a telephone number.
pub(crate) const MIN_PRIVATE_NUMBER: i64 = 1_000_000;

/// Gives a text as redaction leaves it, where that is not the text itself.
pub(crate) fn shown_text(column: &str, text: &str) -> Option<String> {
    if text::is_secret_name(column) {
        let mark = text::PrivateKind::Password.mark();
        return (!text.trim().is_empty()).then(|| mark.to_owned());
    }
    let redaction = text::redact(text);
    (redaction.n_pieces > 0).then_some(redaction.text)
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

/// Tells whether a text fulfils a test of single texts.
pub(crate) fn holds(test: &Test, text: &str) -> bool {
    match test {
        Test::Contains { text: wanted, case } => contains(text, wanted, *case),
        Test::AnyOf(values) => values.iter().any(|value| value.as_str() == Some(text)),
        Test::Within(ranges) => ranges.iter().any(|range| is_within(range, text)),
        Test::HasPrefix(prefixes) => prefixes.iter().any(|prefix| text.starts_with(prefix)),
        Test::HoldsAll(lists) => {
            lists.iter().any(|list| list.iter().all(|value| value.as_str() == Some(text)))
        }
        Test::Not(inner) => !holds(inner, text),
    }
}

fn is_within(range: &Range, text: &str) -> bool {
    let Range { low, high } = range;
    let is_above = *low == Value::Null || low.as_str().is_some_and(|low| text >= low);
    let is_below = *high == Value::Null || high.as_str().is_some_and(|high| text <= high);
    is_above && is_below
}

pub(crate) fn contains(text: &str, needle: &str, case: Case) -> bool {
    match case {
        Case::Sensitive => memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some(),
        Case::Ignored => text.to_lowercase().contains(&needle.to_lowercase()),
    }
}
