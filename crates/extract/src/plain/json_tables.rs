//! Lists of lists that are tables: a row on each line below the names of the columns, as rows of
//! CSV are, so that every part of a long table can be read by them.
//!
//! Names are the first list, or a list beside the rows: of words, of objects with a name, or of
//! lists that begin with one; also inside of what describes the rows (`schema`).

use std::rc::Rc;

use model::{
    BlockKind, CELL_MEMBERS, HEADING_MEMBERS, KEYED_MEMBERS, NAMING_MEMBERS, Pointer,
    SCHEMA_MEMBERS, VALUE_MEMBERS, is_member_of, names_columns,
};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::grid::TextTable;
use crate::output::Output;

/// Columns of a table at most, and the longest name of one in bytes.
const MAX_COLUMNS: usize = 1_000;
const MAX_NAME_BYTES: usize = 200;

/// Objects in each other that may describe a table.
const MAX_SCHEMA_DEPTH: usize = 4;

/// The names of a table's columns.
pub(super) type Columns = Rc<[String]>;

/// Gives the names that the members of an object say of the rows in it.
pub(super) fn columns_of(object: &Map<String, Value>) -> Option<Columns> {
    said_in(object, MAX_SCHEMA_DEPTH).or_else(|| {
        let lists = || object.values().filter_map(Value::as_array);
        let n_cells = lists().find_map(|items| items.first()?.as_array().map(Vec::len))?;
        lists()
            .filter(|items| items.len() == n_cells && items.iter().all(Value::is_string))
            .find_map(|items| names_of(items, 2))
            .or_else(|| of_members(object).filter(|names| names.len() == n_cells))
    })
}

/// Gives the names that a list in an object says, or in an object in it that describes rows.
fn said_in(object: &Map<String, Value>, depth: usize) -> Option<Columns> {
    let of_list = |(key, value): (&String, &Value)| {
        let items = value.as_array().filter(|_| is_member_of(HEADING_MEMBERS, key))?;
        names_of(items, if names_columns(key) { 1 } else { 2 })
    };
    let of_object = |(key, value): (&String, &Value)| {
        let inner = value.as_object().filter(|_| is_member_of(SCHEMA_MEMBERS, key))?;
        said_in(inner, depth.checked_sub(1)?)
    };
    object.iter().find_map(of_list).or_else(|| object.iter().find_map(of_object))
}

/// Gives the names of an object in an object whose members are the columns.
fn of_members(object: &Map<String, Value>) -> Option<Columns> {
    let keyed = object.iter().filter(|(key, _)| is_member_of(KEYED_MEMBERS, key));
    keyed.filter_map(|(_, value)| value.as_object()).find_map(|columns| {
        let is_numbered = columns.keys().enumerate().all(|(at, key)| *key == at.to_string());
        let name = |(key, value): (&String, &Value)| match is_numbered {
            true => fit_name(value.as_str()?),
            false => fit_name(key),
        };
        let is_fit = (2..=MAX_COLUMNS).contains(&columns.len());
        is_fit.then(|| columns.iter().map(name).collect()).flatten()
    })
}

fn names_of(items: &[Value], n_min: usize) -> Option<Columns> {
    if !(n_min..=MAX_COLUMNS).contains(&items.len()) {
        return None;
    }
    let name = |item: &Value| -> Option<String> {
        fit_name(match item {
            Value::Object(object) => called(object)?,
            Value::Array(column) => column.first()?.as_str()?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => item.as_str()?,
        })
    };
    items.iter().map(name).collect()
}

fn fit_name(name: &str) -> Option<String> {
    let is_fit = !name.trim().is_empty() && name.len() <= MAX_NAME_BYTES;
    is_fit.then(|| name.to_owned())
}

/// Gives what an object is called.
fn called(object: &Map<String, Value>) -> Option<&str> {
    NAMING_MEMBERS.iter().find_map(|key| object.get(*key)?.as_str())
}

/// Gives the name in an object that each of its values is read with: `{"name": "colour", "values":
/// ["red", "blue"]}`.
pub(super) fn name_of_values(object: &Map<String, Value>, pointer: &str) -> Option<String> {
    let holds_values = |(key, value): (&String, &Value)| {
        (value.is_array() || value.is_object()) && is_value_member(key, pointer)
    };
    object.iter().any(holds_values).then(|| fit_name(called(object)?)).flatten()
}

