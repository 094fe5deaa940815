//! Proves that cells with several values filter, count, group and show alike in files, in SQLite
//! and in PostgreSQL, where they are arrays or JSON, and as a plain scan says.

use std::collections::BTreeMap;

use testkit::Postgres;

use super::Numbers;
use crate::tests::deadline;
use crate::{
    Aggregate, AnyGroup, Calendar, Case, Cells, ColumnSpec, Dataset, Direction, Filter, GroupBy,
    Grouping, Kind, Measure, Op, PostgresTable, Query, Range, Sort, SqliteTable, Table, TableSpec,
    Test, Value, Zone,
};

const LISTS: [&str; 4] = ["tags", "sizes", "flags", "days"];
const TAGS: [&str; 6] = ["a", "b", "ab", "B", "ș", "say \"hi\", {x}"];

fn spec() -> TableSpec {
    let kinds = [Kind::Text, Kind::Number, Kind::Boolean, Kind::Timestamp];
    let mut columns = vec![ColumnSpec::new("id", Kind::Number)];
    columns.extend(LISTS.iter().zip(kinds).map(|(name, kind)| ColumnSpec {
        cells: Cells::Many { separator: ';' },
        ..ColumnSpec::new(*name, kind)
    }));
    TableSpec::of(columns)
}

/// A row is its place and four lists, of which values may come again.
type Row = [Vec<Value>; 4];

fn random_rows(numbers: &mut Numbers) -> Vec<Row> {
    let list = |numbers: &mut Numbers, column: usize| {
        (0..numbers.below(4)).map(|_| random_item(numbers, column)).collect()
    };
    (0..120).map(|_| std::array::from_fn(|column| list(numbers, column))).collect()
}

fn random_item(numbers: &mut Numbers, column: usize) -> Value {
    match column {
        0 => Value::from(*numbers.pick(&TAGS)),
        1 => Value::Real(numbers.below(40) as f64 / 4.0 - 3.0),
        2 => Value::Boolean(numbers.below(2) == 0),
        _ => Value::Timestamp(1_704_067_200_000 + numbers.below(90) as i64 * 43_200_000),
    }
}

