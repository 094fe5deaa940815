//! Excel's binary workbooks, read by `calamine`: before 2007 (`xls`) and after it (`xlsb`).

use std::io::Cursor;

use calamine::{Data, Range, Reader, SheetVisible, Xls, Xlsb};
use model::{BlockKind, Pointer};

use crate::Format;
use crate::error::{Error, Result};
use crate::grid::SheetRows;
use crate::ooxml::{format_number, format_serial_date};
use crate::output::Output;

pub(crate) fn read_workbook(format: Format, bytes: &[u8], output: &mut Output) -> Result<()> {
    if format == Format::Xlsb {
        let workbook =
            Xlsb::new(Cursor::new(bytes)).map_err(|error| refused(format, &error.to_string()))?;
        return push_sheets(workbook, format, output);
    }
    let workbook =
        Xls::new(Cursor::new(bytes)).map_err(|error| refused(format, &error.to_string()))?;
    push_sheets(workbook, format, output)
}

fn refused(format: Format, message: &str) -> Error {
    if message.to_ascii_lowercase().contains("password") {
        return Error::Encrypted { format };
    }
    Error::broken(format, message)
}

fn push_sheets<'a, W: Reader<Cursor<&'a [u8]>>>(
    mut workbook: W,
    format: Format,
    output: &mut Output,
) -> Result<()> {
    for sheet in workbook.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible {
            let pointer = Pointer::Sheet { name: sheet.name.clone(), range: None };
            output.push(BlockKind::Other, &pointer, format!("{} (hidden sheet)", sheet.name))?;
        }
        output.check_time()?;
        match workbook.worksheet_range(&sheet.name) {
            Ok(range) => push_range(&sheet.name, &range, output)?,
            // Sheets of charts and macros hold no cells.
            Err(_) if sheet.typ != calamine::SheetType::WorkSheet => {}
            Err(_) => output.warn_of(&Error::broken(
                format,
                format!("the sheet `{}` cannot be read", sheet.name),
            )),
        }
    }
    Ok(())
}

fn push_range(name: &str, range: &Range<Data>, output: &mut Output) -> Result<()> {
    let (first_row, first_column) = range.start().unwrap_or_default();
    let mut rows = SheetRows::new(name);
    for (row, column, value) in range.used_cells() {
        let text = shown(value);
        let row = first_row.saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
        let column = first_column.saturating_add(u32::try_from(column).unwrap_or(u32::MAX));
        rows.cell(row, column, &text, output)?;
    }
    rows.end(output)
}

fn shown(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => format_number(*number),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(date) if date.is_datetime() => {
            format_serial_date(date.as_f64(), false).unwrap_or_else(|| format_number(date.as_f64()))
        }
        Data::DateTime(date) => format_number(date.as_f64()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
        other => other.to_string(),
    }
}
