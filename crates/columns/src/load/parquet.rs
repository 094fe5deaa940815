//! Reads Parquet in batches, with the types the file has.

use std::path::Path;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, LargeStringArray,
    TimestampMillisecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::builder::ColumnBuilder;
use super::intern::Raw;
use super::{MAX_ROWS, TableBuilder};
use crate::{Cells, Error, Result};

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

fn push_array(column: &mut ColumnBuilder, array: &ArrayRef) -> arrow::error::Result<()> {
    if let (Cells::Many { .. }, DataType::List(field)) = (column.spec().cells, array.data_type()) {
        let list = array.as_list::<i32>();
        let items = Plain::of(list.values(), field.data_type())?;
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
    let cells = Plain::of(array, array.data_type())?;
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
    Moments(TimestampMillisecondArray),
}

impl Plain {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else Arrow has or will have is asked to show itself as text"
    )]
    fn of(array: &ArrayRef, kind: &DataType) -> arrow::error::Result<Self> {
        Ok(match kind {
            DataType::Boolean => Plain::Booleans(array.as_boolean().clone()),
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32 => {
                Plain::Integers(cast(array, &DataType::Int64)?.as_primitive().clone())
            }
            DataType::UInt64
            | DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal32(_, _)
            | DataType::Decimal64(_, _)
            | DataType::Decimal128(_, _)
            | DataType::Decimal256(_, _) => {
                Plain::Reals(cast(array, &DataType::Float64)?.as_primitive().clone())
            }
            DataType::Timestamp(_, zone) => {
                let millis = DataType::Timestamp(TimeUnit::Millisecond, zone.clone());
                Plain::Moments(cast(array, &millis)?.as_primitive().clone())
            }
            DataType::Date32 | DataType::Date64 => {
                let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
                Plain::Moments(cast(array, &millis)?.as_primitive().clone())
            }
            // Everything else shows itself as text, or fails with the type's name.
            _ => Plain::Text(cast(array, &DataType::LargeUtf8)?.as_string::<i64>().clone()),
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