fn once(list: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in list {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

fn to_json(list: &[Value]) -> serde_json::Value {
    list.iter().map(Value::to_row_json).collect()
}

fn to_array(list: &[Value], of: &str) -> String {
    let item = |item: &Value| match item {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Null
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_)
        | Value::List(_) => format!("'{}'", item.to_row_json().to_string().trim_matches('"')),
    };
    let items: Vec<String> = list.iter().map(item).collect();
    format!("ARRAY[{}]::{of}[]", items.join(", "))
}

/// The plain meaning of a test of a list.
fn passes(list: &[Value], test: &Test) -> bool {
    let any = |holds: &dyn Fn(&Value) -> bool| list.iter().any(holds);
    match test {
        Test::Not(inner) => !passes(list, inner),
        Test::AnyOf(values) => {
            any(&|item| values.contains(item)) || (list.is_empty() && values.contains(&Value::Null))
        }
        Test::HoldsAll(lists) => {
            lists.iter().any(|wanted| wanted.iter().all(|value| list.contains(value)))
        }
        Test::Contains { .. } | Test::Within(_) | Test::HasPrefix(_) => {
            any(&|item| super::passes(item, test))
        }
    }
}

fn random_test(numbers: &mut Numbers, column: usize) -> Test {
    let items = |numbers: &mut Numbers, most: u64| -> Vec<Value> {
        (0..numbers.below(most)).map(|_| random_item(numbers, column)).collect()
    };
    match numbers.below(if column == 0 { 6 } else { 4 }) {
        0 => {
            let mut values = items(numbers, 3);
            values.extend((numbers.below(3) == 0).then_some(Value::Null));
            Test::AnyOf(values)
        }
        1 => Test::Within(vec![Range {
            low: random_item(numbers, column),
            high: random_item(numbers, column),
        }]),
        2 => Test::Not(Box::new(random_test(numbers, column))),
        3 => Test::HoldsAll((0..numbers.below(3)).map(|_| items(numbers, 3)).collect()),
        4 => Test::HasPrefix(vec![(*numbers.pick(&TAGS)).to_owned()]),
        _ => Test::Contains {
            text: "a".to_owned(),
            case: *numbers.pick(&[Case::Sensitive, Case::Ignored]),
        },
    }
}

fn random_filters(numbers: &mut Numbers) -> Vec<Filter> {
    (0..numbers.below(3))
        .map(|_| {
            let column = numbers.below(4) as usize;
            let filter = Filter::new(LISTS[column], random_test(numbers, column));
            if numbers.below(4) == 0 { filter.of_shown() } else { filter }
        })
        .collect()
}

fn passes_all(row: &Row, filters: &[Filter]) -> bool {
    filters.iter().all(|filter| {
        let column = LISTS.iter().position(|name| *name == filter.column).unwrap();
        passes(&row[column], &filter.test)
    })
}

struct Fixture {
    _folder: tempfile::TempDir,
    tables: Vec<Box<dyn Table>>,
}

impl Fixture {
    fn of(rows: &[Row], server: Option<&Postgres>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let lines = rows.iter().enumerate().map(|(id, row)| {
            let cells =
                LISTS.iter().zip(row).map(|(name, list)| ((*name).to_owned(), to_json(list)));
            let mut cells: serde_json::Map<String, serde_json::Value> = cells.collect();
            cells.insert("id".to_owned(), id.into());
            serde_json::Value::Object(cells).to_string()
        });
        fs_err::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let mut tables: Vec<Box<dyn Table>> =
            vec![Box::new(Dataset::read(&path, &spec()).unwrap())];

        let path = folder.path().join("rows.db");
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute_batch("CREATE TABLE rows (id, tags, sizes, flags, days); BEGIN").unwrap();
        for (id, row) in rows.iter().enumerate() {
            // The last are texts that a separator splits.
            let split = |list: &[Value]| {
                let items = list.iter().map(|item| item.to_row_json());
                let items: Vec<String> =
                    items.map(|item| item.to_string().trim_matches('"').to_owned()).collect();
                items.join(" ; ")
            };
            let [tags, sizes, flags, days] = row;
            let cells =
                [to_json(tags).to_string(), to_json(sizes).to_string(), split(flags), split(days)];
            let insert = "INSERT INTO rows VALUES (?, ?, ?, ?, ?)";
            let [tags, sizes, flags, days] = cells;
            database.execute(insert, (id as i64, tags, sizes, flags, days)).unwrap();
        }
        database.execute_batch("COMMIT").unwrap();
        tables.push(Box::new(SqliteTable::open(&path, "rows", &spec()).unwrap()));

        if let Some(server) = server {
            let values: Vec<String> = rows
                .iter()
                .enumerate()
                .map(|(id, [tags, sizes, flags, days])| {
                    // No list and an empty one are the same.
                    let tags = if tags.is_empty() && id % 2 == 0 {
                        "NULL".to_owned()
                    } else {
                        to_array(tags, "text")
                    };
                    format!(
                        "({id}, {tags}, '{}', {}, {})",
                        to_json(sizes),
                        to_array(flags, "bool"),
                        to_array(days, "timestamptz")
                    )
                })
                .collect();
            server.run(&format!(
                "DROP TABLE IF EXISTS rows; \
                 CREATE TABLE rows (id int PRIMARY KEY, tags text[], sizes jsonb, flags bool[], days timestamptz[]); \
                 INSERT INTO rows VALUES {}",
                values.join(", ")
            ));
            tables.push(Box::new(PostgresTable::open(&server.url(), "rows", &spec()).unwrap()));
        }
        Fixture { _folder: folder, tables }
    }
}

fn plain_cells(row: &[Value]) -> Vec<serde_json::Value> {
    row.iter().map(Value::to_row_json).collect()
}

#[test]
fn lists_filter_count_and_show_like_a_plain_scan() {
    let server = Postgres::start();
    let mut numbers = Numbers::new(11);
    let rows = random_rows(&mut numbers);
    let fixture = Fixture::of(&rows, server.as_ref());
    for table in &fixture.tables {
        assert!(table.columns()[1..].iter().all(|column| column.has_lists));
    }
    for _ in 0..150 {
        let mut query =
            Query::first(7, ["id", "tags", "sizes", "flags", "days"].map(str::to_owned).to_vec());
        query.filters = random_filters(&mut numbers);
        query.any = (0..numbers.below(2))
            .map(|_| AnyGroup {
                alternatives: (0..2).map(|_| random_filters(&mut numbers)).collect(),
            })
            .collect();
        query.facets = LISTS.map(str::to_owned).to_vec();
        query.continuous = vec!["days".to_owned()];
        if numbers.below(2) == 0 {
            let column = (*numbers.pick(&LISTS)).to_owned();
            let direction = *numbers.pick(&[Direction::Ascending, Direction::Descending]);
            query.sort = vec![Sort { column, direction }];
        }
        let passing: Vec<(usize, &Row)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| {
                passes_all(row, &query.filters)
                    && query.any.iter().all(|group| {
                        group.alternatives.iter().any(|filters| passes_all(row, filters))
                    })
            })
            .collect();
        let mut first_facets = None;
        let mut first_page = None;
        for (place, table) in fixture.tables.iter().enumerate() {
            let context = format!("table {place}: {query:#?}");
            let answer = table.query(&query, &deadline()).unwrap();
            assert_eq!(answer.total, passing.len() as u64, "{context}");
            if query.sort.is_empty() {
                let shown = passing.iter().take(7).map(|(id, row)| {
                    let lists = row.iter().map(|list| to_json(&once(list)));
                    std::iter::once(serde_json::Value::from(*id)).chain(lists).collect()
                });
                let shown: Vec<Vec<serde_json::Value>> = shown.collect();
                let found: Vec<Vec<_>> = answer.rows.iter().map(|row| plain_cells(row)).collect();
                assert_eq!(found, shown, "{context}");
            }
            let tags = &answer.facets[0];
            let mut counts: BTreeMap<Option<&str>, u64> = BTreeMap::new();
            for (_, row) in &passing {
                let items = once(&row[0]);
                if items.is_empty() {
                    *counts.entry(None).or_default() += 1;
                }
                for item in &items {
                    let tag = TAGS.iter().find(|tag| Some(**tag) == item.as_str());
                    *counts.entry(tag.copied()).or_default() += 1;
                }
            }
            let found: BTreeMap<Option<&str>, u64> =
                tags.rows.iter().map(|row| (row.value.as_str(), row.total)).collect();
            assert_eq!(found, counts, "{context}");
            assert_eq!(tags.total, counts.values().sum::<u64>(), "{context}");
            let next = answer.next.clone().map(|after| {
                let next = Query { after: Some(after), ..query.clone() };
                table.query(&next, &deadline()).unwrap().rows
            });
            let pages: Vec<Vec<_>> = answer
                .rows
                .iter()
                .chain(next.iter().flatten())
                .map(|row| plain_cells(row))
                .collect();
            assert_eq!(first_page.get_or_insert(pages.clone()), &pages, "{context}");
            let facets: Vec<String> = answer
                .facets
                .into_iter()
                .map(|facet| {
                    let rows = facet.rows.iter().map(|row| (row.value.to_json(), row.total));
                    let ends =
                        [facet.min.map(|end| end.to_json()), facet.max.map(|end| end.to_json())];
                    let rows: Vec<_> = rows.collect();
                    format!(
                        "{} {} {ends:?} {rows:?} {:?}",
                        facet.n_values, facet.total, facet.distribution
                    )
                })
                .collect();
            assert_eq!(first_facets.get_or_insert(facets.clone()), &facets, "{context}");
        }
    }
}

