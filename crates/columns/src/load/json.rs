//! Reads an array of objects, or one object on each line.
//!
//! Cells become text first and are typed with all others, so a number in quotes is a number
//! and a number where text is expected is text. Objects in a cell stay as their JSON text.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::intern::Raw;
use super::report::Misfit;
use super::{MAX_ROWS, TableBuilder};
use crate::{Error, Result};

/// The longest line of a JSON lines file.
const MAX_LINE_BYTES: usize = 64 << 20;
/// How many rows are looked at for the names of the columns when the schema names none.
const ROWS_FOR_NAMES: usize = 1000;

/// Reads a file that holds one array of objects, without holding the array.
pub(crate) fn read_array(path: &Path, table: &mut TableBuilder) -> Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, fs_err::File::open(path)?);
    if file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        file.consume(3);
    }
    let is_empty = file.fill_buf()?.is_empty();
    let mut rows = Rows::new(path, table);
    if !is_empty {
        let mut deserializer = serde_json::Deserializer::from_reader(file);
        let outcome = (&mut rows).deserialize(&mut deserializer).and_then(|()| deserializer.end());
        if let Some(error) = rows.error.take() {
            return Err(error);
        }
        outcome.map_err(|cause| Error::Malformed {
            path: path.to_owned(),
            reason: format!("expected an array of objects: {cause}"),
        })?;
    }
    rows.finish()
}

/// Reads a file with one object on each line; a line that is no object is a misfit.
pub(crate) fn read_lines(path: &Path, table: &mut TableBuilder) -> Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, fs_err::File::open(path)?);
    let mut rows = Rows::new(path, table);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let n_read = std::io::Read::take(&mut file, MAX_LINE_BYTES as u64 + 1)
            .read_until(b'\n', &mut line)?;
        if n_read == 0 {
            return rows.finish();
        }
        number += 1;
        if line.len() > MAX_LINE_BYTES {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                size: line.len() as u64,
                unit: "bytes in one line",
                limit: MAX_LINE_BYTES as u64,
            });
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(text) {
            Ok(Value::Object(object)) => rows.push(Some(object), number)?,
            Ok(_) | Err(_) => rows.push(None, number)?,
        }
    }
}

/// Takes objects as rows. While the names are still unknown, rows wait.
struct Rows<'t> {
    path: &'t Path,
    table: &'t mut TableBuilder,
    names: Option<Vec<String>>,
    waiting: Vec<(Option<Map<String, Value>>, u64)>,
    error: Option<Error>,
}

impl<'t> Rows<'t> {
    fn new(path: &'t Path, table: &'t mut TableBuilder) -> Self {
        Rows { path, table, names: None, waiting: Vec::new(), error: None }
    }

    fn push(&mut self, row: Option<Map<String, Value>>, line: u64) -> Result<()> {
        if self.table.n_rows() + self.waiting.len() >= MAX_ROWS {
            return Err(Error::TooLarge {
                path: self.path.to_owned(),
                size: MAX_ROWS as u64 + 1,
                unit: "rows",
                limit: MAX_ROWS as u64,
            });
        }
        if self.names.is_some() {
            self.add(row.as_ref(), line);
            return Ok(());
        }
        self.waiting.push((row, line));
        if self.waiting.len() >= ROWS_FOR_NAMES { self.settle() } else { Ok(()) }
    }

    fn finish(mut self) -> Result<()> {
        if self.names.is_none() { self.settle() } else { Ok(()) }
    }

    /// A column is known when the schema or one of the first rows names it. An object does not
    /// have to name every column, so a column of the schema that no row has is all null.
    fn settle(&mut self) -> Result<()> {
        let mut names: Vec<String> =
            self.table.spec.columns.iter().map(|column| column.source_name.clone()).collect();
        if names.is_empty() {
            for (row, _) in &self.waiting {
                for name in row.iter().flat_map(Map::keys) {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
            }
        }
        let places = self.table.start(&names)?;
        self.names = Some(places.into_iter().map(|place| names[place].clone()).collect());
        for (row, line) in std::mem::take(&mut self.waiting) {
            self.add(row.as_ref(), line);
        }
        Ok(())
    }

    fn add(&mut self, row: Option<&Map<String, Value>>, line: u64) {
        let names = self.names.take().expect("rows are added once the names are settled");
        if row.is_none() {
            let misfit = Misfit::of_row(line, "the row is not a JSON object");
            self.table.misfit(self.table.n_rows(), misfit);
        }
        self.table.line(line);
        for (column, name) in names.iter().enumerate() {
            let cell = row.and_then(|row| row.get(name)).unwrap_or(&Value::Null);
            self.push_cell(column, cell);
        }
        self.names = Some(names);
    }

    fn push_cell(&mut self, column: usize, cell: &Value) {
        let holds_lists =
            matches!(self.table.columns[column].spec().cells, crate::Cells::Many { .. });
        match cell {
            Value::Null => self.table.columns[column].push_null(),
            Value::String(text) => {
                let text = self.table.cut(text);
                self.table.columns[column].push(Raw::Text(text));
            }
            Value::Array(items) if holds_lists => {
                let texts: Vec<String> = items
                    .iter()
                    .filter(|item| !item.is_null())
                    .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                    .collect();
                self.table.columns[column].push_list(texts.iter().map(|text| Raw::Text(text)));
            }
            Value::Bool(flag) => self.table.columns[column].push(Raw::Boolean(*flag)),
            // A whole number above what is kept comes as text, so that its rounding is counted.
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), _, _) => self.table.columns[column].push(Raw::Integer(whole)),
                (None, None, Some(real)) => self.table.columns[column].push(Raw::Real(real)),
                (None, _, _) => self.table.columns[column].push(Raw::Text(&number.to_string())),
            },
            Value::Array(_) | Value::Object(_) => {
                let text = cell.to_string();
                let text = self.table.cut(&text);
                self.table.columns[column].push(Raw::Text(text));
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Rows<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(row) = array.next_element::<Value>()? {
            number += 1;
            let row = if let Value::Object(object) = row { Some(object) } else { None };
            if let Err(error) = self.push(row, number) {
                self.error = Some(error);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
