//! Reads an array of objects, alone or as a member of an object, or one object on each line.
//!
//! Cells become text first and are typed with all others, so a number in quotes is a number
//! and a number where text is expected is text. Objects in a cell stay as their JSON text. A
//! number with more digits than a float keeps is taken as it is written, for the same reason.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::intern::Raw;
use super::report::Misfit;
use super::{MAX_ROWS, TableBuilder};
use crate::{Error, Result};

/// The longest line of a JSON lines file.
const MAX_LINE_BYTES: usize = 64 << 20;
/// Digits in a row from which on a number may be longer than a float keeps.
const LONG_DIGITS: usize = 16;
/// How many rows are looked at for the names of the columns when the schema names none.
const ROWS_FOR_NAMES: usize = 1000;

/// Reads a file of JSON, without holding the array: of one array of objects, of an object of which
/// a member is one, or of an object on each line.
pub(crate) fn read_json(path: &Path, table: &mut TableBuilder) -> Result<()> {
    if holds_lines(path)? { read_lines(path, table) } else { read_array(path, table) }
}

/// Tells whether each line is an object of its own, by the first two.
fn holds_lines(path: &Path) -> Result<bool> {
    let mut file = BufReader::new(fs_err::File::open(path)?);
    let mut next_line = || -> Result<Vec<u8>> {
        let mut line = Vec::new();
        while line.iter().all(u8::is_ascii_whitespace) {
            line.clear();
            let most = MAX_LINE_BYTES as u64;
            if std::io::Read::take(&mut file, most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
        }
        Ok(line)
    };
    let first = next_line()?;
    let text = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first);
    if !text.trim_ascii_start().starts_with(b"{") {
        return Ok(false);
    }
    let is_object = std::str::from_utf8(text).ok().and_then(Row::read).is_some();
    Ok(is_object && next_line()?.trim_ascii_start().starts_with(b"{"))
}

/// Reads a file that holds one array of objects.
fn read_array(path: &Path, table: &mut TableBuilder) -> Result<()> {
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
            reason: format!(
                "expected an array of objects, an object that holds one, or an object on each \
                 line: {cause}"
            ),
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
        let row = std::str::from_utf8(text).ok().and_then(Row::read);
        rows.push(row, number)?;
    }
}

/// One object.
struct Row {
    cells: Map<String, Value>,
    /// The text of those cells that hold long runs of digits.
    long: HashMap<String, String>,
}

impl Row {
    /// Reads an object; none when the text is something else.
    fn read(text: &str) -> Option<Self> {
        let Ok(Value::Object(cells)) = serde_json::from_str(text) else { return None };
        let mut long = HashMap::new();
        if has_long_digits(text) {
            let raw: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let raw = raw.into_iter().map(|(name, cell)| (name, cell.get()));
            let raw = raw.filter(|(_, cell)| !cell.starts_with('"') && has_long_digits(cell));
            long.extend(raw.map(|(name, cell)| (name, cell.to_owned())));
        }
        Some(Row { cells, long })
    }
}

fn has_long_digits(text: &str) -> bool {
    let mut n_digits = 0;
    text.bytes().any(|byte| {
        match byte {
            b'0'..=b'9' => n_digits += 1,
            // The point is inside a number.
            b'.' => {}
            _ => n_digits = 0,
        }
        n_digits >= LONG_DIGITS
    })
}

/// Gives the items of a list whose text has long numbers, each as it is written; none for a null.
fn items_as_written(text: &str) -> Option<Vec<Option<String>>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let written = |item: &RawValue| match serde_json::from_str(item.get()) {
        Ok(Value::Null) => None,
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Number(_)) | Err(_) => Some(item.get().to_owned()),
        Ok(other) => Some(other.to_string()),
    };
    Some(items.into_iter().map(written).collect())
}

/// Takes objects as rows. While the names are still unknown, rows wait.
struct Rows<'t> {
    path: &'t Path,
    table: &'t mut TableBuilder,
    names: Option<Vec<String>>,
    waiting: Vec<(Option<Row>, u64)>,
    error: Option<Error>,
}

impl<'t> Rows<'t> {
    fn new(path: &'t Path, table: &'t mut TableBuilder) -> Self {
        Rows { path, table, names: None, waiting: Vec::new(), error: None }
    }

