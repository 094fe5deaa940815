//! Numbers with more digits than whole numbers of 64 bits or floats keep: a count of units, and
//! how many of their digits are behind the point.
//!
//! A float stands for the decimal that it is shown as, so `0.1` of a file of floats and `0.10` of a
//! file of decimals are one number, and order and equality are those of what rows show.

use std::cmp::Ordering;
use std::fmt;

use arrow_buffer::i256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Value;

/// The most digits of a number that is kept to the last one.
pub(crate) const MAX_DIGITS: u8 = 38;
/// So many digits come back from a float as they were.
const FLOAT_DIGITS: usize = 15;
/// The largest whole number up to which a float keeps every one.
const EXACT: i64 = 1 << 53;

/// A number of at most 38 digits. Invariant: no zero is last behind the point, so that equal
/// numbers are equal field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    units: i128,
    /// Digits behind the point.
    scale: u8,
}

impl Decimal {
    /// Makes a number of so many units, `scale` digits of which are behind the point.
    pub(crate) fn new(mut units: i128, mut scale: u8) -> Self {
        while scale > 0 && units % 10 == 0 {
            units /= 10;
            scale -= 1;
        }
        Decimal { units, scale }
    }

    /// Reads digits with a point, an exponent or neither; none where they are no number, or have
    /// more than 38 digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let is_negative = mantissa.starts_with('-');
        let digits = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
        let behind = behind.trim_end_matches('0');
        if whole.is_empty() && behind.is_empty() {
            return None;
        }
        let mut units: i128 = 0;
        for byte in whole.bytes().chain(behind.bytes()) {
            let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
            units = units.checked_mul(10)?.checked_add(digit)?;
        }
        let scale = i32::try_from(behind.len()).ok()?.checked_sub(exponent)?;
        if units == 0 {
            return Some(Decimal { units: 0, scale: 0 });
        }
        if scale < 0 {
            let power = 10_i128.checked_pow(scale.unsigned_abs())?;
            units = units.checked_mul(power)?;
        }
        let units = if is_negative { -units } else { units };
        let decimal = Decimal::new(units, u8::try_from(scale.max(0)).ok()?);
        (decimal.scale <= MAX_DIGITS && decimal.n_digits() <= MAX_DIGITS).then_some(decimal)
    }

    pub(crate) fn of_whole(number: i64) -> Self {
        Decimal { units: number.into(), scale: 0 }
    }

    /// Gives the decimal that a float is shown as; none where it has too many digits.
    pub(crate) fn of_real(number: f64) -> Option<Self> {
        Decimal::parse(&format!("{number:e}"))
    }

    /// Gives a number as a decimal; none for what is no number, and for floats beyond 38 digits.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(Decimal::of_whole(*number)),
            Value::Real(number) => Decimal::of_real(*number),
            Value::Decimal(decimal) => Some(**decimal),
            Value::Null
            | Value::Text(_)
            | Value::Boolean(_)
            | Value::Timestamp(_)
            | Value::List(_) => None,
        }
    }

    /// Gives the value that cells hold: a whole number or a float where those keep all digits.
    pub(crate) fn to_value(self) -> Value {
        if self.scale == 0 {
            return i64::try_from(self.units)
                .map_or_else(|_| Value::Decimal(Box::new(self)), Value::Integer);
        }
        let real = self.as_f64();
        let is_kept =
            usize::from(self.n_digits()) <= FLOAT_DIGITS || Decimal::of_real(real) == Some(self);
        if is_kept { Value::Real(real) } else { Value::Decimal(Box::new(self)) }
    }

    /// Gives the nearest float.
    pub(crate) fn as_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Counts the digits behind the point.
    pub(crate) fn scale(self) -> u8 {
        self.scale
    }

    /// Counts the digits before the point.
    pub(crate) fn n_whole_digits(self) -> u8 {
        self.n_digits().saturating_sub(self.scale)
    }

    /// Gives the units of a finer or equal scale; none where they are too many.
    pub(crate) fn units_at(self, scale: u8) -> Option<i128> {
        let finer = scale.checked_sub(self.scale)?;
        self.units.checked_mul(10_i128.checked_pow(finer.into())?)
    }

    /// Tells whether nothing is behind the point.
    pub fn is_whole(self) -> bool {
        self.scale == 0
    }

    /// Tells whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.units < 0
    }

    /// Gives the number as JSON: a number where JSON readers of whole numbers keep it, else its
    /// digits as text.
    pub(crate) fn to_json(self) -> serde_json::Value {
        match u64::try_from(self.units) {
            Ok(number) if self.scale == 0 => number.into(),
            _ => self.to_string().into(),
        }
    }

    /// Gives the number of the range of a width that holds it, and whether that is known.
    pub(crate) fn range_of(self, width: Decimal) -> Option<i64> {
        let scale = self.scale.max(width.scale);
        let (units, width) = (self.wide_units_at(scale), width.wide_units_at(scale));
        let quotient = units.checked_div(width)?;
        let is_below = units.checked_rem(width)? < i256::ZERO;
        let number = quotient.checked_sub(if is_below { i256::ONE } else { i256::ZERO })?;
        number.to_i128().and_then(|number| i64::try_from(number).ok())
    }

    fn n_digits(self) -> u8 {
        let digits = self.units.unsigned_abs().checked_ilog10().map_or(1, |log| log as u8 + 1);
        digits.max(self.scale)
    }

    /// Of 38 digits, 38 more behind the point are 76, which is what 256 bits hold.
    fn wide_units_at(self, scale: u8) -> i256 {
        let power = i256::from_i128(10).wrapping_pow(u32::from(scale.saturating_sub(self.scale)));
        i256::from_i128(self.units).wrapping_mul(power)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.units.cmp(&other.units);
        }
        let scale = self.scale.max(other.scale);
        self.wide_units_at(scale).cmp(&other.wide_units_at(scale))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.units.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, behind) = digits.split_at(digits.len() - scale);
        let sign = if self.units < 0 { "-" } else { "" };
        let point = if behind.is_empty() { "" } else { "." };
        write!(out, "{sign}{whole}{point}{behind}")
    }
}