#[test]
fn rows_with_several_values_are_in_several_groups_and_once_in_each() {
    let server = Postgres::start();
    let mut numbers = Numbers::new(12);
    let rows = random_rows(&mut numbers);
    let fixture = Fixture::of(&rows, server.as_ref());
    for _ in 0..100 {
        let group_by = (0..1 + numbers.below(2))
            .map(|_| {
                let (column, by) = match numbers.below(5) {
                    0 => ("sizes", GroupBy::Width(2.0)),
                    1 => (
                        "days",
                        GroupBy::Calendar(
                            Calendar::Month,
                            Zone::named("Europe/Bucharest").unwrap(),
                        ),
                    ),
                    2 => {
                        ("days", GroupBy::Calendar(Calendar::Weekday, Zone::named("UTC").unwrap()))
                    }
                    3 => ("flags", GroupBy::Value),
                    _ => ("tags", GroupBy::Value),
                };
                Grouping { column: column.to_owned(), by }
            })
            .collect();
        let measure = |op, column: Option<&str>| Measure { op, column: column.map(str::to_owned) };
        let wanted = Aggregate {
            filters: random_filters(&mut numbers),
            group_by,
            measures: vec![
                measure(Op::Count, None),
                measure(Op::Sum, Some("id")),
                measure(Op::Count, Some("tags")),
            ],
            limit: 500,
            ..Aggregate::default()
        };
        let n_passing = rows.iter().filter(|row| passes_all(row, &wanted.filters)).count() as u64;
        let mut first = None;
        for (place, table) in fixture.tables.iter().enumerate() {
            let answer = table.aggregate(&wanted, &deadline()).unwrap();
            assert_eq!(answer.total_rows, n_passing, "table {place}: {wanted:#?}");
            let groups: Vec<Vec<_>> = answer.rows.iter().map(|row| plain_cells(row)).collect();
            assert_eq!(first.get_or_insert(groups.clone()), &groups, "table {place}: {wanted:#?}");
        }
        let [grouping] = wanted.group_by.as_slice() else { continue };
        if grouping.column == "tags" {
            let n_in_groups: i64 =
                first.iter().flatten().map(|group| group[1].as_i64().unwrap()).sum();
            let n_values: usize = rows
                .iter()
                .filter(|row| passes_all(row, &wanted.filters))
                .map(|row| once(&row[0]).len().max(1))
                .sum();
            assert_eq!(n_in_groups as usize, n_values, "{wanted:#?}");
        }
    }
}

