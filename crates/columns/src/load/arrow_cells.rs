//! The cells of an Arrow array, in one of the few types that columns are built from.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::intern::Raw;
use crate::DAY_MILLIS;

/// An array in one of the few types that cells are taken from.
pub(super) enum Plain {
    Text(LargeStringArray),
    Integers(Int64Array),
    Reals(Float64Array),
    Booleans(BooleanArray),
    /// Milliseconds since the epoch.
    Moments(Int64Array),
}

impl Plain {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else Arrow has or will have is refused by its name"
    )]
    pub(super) fn of(array: &ArrayRef) -> Result<Self, ArrowError> {
        Ok(match array.data_type() {
            DataType::Boolean => Plain::Booleans(array.as_boolean().clone()),
            DataType::Int8 => whole::<Int8Type>(array),
            DataType::Int16 => whole::<Int16Type>(array),
            DataType::Int32 => whole::<Int32Type>(array),
            DataType::Int64 => Plain::Integers(array.as_primitive::<Int64Type>().clone()),
            DataType::UInt8 => whole::<UInt8Type>(array),
            DataType::UInt16 => whole::<UInt16Type>(array),
            DataType::UInt32 => whole::<UInt32Type>(array),
            DataType::UInt64 => whole_or_text(array),
            DataType::Float16 => real::<Float16Type>(array, |number| number.to_f64()),
            DataType::Float32 => real::<Float32Type>(array, shown_single),
            DataType::Float64 => Plain::Reals(array.as_primitive::<Float64Type>().clone()),
            DataType::Decimal32(_, _) => decimal::<Decimal32Type>(array),
            DataType::Decimal64(_, _) => decimal::<Decimal64Type>(array),
            DataType::Decimal128(_, _) => decimal::<Decimal128Type>(array),
            DataType::Decimal256(_, _) => decimal::<Decimal256Type>(array),
            DataType::Null => Plain::Text(LargeStringArray::new_null(array.len())),
            DataType::Time32(TimeUnit::Second) => {
                times::<Time32SecondType>(array, |seconds| i64::from(seconds) * NANOS)
            }
            DataType::Time32(_) => {
                times::<Time32MillisecondType>(array, |millis| i64::from(millis) * (NANOS / 1000))
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                times::<Time64MicrosecondType>(array, |micros| micros.saturating_mul(1000))
            }
            DataType::Time64(_) => times::<Time64NanosecondType>(array, |nanos| nanos),
            DataType::Duration(TimeUnit::Second) => {
                real::<DurationSecondType>(array, |seconds| seconds as f64)
            }
            DataType::Duration(TimeUnit::Millisecond) => {
                real::<DurationMillisecondType>(array, |millis| millis as f64 / 1e3)
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                real::<DurationMicrosecondType>(array, |micros| micros as f64 / 1e6)
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                real::<DurationNanosecondType>(array, |nanos| nanos as f64 / 1e9)
            }
            DataType::Binary => binary(array.as_binary::<i32>().iter()),
            DataType::LargeBinary => binary(array.as_binary::<i64>().iter()),
            DataType::BinaryView => binary(array.as_binary_view().iter()),
            // As identifiers of 16 bytes are kept: never meant as text.
            DataType::FixedSizeBinary(_) => Plain::Text(
                array.as_fixed_size_binary().iter().map(|cell| cell.map(model::hex)).collect(),
            ),
            DataType::Timestamp(TimeUnit::Second, _) => {
                moments::<TimestampSecondType>(array, |seconds| seconds.saturating_mul(1000))
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                moments::<TimestampMillisecondType>(array, |millis| millis)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                moments::<TimestampMicrosecondType>(array, |micros| micros.div_euclid(1000))
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                moments::<TimestampNanosecondType>(array, |nanos| nanos.div_euclid(1_000_000))
            }
            DataType::Date32 => moments::<Date32Type>(array, |days| i64::from(days) * DAY_MILLIS),
            DataType::Date64 => moments::<Date64Type>(array, |millis| millis),
            DataType::Utf8 => text(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => Plain::Text(array.as_string::<i64>().clone()),
            DataType::Utf8View => text(array.as_string_view().iter()),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                let unpacked = arrow_select::take::take(
                    dictionary.values().as_ref(),
                    dictionary.keys(),
                    None,
                )?;
                return Plain::of(&unpacked);
            }
            other => {
                return Err(ArrowError::NotYetImplemented(format!(
                    "columns of the type {other} are not read"
                )));
            }
        })
    }

    pub(super) fn get(&self, row: usize) -> Option<Raw<'_>> {
        match self {
            Plain::Text(cells) => cells.is_valid(row).then(|| Raw::Text(cells.value(row))),
            Plain::Integers(cells) => cells.is_valid(row).then(|| Raw::Integer(cells.value(row))),
            Plain::Reals(cells) => cells.is_valid(row).then(|| Raw::Real(cells.value(row))),
            Plain::Booleans(cells) => cells.is_valid(row).then(|| Raw::Boolean(cells.value(row))),
            Plain::Moments(cells) => cells.is_valid(row).then(|| Raw::Millis(cells.value(row))),
        }
    }
}

