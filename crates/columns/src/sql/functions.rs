//! What SQLite lacks, as functions of our own: exact sums, percentiles, buckets of time, cells as
//! people write them and cells with several values.

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value as Held, ValueRef};

use crate::aggregate::{PercentilePlace, range_number_of, whole_mean, whole_sum, width_number};
use crate::load::{Items, Raw, cut_at_boundary, value_of};
use crate::{Calendar, ColumnSpec, Value, Zone};

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("dowse_bucket", 3, flags, |context| {
        let Some(millis) = whole(context.get_raw(0)) else { return Ok(None) };
        let calendar: Calendar = context
            .get_raw(1)
            .as_str()
            .ok()
            .and_then(|name| name.parse().ok())
            .unwrap_or(Calendar::Day);
        let zone = context.get_or_create_aux(2, |name| {
            let name = name.as_str().map_err(|cause| -> BoxError { Box::new(cause) })?;
            Zone::named(name).map_err(|cause| -> BoxError { Box::new(cause) })
        })?;
        Ok(Some(calendar.number(millis, zone.offset_at(millis))))
    })?;
    connection.create_scalar_function("dowse_width", 2, flags, |context| {
        let value = number(context.get_raw(0));
        let width = number(context.get_raw(1));
        Ok(value.zip(width).map(|(value, width)| width_number(value, width)))
    })?;
    connection.create_scalar_function("dowse_range", 2, flags, |context| {
        let value = match context.get_raw(0) {
            ValueRef::Integer(number) => Some(Value::Integer(number)),
            other
            @ (ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_)) => {
                number(other).map(Value::Real)
            }
        };
        let width = number(context.get_raw(1));
        Ok(value.zip(width).map(|(value, width)| range_number_of(&value, width)))
    })?;
    connection.create_scalar_function("dowse_cell", 2, flags, |context| {
        let spec = context.get_or_create_aux(1, read_spec)?;
        let value = with_raw(context.get_raw(0), |raw| value_of(raw, &spec)).flatten();
        Ok(value.map_or(Held::Null, held))
    })?;
    connection.create_scalar_function("dowse_list", 2, flags, |context| {
        let values = items(context)?.values;
        let json = values.iter().map(|value| match value {
            Value::Boolean(flag) => i64::from(*flag).into(),
            Value::Null
            | Value::Text(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Decimal(_)
            | Value::Timestamp(_)
            | Value::List(_) => value.to_json(),
        });
        let json: serde_json::Value = json.collect();
        Ok((!values.is_empty()).then(|| json.to_string()))
    })?;
    connection.create_scalar_function("dowse_repeated", 2, flags, |context| {
        Ok(items(context)?.n_repeated as i64)
    })?;
    connection.create_scalar_function("dowse_nulls", 2, flags, |context| {
        Ok(items(context)?.n_nulls as i64)
    })?;
    connection.create_scalar_function("dowse_has_misfits", 2, flags, |context| {
        Ok(items(context)?.has_misfits)
    })?;
    connection.create_aggregate_function("dowse_sum", 1, flags, Adding(Wanted::Sum))?;
    connection.create_aggregate_function("dowse_avg", 1, flags, Adding(Wanted::Mean))?;
    connection.create_aggregate_function("dowse_percentile", 2, flags, Ranking(Rank::Between))?;
    connection.create_aggregate_function("dowse_quantile", 2, flags, Ranking(Rank::Below))
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Writes a specification as the literal that functions read cells by.
pub(super) fn spec_of(spec: &ColumnSpec) -> String {
    let json = serde_json::to_string(spec).expect("a specification is plain data");
    format!("'{}'", json.replace('\'', "''"))
}

fn read_spec(spec: ValueRef<'_>) -> Result<ColumnSpec, BoxError> {
    let json = spec.as_str().map_err(|cause| -> BoxError { Box::new(cause) })?;
    serde_json::from_str(json).map_err(|cause| -> BoxError { Box::new(cause) })
}

/// Takes the cell of a call apart.
fn items(context: &Context<'_>) -> rusqlite::Result<Items> {
    let spec = context.get_or_create_aux(1, read_spec)?;
    Ok(with_raw(context.get_raw(0), |raw| Items::of(raw, &spec)).unwrap_or_default())
}

/// Reads a cell as one of a file; nothing where nothing is there.
fn with_raw<T>(cell: ValueRef<'_>, read: impl FnOnce(Raw<'_>) -> T) -> Option<T> {
    match cell {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(number) => Some(read(Raw::Integer(number))),
        ValueRef::Real(number) => Some(read(Raw::Real(number))),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            Some(read(Raw::Text(cut_at_boundary(&text))))
        }
    }
}

