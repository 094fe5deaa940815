//! The same contract on a real PostgreSQL, and what is PostgreSQL's own: time-outs, read-only
//! transactions, types, views. Without the test bed these tests have nothing to run on.

use std::time::Duration;

use model::Deadline;
use testkit::Postgres;

use super::{Model, spec};
use crate::tests::deadline;
use crate::{ColumnSpec, Error, Kind, PostgresTable, Query, Table, TableSpec, Value};

fn literal(value: &Value) -> String {
    match value {
        Value::Null | Value::List(_) => "NULL".to_owned(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Timestamp(millis) => format!("'{}'", crate::to_iso(*millis)),
        Value::Integer(_) | Value::Real(_) | Value::Decimal(_) | Value::Boolean(_) => {
            value.to_json().to_string().replace('"', "")
        }
    }
}

#[test]
fn postgres_answers_like_a_plain_scan_and_keeps_its_limits() {
    let Some(server) = Postgres::start() else { return };
    let model = Model::random(7);
    let rows: Vec<String> = model
        .rows
        .iter()
        .map(|row| format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", ")))
        .collect();
    server.run(&format!(
        "CREATE TABLE rows (name text, size int, ratio float8, ok bool, at timestamptz); \
         INSERT INTO rows VALUES {};
         CREATE SCHEMA other; \
         CREATE TABLE other.keyed (id int PRIMARY KEY, name text, size int, ratio numeric, ok bool, at timestamp); \
         INSERT INTO other.keyed SELECT row_number() OVER (), name, size, ratio, ok, at AT TIME ZONE 'UTC' FROM rows; \
         CREATE VIEW slow AS SELECT name FROM rows, pg_sleep(5)",
        rows.join(", ")
    ));
    let plain = PostgresTable::open(&server.url(), "rows", &spec()).unwrap();
    let keyed = PostgresTable::open(&server.url(), "other.keyed", &spec()).unwrap();
    model.check(&[&plain, &keyed], 5, 150);
    model.check_aggregates(&[&plain, &keyed], 6, 150);

    // A text that PostgreSQL cannot hold is found nowhere, and is no error.
    let mut query = Query::first(5, vec!["name".to_owned()]);
    let text = "a\0b".to_owned();
    let test = crate::Test::Contains { text, case: crate::Case::Sensitive };
    query.filters.push(crate::Filter::new("name", test));
    assert_eq!(plain.query(&query, &deadline()).unwrap().total, 0);

    // Quotes in values and names stay values and names.
    let mut query = Query::first(5, vec!["name".to_owned()]);
    let hostile = Value::from("'; DROP TABLE rows; --");
    query.filters.push(crate::Filter::new("name", crate::Test::AnyOf(vec![hostile.clone()])));
    let answer = plain.query(&query, &deadline()).unwrap();
    assert_eq!(answer.unmatched.len(), 1);
    assert!(
        plain
            .nearest_values("name", &Value::from("abd"), 3, &deadline())
            .unwrap()
            .contains(&"abc".into())
    );
    assert_eq!(
        plain.nearest_values("size", &Value::Integer(3), 1, &deadline()).unwrap(),
        [Value::Integer(3)]
    );

    let names = TableSpec::of(vec![ColumnSpec::new("name", Kind::Text)]);
    let slow = PostgresTable::open(&server.url(), "slow", &names).unwrap();
    let short = Deadline::after(Duration::from_millis(600));
    let outcome = slow.query(&Query::first(1, vec!["name".to_owned()]), &short);
    assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");

    let unfit = TableSpec::of(vec![ColumnSpec::new("name", Kind::Number)]);
    let unfit = PostgresTable::open(&server.url(), "rows", &unfit).unwrap();
    let outcome = unfit.query(&Query::first(1, vec!["name".to_owned()]), &deadline());
    assert!(matches!(outcome, Err(Error::UnfitColumn { .. })), "{outcome:?}");
    let missing = PostgresTable::open(&server.url(), "nowhere", &spec()).unwrap();
    let outcome = missing.query(&Query::first(1, vec!["name".to_owned()]), &deadline());
    assert!(matches!(outcome, Err(Error::MissingColumn { .. })), "{outcome:?}");
}

#[test]
fn a_database_that_goes_is_away_until_it_is_back() {
    let Some(mut server) = Postgres::start() else { return };
    server.run("CREATE TABLE places (name text); INSERT INTO places VALUES ('Cluj')");
    let spec = TableSpec::of(vec![ColumnSpec::new("name", Kind::Text)]);
    let table = PostgresTable::open(&server.url(), "places", &spec).unwrap();
    let query = Query::first(5, vec!["name".to_owned()]);
    assert_eq!(table.query(&query, &deadline()).unwrap().total, 1);
    assert_eq!(table.away(), None);
    server.stop();
    // A connection that was left open may be found closed by this call.
    assert!(table.query(&query, &deadline()).is_err());
    assert!(table.query(&query, &deadline()).is_err());
    assert!(table.away().is_some());
    server.start_again();
    assert_eq!(table.query(&query, &deadline()).unwrap().total, 1);
    assert_eq!(table.away(), None);
}

