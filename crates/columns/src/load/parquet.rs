//! Reads Parquet in batches, with the types the file has.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::builder::ColumnBuilder;
use super::intern::Raw;
use super::{MAX_ROWS, TableBuilder};
use crate::{Cells, DAY_MILLIS, Error, Result};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 64 << 10;

/// Reads the wanted columns of a file.
pub(crate) fn read(path: &Path, table: &mut TableBuilder) -> Result<()> {
    let failed = |cause| Error::Parquet { path: path.to_owned(), cause };
    let file = fs_err::File::open(path)?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.into_file()).map_err(failed)?;
    let n_rows = reader.metadata().file_metadata().num_rows();
    if n_rows < 0 || n_rows as usize > MAX_ROWS {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            size: n_rows.unsigned_abs(),
            unit: "rows",
            limit: MAX_ROWS as u64,
        });
    }
    let schema = reader.schema().clone();
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let places = table.start(&header)?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), places.iter().copied());
    let batches =
        reader.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(failed)?;
    for batch in batches {
        let batch = batch.map_err(|cause| Error::Arrow { path: path.to_owned(), cause })?;
        table.rows(batch.num_rows());
        for (column, place) in table.columns.iter_mut().zip(&places) {
            let array = batch.column_by_name(&header[*place]).ok_or_else(|| Error::Malformed {
                path: path.to_owned(),
                reason: format!("a batch has no column `{}`", header[*place]),
            })?;
            push_array(column, array)
                .map_err(|cause| Error::Arrow { path: path.to_owned(), cause })?;
        }
    }
    Ok(())
}

fn push_array(column: &mut ColumnBuilder, array: &ArrayRef) -> Result<(), ArrowError> {
    if let (Cells::Many { .. }, DataType::List(_)) = (column.spec().cells, array.data_type()) {
        let list = array.as_list::<i32>();
        let items = Plain::of(list.values())?;
        let offsets = list.value_offsets();
        for row in 0..list.len() {
            if list.is_null(row) {
                column.push_null();
                continue;
            }
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            column.push_list(range.filter_map(|item| items.get(item)));
        }
        return Ok(());
    }
    if matches!(array.data_type(), DataType::List(_)) {
        return push_lists_as_text(column, array);
    }
    let cells = Plain::of(array)?;
    for row in 0..array.len() {
        match cells.get(row) {
            Some(raw) => column.push(raw),
            None => column.push_null(),
        }
    }
    Ok(())
}

/// An array in one of the few types that cells are taken from.
enum Plain {
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
    fn of(array: &ArrayRef) -> Result<Self, ArrowError> {
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
            DataType::Float32 => real::<Float32Type>(array, f64::from),
            DataType::Float64 => Plain::Reals(array.as_primitive::<Float64Type>().clone()),
            // As text a decimal keeps its digits in a text column, and is said to be rounded in
            // a column of numbers where a float cannot hold them.
            DataType::Decimal128(_, _) => {
                let decimals = array.as_primitive::<Decimal128Type>();
                Plain::Text(
                    (0..decimals.len())
                        .map(|row| decimals.is_valid(row).then(|| decimals.value_as_string(row)))
                        .collect(),
                )
            }
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

    fn get(&self, row: usize) -> Option<Raw<'_>> {
        match self {
            Plain::Text(cells) => cells.is_valid(row).then(|| Raw::Text(cells.value(row))),
            Plain::Integers(cells) => cells.is_valid(row).then(|| Raw::Integer(cells.value(row))),
            Plain::Reals(cells) => cells.is_valid(row).then(|| Raw::Real(cells.value(row))),
            Plain::Booleans(cells) => cells.is_valid(row).then(|| Raw::Boolean(cells.value(row))),
            Plain::Moments(cells) => cells.is_valid(row).then(|| Raw::Millis(cells.value(row))),
        }
    }
}

/// A list in a column that the schema has as one value is its JSON text.
fn push_lists_as_text(column: &mut ColumnBuilder, array: &ArrayRef) -> Result<(), ArrowError> {
    let list = array.as_list::<i32>();
    let items = Plain::of(list.values())?;
    let offsets = list.value_offsets();
    for row in 0..list.len() {
        if list.is_null(row) {
            column.push_null();
            continue;
        }
        let values: serde_json::Value = (offsets[row] as usize..offsets[row + 1] as usize)
            .map(|item| match items.get(item) {
                None => serde_json::Value::Null,
                Some(Raw::Text(text)) => text.into(),
                Some(Raw::Integer(number)) => number.into(),
                Some(Raw::Real(number)) => crate::Value::Real(number).to_json(),
                Some(Raw::Boolean(flag)) => flag.into(),
                Some(Raw::Millis(millis)) => crate::to_iso(millis).into(),
            })
            .collect();
        column.push(Raw::Text(&values.to_string()));
    }
    Ok(())
}

fn whole<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef) -> Plain {
    Plain::Integers(array.as_primitive::<T>().unary(Into::into))
}

fn real<T: ArrowPrimitiveType>(array: &ArrayRef, to_real: impl Fn(T::Native) -> f64) -> Plain {
    Plain::Reals(array.as_primitive::<T>().unary(to_real))
}

/// Whole numbers that fit stay numbers; larger ones come as text, so that rounding is counted.
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
