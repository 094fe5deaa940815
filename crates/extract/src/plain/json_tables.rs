//! Lists of lists that are tables: a row on each line below the names of the columns, as rows of
//! CSV are, so that every part of a long table can be read by them.
//!
//! Names are the first list, or a list beside the rows: of words, or of objects with a name.

use std::rc::Rc;

use model::{BlockKind, HEADING_MEMBERS, NAMING_MEMBERS, Pointer, is_member_of};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::grid::TextTable;
use crate::output::Output;

/// Columns of a table at most, and the longest name of one in bytes.
const MAX_COLUMNS: usize = 1_000;
const MAX_NAME_BYTES: usize = 200;

/// The names of a table's columns.
pub(super) type Columns = Rc<[String]>;

/// Gives the names that the members of an object say of the rows in it.
pub(super) fn columns_of(object: &Map<String, Value>) -> Option<Columns> {
    let lists = || object.iter().filter_map(|(key, value)| Some((key, value.as_array()?)));
    let known = lists()
        .filter(|(key, _)| is_member_of(HEADING_MEMBERS, key))
        .find_map(|(_, items)| names_of(items));
    known.or_else(|| {
        let n_cells = lists().find_map(|(_, items)| items.first()?.as_array().map(Vec::len))?;
        lists()
            .filter(|(_, items)| items.len() == n_cells && items.iter().all(Value::is_string))
            .find_map(|(_, items)| names_of(items))
    })
}

fn names_of(items: &[Value]) -> Option<Columns> {
    if !(2..=MAX_COLUMNS).contains(&items.len()) {
        return None;
    }
    let name = |item: &Value| -> Option<String> {
        let name = match item.as_object() {
            Some(object) => NAMING_MEMBERS.iter().find_map(|key| object.get(*key)?.as_str())?,
            None => item.as_str()?,
        };
        let is_fit = !name.trim().is_empty() && name.len() <= MAX_NAME_BYTES;
        is_fit.then(|| name.to_owned())
    };
    items.iter().map(name).collect()
}

/// Tells whether a list is a table, with the names that hold for it or with its own.
pub(super) fn is_table(items: &[Value], columns: Option<&Columns>) -> bool {
    let Some(first) = items.first().and_then(Value::as_array) else { return false };
    let has_names = columns.is_some() || (items.len() > 1 && names_of(first).is_some());
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
        .is_some_and(|items| items.iter().all(Value::is_string) && names_of(items).is_some())
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