    fn push(&mut self, row: Option<Row>, line: u64) -> Result<()> {
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
                for name in row.iter().flat_map(|row| row.cells.keys()) {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
            }
        }
        self.table.start(&names)?;
        let columns = self.table.columns.iter();
        self.names = Some(columns.map(|column| column.spec().source_name.clone()).collect());
        for (row, line) in std::mem::take(&mut self.waiting) {
            self.add(row.as_ref(), line);
        }
        Ok(())
    }

    fn add(&mut self, row: Option<&Row>, line: u64) {
        let names = self.names.take().expect("rows are added once the names are settled");
        if row.is_none() {
            let misfit = Misfit::of_row(line, "the row is not a JSON object");
            self.table.misfit(self.table.n_rows(), misfit);
        }
        self.table.line(line);
        for (column, name) in names.iter().enumerate() {
            let cell = row.and_then(|row| row.cells.get(name)).unwrap_or(&Value::Null);
            let written = row.and_then(|row| row.long.get(name)).map(String::as_str);
            self.push_cell(column, cell, written);
        }
        self.names = Some(names);
    }

    /// Adds a cell; `written` is its text where it holds a long run of digits.
    fn push_cell(&mut self, column: usize, cell: &Value, written: Option<&str>) {
        let holds_lists =
            matches!(self.table.columns[column].spec().cells, crate::Cells::Many { .. });
        match cell {
            Value::Null => self.table.columns[column].push_null(),
            Value::String(text) => {
                let text = self.table.cut(text);
                self.table.columns[column].push(Raw::Text(text));
            }
            Value::Array(items) if holds_lists => {
                let texts = written.and_then(items_as_written).unwrap_or_else(|| {
                    let text = |item: &Value| {
                        let text = || item.as_str().map_or_else(|| item.to_string(), str::to_owned);
                        (!item.is_null()).then(text)
                    };
                    items.iter().map(text).collect()
                });
                let cells = texts.iter().map(|text| text.as_deref().map(Raw::Text));
                self.table.columns[column].push_list(cells);
            }
            Value::Bool(flag) => self.table.columns[column].push(Raw::Boolean(*flag)),
            // A long number comes as text, with all its digits.
            Value::Number(number) => match (number.as_i64(), written, number.as_f64()) {
                (Some(whole), _, _) => self.table.columns[column].push(Raw::Integer(whole)),
                (None, None, Some(real)) => self.table.columns[column].push(Raw::Real(real)),
                (None, written, _) => {
                    let text = written.map_or_else(|| number.to_string(), str::to_owned);
                    self.table.columns[column].push(Raw::Text(&text));
                }
            },
            Value::Array(_) | Value::Object(_) => {
                let text = written.map_or_else(|| cell.to_string(), str::to_owned);
                let text = self.table.cut(&text);
                self.table.columns[column].push(Raw::Text(text));
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Rows<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(row) = array.next_element::<Box<RawValue>>()? {
            number += 1;
            let row = Row::read(row.get());
            self.push_or_stop(row, number)?;
        }
        Ok(())
    }

    /// Takes the first member that is an array of objects.
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut found = None;
        while let Some(name) = object.next_key::<String>()? {
            if found.is_some() {
                object.next_value::<IgnoredAny>()?;
            } else if object.next_value_seed(Member(self))? {
                found = Some(name);
            }
        }
        let name = found.ok_or_else(|| serde::de::Error::custom("no member is such an array"))?;
        self.table.rows_of(name);
        Ok(())
    }
}

impl Rows<'_> {
    fn push_or_stop<E: serde::de::Error>(&mut self, row: Option<Row>, line: u64) -> Result<(), E> {
        self.push(row, line).map_err(|error| {
            self.error = Some(error);
            E::custom("stopped")
        })
    }
}

/// A member of an object, which may be the array of rows.
struct Member<'r, 't>(&'r mut Rows<'t>);

impl<'de> DeserializeSeed<'de> for Member<'_, '_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<bool, A::Error> {
        let first = array.next_element::<Box<RawValue>>()?;
        let Some(first) = first.and_then(|first| Row::read(first.get())) else {
            while array.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(false);
        };
        self.0.push_or_stop(Some(first), 1)?;
        let mut number = 1;
        while let Some(row) = array.next_element::<Box<RawValue>>()? {
            number += 1;
            self.0.push_or_stop(Row::read(row.get()), number)?;
        }
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<bool, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}
