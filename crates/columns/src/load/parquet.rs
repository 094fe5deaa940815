//! Reads Parquet in batches, with the types the file has.

use std::path::Path;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use super::arrow_cells::Plain;
use super::builder::{ColumnBuilder, Points};
use super::{MAX_ROWS, NO_PLACE, TableBuilder, nested};
use crate::{Error, Result};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 64 << 10;

/// Reads the wanted columns of a file.
pub(crate) fn read(path: &Path, table: &mut TableBuilder) -> Result<()> {
    let failed = |cause| Error::Parquet { path: path.to_owned(), cause };
    let file = fs_err::File::open(path)?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.into_file())
        .map_err(|cause| unreadable(path, cause))?;
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
    let mask = ProjectionMask::roots(
        reader.parquet_schema(),
        places.iter().copied().filter(|place| *place != NO_PLACE),
    );
    check_codecs(path, reader.metadata(), &mask)?;
    let batches =
        reader.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(failed)?;
    for batch in batches {
        let batch = batch.map_err(|cause| failed(of_arrow(cause)))?;
        table.rows(batch.num_rows());
        for (column, place) in table.columns.iter_mut().zip(&places) {
            if *place == NO_PLACE {
                for _ in 0..batch.num_rows() {
                    column.push_null();
                }
                continue;
            }
            let array = batch.column_by_name(&header[*place]).ok_or_else(|| Error::Malformed {
                path: path.to_owned(),
                reason: format!("a batch has no column `{}`", header[*place]),
            })?;
            let holds_dates = matches!(array.data_type(), DataType::Date32 | DataType::Date64);
            column.points_are(if holds_dates { Points::Dates } else { Points::Times });
            push_array(column, array).map_err(|cause| failed(of_arrow(cause)))?;
        }
    }
    Ok(())
}

/// Says what to do about a file of which not even the description can be read.
fn unreadable(path: &Path, cause: ParquetError) -> Error {
    let is_encrypted = cause.to_string().contains("encrypted");
    if is_encrypted {
        let reason = "it is encrypted, which is not read: write it without encryption".to_owned();
        return Error::Malformed { path: path.to_owned(), reason };
    }
    Error::Parquet { path: path.to_owned(), cause }
}

/// Refuses columns whose compression nobody here undoes, by their names.
fn check_codecs(path: &Path, metadata: &ParquetMetaData, mask: &ProjectionMask) -> Result<()> {
    let malformed = |reason: String| Err(Error::Malformed { path: path.to_owned(), reason });
    for group in metadata.row_groups() {
        for (leaf, column) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let name = column.column_path().string();
            match column.compression() {
                Compression::UNCOMPRESSED
                | Compression::SNAPPY
                | Compression::GZIP(_)
                | Compression::BROTLI(_)
                | Compression::LZ4
                | Compression::LZ4_RAW
                | Compression::ZSTD(_) => {}
                codec @ Compression::LZO => {
                    return malformed(format!(
                        "its column `{name}` is compressed with {codec}, which is not read: \
                         write it with ZSTD, SNAPPY, GZIP, BROTLI, LZ4 or without compression"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// What reading batches says is about the Parquet file, whatever type it comes in.
fn of_arrow(cause: ArrowError) -> ParquetError {
    if let ArrowError::ParquetError(reason) = cause {
        let reason = reason.strip_prefix("Parquet error: ").unwrap_or(&reason);
        return ParquetError::General(reason.to_owned());
    }
    cause.into()
}

fn push_array(column: &mut ColumnBuilder, array: &ArrayRef) -> Result<(), ArrowError> {
    if nested::push(column, array)? {
        return Ok(());
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
