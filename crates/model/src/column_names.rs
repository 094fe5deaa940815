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
];

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

/// Tells whether a member is one of these, in any case.
///
/// ```
/// assert!(model::is_member_of(model::HEADING_MEMBERS, "Columns"));
/// assert!(!model::is_member_of(model::NAMING_MEMBERS, "value"));
/// ```
pub fn is_member_of(names: &[&str], member: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(member))
}
