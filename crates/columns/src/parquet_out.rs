//! Writes rows as Parquet, group by group, with the types of their columns.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, Decimal128Array, ListArray, RecordBatch, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::decimal::MAX_DIGITS;
use crate::{ColumnInfo, Decimal, Kind, Value};

/// A Parquet file being written.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    columns: Vec<ColumnInfo>,
    decimals: Decimals,
    schema: Arc<Schema>,
}

/// Columns of numbers that no float keeps, with how many digits are behind the point.
type Decimals = BTreeMap<String, Option<u8>>;

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file with these columns. Whole numbers stay whole, and cells
    /// with several values are lists. Columns that `decimals` names, as a
    /// [`LoadReport`](crate::LoadReport) does, are decimals of so many digits behind the point, or
    /// text where their digits are too many for one type.
    pub fn new(out: W, columns: Vec<ColumnInfo>, decimals: Decimals) -> Result<Self, ParquetError> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| Field::new(&column.name, data_type(column, &decimals), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        Ok(ParquetWriter { writer, columns, decimals, schema })
    }

    /// Writes rows as one group; each has a cell for each column.
    pub fn write(&mut self, rows: &[Vec<Value>]) -> Result<(), ParquetError> {
        let arrays: Vec<ArrayRef> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| array(column, &self.decimals, rows.iter().map(|row| &row[at])))
            .collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|cause| ParquetError::ArrowError(cause.to_string()))?;
        self.writer.write(&batch)?;
        self.writer.flush()
    }

    /// Writes the end of the file.
    pub fn finish(self) -> Result<(), ParquetError> {
        self.writer.close().map(drop)
    }
}

fn data_type(column: &ColumnInfo, decimals: &Decimals) -> DataType {
    let item = match column.kind {
        Kind::Number if decimals.contains_key(&column.name) => match decimals[&column.name] {
            Some(scale) => DataType::Decimal128(MAX_DIGITS, scale as i8),
            None => DataType::Utf8,
        },
        Kind::Text => DataType::Utf8,
        Kind::Number if column.is_whole => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    };
    if column.has_lists { DataType::List(item_field(item)) } else { item }
}

fn item_field(item: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", item, true))
}

fn array<'v>(
    column: &ColumnInfo,
    decimals: &Decimals,
    cells: impl Iterator<Item = &'v Value>,
) -> ArrayRef {
    if column.has_lists {
        return list_array(column, decimals, &cells.collect::<Vec<_>>());
    }
    if let Some(scale) = decimals.get(&column.name) {
        return decimal_array(*scale, cells);
    }
    match column.kind {
        Kind::Text => {
            let mut builder = StringBuilder::new();
            for cell in cells {
                match cell {
                    Value::Null => builder.append_null(),
                    Value::Text(text) => builder.append_value(text),
                    other @ (Value::Integer(_)
                    | Value::Real(_)
                    | Value::Decimal(_)
                    | Value::Boolean(_)
                    | Value::Timestamp(_)
                    | Value::List(_)) => builder.append_value(other.to_row_json().to_string()),
                }
            }
            Arc::new(builder.finish())
        }
        Kind::Number if column.is_whole => {
            let mut builder = Int64Builder::new();
            for cell in cells {
                builder.append_option(match cell {
                    Value::Integer(number) => Some(*number),
                    Value::Null
                    | Value::Text(_)
                    | Value::Real(_)
                    | Value::Decimal(_)
                    | Value::Boolean(_)
                    | Value::Timestamp(_)
                    | Value::List(_) => None,
                });
            }
            Arc::new(builder.finish())
        }
        Kind::Number => {
            let mut builder = Float64Builder::new();
            cells.for_each(|cell| builder.append_option(cell.as_f64()));
            Arc::new(builder.finish())
        }
        Kind::Boolean => {
            let mut builder = BooleanBuilder::new();
            for cell in cells {
                builder.append_option(match cell {
                    Value::Boolean(flag) => Some(*flag),
                    Value::Null
                    | Value::Text(_)
                    | Value::Integer(_)
                    | Value::Real(_)
                    | Value::Decimal(_)
                    | Value::Timestamp(_)
                    | Value::List(_) => None,
                });
            }
            Arc::new(builder.finish())
        }
        Kind::Timestamp => {
            let mut builder = TimestampMillisecondBuilder::new().with_timezone("UTC");
            for cell in cells {
                builder.append_option(match cell {
                    Value::Timestamp(millis) => Some(*millis),
                    Value::Null
                    | Value::Text(_)
                    | Value::Integer(_)
                    | Value::Real(_)
                    | Value::Decimal(_)
                    | Value::Boolean(_)
                    | Value::List(_) => None,
                });
            }
            Arc::new(builder.finish())
        }
    }
}

