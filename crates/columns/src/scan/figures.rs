//! From what was collected of a group to the value of a measure.

use super::series::Sum;
use crate::aggregate::{PercentilePlace, whole_mean, whole_sum};
use crate::column::{Distinct, NULL_CODE};
use crate::{Column, Op, Value, decimal};

/// A sum of one kind of number.
pub(super) enum Total {
    Whole(i128),
    Real(Sum),
    Decimal(decimal::Total),
}

impl Total {
    pub(super) fn sum(self) -> Value {
        match self {
            Total::Whole(sum) => whole_sum(sum),
            Total::Real(sum) => Value::Real(sum.value()),
            Total::Decimal(sum) => sum.sum(),
        }
    }

    pub(super) fn mean(self, n_values: u64) -> Value {
        match self {
            Total::Whole(sum) => whole_mean(sum, n_values),
            Total::Real(sum) => Value::Real(sum.mean(n_values)),
            Total::Decimal(sum) => sum.mean(n_values),
        }
    }
}

/// Adds values that come so many times each.
pub(super) fn total(column: &Column, values: impl Iterator<Item = (u32, u64)>) -> Total {
    match &column.distinct {
        Distinct::Integers(numbers) => Total::Whole(
            values
                .map(|(code, times)| i128::from(numbers.value(code as usize)) * i128::from(times))
                .sum(),
        ),
        Distinct::Reals(numbers) => {
            let mut sum = Sum::default();
            for (code, times) in values {
                sum.add_times(numbers.value(code as usize), times as f64);
            }
            Total::Real(sum)
        }
        Distinct::Decimals(numbers) => {
            let mut sum = decimal::Total::at(numbers.scale().unsigned_abs());
            for (code, times) in values {
                sum.add(numbers.value(code as usize), times);
            }
            Total::Decimal(sum)
        }
        Distinct::Text(_) | Distinct::Booleans(_) | Distinct::Timestamps(_) => {
            Total::Real(Sum::default())
        }
    }
}

pub(super) fn of_counters(column: &Column, op: Op, counters: &[u32]) -> Value {
    let values = || {
        counters
            .iter()
            .enumerate()
            .skip(NULL_CODE as usize + 1)
            .filter(|(_, count)| **count > 0)
            .map(|(code, count)| (code as u32, u64::from(*count)))
    };
    let n_values = || counters[1..].iter().map(|count| u64::from(*count)).sum::<u64>();
    match op {
        Op::Count => return Value::Integer(n_values() as i64),
        Op::CountDistinct => return Value::Integer(values().count() as i64),
        Op::Sum | Op::Avg | Op::Min | Op::Max | Op::Percentile(_) => {}
    }
    let Some((first, _)) = values().next() else { return Value::Null };
    match op {
        Op::Sum => total(column, values()).sum(),
        Op::Avg => total(column, values()).mean(n_values()),
        Op::Min => column.distinct.value(first),
        Op::Max => {
            let last = counters.iter().rposition(|count| *count > 0).unwrap_or_default();
            column.distinct.value(last as u32)
        }
        Op::Percentile(percent) => {
            let place = PercentilePlace::among(n_values(), percent);
            let mut n_seen = 0;
            let (mut low_code, mut high_code) = (None, None);
            for (code, count) in values() {
                n_seen += count;
                if low_code.is_none() && n_seen > place.low_idx {
                    low_code = Some(code);
                }
                if n_seen > place.high_idx {
                    high_code = Some(code);
                    break;
                }
            }
            percentile(column, low_code.unwrap_or(first), high_code.unwrap_or(first), place)
        }
        Op::Count | Op::CountDistinct => Value::Null,
    }
}

pub(super) fn of_codes(column: &Column, op: Op, codes: &[u32]) -> Value {
    match op {
        Op::Count => return Value::Integer(codes.len() as i64),
        Op::CountDistinct => {
            let n_changes = codes.windows(2).filter(|pair| pair[0] != pair[1]).count();
            return Value::Integer((n_changes + usize::from(!codes.is_empty())) as i64);
        }
        Op::Sum | Op::Avg | Op::Min | Op::Max | Op::Percentile(_) => {}
    }
    let (Some(first), Some(last)) = (codes.first(), codes.last()) else { return Value::Null };
    let values = || codes.iter().map(|code| (*code, 1));
    match op {
        Op::Sum => total(column, values()).sum(),
        Op::Avg => total(column, values()).mean(codes.len() as u64),
        Op::Min => column.distinct.value(*first),
        Op::Max => column.distinct.value(*last),
        Op::Percentile(percent) => {
            let place = PercentilePlace::among(codes.len() as u64, percent);
            percentile(column, codes[place.low_idx as usize], codes[place.high_idx as usize], place)
        }
        Op::Count | Op::CountDistinct => Value::Null,
    }
}

fn percentile(column: &Column, low: u32, high: u32, place: PercentilePlace) -> Value {
    if let (Distinct::Decimals(numbers), false) = (&column.distinct, low == high) {
        let units = |code: u32| numbers.value(code as usize);
        return place.between_units(units(low), units(high), numbers.scale().unsigned_abs());
    }
    match (column.distinct.value(low), column.distinct.value(high)) {
        (value, _) if low == high => value,
        (Value::Integer(low), Value::Integer(high)) => place.between_whole(low, high),
        (low, high) => {
            let number = |value: Value| value.as_f64().unwrap_or_default();
            Value::Real(place.between(number(low), number(high)))
        }
    }
}
