//! What is SQLite's own: cells of any type in any column, a file that changes, and numbers kept
//! as text.

use super::misfit_line;
use crate::tests::deadline;
use crate::{ColumnSpec, Kind, Query, SqliteTable, Table, TableSpec, Value};

fn spec() -> TableSpec {
    TableSpec::of(vec![
        ColumnSpec::new("name", Kind::Text),
        ColumnSpec::new("size", Kind::Number),
        ColumnSpec::new("ok", Kind::Boolean),
        ColumnSpec::new("at", Kind::Timestamp),
    ])
}

#[test]
fn cells_that_do_not_fit_are_null_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE rows (name, size, ok, at);
             INSERT INTO rows VALUES ('a', 1, 1, '2024-01-01'), ('b', ' 2.5 ', 'no', 1704067200000),
             ('c', 'big', 'perhaps', 'later'), ('d', 'NA', '', NULL), (5, x'00', NULL, 'soon');",
        )
        .unwrap();
    let table = SqliteTable::open(&path, "rows", &spec()).unwrap();
    let report = table.load_report(&deadline()).unwrap();
    let named: Vec<String> = report.misfits.iter().map(misfit_line).collect();
    assert_eq!(
        named,
        [
            "row 3, size: big",
            "row 5, size: \0",
            "row 3, ok: perhaps",
            "row 3, at: later",
            "row 5, at: soon"
        ]
    );
    assert_eq!((report.n_rows, report.n_misfit_rows, report.n_misfits), (5, 2, 5));

    let sizes = table.query(&Query::first(9, vec!["size".to_owned()]), &deadline()).unwrap().rows;
    let sizes: Vec<Value> = sizes.into_iter().flatten().collect();
    let expected = [Value::Integer(1), Value::Real(2.5), Value::Null, Value::Null, Value::Null];
    assert_eq!(sizes, expected);

    database.execute_batch("DELETE FROM rows WHERE rowid = 3").unwrap();
    let report = table.load_report(&deadline()).unwrap();
    assert_eq!((report.n_rows, report.n_misfit_rows, report.n_misfits), (4, 1, 2));
}

#[test]
fn a_view_without_keys_counts_and_names_without_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE rows (name, size, ok, at); INSERT INTO rows VALUES ('a', 'x', 0, NULL);
             CREATE VIEW seen AS SELECT * FROM rows;",
        )
        .unwrap();
    let table = SqliteTable::open(&path, "seen", &spec()).unwrap();
    let report = table.load_report(&deadline()).unwrap();
    assert_eq!((report.n_misfits, report.misfits[0].key.as_deref()), (1, None));
}