/// Tells whether a member of the object at a pointer holds the values of what it is called.
pub(super) fn is_value_member(member: &str, object: &str) -> bool {
    let is_column = || {
        let list = object.rsplit_once('/').map_or("", |(list, _)| list);
        list.rsplit_once('/').is_some_and(|(_, key)| is_member_of(HEADING_MEMBERS, key))
    };
    is_member_of(VALUE_MEMBERS, member) || (is_member_of(CELL_MEMBERS, member) && is_column())
}

/// Tells whether a list is a table, with the names that hold for it or with its own.
pub(super) fn is_table(items: &[Value], columns: Option<&Columns>) -> bool {
    let Some(first) = items.first().and_then(Value::as_array) else { return false };
    let has_names = columns.is_some() || (items.len() > 1 && names_of(first, 2).is_some());
    has_names && items.iter().all(is_row)
}

/// Pushes the rows of a table below its names, each block with the pointer of its first row.
pub(super) fn push_table(
    items: &[Value],
    columns: Option<&Columns>,
    at: (&str, &str),
    fixed: Option<&Pointer>,
    output: &mut Output,
) -> Result<()> {
    let (pointer, label) = at;
    let mut rows = Rows::new(label, columns);
    for (row_idx, row) in items.iter().enumerate() {
        let at_row = || Pointer::Json(format!("{pointer}/{row_idx}"));
        rows.row(&fixed.cloned().unwrap_or_else(at_row), cells_of(row), output)?;
    }
    rows.end(output)
}

/// Tells whether a line of a file is a row whose words may be names of columns.
pub(super) fn is_heading(line: &Value) -> bool {
    line.as_array()
        .is_some_and(|items| items.iter().all(Value::is_string) && names_of(items, 2).is_some())
}

/// Tells whether a line of a file is a row.
pub(super) fn is_row(line: &Value) -> bool {
    let is_scalar = |cell: &Value| !cell.is_array() && !cell.is_object();
    line.as_array().is_some_and(|row| row.iter().all(is_scalar))
}

/// Gives the cells of a row as words.
pub(super) fn cells_of(row: &Value) -> impl Iterator<Item = String> {
    row.as_array().into_iter().flatten().map(|cell| match cell.as_str() {
        Some(text) => text.to_owned(),
        None if cell.is_null() => String::new(),
        None => cell.to_string(),
    })
}

/// Rows as they come.
pub(super) struct Rows {
    table: TextTable,
    /// The pointer of the first row that waits.
    first: Option<Pointer>,
}

impl Rows {
    /// Begins a table with its path in words and its names.
    pub(super) fn new(label: &str, columns: Option<&Columns>) -> Self {
        let mut table = TextTable::default();
        if !label.is_empty() {
            table.cell(label);
            table.finish_row();
        }
        if let Some(columns) = columns {
            columns.iter().for_each(|name| table.cell(name));
            table.finish_row();
        }
        Rows { table, first: None }
    }

    /// Adds a row.
    pub(super) fn row(
        &mut self,
        pointer: &Pointer,
        cells: impl Iterator<Item = String>,
        output: &mut Output,
    ) -> Result<()> {
        let first = self.first.get_or_insert_with(|| pointer.clone()).clone();
        cells.for_each(|cell| self.table.cell(&cell));
        if let Some(block) = self.table.finish_row() {
            output.push(BlockKind::Table, &first, block)?;
            self.first = None;
        }
        output.check_time()
    }

    /// Pushes what waits.
    pub(super) fn end(mut self, output: &mut Output) -> Result<()> {
        let first = self.first.take().unwrap_or(Pointer::Whole);
        let rest = self.table.finish();
        output.push(BlockKind::Table, &first, rest)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Caps, extract};

    #[track_caller]
    fn check(name: &str, source: &str, expected: &str) {
        let (extracted, _) = extract(source.as_bytes(), name, &Caps::standard());
        assert_eq!(extracted.text(), expected, "{source}");
    }