#[test]
fn repeated_and_unfit_values_of_lists_are_said_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut tables: Vec<Box<dyn Table>> = Vec::new();
    let path = folder.path().join("rows.jsonl");
    let lines = "{\"sizes\": [1, \"1.0\", \"x\", 2, null]}\n{\"sizes\": [\"x\"]}\n";
    fs_err::write(&path, lines).unwrap();
    let spec = TableSpec::of(vec![ColumnSpec {
        cells: Cells::Many { separator: ';' },
        ..ColumnSpec::new("sizes", Kind::Number)
    }]);
    tables.push(Box::new(Dataset::read(&path, &spec).unwrap()));
    let path = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let filled = "CREATE TABLE rows (sizes); INSERT INTO rows VALUES ('1;1.0;x;2'), ('x')";
    database.execute_batch(filled).unwrap();
    tables.push(Box::new(SqliteTable::open(&path, "rows", &spec).unwrap()));
    let server = Postgres::start();
    if let Some(server) = &server {
        server.run("CREATE TABLE rows (sizes jsonb); INSERT INTO rows VALUES ('[1, 1.0, \"x\", 2, null]'), ('[\"x\"]')");
        tables.push(Box::new(PostgresTable::open(&server.url(), "rows", &spec).unwrap()));
    }
    for (place, table) in tables.iter().enumerate() {
        let mut query = Query::first(9, vec!["sizes".to_owned()]);
        query.facets = vec!["sizes".to_owned()];
        let answer = table.query(&query, &deadline()).unwrap();
        let shown: Vec<String> =
            answer.rows.iter().map(|row| row[0].to_json().to_string()).collect();
        assert_eq!(shown, ["[1,2]", "[]"], "table {place}");
        let counts: Vec<(String, u64)> = answer.facets[0]
            .rows
            .iter()
            .map(|row| (row.value.to_json().to_string(), row.total))
            .collect();
        assert_eq!(
            counts,
            [("null", 1), ("1", 1), ("2", 1)].map(|(value, n)| (value.to_owned(), n)),
            "table {place}"
        );
        query.filters = vec![Filter::new("sizes", Test::AnyOf(vec![Value::Null]))];
        assert_eq!(table.query(&query, &deadline()).unwrap().total, 1, "table {place}");
        let report = table.load_report(&deadline()).unwrap();
        assert_eq!((report.n_repeated_in_lists, report.n_misfit_rows), (1, 2), "table {place}");
    }
}

#[test]
fn conditions_on_lists_do_not_tell_what_redaction_hides() {
    let folder = tempfile::tempdir().unwrap();
    let spec = TableSpec::of(vec![ColumnSpec {
        cells: Cells::Many { separator: ';' },
        ..ColumnSpec::new("ways", Kind::Text)
    }]);
    let rows = [r#"["ana@example.org", "post"]"#, r#"["post"]"#, r#"["bob@example.org"]"#];
    let path = folder.path().join("rows.jsonl");
    fs_err::write(&path, rows.map(|row| format!("{{\"ways\": {row}}}")).join("\n")).unwrap();
    let mut tables: Vec<Box<dyn Table>> = vec![Box::new(Dataset::read(&path, &spec).unwrap())];
    let path = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let values = rows.map(|row| format!("('{row}')")).join(", ");
    database
        .execute_batch(&format!("CREATE TABLE rows (ways); INSERT INTO rows VALUES {values}"))
        .unwrap();
    tables.push(Box::new(SqliteTable::open(&path, "rows", &spec).unwrap()));
    let server = Postgres::start();
    if let Some(server) = &server {
        server.run(&format!("CREATE TABLE rows (ways jsonb); INSERT INTO rows VALUES {values}"));
        tables.push(Box::new(PostgresTable::open(&server.url(), "rows", &spec).unwrap()));
    }
    let contains = |text: &str| Test::Contains { text: text.to_owned(), case: Case::Sensitive };
    let one = |text: &str| Test::AnyOf(vec![text.into()]);
    for (place, table) in tables.iter().enumerate() {
        for (test, expected) in [
            (contains("ana@"), 0),
            (contains("o"), 2),
            (one("bob@example.org"), 0),
            (Test::AnyOf(vec!["bob@example.org".into(), "[email]".into()]), 0),
            (one("post"), 2),
            (Test::HoldsAll(vec![vec!["ana@example.org".into(), "post".into()]]), 0),
            (Test::HasPrefix(vec!["ana".to_owned()]), 0),
        ] {
            for (test, expected) in
                [(test.clone(), expected), (Test::Not(Box::new(test)), 3 - expected)]
            {
                let mut query = Query::first(9, vec!["ways".to_owned()]);
                query.filters = vec![Filter::new("ways", test.clone()).of_shown()];
                let total = table.query(&query, &deadline()).unwrap().total;
                assert_eq!(total, expected, "table {place}: {test:?}");
            }
        }
    }
}