/// Writes numbers as decimals of a scale, or as text without one.
fn decimal_array<'v>(scale: Option<u8>, cells: impl Iterator<Item = &'v Value>) -> ArrayRef {
    let Some(scale) = scale else {
        let text = |cell| Decimal::of(cell).map(|number| number.to_string());
        return Arc::new(cells.map(text).collect::<StringArray>());
    };
    let units = |cell| Decimal::of(cell).and_then(|number| number.units_at(scale));
    let units: Decimal128Array = cells.map(units).collect();
    Arc::new(
        units
            .with_precision_and_scale(MAX_DIGITS, scale as i8)
            .expect("a scale is at most the number of digits"),
    )
}

/// Puts the values of all cells one after the other, and the lengths of the cells beside them.
fn list_array<'v>(column: &ColumnInfo, decimals: &Decimals, cells: &[&'v Value]) -> ArrayRef {
    let one = ColumnInfo { has_lists: false, ..column.clone() };
    let items_of = |cell: &&'v Value| -> &'v [Value] {
        if let Value::List(items) = *cell {
            items
        } else if **cell == Value::Null {
            &[]
        } else {
            std::slice::from_ref(*cell)
        }
    };
    let lengths: Vec<usize> = cells.iter().map(|cell| items_of(cell).len()).collect();
    let values = array(&one, decimals, cells.iter().flat_map(items_of));
    let is_there: Vec<bool> = cells.iter().map(|cell| **cell != Value::Null).collect();
    Arc::new(ListArray::new(
        item_field(data_type(&one, decimals)),
        OffsetBuffer::from_lengths(lengths),
        values,
        Some(NullBuffer::from(is_there)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::deadline;
    use crate::{Cells, ColumnSpec, Dataset, Query, Table, TableSpec};

    #[test]
    fn whole_numbers_and_lists_come_back_as_they_were() {
        let info = |name: &str, kind, has_lists, is_whole| ColumnInfo {
            name: name.to_owned(),
            kind,
            has_lists,
            is_whole,
        };
        let columns = vec![
            info("id", Kind::Number, false, true),
            info("share", Kind::Number, false, false),
            info("tags", Kind::Text, true, false),
        ];
        let list = |items: &[&str]| Value::List(items.iter().map(|item| (*item).into()).collect());
        let rows = vec![
            vec![Value::Integer(9_007_199_254_740_993), Value::Real(0.5), list(&["a", "b"])],
            vec![Value::Null, Value::Null, list(&[])],
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.parquet");
        let mut writer =
            ParquetWriter::new(fs_err::File::create(&path).unwrap(), columns, Decimals::new())
                .unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
        let mut tags = ColumnSpec::new("tags", Kind::Text);
        tags.cells = Cells::Many { separator: ';' };
        let spec = TableSpec::of(vec![
            ColumnSpec::new("id", Kind::Number),
            ColumnSpec::new("share", Kind::Number),
            tags,
        ]);
        let read = Dataset::read(&path, &spec).unwrap();
        assert!(read.columns()[0].is_whole);
        let names = ["id", "share", "tags"].map(str::to_owned).to_vec();
        assert_eq!(read.query(&Query::first(9, names), &deadline()).unwrap().rows, rows);
    }
}