fn whole<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef) -> Plain {
    Plain::Integers(array.as_primitive::<T>().unary(Into::into))
}

fn real<T: ArrowPrimitiveType>(array: &ArrayRef, to_real: impl Fn(T::Native) -> f64) -> Plain {
    Plain::Reals(array.as_primitive::<T>().unary(to_real))
}

/// Gives the float that is shown as a float of half its width is: `0.1`, and not
/// `0.10000000149011612`.
fn shown_single(number: f32) -> f64 {
    if number.fract() == 0.0 {
        return number.into();
    }
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

/// Whole numbers that fit stay numbers; larger ones come as text, which keeps all their digits.
fn whole_or_text(array: &ArrayRef) -> Plain {
    let numbers = array.as_primitive::<UInt64Type>();
    let fits = numbers.iter().flatten().all(|number| i64::try_from(number).is_ok());
    if fits {
        return Plain::Integers(numbers.unary(|number| number as i64));
    }
    Plain::Text(numbers.iter().map(|number| number.map(|number| number.to_string())).collect())
}

fn moments<T: ArrowPrimitiveType>(array: &ArrayRef, to_millis: impl Fn(T::Native) -> i64) -> Plain {
    Plain::Moments(array.as_primitive::<T>().unary(to_millis))
}

fn text<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Plain {
    Plain::Text(cells.collect())
}

/// As text a decimal keeps its digits, in a column of text and in one of numbers.
fn decimal<T: DecimalType>(array: &ArrayRef) -> Plain {
    let decimals = array.as_primitive::<T>();
    let text = |row| decimals.is_valid(row).then(|| decimals.value_as_string(row));
    Plain::Text((0..decimals.len()).map(text).collect())
}

/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

/// A time of day is text, `05:30:00`: it is no point in time, and sorts as it is written.
fn times<T: ArrowPrimitiveType>(array: &ArrayRef, to_nanos: impl Fn(T::Native) -> i64) -> Plain {
    let text = |time: T::Native| {
        let nanos = to_nanos(time);
        let (seconds, rest) = (nanos.div_euclid(NANOS), nanos.rem_euclid(NANOS));
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let whole = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
        if rest == 0 {
            whole
        } else {
            format!("{whole}.{rest:09}").trim_end_matches('0').to_owned()
        }
    };
    Plain::Text(array.as_primitive::<T>().iter().map(|time| time.map(text)).collect())
}

/// Older writers keep text without saying that it is; bytes that are no text are hexadecimal.
fn binary<'a>(cells: impl Iterator<Item = Option<&'a [u8]>> + Clone) -> Plain {
    let is_text = cells.clone().flatten().all(|cell| std::str::from_utf8(cell).is_ok());
    let shown = |cell: &[u8]| match std::str::from_utf8(cell) {
        Ok(text) if is_text => text.to_owned(),
        _ => model::hex(cell),
    };
    Plain::Text(cells.map(|cell| cell.map(shown)).collect())
}
