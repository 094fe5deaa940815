//! What a cell is by its column's type: text, a number in one of its three forms, true or false, a
//! moment, or something that does not fit.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::{
    BooleanArray, Decimal128Array, Float64Array, Int64Array, LargeStringArray,
    TimestampMillisecondArray,
};

use super::builder::Points;
use super::intern::{Interner, Raw};
use crate::column::Distinct;
use crate::decimal::MAX_DIGITS;
use crate::spec::{NULL_WORDS, flag_of};
use crate::{ColumnSpec, DateOrder, Decimal, DecimalMark, Kind, Value, moment, read_numeral};

/// A typed distinct value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Typed<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
    /// Units of the column's scale.
    Units(i128),
    Boolean(bool),
    Millis(i64),
}

/// What became of a raw cell.
pub(super) enum Fit<'a> {
    Null,
    Value(Typed<'a>),
    Misfit,
}

pub(super) fn fit<'a>(raw: Raw<'a>, spec: &ColumnSpec, null_values: &[String]) -> Fit<'a> {
    if let Raw::Text(text) = raw {
        let is_null = null_values.iter().any(|null| null == text)
            || (spec.kind != Kind::Text && NULL_WORDS.contains(&text.trim()));
        if is_null {
            return Fit::Null;
        }
    }
    let value = match spec.kind {
        Kind::Text => Some(Typed::Text(as_text(raw))),
        Kind::Number => match (spec.decimal, raw) {
            (Some(mark), Raw::Text(text)) => as_numeral(text, mark),
            (Some(_) | None, raw) => as_number(raw),
        },
        Kind::Boolean => as_boolean(raw).map(Typed::Boolean),
        Kind::Timestamp => as_millis(raw, spec).map(Typed::Millis),
    };
    match (value, raw) {
        (Some(value), _) => Fit::Value(value),
        // A typed source says "not a number" for what a text file leaves empty.
        (None, Raw::Real(number)) if number.is_nan() => Fit::Null,
        (None, _) => Fit::Misfit,
    }
}

pub(super) fn as_text(raw: Raw<'_>) -> Cow<'_, str> {
    match raw {
        Raw::Text(text) => text.into(),
        Raw::Integer(number) => number.to_string().into(),
        Raw::Real(number) => number.to_string().into(),
        Raw::Boolean(flag) => flag.to_string().into(),
        Raw::Millis(millis) => moment::to_iso(millis).into(),
    }
}

fn as_number(raw: Raw<'_>) -> Option<Typed<'static>> {
    match raw {
        Raw::Text(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse::<i64>() {
                return Some(Typed::Integer(number));
            }
            text.parse::<f64>().ok().filter(|number| number.is_finite()).map(real)
        }
        Raw::Integer(number) | Raw::Millis(number) => Some(Typed::Integer(number)),
        Raw::Real(number) => number.is_finite().then(|| real(number)),
        Raw::Boolean(_) => None,
    }
}

/// Reads a number as people write it; an exponent is no part of that, but programs write it.
fn as_numeral(text: &str, mark: DecimalMark) -> Option<Typed<'static>> {
    as_number(Raw::Text(&plain(text, mark)?))
}

/// Gives a number as programs write it.
fn plain(text: &str, mark: DecimalMark) -> Option<Cow<'_, str>> {
    let has_exponent = text.contains(['e', 'E']) && text.trim().parse::<f64>().is_ok();
    if has_exponent {
        return Some(text.into());
    }
    read_numeral(text, mark).map(|numeral| numeral.plain.into())
}

/// Tells whether a number has other digits than its value shows: a float keeps fifteen for sure,
/// and often more.
pub(super) fn is_rounded(raw: Raw<'_>, value: &Typed<'_>) -> bool {
    let (Raw::Text(text), Typed::Real(number)) = (raw, value) else { return false };
    is_rounded_to(text, *number)
}

/// Tells whether a float does not hold a whole number. Compared in a wider type: the float nearest to
/// the largest whole number is beyond it.
pub(super) fn is_rounded_whole(number: i64) -> bool {
    number as f64 as i128 != i128::from(number)
}

/// Tells whether the digits of a text are not those of the number it was read as.
pub(crate) fn is_rounded_to(text: &str, number: f64) -> bool {
    /// So many digits come back from a float as they were.
    const EXACT_DIGITS: usize = 15;
    let written = significant(text);
    written.len() > EXACT_DIGITS && written != significant(&number.to_string())
}

/// Gives the digits that say something, wherever the decimal mark is.
fn significant(text: &str) -> String {
    let mantissa = text.trim().split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Reads the text of a number, as [`fit`] does.
pub(crate) fn number_of(text: &str) -> Option<Value> {
    as_number(Raw::Text(text)).map(Typed::into_value)
}

/// Gives the value of one cell, null where nothing is there; none where it does not fit.
pub(crate) fn value_of(raw: Raw<'_>, spec: &ColumnSpec) -> Option<Value> {
    match fit(raw, spec, &[]) {
        Fit::Null => Some(Value::Null),
        Fit::Value(value) => Some(value.into_value()),
        Fit::Misfit => None,
    }
}

impl Typed<'_> {
    fn into_value(self) -> Value {
        match self {
            Typed::Text(text) => Value::Text(text.into_owned()),
            Typed::Integer(number) => Value::Integer(number),
            Typed::Real(number) => Value::Real(number),
            Typed::Units(units) => Decimal::new(units, 0).to_value(),
            Typed::Boolean(flag) => Value::Boolean(flag),
            Typed::Millis(millis) => Value::Timestamp(millis),
        }
    }
}

