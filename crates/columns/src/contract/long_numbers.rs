//! Proves that figures of whole numbers beyond 2^53 are exact in every engine, and that numbers
//! no float holds stop no statement.

use std::collections::BTreeMap;

use testkit::Postgres;

use super::Numbers;
use crate::tests::deadline;
use crate::{
    Aggregate, ColumnSpec, Dataset, Error, GroupBy, Grouping, Kind, Measure, Op, PostgresTable,
    Query, SqliteTable, Table, TableSpec, Value,
};

const PERCENTS: [u8; 4] = [50, 90, 95, 99];

fn spec() -> TableSpec {
    let columns = [("name", Kind::Text), ("size", Kind::Number)];
    TableSpec::of(columns.map(|(name, kind)| ColumnSpec::new(name, kind)).to_vec())
}

fn random_rows(numbers: &mut Numbers) -> Vec<(String, i64)> {
    (0..300)
        .map(|_| {
            let long = 1_i64 << numbers.pick(&[3_u32, 46, 53, 54, 60, 62]);
            let size = long + numbers.below(40) as i64;
            let name = (*numbers.pick(&["a", "b", "c", "d"])).to_owned();
            (name, if numbers.below(2) == 0 { size } else { -size })
        })
        .collect()
}

/// The value as a fraction of a hundredth, rounded as [`Value`] can hold it.
fn nearest(dividend: i128, divisor: i128) -> Value {
    if dividend % divisor == 0 {
        return Value::Integer((dividend / divisor) as i64);
    }
    if (dividend / divisor).abs() < 1 << 53 {
        let whole = dividend.div_euclid(divisor);
        return Value::Real(whole as f64 + dividend.rem_euclid(divisor) as f64 / divisor as f64);
    }
    let below = dividend.div_euclid(divisor);
    let distance = |whole: i128| (whole * divisor - dividend).abs();
    let by_distance = distance(below).cmp(&distance(below + 1));
    let is_below = by_distance.then((below % 2).abs().cmp(&1)).is_lt();
    Value::Integer((if is_below { below } else { below + 1 }) as i64)
}

fn measures_of(sizes: &mut [i64]) -> Vec<Value> {
    sizes.sort_unstable();
    let sum: i128 = sizes.iter().map(|size| i128::from(*size)).sum();
    let mut figures = vec![nearest(sum, sizes.len() as i128)];
    figures.extend(PERCENTS.map(|percent| {
        let place = (sizes.len() - 1) * usize::from(percent);
        let (low, rest) = (i128::from(sizes[place / 100]), (place % 100) as i128);
        let high = i128::from(sizes[place.div_ceil(100)]);
        nearest(low * 100 + (high - low) * rest, 100)
    }));
    figures
}

fn wanted(column: &str, by: GroupBy) -> Aggregate {
    let of_size = |op| Measure { op, column: Some("size".to_owned()) };
    let ops = std::iter::once(Op::Avg).chain(PERCENTS.map(Op::Percentile));
    Aggregate {
        group_by: vec![Grouping { column: column.to_owned(), by }],
        measures: ops.map(of_size).collect(),
        limit: 1000,
        ..Aggregate::default()
    }
}

/// Groups with their numbers.
type Groups = Vec<(Value, Vec<i64>)>;

fn check(table: &dyn Table, rows: &[(String, i64)]) {
    let mut by_name: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let mut by_range: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (name, size) in rows {
        by_name.entry(name).or_default().push(*size);
        by_range.entry(size.div_euclid(10) * 10).or_default().push(*size);
    }
    let named = by_name.into_iter().map(|(name, sizes)| (Value::from(name), sizes)).collect();
    let ranges = by_range.into_iter().map(|(start, sizes)| (start.into(), sizes)).collect();
    let asked: [(Aggregate, Groups); 2] =
        [(wanted("name", GroupBy::Value), named), (wanted("size", GroupBy::Width(10.0)), ranges)];
    for (wanted, groups) in asked {
        let answer = table.aggregate(&wanted, &deadline()).unwrap();
        let expected: Vec<Vec<serde_json::Value>> = groups
            .into_iter()
            .map(|(key, mut sizes)| {
                std::iter::once(key)
                    .chain(measures_of(&mut sizes))
                    .map(|cell| cell.to_json())
                    .collect()
            })
            .collect();
        let found: Vec<Vec<serde_json::Value>> =
            answer.rows.iter().map(|row| row.iter().map(Value::to_json).collect()).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn figures_of_long_whole_numbers_are_exact() {
    let server = Postgres::start();
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=3 {
        let rows = random_rows(&mut Numbers::new(seed));
        let lines: Vec<String> = rows.iter().map(|(name, size)| format!("{name},{size}")).collect();
        let path = folder.path().join(format!("{seed}.csv"));
        fs_err::write(&path, format!("name,size\n{}\n", lines.join("\n"))).unwrap();
        let dataset = Dataset::read(&path, &spec()).unwrap();
        check(&dataset, &rows);

        let values: Vec<String> =
            rows.iter().map(|(name, size)| format!("('{name}', {size})")).collect();
        let values = values.join(", ");
        let path = folder.path().join(format!("{seed}.db"));
        let database = rusqlite::Connection::open(&path).unwrap();
        let filled = format!("CREATE TABLE sizes (name, size); INSERT INTO sizes VALUES {values}");
        database.execute_batch(&filled).unwrap();
        check(&SqliteTable::open(&path, "sizes", &spec()).unwrap(), &rows);

        let Some(server) = &server else { continue };
        server.run(&format!(
            "CREATE TABLE sizes{seed} (name text, size int8); INSERT INTO sizes{seed} VALUES {values}"
        ));
        let table = PostgresTable::open(&server.url(), &format!("sizes{seed}"), &spec()).unwrap();
        check(&table, &rows);
    }
}

#[test]
fn numbers_that_no_float_holds_stop_no_statement_of_postgres() {
    let Some(server) = Postgres::start() else { return };
    server.run(
        "CREATE TABLE amounts (id int PRIMARY KEY, name text, size numeric, wide float8); \
         INSERT INTO amounts SELECT n, 'cents', 0.1, 1e308 FROM generate_series(1, 1000) AS n; \
         INSERT INTO amounts VALUES (2001, 'far', 1e400, 1), (2002, 'near', 1e-400, 1)",
    );
    let mut spec = spec();
    spec.columns.push(ColumnSpec::new("wide", Kind::Number));
    let table = PostgresTable::open(&server.url(), "amounts", &spec).unwrap();
    let rows = table.query(&Query::first(2000, vec!["size".to_owned()]), &deadline()).unwrap().rows;
    assert_eq!(rows[1000..], [[Value::Null], [Value::Integer(0)]]);
    let report = table.load_report(&deadline()).unwrap();
    assert_eq!((report.n_misfits, report.n_rounded), (1, 1));
    let sum_of = |column: &str| Aggregate {
        measures: vec![Measure { op: Op::Sum, column: Some(column.to_owned()) }],
        limit: 1,
        ..Aggregate::default()
    };
    let sum = table.aggregate(&sum_of("size"), &deadline()).unwrap().rows;
    assert_eq!(sum, [[Value::Integer(100)]], "decimals are added as decimals");
    let beyond = table.aggregate(&sum_of("wide"), &deadline()).unwrap_err();
    assert!(matches!(beyond, Error::Overflow), "{beyond}");
}
