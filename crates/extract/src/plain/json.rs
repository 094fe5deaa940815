//! JSON: a line for each value with its path in words, a block for each larger part, pointing at
//! the node by RFC 6901. Lists of lists with names are tables.
//!
//! Documents are walked without recursion of ours; `serde_json` itself refuses more than 128
//! levels. What is no JSON is read as the text it is.

use model::{BlockKind, HEADING_MEMBERS, Pointer, is_member_of};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::output::Output;
use crate::plain::json_tables::{
    Columns, Rows, cells_of, columns_of, is_heading, is_row, is_table, is_value_member,
    name_of_values, push_table,
};
use crate::plain::{lines, push_markdown, push_text};
use crate::{Format, warning};

/// Values are put together into blocks of about this many bytes.
const BLOCK_BYTES: usize = 2 << 10;

/// A string longer than this is a block of its own.
const LONG_STRING_BYTES: usize = 600;

pub(crate) fn read_json(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => push_value(&value, None, output),
        Err(error) if error.is_syntax() && is_json_lines(&text) => push_lines(&text, output),
        Err(error) => {
            output.warn(
                warning::REPAIRED,
                format!("the file is not valid JSON ({error}): read as plain text"),
            );
            push_text(&text, output)
        }
    }
}

pub(crate) fn read_json_lines(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    push_lines(&text, output)
}

/// Reads the cells of a notebook: prose, code, and the text of results.
pub(crate) fn read_notebook(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    let notebook: Value =
        serde_json::from_str(&text).map_err(|error| Error::broken(Format::Notebook, error))?;
    let cells = notebook
        .get("cells")
        .or_else(|| notebook.pointer("/worksheets/0/cells"))
        .and_then(Value::as_array);
    let Some(cells) = cells else {
        return Err(Error::broken(Format::Notebook, "it has no list `cells`"));
    };
    if let Some(title) = notebook.pointer("/metadata/title").and_then(Value::as_str) {
        output.set_title(title);
    }
    for (cell_idx, cell) in cells.iter().enumerate() {
        let pointer = Pointer::Json(format!("/cells/{cell_idx}"));
        let source = joined(cell.get("source").or_else(|| cell.get("input")));
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown") => push_markdown(&source, Some(&pointer), output)?,
            Some("code") => output.push(BlockKind::Code, &pointer, source)?,
            _ => output.push(BlockKind::Other, &pointer, source)?,
        }
        for result in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let text = result.get("text").or_else(|| result.pointer("/data/text~1plain"));
            output.push(BlockKind::Code, &pointer, joined(text))?;
        }
    }
    Ok(())
}

/// Joins what a notebook stores either as one string or as a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn is_json_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_value = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    lines.next().is_some_and(is_value) && lines.next().is_some_and(is_value)
}

fn push_lines(text: &str, output: &mut Output) -> Result<()> {
    let mut n_bad = 0;
    // Rows on lines, below a line of words.
    let mut rows: Option<Rows> = None;
    for (number, line) in lines::numbered_lines(text) {
        if line.trim().is_empty() {
            continue;
        }
        let pointer = lines::at_line(number);
        let value = serde_json::from_str::<Value>(line);
        let may_begin = value.as_ref().is_ok_and(is_heading);
        if value.as_ref().is_ok_and(is_row) && (rows.is_some() || may_begin) {
            let rows = rows.get_or_insert_with(|| Rows::new("", None));
            rows.row(&pointer, value.iter().flat_map(cells_of), output)?;
            continue;
        }
        if let Some(rows) = rows.take() {
            rows.end(output)?;
        }
        match value {
            Ok(value) => push_value(&value, Some(&pointer), output)?,
            Err(_) => {
                n_bad += 1;
                output.push(BlockKind::Code, &pointer, line)?;
            }
        }
    }
    if let Some(rows) = rows {
        rows.end(output)?;
    }
    if n_bad > 0 {
        output.warn(warning::REPAIRED, format!("{n_bad} lines are not valid JSON: read as text"));
    }
    Ok(())
}

