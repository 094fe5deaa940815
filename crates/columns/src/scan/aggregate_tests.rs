//! Proves that aggregates are the same however groups get their places: a place each, a place for
//! those that rows have, by hashing, and from what is known of the whole table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use model::Deadline;

use crate::query::{Filter, Range, Table, Test};
use crate::{
    Aggregate, ColumnSpec, Dataset, GroupBy, Grouping, Kind, Measure, Op, TableSpec, Value,
};

const N_ROWS: i64 = 40_000;

/// A table whose columns `a` and `b` have so many values; `c` is measured, and null in each tenth
/// row.
fn table(n_values: i64) -> (Dataset, Vec<[i64; 3]>) {
    let mut text = "a,b,c\n".to_owned();
    let mut rows = Vec::new();
    let mut state: u64 = 7;
    let mut next = |n: i64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % n
    };
    for _ in 0..N_ROWS {
        let row = [next(n_values), next(n_values) * 7, next(5000) - 2500];
        let cell = if row[2] % 10 == 0 { String::new() } else { row[2].to_string() };
        writeln!(text, "{},{},{cell}", row[0], row[1]).unwrap();
        rows.push(row);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs_err::write(&path, text).unwrap();
    let columns = ["a", "b", "c"].map(|name| ColumnSpec::new(name, Kind::Number));
    (Dataset::read(&path, &TableSpec::of(columns.to_vec())).unwrap(), rows)
}

/// What is asked of each group, and the same of a list of numbers.
const OPS: [Op; 5] = [Op::Sum, Op::Min, Op::Max, Op::CountDistinct, Op::Percentile(100)];

fn naive(values: &[i64]) -> Vec<Value> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let whole = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
    let (lowest, highest) = (whole(sorted.first().copied()), whole(sorted.last().copied()));
    let sum = (!sorted.is_empty()).then(|| sorted.iter().sum());
    sorted.dedup();
    let n_distinct = Value::Integer(sorted.len() as i64);
    vec![whole(sum), lowest, highest.clone(), n_distinct, highest]
}

#[track_caller]
fn check(n_values: i64, group_by: &[&str], filter: Option<[i64; 2]>, ops: &[Op]) {
    let (dataset, rows) = table(n_values);
    let mut groups: BTreeMap<Vec<i64>, (i64, Vec<i64>)> = BTreeMap::new();
    let passes = |row: &&[i64; 3]| {
        let is_null = row[2] % 10 == 0;
        filter.is_none_or(|[low, high]| !is_null && (low..=high).contains(&row[2]))
    };
    for row in rows.iter().filter(passes) {
        let key = group_by.iter().map(|name| row[usize::from(*name == "b")]).collect();
        let (n_rows, values) = groups.entry(key).or_default();
        *n_rows += 1;
        if row[2] % 10 != 0 {
            values.push(row[2]);
        }
    }
    let measure = |op: &Op| Measure { op: *op, column: Some("c".to_owned()) };
    let count = Measure { op: Op::Count, column: None };
    let wanted = Aggregate {
        filters: filter
            .map(|[low, high]| {
                let range = Range { low: Value::Integer(low), high: Value::Integer(high) };
                Filter::new("c", Test::Within(vec![range]))
            })
            .into_iter()
            .collect(),
        group_by: group_by
            .iter()
            .map(|name| Grouping { column: (*name).to_owned(), by: GroupBy::Value })
            .collect(),
        measures: std::iter::once(count).chain(ops.iter().map(measure)).collect(),
        limit: usize::MAX,
        ..Aggregate::default()
    };
    let answer = dataset.aggregate(&wanted, &Deadline::after(Duration::from_secs(60))).unwrap();
    let expected: Vec<Vec<Value>> = groups
        .into_iter()
        .map(|(key, (n_rows, values))| {
            let all = naive(&values);
            let places = ops.iter().map(|op| OPS.iter().position(|known| known == op).unwrap());
            let measures: Vec<Value> = places.map(|place| all[place].clone()).collect();
            let key = key.into_iter().map(Value::Integer);
            key.chain([Value::Integer(n_rows)]).chain(measures).collect()
        })
        .collect();
    assert_eq!(answer.total_groups, expected.len() as u64);
    assert!(answer.rows == expected, "{n_values} {group_by:?} {filter:?}");
}

#[test]
fn groups_are_the_same_however_many_are_possible() {
    // A place each; a place for those that rows have; by hashing.
    for n_values in [40, 300, 1_300, 30_000] {
        check(n_values, &["a", "b"], None, &OPS);
        check(n_values, &["a", "b"], None, &OPS[..3]);
        check(n_values, &["b", "a"], Some([-700, 900]), &OPS[..2]);
        check(n_values, &["a"], Some([3, 3]), &[]);
    }
}

#[test]
fn what_is_asked_of_the_whole_table_is_the_same_as_of_its_rows() {
    for n_values in [3, 1_300] {
        check(n_values, &["a"], None, &[]);
        check(n_values, &[], None, &OPS);
        // The same rows by a filter that all of them with a value pass.
        check(n_values, &[], Some([-2500, 2500]), &OPS);
    }
}

/// The sum of so many is no float, and a mean of the rounded sum is greater than each of them.
#[test]
fn the_mean_of_equal_numbers_is_the_number() {
    for (number, n_rows) in [("123456789012345", 107), ("0.1", 10), ("-99999.99", 33)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        // The small one makes floats of all.
        let rows = format!("1,{number}\n").repeat(n_rows);
        fs_err::write(&path, format!("g,v\n2,0.0000001\n{rows}")).unwrap();
        let columns = ["g", "v"].map(|name| ColumnSpec::new(name, Kind::Number)).to_vec();
        let table = Dataset::read(&path, &TableSpec::of(columns)).unwrap();
        for group_by in [&["g"][..], &[]] {
            let query = Aggregate {
                filters: vec![Filter::new("g", Test::AnyOf(vec![Value::Integer(1)]))],
                group_by: group_by
                    .iter()
                    .map(|name| Grouping { column: (*name).to_owned(), by: GroupBy::Value })
                    .collect(),
                measures: vec![Measure { op: Op::Avg, column: Some("v".to_owned()) }],
                limit: usize::MAX,
                ..Aggregate::default()
            };
            let answer =
                table.aggregate(&query, &Deadline::after(Duration::from_secs(60))).unwrap();
            let mean = answer.rows[0].last().and_then(Value::as_f64);
            assert_eq!(mean, number.parse().ok(), "{group_by:?}");
        }
    }
}
