//! JSON: one object per line, or one array of objects.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::source::{MAX_ROWS, Table};
use crate::{Error, Result};

pub(crate) fn read(path: &Path) -> Result<Table> {
    let text = fs_err::read_to_string(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('[') {
        let objects: Vec<Value> = serde_json::from_str(text).map_err(|source| Error::Parse {
            path: path.to_owned(),
            row: source.line(),
            source: Box::new(source),
        })?;
        return collect(path, objects.into_iter().map(Some));
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    collect(path, lines.map(|line| serde_json::from_str(line).ok()))
}

/// Columns are the keys of all objects, in the order they are first met.
fn collect(path: &Path, objects: impl Iterator<Item = Option<Value>>) -> Result<Table> {
    let mut table = Table::default();
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Map<String, Value>> = Vec::new();
    for (at, object) in objects.enumerate() {
        if kept.len() == MAX_ROWS {
            return Err(Error::TooLarge {
                origin: path.display().to_string(),
                most: MAX_ROWS,
                unit: "rows",
            });
        }
        let Some(Value::Object(object)) = object else {
            table.bad_rows.push(at + 1);
            continue;
        };
        for key in object.keys() {
            if !positions.contains_key(key) {
                positions.insert(key.clone(), table.columns.len());
                table.columns.push(key.clone());
            }
        }
        kept.push(object);
    }
    for object in kept {
        let mut row = vec![String::new(); table.columns.len()];
        for (key, value) in object {
            row[positions[&key]] = cell(value);
        }
        table.rows.push(row);
    }
    Ok(table)
}

/// A list becomes `;`-separated, as aliases are written in files of separated text.
fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Array(values) => values.into_iter().map(cell).collect::<Vec<_>>().join(";"),
        other => other.to_string(),
    }
}
