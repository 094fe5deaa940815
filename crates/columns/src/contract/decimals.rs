//! What is in a file is in the answer: numbers of more digits than floats and whole numbers of 64
//! bits keep are shown, found, sorted, grouped, measured and exported to the last digit, from CSV,
//! JSON, Parquet and PostgreSQL alike.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, RecordBatch, StringArray};
use testkit::Postgres;

use super::Numbers;
use crate::tests::deadline;
use crate::{
    Aggregate, ColumnSpec, Dataset, Direction, Filter, GroupBy, Grouping, Kind, Measure, Op,
    ParquetWriter, PostgresTable, Query, Range, Sort, Table, TableSpec, Test, Value,
};

const N_ROWS: u64 = 60;
/// Digits behind the point.
const SCALE: u32 = 6;

fn spec() -> TableSpec {
    TableSpec::of(vec![ColumnSpec::new("name", Kind::Text), ColumnSpec::new("size", Kind::Number)])
}

/// Whole numbers of 20 digits and more beside cents, some of them twice.
fn random_rows(numbers: &mut Numbers) -> Vec<(String, i128)> {
    let mut units: Vec<i128> = vec![i128::from(u64::MAX) * 1_000_000, -100_000, 0];
    (0..N_ROWS)
        .map(|_| {
            let wide = i128::from(numbers.below(u64::MAX)) * i128::from(numbers.below(1 << 40));
            let known = *numbers.pick(&units);
            let amount = match numbers.below(4) {
                0 => wide,
                1 => -wide,
                2 => i128::from(numbers.below(10_000)) * 10_000,
                _ => known,
            };
            units.push(amount);
            (["a", "b", "c"][numbers.below(3) as usize].to_owned(), amount)
        })
        .collect()
}

fn written(units: i128) -> String {
    let one = 10_i128.pow(SCALE);
    let sign = if units < 0 { "-" } else { "" };
    let (whole, behind) = (units.unsigned_abs() / one as u128, units.unsigned_abs() % one as u128);
    format!("{sign}{whole}.{behind:06}")
}