/// As text: no format of cursors holds whole numbers of 128 bits.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Decimal::parse(&text).ok_or_else(|| serde::de::Error::custom("expected a decimal"))
    }
}

/// Compares two numbers as the decimals that they are shown as.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (Decimal::of(left), Decimal::of(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => {
            let number = |value: &Value| value.as_f64().unwrap_or(f64::MAX);
            number(left).total_cmp(&number(right))
        }
    }
}

/// A sum of units, and how many of their digits are behind the point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    units: i256,
    scale: u8,
}

impl Total {
    pub(crate) fn at(scale: u8) -> Self {
        Total { units: i256::ZERO, scale }
    }

    /// Adds units of the scale that come so many times. Four billion times 38 digits fit.
    pub(crate) fn add(&mut self, units: i128, times: u64) {
        let amount = i256::from_i128(units).wrapping_mul(i256::from_i128(times.into()));
        self.units = self.units.wrapping_add(amount);
    }

    pub(crate) fn sum(self) -> Value {
        value_of(self.units, self.scale)
    }

    pub(crate) fn mean(self, n_values: u64) -> Value {
        self.divided(i256::from_i128(n_values.max(1).into()))
    }

    /// Gives what lies so many hundredths of the way from one number to the next.
    pub(crate) fn between(low: i128, high: i128, scale: u8, hundredths: u8) -> Value {
        let way = i256::from_i128(high).wrapping_sub(i256::from_i128(low));
        let hundred = i256::from_i128(100);
        let units = i256::from_i128(low)
            .wrapping_mul(hundred)
            .wrapping_add(way.wrapping_mul(i256::from_i128(hundredths.into())));
        Total { units, scale }.divided(hundred)
    }

    /// Divides. While a float holds the units of the quotient it has what lies between two as well;
    /// beyond that the nearest is given, the even one of two.
    fn divided(mut self, divisor: i256) -> Value {
        let ten = i256::from_i128(10);
        while self.scale > 0 && self.units.wrapping_rem(ten) == i256::ZERO {
            self.units = self.units.wrapping_div(ten);
            self.scale -= 1;
        }
        let quotient = self.units.wrapping_div(divisor);
        let rest = self.units.wrapping_rem(divisor);
        let exact = i256::from_i128(EXACT.into());
        if quotient <= exact && quotient >= i256::ZERO.wrapping_sub(exact) {
            let number = |units: i256| units.to_i128().unwrap_or_default() as f64;
            let units = number(quotient) + number(rest) / number(divisor);
            return Value::Real(units / 10_f64.powi(self.scale.into()));
        }
        let twice = rest.wrapping_abs().wrapping_add(rest.wrapping_abs());
        let is_odd = quotient.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
        let is_farther = match twice.cmp(&divisor) {
            Ordering::Less => false,
            Ordering::Equal => is_odd,
            Ordering::Greater => true,
        };
        let one = if self.units < i256::ZERO { i256::MINUS_ONE } else { i256::ONE };
        value_of(if is_farther { quotient.wrapping_add(one) } else { quotient }, self.scale)
    }
}

