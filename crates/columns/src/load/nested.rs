//! Arrow columns that hold more than one value in a cell: lists of any kind, records and maps.
//!
//! A list whose column is configured as one is several values. Everything else is shown as its
//! JSON text, so that a file with such a column can be read at all.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use serde_json::Value;

use super::arrow_cells::Plain;
use super::builder::ColumnBuilder;
use super::intern::Raw;

/// Pushes the cells of a list, a record or a map; tells whether it was one of them.
pub(super) fn push(column: &mut ColumnBuilder, array: &ArrayRef) -> Result<bool, ArrowError> {
    if let crate::Cells::Many { .. } = column.spec().cells
        && let Some((items, ranges)) = elements(array)
        && !is_nested(items.data_type())
    {
        let items = Plain::of(&items)?;
        for (row, range) in ranges.into_iter().enumerate() {
            if array.is_null(row) {
                column.push_null();
            } else {
                column.push_list(range.map(|item| items.get(item)));
            }
        }
        return Ok(true);
    }
    if !is_nested(array.data_type()) {
        return Ok(false);
    }
    let cells = Cell::of(array)?;
    for row in 0..array.len() {
        if array.is_null(row) {
            column.push_null();
        } else {
            column.push(Raw::Text(&cells.json(row).to_string()));
        }
    }
    Ok(true)
}

fn is_nested(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(_, _)
            | DataType::Struct(_)
            | DataType::Map(_, _)
    )
}

/// Gives the elements of all lists one behind the other, and which of them are in each list.
fn elements(array: &ArrayRef) -> Option<(ArrayRef, Vec<Range<usize>>)> {
    if let Some(list) = array.as_list_opt::<i32>() {
        let ends = list.value_offsets().windows(2);
        let ranges = ends.map(|ends| ends[0] as usize..ends[1] as usize);
        return Some((list.values().clone(), ranges.collect()));
    }
    if let Some(list) = array.as_list_opt::<i64>() {
        let ends = list.value_offsets().windows(2);
        let ranges = ends.map(|ends| ends[0] as usize..ends[1] as usize);
        return Some((list.values().clone(), ranges.collect()));
    }
    let list = array.as_fixed_size_list_opt()?;
    let range = |row: usize| {
        let begin = list.value_offset_at(row);
        begin..begin + list.value_length() as usize
    };
    Some((list.values().clone(), (0..list.len()).map(range).collect()))
}

/// An array whose cells are written as JSON.
struct Cell {
    array: ArrayRef,
    shape: Shape,
}

enum Shape {
    Plain(Plain),
    List(Box<Cell>, Vec<Range<usize>>),
    Record(Vec<(String, Cell)>),
    /// Keys and values of all entries, and which of them are in each map.
    Map(Box<(Cell, Cell)>, Vec<Range<usize>>),
}

impl Cell {
    fn of(array: &ArrayRef) -> Result<Self, ArrowError> {
        let shape = if let Some((items, ranges)) = elements(array) {
            Shape::List(Box::new(Cell::of(&items)?), ranges)
        } else if let Some(record) = array.as_struct_opt() {
            let fields = record.fields().iter().zip(record.columns());
            let fields =
                fields.map(|(field, column)| Ok((field.name().clone(), Cell::of(column)?)));
            Shape::Record(fields.collect::<Result<_, ArrowError>>()?)
        } else if let Some(map) = array.as_map_opt() {
            let ends = map.value_offsets().windows(2);
            let ranges = ends.map(|ends| ends[0] as usize..ends[1] as usize);
            let entries = (Cell::of(map.keys())?, Cell::of(map.values())?);
            Shape::Map(Box::new(entries), ranges.collect())
        } else {
            Shape::Plain(Plain::of(array)?)
        };
        Ok(Cell { array: array.clone(), shape })
    }

    fn json(&self, row: usize) -> Value {
        if self.array.is_null(row) {
            return Value::Null;
        }
        match &self.shape {
            Shape::Plain(cells) => match cells.get(row) {
                None => Value::Null,
                Some(Raw::Text(text)) => text.into(),
                Some(Raw::Integer(number)) => number.into(),
                Some(Raw::Real(number)) => crate::Value::Real(number).to_json(),
                Some(Raw::Boolean(flag)) => flag.into(),
                Some(Raw::Millis(millis)) => crate::to_iso(millis).into(),
            },
            Shape::List(items, ranges) => {
                ranges[row].clone().map(|item| items.json(item)).collect()
            }
            Shape::Record(fields) => {
                let fields = fields.iter().map(|(name, cells)| (name.clone(), cells.json(row)));
                Value::Object(fields.collect())
            }
            Shape::Map(entries, ranges) => {
                let (keys, values) = entries.as_ref();
                let entry = |at: usize| {
                    let key = keys.json(at);
                    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                    (key, values.json(at))
                };
                Value::Object(ranges[row].clone().map(entry).collect())
            }
        }
    }
}