    /// Cells were lines without the names of their columns.
    #[test]
    fn rows_are_below_their_names() {
        check(
            "a.json",
            r#"[["user","city"],["ann","Oslo"],["bob",null,5]]"#,
            "user | city\nann | Oslo\nbob |  | 5",
        );
        check(
            "a.json",
            r#"{"t": {"columns": ["user", "city"], "rows": [["ann", "Oslo"], ["bob", true]]}}"#,
            "t.columns: user\nt.columns: city\n\nt.rows\nuser | city\nann | Oslo\nbob | true",
        );
        check(
            "a.json",
            r#"{"rows": [[1, 2]], "schema": [{"name": "x"}, {"name": "y"}]}"#,
            "rows\nx | y\n1 | 2\n\nschema.name: x\nschema.name: y",
        );
        check(
            "a.json",
            r#"{"cols":["user","city"],"rows":[{"c":["ann","Oslo"]}]}"#,
            "cols: user\ncols: city\nrows.c.user: ann\nrows.c.city: Oslo",
        );
        check("a.jsonl", "[\"user\",\"city\"]\n[\"ann\",\"Oslo\"]\n", "user | city\nann | Oslo");
        // Names in what describes the rows, and as members.
        for schema in [
            r#""schema":{"fields":[{"name":"user"},{"name":"city"}]}"#,
            r#""meta":{"view":{"columns":[{"id":1,"name":"user"},{"id":2,"name":"city"}]}}"#,
            r#""fields":[["user",1],["city",1]]"#,
            r#""schema":{"user":"text","city":"text"}"#,
            r#""columns":{"0":"user","1":"city"}"#,
        ] {
            let source = format!("{{{schema},\"data\":[[\"ann\",\"Oslo\"]]}}");
            let (extracted, _) = extract(source.as_bytes(), "a.json", &Caps::standard());
            let table = "data\nuser | city\nann | Oslo";
            assert!(extracted.text().contains(table), "{}", extracted.text());
        }
        check(
            "a.json",
            r#"{"columns":["city"],"rows":[["Oslo"],["Rome"]]}"#,
            "columns: city\n\nrows\ncity\nOslo\nRome",
        );
        check(
            "a.json",
            r#"{"properties":{"a":1,"b":2},"geometry":{"coordinates":[[1,2],[3,4]]}}"#,
            "properties.a: 1\nproperties.b: 2\ngeometry.coordinates: 1\n\
             geometry.coordinates: 2\ngeometry.coordinates: 3\ngeometry.coordinates: 4",
        );
        // Lists of another kind.
        check(
            "a.json",
            r#"{"at": [[1.5, 2.5], [3.5, 4.5]]}"#,
            "at: 1.5\nat: 2.5\nat: 3.5\nat: 4.5",
        );
        check("a.json", r#"{"a": ["x", "y"], "b": ["z"]}"#, "a: x\na: y\nb: z");
        check("a.yaml", "- [user, city]\n- [ann, Oslo]\n", "user | city\nann | Oslo");
        check(
            "a.yaml",
            "t:\n  columns: [user, city]\n  rows:\n  - [ann, Oslo]\n  - - bob\n    - Rome # now\n",
            "t.columns: user\nt.columns: city\n\nt.rows\nuser | city\nann | Oslo\nbob | Rome # now",
        );
        check("a.yaml", "at:\n- [1, 2]\n- [3, 4]\n", "at: 1\nat: 2\nat: 3\nat: 4");
    }

    /// Values of what an object is called were lines without its name.
    #[test]
    fn values_have_their_name() {
        check(
            "a.json",
            r#"{"x":[{"name":"colour","values":["red","blue"]},{"name":"size","value":5}]}"#,
            "x.name: colour\nx.colour: red\nx.colour: blue\nx.name: size\nx.value: 5",
        );
        check(
            "a.json",
            r#"{"columns":[{"data":["ann"],"name":"user"}],"menu":[{"title":"File","items":["New"]}]}"#,
            "columns.user: ann\ncolumns.name: user\nmenu.title: File\nmenu.items: New",
        );
        check(
            "a.yaml",
            "x:\n- name: colour\n  values: [red, blue]\n- name: size\n  value: 5\n",
            "x.name: colour\nx.colour: red\nx.colour: blue\nx.name: size\nx.value: 5",
        );
        check(
            "a.yaml",
            "meta:\n  view:\n    columns:\n    - name: user\n    - name: city\ndata:\n- [ann, Oslo]\n",
            "meta.view.columns.name: user\nmeta.view.columns.name: city\n\ndata\nuser | city\nann | Oslo",
        );
    }

    #[test]
    fn blocks_point_at_their_rows() {
        let rows: Vec<String> = (0..1_000).map(|n| format!("[\"user{n}\",\"word{n}\"]")).collect();
        let source = format!("{{\"rows\":[[\"user\",\"note\"],{}]}}", rows.join(","));
        let (extracted, _) = extract(source.as_bytes(), "a.json", &Caps::standard());
        assert!(extracted.blocks.len() > 3);
        for block in extracted.blocks.iter().skip(1) {
            let number: usize = block.text[4..].split(' ').next().unwrap().parse().unwrap();
            assert_eq!(block.pointer, model::Pointer::Json(format!("/rows/{}", number + 1)));
        }
    }
}