fn whole(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

fn held(value: Value) -> Held {
    match value {
        Value::Integer(number) | Value::Timestamp(number) => Held::Integer(number),
        Value::Real(number) => Held::Real(number),
        // SQLite has no such numbers; what a sum comes to is read again behind it.
        Value::Decimal(number) => Held::Text(number.to_string()),
        Value::Null | Value::Text(_) | Value::Boolean(_) | Value::List(_) => Held::Null,
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Sum,
    Mean,
}

/// Sums that do not overflow, and lose next to nothing.
struct Adding(Wanted);

#[derive(Default)]
struct Added {
    n_values: u64,
    whole: i128,
    real: f64,
    lost: f64,
    has_reals: bool,
}

impl Added {
    fn add(&mut self, amount: f64) {
        let total = self.real + amount;
        self.lost += if self.real.abs() >= amount.abs() {
            (self.real - total) + amount
        } else {
            (amount - total) + self.real
        };
        self.real = total;
    }
}

impl Aggregate<Added, Option<Held>> for Adding {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Added> {
        Ok(Added::default())
    }

    fn step(&self, context: &mut Context<'_>, added: &mut Added) -> rusqlite::Result<()> {
        match context.get_raw(0) {
            ValueRef::Integer(number) => added.whole += i128::from(number),
            ValueRef::Real(number) => {
                added.has_reals = true;
                added.add(number);
            }
            ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => return Ok(()),
        }
        added.n_values += 1;
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        added: Option<Added>,
    ) -> rusqlite::Result<Option<Held>> {
        let Some(mut added) = added.filter(|added| added.n_values > 0) else { return Ok(None) };
        if added.has_reals {
            added.add(added.whole as f64);
        }
        let real = added.real + added.lost;
        Ok(Some(match (self.0, added.has_reals) {
            (Wanted::Mean, true) => Held::Real(real / added.n_values as f64),
            (Wanted::Mean, false) => held(whole_mean(added.whole, added.n_values)),
            (Wanted::Sum, true) => Held::Real(real),
            (Wanted::Sum, false) => held(whole_sum(added.whole)),
        }))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rank {
    /// Between two neighbours.
    Between,
    /// A value that is there.
    Below,
}

/// Percentiles, by keeping all values of a group.
struct Ranking(Rank);

/// The values of a group, in the type that they have.
#[derive(Default)]
struct Ranked {
    whole: Vec<i64>,
    real: Vec<f64>,
    percent: u8,
}

impl Aggregate<Ranked, Option<Held>> for Ranking {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Ranked> {
        Ok(Ranked::default())
    }

    fn step(&self, context: &mut Context<'_>, ranked: &mut Ranked) -> rusqlite::Result<()> {
        ranked.percent = whole(context.get_raw(1)).unwrap_or(50).clamp(0, 100) as u8;
        match context.get_raw(0) {
            ValueRef::Integer(number) => ranked.whole.push(number),
            ValueRef::Real(number) => ranked.real.push(number),
            ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => {}
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        ranked: Option<Ranked>,
    ) -> rusqlite::Result<Option<Held>> {
        let Some(Ranked { mut whole, mut real, percent }) = ranked else { return Ok(None) };
        let n_values = (whole.len() + real.len()) as u64;
        if n_values == 0 {
            return Ok(None);
        }
        let place = PercentilePlace::among(n_values, percent);
        let (low, high) = match self.0 {
            Rank::Between => (place.low_idx as usize, place.high_idx as usize),
            Rank::Below => {
                let rank = (n_values * u64::from(percent)).div_ceil(100).max(1) as usize;
                (rank - 1, rank - 1)
            }
        };
        if real.is_empty() {
            whole.sort_unstable();
            let is_one = whole[low] == whole[high] || self.0 == Rank::Below;
            return Ok(Some(if is_one {
                Held::Integer(whole[low])
            } else {
                held(place.between_whole(whole[low], whole[high]))
            }));
        }
        real.extend(whole.iter().map(|number| *number as f64));
        real.sort_unstable_by(f64::total_cmp);
        Ok(Some(Held::Real(match self.0 {
            Rank::Between => place.between(real[low], real[high]),
            Rank::Below => real[low],
        })))
    }
}
