//! Decimals as PostgreSQL sends them: digits to the base of ten thousand, with their weight.

use tokio_postgres::types::{FromSql, Type};

use crate::Value;

/// A decimal, as a value of a cell; what has too many digits for one is rounded to a float.
pub(super) struct Numeric(pub(super) Value);

type Failure = Box<dyn std::error::Error + Sync + Send>;

impl<'a> FromSql<'a> for Numeric {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        let text = digits(raw).ok_or("a decimal is shorter than it says")?;
        Ok(Numeric(Value::number(&text).unwrap_or(Value::Null)))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::NUMERIC
    }
}

/// Writes a decimal with an exponent; what is no number has no digits.
fn digits(raw: &[u8]) -> Option<String> {
    const NEGATIVE: u16 = 0x4000;
    let mut words = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let n_digits = words.next()?;
    let weight = words.next()? as i16;
    let sign = words.next()?;
    let _shown_behind_point = words.next()?;
    if sign != 0 && sign != NEGATIVE {
        return Some(String::new());
    }
    let mut text = String::from(if sign == NEGATIVE { "-" } else { "" });
    text.push('0');
    for _ in 0..n_digits {
        text.push_str(&format!("{:04}", words.next()?));
    }
    // The last group of digits counts so many powers of ten.
    let exponent = (i32::from(weight) - i32::from(n_digits) + 1) * 4;
    if n_digits > 0 {
        text.push_str(&format!("e{exponent}"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[u16], expected: &Value) {
        let raw: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let Numeric(value) = Numeric::from_sql(&Type::NUMERIC, &raw).unwrap();
        assert_eq!(value, *expected, "{words:?}");
    }

    #[test]
    fn digits_come_back_as_they_were() {
        check(&[0, 0, 0, 0], &Value::Integer(0));
        check(&[1, 0, 0, 2, 15], &Value::Integer(15));
        check(&[1, 0xffff, 0x4000, 1, 1000], &Value::Real(-0.1));
        check(&[2, 1, 0, 0, 1, 2345], &Value::Integer(12_345));
        check(&[1, 2, 0, 0, 3], &Value::Integer(300_000_000));
        check(&[0, 0, 0xc000, 0], &Value::Null);
        let long = Value::number("18446744073709551615").unwrap();
        check(&[5, 4, 0, 0, 1844, 6744, 737, 955, 1615], &long);
    }
}
