//! Members of objects that say what the columns of a table are called, as programs write tables
//! into JSON and YAML.

/// Members that hold the names of columns.
pub const HEADING_MEMBERS: &[&str] = &[
    "columns",
    "cols",
    "column_names",
    "columnNames",
    "fields",
    "field_names",
    "fieldNames",
    "fieldnames",
    "header",
    "headers",
    "heading",
    "headings",
    "head",
    "thead",
    "names",
    "keys",
    "schema",
    "labels",
    "titles",
    "attributes",
    "variables",
    "vars",
    "meta",
    "colnames",
    "col_names",
    "colNames",
    "colHeaders",
    "columnHeaders",
    "column_headers",
    "columnInfo",
    "column_info",
    "columnMetadata",
    "column_metadata",
    "ColumnMetadata",
    "ColumnInfo",
    "rowType",
    "row_type",
    "rowtype",
];

/// Members that hold, beside rows, an object with one of [`HEADING_MEMBERS`] in it:
/// `{"schema": {"fields": [...]}, "data": [...]}`.
pub const SCHEMA_MEMBERS: &[&str] = &[
    "schema",
    "tableSchema",
    "table_schema",
    "meta",
    "metadata",
    "manifest",
    "structure",
    "definition",
    "layout",
    "view",
    "table",
    "resultSetMetaData",
    "ResultSetMetadata",
    "resultSetMetadata",
    "columns",
    "fields",
    "header",
    "headers",
];

/// Objects whose own members are the columns: `{"columns": {"user": "text", "note": "text"}}`, or
/// `{"columns": {"0": "user", "1": "note"}}`.
pub const KEYED_MEMBERS: &[&str] = &["columns", "cols", "schema", "column_index", "columnIndex"];

/// Members that hold the values of what the object around them is called.
pub const VALUE_MEMBERS: &[&str] = &["value", "val", "v", "values", "vals"];

/// The same in the description of a column, with all of its cells.
pub const CELL_MEMBERS: &[&str] = &["data", "cells", "rows", "items", "entries"];

/// Members that say what an object of a list of columns, or the value beside them, is called.
pub const NAMING_MEMBERS: &[&str] = &[
    "name",
    "key",
    "k",
    "field",
    "label",
    "id",
    "title",
    "header",
    "column",
    "column_name",
    "property",
    "attribute",
    "setting",
    "option",
    "param",
    "parameter",
    "variable",
];

/// Tells whether a member names the columns of a table and nothing else, so that one name is
/// enough.
///
/// ```
/// assert!(model::names_columns("column_names") && !model::names_columns("labels"));
/// ```
pub fn names_columns(member: &str) -> bool {
    let begins = |word: &&str| {
        member.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    is_member_of(HEADING_MEMBERS, member) && ["col", "field", "head"].iter().any(begins)
}

/// Tells whether a member is one of these, in any case.
///
/// ```
/// assert!(model::is_member_of(model::HEADING_MEMBERS, "Columns"));
/// assert!(!model::is_member_of(model::NAMING_MEMBERS, "value"));
/// ```
pub fn is_member_of(names: &[&str], member: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(member))
}