/// Pushes every scalar below a value; `fixed` replaces the JSON pointers.
fn push_value(root: &Value, fixed: Option<&Pointer>, output: &mut Output) -> Result<()> {
    if let (None, Some(title)) = (fixed, root.get("title").and_then(Value::as_str)) {
        output.set_title(title);
    }
    let mut values = Values { fixed, ..Values::default() };
    let mut stack = vec![Part::root(root)];
    while let Some(Part { pointer, label, value, columns, holds_rows, is_row }) = stack.pop() {
        let scalar = match value {
            Value::Object(fields) => {
                let own = columns_of(fields);
                let holds_rows = holds_rows && own.is_none();
                let columns = own.or(columns);
                let called = name_of_values(fields, &pointer);
                for (key, value) in fields.iter().rev() {
                    let escaped = model::pointer_token(key);
                    let holds_values =
                        (value.is_array() || value.is_object()) && is_value_member(key, &pointer);
                    let name = called.as_deref().filter(|_| holds_values).unwrap_or(key);
                    let label = joined_label(&label, name);
                    // What names the columns is no row of them.
                    let columns = columns.clone().filter(|_| !is_member_of(HEADING_MEMBERS, key));
                    let pointer = format!("{pointer}/{escaped}");
                    let is_row = holds_rows && value.is_array();
                    stack.push(Part { pointer, label, value, columns, holds_rows, is_row });
                }
                continue;
            }
            Value::Array(items) if !is_row && is_table(items, columns.as_ref()) => {
                values.end(output)?;
                push_table(items, columns.as_ref(), (&pointer, &label), fixed, output)?;
                continue;
            }
            Value::Array(items) => {
                for (item_idx, value) in items.iter().enumerate().rev() {
                    let name = columns.as_ref().filter(|all| is_row && all.len() > 1);
                    let name = name.and_then(|all| all.get(item_idx));
                    let label = match name {
                        Some(name) => joined_label(&label, name),
                        None => label.clone(),
                    };
                    let is_row = columns.is_some() && value.is_array();
                    stack.push(Part {
                        pointer: format!("{pointer}/{item_idx}"),
                        label,
                        value,
                        columns: columns.clone(),
                        holds_rows: columns.is_some(),
                        is_row,
                    });
                }
                continue;
            }
            Value::Null => continue,
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
        };
        values.add(pointer, &label, &scalar, output)?;
    }
    values.end(output)
}

/// A value that is still to be written.
struct Part<'a> {
    pointer: String,
    label: String,
    value: &'a Value,
    /// Names of the columns of rows in it.
    columns: Option<Columns>,
    /// Whether lists in it are rows.
    holds_rows: bool,
    is_row: bool,
}

impl<'a> Part<'a> {
    fn root(value: &'a Value) -> Self {
        let (pointer, label) = (String::new(), String::new());
        Part { pointer, label, value, columns: None, holds_rows: false, is_row: false }
    }
}

fn joined_label(label: &str, key: &str) -> String {
    if label.is_empty() { key.to_owned() } else { format!("{label}.{key}") }
}

/// Puts values together into blocks, each with the pointer of its first value.
#[derive(Default)]
pub(super) struct Values<'a> {
    /// Replaces the pointers.
    fixed: Option<&'a Pointer>,
    block: String,
    block_pointer: String,
}

impl Values<'_> {
    /// Adds a value with its keys in words.
    pub(super) fn add(
        &mut self,
        pointer: String,
        label: &str,
        scalar: &str,
        output: &mut Output,
    ) -> Result<()> {
        let is_long = scalar.len() > LONG_STRING_BYTES;
        if is_long || self.block.len() > BLOCK_BYTES {
            self.end(output)?;
        }
        if is_long {
            return push_block(BlockKind::Paragraph, scalar, &pointer, self.fixed, output);
        }
        if self.block.is_empty() {
            self.block_pointer = pointer;
        }
        if !label.is_empty() {
            self.block.push_str(label);
            self.block.push_str(": ");
        }
        self.block.push_str(scalar);
        self.block.push('\n');
        Ok(())
    }

    /// Gives out what waits to become a block.
    pub(super) fn end(&mut self, output: &mut Output) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        push_block(BlockKind::Other, &block, &self.block_pointer, self.fixed, output)
    }
}

fn push_block(
    kind: BlockKind,
    text: &str,
    pointer: &str,
    fixed: Option<&Pointer>,
    output: &mut Output,
) -> Result<()> {
    let pointer = match fixed {
        Some(fixed) => fixed.clone(),
        None if pointer.is_empty() => Pointer::Whole,
        None => Pointer::Json(pointer.to_owned()),
    };
    output.push(kind, &pointer, text)
}
