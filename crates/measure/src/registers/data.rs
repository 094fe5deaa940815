//! Reading the measured files, which are simple separated text.

use std::path::Path;

use lookup::{Entry, Error, Name, Result};

/// Reads the rows of a file, without the header, as cells.
pub(crate) fn rows(path: &Path, separator: char) -> Result<Vec<Vec<String>>> {
    let text = fs_err::read_to_string(path).map_err(Error::Read)?;
    let lines = text.lines().skip(1).filter(|line| !line.is_empty());
    Ok(lines
        .map(|line| line.split(separator).map(|cell| cell.trim_matches('"').to_owned()).collect())
        .collect())
}

/// Gives a cell, or nothing where the row is short.
pub(crate) fn cell(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}

/// Reads the register of public entities.
pub(crate) fn entities(folder: &Path) -> Result<Vec<Entry>> {
    let rows = rows(&folder.join("entities/ent_pub_2025.csv"), ';')?;
    Ok(rows.iter().map(|row| entry(cell(row, 1), cell(row, 2))).collect())
}

/// Makes an entry with one name.
pub(crate) fn entry(value: &str, name: &str) -> Entry {
    Entry {
        value: value.to_owned(),
        names: vec![Name { locale: None, text: name.to_owned() }],
        ..Entry::default()
    }
}
