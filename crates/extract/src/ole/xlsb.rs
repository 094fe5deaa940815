//! Excel's binary workbooks since 2007, read by `calamine` cell by cell.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{DataRef, Reader, SheetVisible, Xlsb, XlsbError};

use crate::Format;
use crate::error::{Error, Result};
use crate::grid::SheetRows;
use crate::ooxml::{format_number, format_serial_date, push_sheet_name};
use crate::output::Output;

/// How many cells pass between two looks at the clock.
const CELLS_PER_CHECK: u32 = 4096;

pub(crate) fn read_xlsb(bytes: &[u8], output: &mut Output) -> Result<()> {
    // The reader trusts what one part of a file says of another.
    let opened = catch_unwind(|| Xlsb::new(Cursor::new(bytes))).map_err(|_| {
        Error::broken(Format::Xlsb, "one of its parts points to another that is not there")
    })?;
    let mut workbook = opened.map_err(|error| {
        let message = error.to_string();
        if message.to_ascii_lowercase().contains("password") {
            return Error::Encrypted { format: Format::Xlsb };
        }
        Error::broken(Format::Xlsb, message)
    })?;
    let is_1904 = workbook.has_1904_epoch();
    for sheet in workbook.sheets_metadata().to_vec() {
        push_sheet_name(&sheet.name, sheet.visible != SheetVisible::Visible, output)?;
        output.check_time()?;
        // Sheets of charts and macros hold no cells.
        let Ok(mut cells) = workbook.worksheet_cells_reader(&sheet.name) else { continue };
        let mut rows = SheetRows::new(&sheet.name);
        let mut n_cells = 0_u32;
        loop {
            n_cells = n_cells.wrapping_add(1);
            if n_cells.is_multiple_of(CELLS_PER_CHECK) {
                output.check_time()?;
            }
            // Cells are trusted too. What was read before a bad one stays.
            let next = catch_unwind(AssertUnwindSafe(|| {
                let cell = cells.next_cell()?;
                Ok::<_, XlsbError>(
                    cell.map(|cell| (cell.get_position(), shown(cell.get_value(), is_1904))),
                )
            }));
            match next {
                Ok(Ok(Some(((row, column), text)))) => rows.cell(row, column, &text, output)?,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => {
                    output.warn_of(&Error::broken(Format::Xlsb, error));
                    break;
                }
                Err(_) => {
                    let reason =
                        format!("a cell of `{}` points outside of the workbook", sheet.name);
                    output.warn_of(&Error::broken(Format::Xlsb, reason));
                    break;
                }
            }
        }
        rows.end(output)?;
    }
    Ok(())
}

fn shown(value: &DataRef, is_1904: bool) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => format_number(*number),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(date) => {
            let number = date.as_f64();
            let written = date.is_datetime().then(|| format_serial_date(number, is_1904)).flatten();
            written.unwrap_or_else(|| format_number(number))
        }
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}
