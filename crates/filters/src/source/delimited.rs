//! Separated text: `,`, `;` or tab, told by the header line; quotes as in RFC 4180.

use std::path::Path;

use crate::source::{MAX_ROWS, Table};
use crate::{Error, Result};

pub(crate) fn read(path: &Path) -> Result<Table> {
    let bytes =
        fs_err::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let parse = |row: usize, source: csv::Error| Error::Parse {
        path: path.to_owned(),
        row,
        source: Box::new(source),
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(bytes))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let headers = reader.headers().map_err(|source| parse(1, source))?;
    let columns: Vec<String> = headers.iter().map(str::to_owned).collect();
    let mut table = Table { columns, ..Table::default() };
    for (at, record) in reader.records().enumerate() {
        let row_number = at + 2;
        if table.rows.len() == MAX_ROWS {
            return Err(Error::TooLarge {
                origin: path.display().to_string(),
                most: MAX_ROWS,
                unit: "rows",
            });
        }
        match record {
            Ok(record) if record.len() == table.columns.len() => {
                table.rows.push(record.iter().map(str::to_owned).collect());
            }
            Ok(_) => table.bad_rows.push(row_number),
            Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) => {
                table.bad_rows.push(row_number);
            }
            Err(error) => return Err(parse(row_number, error)),
        }
    }
    Ok(table)
}

/// Gives the separator that the header line holds most of.
fn delimiter(bytes: &[u8]) -> u8 {
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| header.iter().filter(|byte| **byte == separator).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|separator| count(*separator)).unwrap_or(b',')
}
