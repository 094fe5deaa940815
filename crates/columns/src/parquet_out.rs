//! Writes rows as Parquet, group by group, with the types of their columns.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::{ColumnInfo, Kind, Value};

/// A Parquet file being written.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    columns: Vec<ColumnInfo>,
    schema: Arc<Schema>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file with these columns. Cells with several values are JSON text.
    pub fn new(out: W, columns: Vec<ColumnInfo>) -> Result<Self, ParquetError> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| Field::new(&column.name, data_type(column), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        Ok(ParquetWriter { writer, columns, schema })
    }

    /// Writes rows as one group; each has a cell for each column.
    pub fn write(&mut self, rows: &[Vec<Value>]) -> Result<(), ParquetError> {
        let arrays: Vec<ArrayRef> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| array(column, rows.iter().map(|row| &row[at])))
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

fn data_type(column: &ColumnInfo) -> DataType {
    match column.kind {
        _ if column.has_lists => DataType::Utf8,
        Kind::Text => DataType::Utf8,
        Kind::Number => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    }
}

fn array<'v>(column: &ColumnInfo, cells: impl Iterator<Item = &'v Value>) -> ArrayRef {
    match (column.kind, column.has_lists) {
        (Kind::Text, _) | (_, true) => {
            let mut builder = StringBuilder::new();
            for cell in cells {
                match cell {
                    Value::Null => builder.append_null(),
                    Value::Text(text) => builder.append_value(text),
                    other @ (Value::Integer(_)
                    | Value::Real(_)
                    | Value::Boolean(_)
                    | Value::Timestamp(_)
                    | Value::List(_)) => builder.append_value(other.to_row_json().to_string()),
                }
            }
            Arc::new(builder.finish())
        }
        (Kind::Number, false) => {
            let mut builder = Float64Builder::new();
            cells.for_each(|cell| builder.append_option(cell.as_f64()));
            Arc::new(builder.finish())
        }
        (Kind::Boolean, false) => {
            let mut builder = BooleanBuilder::new();
            for cell in cells {
                builder.append_option(match cell {
                    Value::Boolean(flag) => Some(*flag),
                    Value::Null
                    | Value::Text(_)
                    | Value::Integer(_)
                    | Value::Real(_)
                    | Value::Timestamp(_)
                    | Value::List(_) => None,
                });
            }
            Arc::new(builder.finish())
        }
        (Kind::Timestamp, false) => {
            let mut builder = TimestampMillisecondBuilder::new().with_timezone("UTC");
            for cell in cells {
                builder.append_option(match cell {
                    Value::Timestamp(millis) => Some(*millis),
                    Value::Null
                    | Value::Text(_)
                    | Value::Integer(_)
                    | Value::Real(_)
                    | Value::Boolean(_)
                    | Value::List(_) => None,
                });
            }
            Arc::new(builder.finish())
        }
    }
}