/// The digits that an answer should show: no zeros behind the last other one.
fn expected(units: i128) -> String {
    written(units).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The digits that an answer shows, whether as a number or as text.
fn shown(value: &Value) -> String {
    let json = value.to_row_json();
    let real = json.as_f64().filter(|_| json.is_f64());
    real.map_or_else(|| json.to_string().replace('"', ""), |number| number.to_string())
}

fn check(table: &dyn Table, rows: &[(String, i128)], from: &str) {
    let columns = vec!["name".to_owned(), "size".to_owned()];
    let everything = Query::first(1000, columns);
    let ask = |query: &Query| table.query(query, &deadline()).unwrap();
    let sizes = |query: &Query| -> Vec<String> {
        ask(query).rows.iter().map(|row| shown(&row[1])).collect()
    };
    let all: Vec<String> = rows.iter().map(|(_, units)| expected(*units)).collect();
    assert_eq!(sizes(&everything), all, "rows of {from}");

    let mut sorted: Vec<i128> = rows.iter().map(|(_, units)| *units).collect();
    sorted.sort_unstable();
    let by_size = Sort { column: "size".to_owned(), direction: Direction::Ascending };
    let rising: Vec<String> = sorted.iter().map(|units| expected(*units)).collect();
    let in_order = Query { sort: vec![by_size.clone()], ..everything.clone() };
    assert_eq!(sizes(&in_order), rising, "order of {from}");
    let mut pages = Vec::new();
    let mut page = Query { limit: 7, ..in_order };
    loop {
        let answer = ask(&page);
        pages.extend(answer.rows.iter().map(|row| shown(&row[1])));
        let Some(next) = answer.next else { break };
        // A cursor leaves and comes back as JSON.
        let next = serde_json::to_string(&next).unwrap();
        page.after = Some(serde_json::from_str(&next).unwrap());
    }
    assert_eq!(pages.len(), rising.len(), "pages of {from}");
    assert_eq!(pages, rising, "pages of {from}");

    for (_, units) in rows {
        let value = Value::number(&expected(*units)).unwrap();
        let found = |test| {
            let filters = vec![Filter::new("size", test)];
            ask(&Query { filters, limit: 0, ..everything.clone() }).total
        };
        let count = |passes: &dyn Fn(i128) -> bool| {
            rows.iter().filter(|(_, units)| passes(*units)).count() as u64
        };
        let one = Test::AnyOf(vec![value.clone()]);
        assert_eq!(found(one), count(&|other| other == *units), "{value:?} of {from}");
        let above = Test::Within(vec![Range { low: value.clone(), high: Value::Null }]);
        assert_eq!(found(above), count(&|other| other >= *units), "from {value:?} of {from}");
    }

    let facet = ask(&Query { facets: vec!["size".to_owned()], ..everything.clone() });
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (_, units) in rows {
        *counts.entry(expected(*units)).or_default() += 1;
    }
    let counted: BTreeMap<String, u64> =
        facet.facets[0].rows.iter().map(|row| (shown(&row.value), row.total)).collect();
    assert_eq!(counted, counts, "facet of {from}");
    check_measures(table, rows, from);
}

fn check_measures(table: &dyn Table, rows: &[(String, i128)], from: &str) {
    let ops = [Op::Sum, Op::Min, Op::Max, Op::Avg, Op::Percentile(50), Op::CountDistinct];
    let aggregate = |by: GroupBy, column: &str| {
        let wanted = Aggregate {
            group_by: vec![Grouping { column: column.to_owned(), by }],
            measures: ops.map(|op| Measure { op, column: Some("size".to_owned()) }).to_vec(),
            limit: 1000,
            ..Aggregate::default()
        };
        table.aggregate(&wanted, &deadline()).unwrap().rows
    };
    let mut by_name: BTreeMap<&str, Vec<i128>> = BTreeMap::new();
    for (name, units) in rows {
        by_name.entry(name).or_default().push(*units);
    }
    let found = aggregate(GroupBy::Value, "name");
    assert_eq!(found.len(), by_name.len());
    for (row, (name, mut units)) in found.iter().zip(by_name) {
        units.sort_unstable();
        let sum: i128 = units.iter().sum();
        assert_eq!(row[0], Value::from(name));
        assert_eq!(shown(&row[1]), expected(sum), "sum of {from}");
        assert_eq!(shown(&row[2]), expected(units[0]), "least of {from}");
        assert_eq!(shown(&row[3]), expected(units[units.len() - 1]), "most of {from}");
        near(&row[4], sum, units.len() as i128, from);
        let (low, high) = (units[(units.len() - 1) / 2], units[units.len() / 2]);
        near(&row[5], low + high, 2, from);
        units.dedup();
        assert_eq!(row[6], Value::Integer(units.len() as i64));
    }
    let width = 1e19;
    let found = aggregate(GroupBy::Width(width), "size");
    let number = |units: i128| units.div_euclid(10_i128.pow(SCALE + 19));
    let mut ranges: Vec<i128> = rows.iter().map(|(_, units)| number(*units)).collect();
    ranges.sort_unstable();
    ranges.dedup();
    assert_eq!(found.len(), ranges.len(), "ranges of {from}");
    for (row, range) in found.iter().zip(ranges) {
        assert_eq!(row[0].as_f64(), Some(range as f64 * width), "ranges of {from}");
    }
}

/// A quotient is right to the last digit of what was divided, or to fifteen.
#[track_caller]
fn near(value: &Value, dividend: i128, divisor: i128, from: &str) {
    let text = shown(value);
    let (whole, behind) = text.split_once('.').unwrap_or((&text, ""));
    let found: f64 = text.parse().unwrap();
    let exact = dividend as f64 / divisor as f64 / 1e6;
    assert!((found - exact).abs() <= exact.abs() * 1e-14, "{text} for {exact} of {from}");
    let n_digits = whole.len() + behind.len();
    if n_digits > 17 && behind.len() <= SCALE as usize {
        let scale = 10_i128.pow(behind.len() as u32);
        let found: i128 = format!("{whole}{behind}").parse().unwrap();
        let off = found * 10_i128.pow(SCALE) / scale * divisor - dividend;
        let last = divisor * 10_i128.pow(SCALE) / scale;
        assert!(off.abs() * 2 <= last, "{text} is not {dividend} / {divisor} of {from}");
    }
}

fn write_parquet(path: &Path, rows: &[(String, i128)]) {
    let names: StringArray = rows.iter().map(|(name, _)| Some(name.as_str())).collect();
    let sizes: Decimal128Array = rows.iter().map(|(_, units)| Some(*units)).collect();
    let sizes = sizes.with_precision_and_scale(38, SCALE as i8).unwrap();
    let columns: [(&str, ArrayRef); 2] = [("name", Arc::new(names)), ("size", Arc::new(sizes))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = fs_err::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Writes what a table gives and reads it again.
fn exported(table: &dyn Table, path: &Path) -> Dataset {
    let names = vec!["name".to_owned(), "size".to_owned()];
    let rows = table.query(&Query::first(1000, names), &deadline()).unwrap().rows;
    let decimals = table.load_report(&deadline()).unwrap().long_decimals;
    assert!(decimals["size"].is_some());
    let file = fs_err::File::create(path).unwrap();
    let mut writer = ParquetWriter::new(file, table.columns(), decimals).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    Dataset::read(path, &spec()).unwrap()
}

#[test]
fn what_is_in_a_file_is_in_the_answer() {
    let server = Postgres::start();
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=3 {
        let rows = random_rows(&mut Numbers::new(seed));
        let file = |name: &str, content: String| {
            let path = folder.path().join(format!("{seed}-{name}"));
            fs_err::write(&path, content).unwrap();
            Dataset::read(&path, &spec()).unwrap()
        };
        let lines = |line: &dyn Fn(&str, String) -> String| {
            let lines = rows.iter().map(|(name, units)| line(name, written(*units)));
            lines.collect::<Vec<_>>().join("\n")
        };
        let csv = lines(&|name, size| format!("{name},{size}"));
        check(&file("a.csv", format!("name,size\n{csv}\n")), &rows, "csv");
        let json = lines(&|name, size| format!(r#"{{"name": "{name}", "size": {size}}}"#));
        check(&file("a.jsonl", json), &rows, "json lines");
        let path = folder.path().join(format!("{seed}.parquet"));
        write_parquet(&path, &rows);
        let parquet = Dataset::read(&path, &spec()).unwrap();
        check(&parquet, &rows, "parquet");
        check(&exported(&parquet, &folder.path().join("out.parquet")), &rows, "an export");

        let Some(server) = &server else { continue };
        let values: Vec<String> = rows
            .iter()
            .enumerate()
            .map(|(id, (name, units))| format!("({id}, '{name}', {})", written(*units)))
            .collect();
        server.run(&format!(
            "CREATE TABLE long{seed} (id int PRIMARY KEY, name text, size numeric); \
             INSERT INTO long{seed} VALUES {}",
            values.join(", ")
        ));
        let table = PostgresTable::open(&server.url(), &format!("long{seed}"), &spec()).unwrap();
        check(&table, &rows, "postgres");
        check(&exported(&table, &folder.path().join("out.parquet")), &rows, "a postgres export");
    }
}