/// Gives units as a value; as a float where they are more than 128 bits hold.
fn value_of(units: i256, scale: u8) -> Value {
    match units.to_i128() {
        Some(units) => Decimal::new(units, scale).to_value(),
        None => {
            let real: f64 = units.to_string().parse().unwrap_or(f64::NAN);
            Value::Real(real / 10_f64.powi(scale.into()))
        }
    }
}

/// Adds numbers that are written with digits, as a database gives a sum of them, and divides.
pub(crate) fn mean_of(sum: &str, n_values: u64) -> Option<Value> {
    let decimal = Decimal::parse(sum)?;
    let mut total = Total::at(decimal.scale);
    total.add(decimal.units, 1);
    Some(total.mean(n_values))
}

/// Gives what lies between two written numbers.
pub(crate) fn between(low: &str, high: &str, hundredths: u8) -> Option<Value> {
    let (low, high) = (Decimal::parse(low)?, Decimal::parse(high)?);
    let scale = low.scale.max(high.scale);
    Some(Total::between(low.units_at(scale)?, high.units_at(scale)?, scale, hundredths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: Option<&str>) {
        let read = Decimal::parse(text).map(|decimal| decimal.to_string());
        assert_eq!(read.as_deref(), shown, "`{text}`");
    }

    #[test]
    fn what_is_written_is_shown() {
        check("18446744073709551615", Some("18446744073709551615"));
        check("-0.10", Some("-0.1"));
        check("1.50e3", Some("1500"));
        check("15e-2", Some("0.15"));
        check("+.5", Some("0.5"));
        check("5.", Some("5"));
        check("000", Some("0"));
        check("-0", Some("0"));
        check(&"9".repeat(38), Some(&"9".repeat(38)));
        check(
            "0.00000000000000000000000000000000000001",
            Some("0.00000000000000000000000000000000000001"),
        );
        for text in ["", ".", "-", "1e", "1e400", "1e-400", "a", "1.2.3", "１２"] {
            check(text, None);
        }
        check(&"9".repeat(39), None);
    }

    #[test]
    fn order_is_that_of_numbers() {
        let rising = [
            "-18446744073709551616",
            "-1.25",
            "-1.2",
            "0",
            "1e-38",
            "0.1",
            "0.10000000000000000001",
            "2",
            "99999999999999999999999999999999999999",
        ];
        let numbers: Vec<Decimal> =
            rising.iter().map(|text| Decimal::parse(text).unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn only_what_nothing_else_keeps_is_a_decimal() {
        let value = |text| Decimal::parse(text).unwrap().to_value();
        assert_eq!(value("9223372036854775807"), Value::Integer(i64::MAX));
        assert_eq!(value("0.10"), Value::Real(0.1));
        assert_eq!(value("0.30000000000000004"), Value::Real(0.1 + 0.2));
        assert_eq!(value("18446744073709551615").to_json(), u64::MAX);
        assert_eq!(value("18446744073709551616").to_json(), "18446744073709551616");
        assert_eq!(value("0.12345678901234567891").to_json(), "0.12345678901234567891");
    }

    #[test]
    fn means_are_exact_to_the_last_digit_of_the_sum() {
        let mean = |sum, n| mean_of(sum, n).unwrap().to_json();
        assert_eq!(mean("1", 4), 0.25);
        assert_eq!(mean("36893488147419103231", 2), "18446744073709551616");
        assert_eq!(mean("-36893488147419103233", 2), "-18446744073709551616");
        assert_eq!(mean("0.24691357802469135783", 3), "0.08230452600823045261");
        assert_eq!(
            between("1", "18446744073709551616", 50).unwrap().to_json(),
            9_223_372_036_854_775_808_u64
        );
    }

    #[test]
    fn ranges_start_at_multiples_of_the_width() {
        let range = |text, width| Decimal::parse(text)?.range_of(Decimal::parse(width)?);
        assert_eq!(range("0.3", "0.1"), Some(3));
        assert_eq!(range("-0.30000000000000000001", "0.1"), Some(-4));
        assert_eq!(range("18446744073709551615", "1000000000000000000"), Some(18));
        assert_eq!(range("18446744073709551615", "1"), None);
    }
}
