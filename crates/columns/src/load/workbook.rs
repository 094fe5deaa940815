//! Reads one sheet of a workbook: the first row below titles and notes names the columns.

use std::path::Path;

use calamine::{Data, Reader, open_workbook_auto};

use super::above_header::{LOOKED_AT, Shape, n_above};
use super::header::unique;
use super::intern::Raw;
use super::{MAX_ROWS, TableBuilder};
use crate::{Error, Result, TableSpec};

/// The largest workbook: it is unpacked in memory.
const MAX_WORKBOOK_BYTES: u64 = 256 << 20;

/// Reads a sheet.
pub(crate) fn read(path: &Path, spec: &TableSpec, table: &mut TableBuilder) -> Result<()> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    let size = super::stat(path)?.len();
    if size > MAX_WORKBOOK_BYTES {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            size,
            unit: "bytes",
            limit: MAX_WORKBOOK_BYTES,
        });
    }
    let mut workbook = open_workbook_auto(path).map_err(|cause| malformed(cause.to_string()))?;
    let sheets = workbook.sheet_names();
    let sheet = match &spec.sheet {
        Some(wanted) => sheets.iter().find(|sheet| *sheet == wanted).ok_or_else(|| {
            malformed(format!("there is no sheet `{wanted}`: it has {}", sheets.join(", ")))
        })?,
        None => sheets.first().ok_or_else(|| malformed("it has no sheet".to_owned()))?,
    };
    let range = workbook.worksheet_range(sheet).map_err(|cause| malformed(cause.to_string()))?;
    let is_empty = |row: &&[Data]| row.iter().all(|cell| matches!(cell, Data::Empty));
    let first_line = range.start().map_or(1, |(row, _)| u64::from(row) + 1);
    let shapes: Vec<Shape> = range
        .rows()
        .take(LOOKED_AT)
        .map(|row| Shape::of(row.iter().map(|cell| !text_of(cell).trim().is_empty())))
        .collect();
    let n_above = n_above(&shapes);
    for shape in &shapes[..n_above] {
        table.above_header(shape.n_filled > 0);
    }
    let below = range.rows().zip(first_line..).skip(n_above);
    let mut rows = below.filter(|(row, _)| !is_empty(row));
    let Some((header, _)) = rows.next() else {
        table.start(&[])?;
        return Ok(());
    };
    let names = header.iter().map(|cell| text_of(cell).trim().to_owned()).collect();
    let places = table.start(&unique(names))?;
    for (row, line) in rows {
        if table.n_rows() >= MAX_ROWS {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                size: MAX_ROWS as u64 + 1,
                unit: "rows",
                limit: MAX_ROWS as u64,
            });
        }
        table.line(line);
        for (column, place) in places.iter().enumerate() {
            push(table, column, row.get(*place).unwrap_or(&Data::Empty));
        }
    }
    Ok(())
}

fn push(table: &mut TableBuilder, column: usize, cell: &Data) {
    let raw = match cell {
        Data::Empty => {
            table.columns[column].push_null();
            return;
        }
        Data::Int(number) => Raw::Integer(*number),
        // Excel knows only floats; a whole one was typed as a whole number.
        Data::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Raw::Integer(*number as i64)
        }
        Data::Float(number) => Raw::Real(*number),
        Data::Bool(flag) => Raw::Boolean(*flag),
        // A duration is its seconds, as in Parquet.
        Data::DateTime(moment) if moment.is_duration() => {
            let seconds = (moment.as_f64() * 86_400_000.0).round() / 1000.0;
            if seconds.fract() == 0.0 { Raw::Integer(seconds as i64) } else { Raw::Real(seconds) }
        }
        other @ (Data::String(_)
        | Data::DateTime(_)
        | Data::DateTimeIso(_)
        | Data::DurationIso(_)
        | Data::Error(_)) => {
            let text = text_of(other);
            let text = table.cut(&text).to_owned();
            table.columns[column].push(Raw::Text(&text));
            return;
        }
    };
    table.columns[column].push(raw);
}

/// A date of a workbook as ISO 8601, an error as the sheet shows it.
fn text_of(cell: &Data) -> String {
    match cell {
        Data::DateTime(moment) => {
            // Day 25,569 of Excel is 1970-01-01.
            let millis = (moment.as_f64() - 25_569.0) * 86_400_000.0;
            let millis = millis.round() as i64;
            let iso = crate::to_iso(millis);
            // Day 0 is no day: the cell is a time of day, and no moment of 1899.
            if (0.0..1.0).contains(&moment.as_f64()) {
                return iso[11..].trim_end_matches('Z').trim_end_matches(".000").to_owned();
            }
            // A whole day is a date, and no time zone moves it.
            let is_date = millis.rem_euclid(crate::DAY_MILLIS) == 0;
            if is_date { iso[..10].to_owned() } else { iso }
        }
        other @ (Data::Int(_)
        | Data::Float(_)
        | Data::String(_)
        | Data::Bool(_)
        | Data::DateTimeIso(_)
        | Data::DurationIso(_)
        | Data::Error(_)
        | Data::Empty) => other.to_string(),
    }
}

/// Names the sheets of a workbook that hold something, in their order.
///
/// # Errors
///
/// When the file is no workbook.
pub fn sheets_of(path: &Path) -> Result<Vec<String>> {
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    super::stat(path)?;
    let mut workbook = open_workbook_auto(path).map_err(|cause| malformed(cause.to_string()))?;
    let is_filled = |(name, range): (String, calamine::Range<Data>)| {
        (range.rows().filter(|row| row.iter().any(|cell| !matches!(cell, Data::Empty))).count() > 1)
            .then_some(name)
    };
    Ok(workbook.worksheets().into_iter().filter_map(is_filled).collect())
}

#[cfg(test)]
mod tests {
    use calamine::{ExcelDateTime, ExcelDateTimeType};

    use super::*;

    #[test]
    fn a_time_of_day_is_no_moment_of_1899() {
        let written = |days: f64| {
            let moment = ExcelDateTime::new(days, ExcelDateTimeType::DateTime, false);
            text_of(&Data::DateTime(moment))
        };
        assert_eq!(written(8.5 / 24.0), "08:30:00");
        assert_eq!(written(0.0), "00:00:00");
        assert_eq!(written(45_292.0), "2024-01-01");
        assert_eq!(written(45_292.5), "2024-01-01T12:00:00.000Z");
    }
}