/// Adding zero turns the negative zero into the positive one, so that they are one value.
fn real(number: f64) -> Typed<'static> {
    Typed::Real(number + 0.0)
}

fn as_boolean(raw: Raw<'_>) -> Option<bool> {
    match raw {
        Raw::Boolean(flag) => Some(flag),
        Raw::Integer(0) => Some(false),
        Raw::Integer(1) => Some(true),
        Raw::Text(text) => flag_of(text),
        Raw::Integer(_) | Raw::Real(_) | Raw::Millis(_) => None,
    }
}

fn as_millis(raw: Raw<'_>, spec: &ColumnSpec) -> Option<i64> {
    match raw {
        Raw::Text(text) => moment::parse_ordered(text, spec.epoch, spec.date_order),
        Raw::Integer(number) if spec.date_order == Some(DateOrder::Ymd) => {
            moment::parse_ordered(&number.to_string(), spec.epoch, spec.date_order)
        }
        Raw::Integer(number) => spec.epoch.to_millis(number as f64),
        Raw::Real(number) => spec.epoch.to_millis(number),
        Raw::Millis(millis) => moment::checked(millis),
        Raw::Boolean(_) => None,
    }
}

/// Tells whether a cell that fits a timestamp is a date without a time of day.
pub(super) fn is_date(raw: Raw<'_>, points: Points, spec: &ColumnSpec) -> bool {
    let has_digits_alone = spec.date_order == Some(DateOrder::Ymd);
    match raw {
        Raw::Text(text) => {
            has_digits_alone && text.trim().bytes().all(|byte| byte.is_ascii_digit())
                || moment::is_date(text)
        }
        Raw::Millis(_) => points == Points::Dates,
        Raw::Integer(_) => has_digits_alone,
        Raw::Real(_) | Raw::Boolean(_) => false,
    }
}

pub(super) fn order(left: &Typed<'_>, right: &Typed<'_>) -> Ordering {
    match (left, right) {
        (Typed::Text(left), Typed::Text(right)) => left.cmp(right),
        (Typed::Integer(left), Typed::Integer(right))
        | (Typed::Millis(left), Typed::Millis(right)) => left.cmp(right),
        (Typed::Real(left), Typed::Real(right)) => left.total_cmp(right),
        (Typed::Units(left), Typed::Units(right)) => left.cmp(right),
        (Typed::Boolean(left), Typed::Boolean(right)) => left.cmp(right),
        _ => unreachable!("a column's values have one type by the time they are sorted"),
    }
}

pub(super) fn distinct_of(kind: Kind, values: &[Typed<'_>], numbers: Numbers) -> Distinct {
    macro_rules! collected {
        ($array:ty, $($pattern:pat => $value:expr),+) => {
            std::iter::once(None)
                .chain(values.iter().map(|value| match value {
                    $($pattern => Some($value),)+
                    _ => None,
                }))
                .collect::<$array>()
        };
    }
    match kind {
        Kind::Text => {
            Distinct::Text(collected!(LargeStringArray, Typed::Text(text) => text.as_ref()))
        }
        Kind::Number => match numbers {
            Numbers::Wholes => {
                Distinct::Integers(collected!(Int64Array, Typed::Integer(number) => *number))
            }
            Numbers::Reals => {
                Distinct::Reals(collected!(Float64Array, Typed::Real(number) => *number))
            }
            Numbers::Decimals(scale) => Distinct::Decimals(
                collected!(Decimal128Array, Typed::Units(units) => *units)
                    .with_precision_and_scale(MAX_DIGITS, scale as i8)
                    .expect("a scale is at most the number of digits"),
            ),
        },
        Kind::Boolean => {
            Distinct::Booleans(collected!(BooleanArray, Typed::Boolean(flag) => *flag))
        }
        Kind::Timestamp => Distinct::Timestamps(
            collected!(TimestampMillisecondArray, Typed::Millis(millis) => *millis),
        ),
    }
}

/// How the numbers of a column are kept.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    Wholes,
    Reals,
    /// As units, of which so many digits are behind the point.
    Decimals(u8),
}

/// Makes units of one scale of all numbers, and gives the scale; none where they have more digits
/// together than units hold, such as a few large floats beside long decimals.
pub(super) fn as_decimals(
    typed: &mut [(u32, Typed<'_>)],
    interner: &Interner,
    spec: &ColumnSpec,
) -> Option<u8> {
    let cells: Vec<Raw<'_>> = interner.cells().collect();
    let decimals: Vec<Decimal> = typed
        .iter()
        .map(|(cell, _)| as_decimal(cells[*cell as usize], spec))
        .collect::<Option<_>>()?;
    let scale = decimals.iter().map(|decimal| decimal.scale()).max()?;
    let n_whole = decimals.iter().map(|decimal| decimal.n_whole_digits()).max()?;
    if n_whole + scale > MAX_DIGITS {
        return None;
    }
    for ((_, value), decimal) in typed.iter_mut().zip(decimals) {
        *value = Typed::Units(decimal.units_at(scale)?);
    }
    Some(scale)
}

fn as_decimal(raw: Raw<'_>, spec: &ColumnSpec) -> Option<Decimal> {
    match (raw, spec.decimal) {
        (Raw::Text(text), None) => Decimal::parse(text),
        (Raw::Text(text), Some(mark)) => Decimal::parse(&plain(text, mark)?),
        (Raw::Integer(number) | Raw::Millis(number), _) => Some(Decimal::of_whole(number)),
        (Raw::Real(number), _) => Decimal::of_real(number),
        (Raw::Boolean(_), _) => None,
    }
}