#[test]
fn cells_that_do_not_fit_are_counted_and_named() {
    let Some(server) = Postgres::start() else { return };
    server.run(
        "CREATE TABLE readings (id int PRIMARY KEY, name text, size float8, at timestamptz); \
         INSERT INTO readings VALUES (1, 'a', 1, '2024-01-01'), (2, 'b', 'Infinity', 'infinity'), \
         (3, 'c', 'NaN', NULL), (4, 'd', '-Infinity', '2024-01-02')",
    );
    let spec = TableSpec::of(vec![
        ColumnSpec::new("name", Kind::Text),
        ColumnSpec::new("size", Kind::Number),
        ColumnSpec::new("at", Kind::Timestamp),
    ]);
    let table = PostgresTable::open(&server.url(), "readings", &spec).unwrap();
    let report = table.load_report(&deadline()).unwrap();
    let named: Vec<String> = report.misfits.iter().map(super::misfit_line).collect();
    assert_eq!(
        named,
        ["row 2, size: Infinity", "row 4, size: -Infinity", "row 2, at: infinity"],
        "NaN is how PostgreSQL leaves a number empty"
    );
    assert_eq!((report.n_rows, report.n_misfit_rows, report.n_misfits), (4, 2, 3));
}

#[test]
fn dates_have_no_zone_and_end_with_the_year_9999() {
    use crate::{Aggregate, Calendar, GroupBy, Grouping, Measure, Op, Zone};
    let Some(server) = Postgres::start() else { return };
    server.run(
        "CREATE TABLE days (id int PRIMARY KEY, day date, at timestamptz, amount numeric(20,2)); \
         INSERT INTO days VALUES (1, '2024-01-01', '2024-01-01 03:00Z', 1.5), \
         (2, '9999-12-31', '9999-12-31 23:59:59Z', 99999999999999.99), \
         (3, 'infinity', 'infinity', NULL), (4, '0044-03-15 BC', '0044-03-15 BC', 0)",
    );
    let spec = TableSpec::of(vec![
        ColumnSpec::new("day", Kind::Timestamp),
        ColumnSpec::new("at", Kind::Timestamp),
        ColumnSpec::new("amount", Kind::Number),
    ]);
    let table = PostgresTable::open(&server.url(), "days", &spec).unwrap();
    assert_eq!(table.date_columns(&deadline()).unwrap(), ["day"]);
    let report = table.load_report(&deadline()).unwrap();
    assert_eq!((report.n_misfits, report.n_misfit_rows, report.n_rounded), (4, 2, 0));
    assert_eq!(report.long_decimals, [("amount".to_owned(), Some(2))].into());
    let names = ["day", "at"].map(str::to_owned).to_vec();
    let rows = table.query(&Query::first(9, names), &deadline()).unwrap().rows;
    let shown: Vec<String> =
        rows.iter().flatten().map(|cell| cell.to_row_json().to_string()).collect();
    assert_eq!(shown[2], "\"9999-12-31T00:00:00.000Z\"");
    assert_eq!(shown[3], "\"9999-12-31T23:59:59.000Z\"");
    assert_eq!(shown[4..], ["null", "null", "null", "null"]);
    let zone = Zone::named("America/New_York").unwrap();
    let by_month = Aggregate {
        group_by: vec![Grouping {
            column: "at".to_owned(),
            by: GroupBy::Calendar(Calendar::Day, zone),
        }],
        measures: vec![Measure { op: Op::Count, column: None }],
        limit: 9,
        ..Aggregate::default()
    };
    let groups = table.aggregate(&by_month, &deadline()).unwrap().rows;
    let days: Vec<&str> = groups.iter().filter_map(|row| row[0].as_str()).collect();
    assert_eq!(days, ["2023-12-31", "9999-12-31"]);
}

#[test]
fn a_condition_does_not_tell_what_redaction_hides() {
    let Some(server) = Postgres::start() else { return };
    server.run(
        "CREATE TABLE notes (note text); INSERT INTO notes VALUES \
         ('write to ana@example.org'), ('+40 722 123 456'), ('nothing else')",
    );
    let spec = TableSpec::of(vec![ColumnSpec::new("note", Kind::Text)]);
    let table = PostgresTable::open(&server.url(), "notes", &spec).unwrap();
    crate::tests::check_private_pieces(&table);
}
