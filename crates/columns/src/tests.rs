//! Proves, on small tables, that: every format gives the same rows; cells that do not fit are
//! null and named; filters, facets, sorting, paging and positions do what their words say; a
//! cache file gives back what was read; a changed file is followed.

use std::path::PathBuf;
use std::time::Duration;

use model::Deadline;

use super::*;

pub(crate) fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs_err::write(&path, content).unwrap();
        path
    }
}

fn spec() -> TableSpec {
    let mut regions = ColumnSpec::new("regions", Kind::Text);
    regions.cells = Cells::Many { separator: ';' };
    TableSpec::of(vec![
        ColumnSpec::new("host", Kind::Text),
        ColumnSpec::new("latency", Kind::Number),
        ColumnSpec::new("ok", Kind::Boolean),
        ColumnSpec::new("date", Kind::Timestamp),
        regions,
    ])
}

const CSV: &str = "host,latency,ok,date,regions\n\
    a.example,10,true,2024-01-01T00:00:00Z,ams;fra\n\
    b.example,2.5,false,2024-01-02,fra\n\
    \"c,\"\"x\"\"\",,1,2024-01-03 12:00:00,\n\
    a.example,10,no,1704067200000,\"[\"\"ams\"\"]\"\n";

const JSON: &str = r#"[
    {"host": "a.example", "latency": 10, "ok": true, "date": "2024-01-01T00:00:00Z", "regions": ["ams", "fra"]},
    {"host": "b.example", "latency": 2.5, "ok": false, "date": "2024-01-02", "regions": ["fra"]},
    {"host": "c,\"x\"", "latency": null, "ok": 1, "date": "2024-01-03 12:00:00"},
    {"host": "a.example", "latency": "10", "ok": "no", "date": 1704067200000, "regions": "ams"}
]"#;

fn all_rows(table: &dyn Table) -> Vec<Vec<Value>> {
    let names = table.columns().into_iter().map(|column| column.name).collect();
    table.query(&Query::first(1000, names), &deadline()).unwrap().rows
}

#[test]
fn every_text_format_gives_the_same_rows() {
    let folder = Folder::new();
    let lines: String = serde_json::from_str::<Vec<serde_json::Value>>(JSON)
        .unwrap()
        .iter()
        .map(|row| format!("{row}\n"))
        .collect();
    let csv = Dataset::read(&folder.file("a.csv", CSV), &spec()).unwrap();
    let rows = all_rows(&csv);
    assert!(csv.report().is_clean(), "{:?}", csv.report());
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2][0], Value::from("c,\"x\""));
    assert_eq!(rows[2][1], Value::Null);
    assert_eq!(rows[0][4], Value::List(vec!["ams".into(), "fra".into()]));
    assert_eq!(rows[2][4], Value::List(vec![]));
    assert_eq!(rows[3][3], Value::Timestamp(1_704_067_200_000));
    for (name, content) in [
        ("b.csv", format!("\u{feff}{}", CSV.replace('\n', "\r\n"))),
        ("mac.csv", CSV.replace('\n', "\r")),
        (
            "b.tsv",
            CSV.replace("\"c,\"\"x\"\"\"", "c!x")
                .replace(',', "\t")
                .replace("c!x", "\"c,\"\"x\"\"\""),
        ),
        ("b.json", JSON.to_owned()),
        ("b.jsonl", lines),
    ] {
        let other = Dataset::read(&folder.file(name, content), &spec()).unwrap();
        assert_eq!(all_rows(&other), rows, "{name}");
    }
}

/// Long numbers went through a float on their way from JSON, and nothing said so.
#[test]
fn digits_are_kept_as_text_and_as_numbers_in_every_format() {
    let folder = Folder::new();
    let digits = [
        "18446744073709551615",
        "9007199254740993",
        "9223372036854775807",
        "123456789012345678901",
        "12345678901234567.89",
        "0.30000000000000004",
        "7",
    ];
    let lines = digits.map(|number| format!("{{\"n\": {number}}}"));
    let csv = folder.file("a.csv", format!("n\n{}\n", digits.join("\n")));
    for path in [
        csv,
        folder.file("a.jsonl", lines.join("\n")),
        folder.file("a.json", format!("[{}]", lines.join(", "))),
    ] {
        let read = |kind| {
            let spec = TableSpec::of(vec![ColumnSpec::new("n", kind)]);
            Dataset::read(&path, &spec).unwrap()
        };
        let text = read(Kind::Text);
        for (row, number) in digits.iter().enumerate() {
            assert_eq!(text.column("n").unwrap().text(row), Some(*number), "{}", path.display());
        }
        let numbers = read(Kind::Number);
        let shown = all_rows(&numbers).into_iter().flatten();
        let shown: Vec<String> =
            shown.map(|cell| cell.to_row_json().to_string().replace('"', "")).collect();
        assert_eq!(shown, digits, "{}", path.display());
        assert_eq!(numbers.report().n_rounded, 0);
        assert_eq!(numbers.report().long_decimals["n"], Some(17));
    }
    let lists = r#"{"n": [18446744073709551615, "a", null, 7]}"#;
    let mut spec = ColumnSpec::new("n", Kind::Text);
    spec.cells = crate::Cells::Many { separator: ';' };
    let path = folder.file("b.jsonl", lists);
    let list = Dataset::read(&path, &TableSpec::of(vec![spec])).unwrap();
    let expected = ["18446744073709551615", "a", "7"].map(Value::from);
    assert_eq!(all_rows(&list), [[Value::List(expected.to_vec())]]);
    assert_eq!(list.report().n_nulls_in_lists, 1, "what is left out is said");
}

#[test]
fn cells_that_do_not_fit_are_named_by_line() {
    let folder = Folder::new();
    let content = "host,latency\na,1\nb,fast\n\"two\nlines\",Infinity\nc\nd,4,5\n\"open,6\ne,7\n";
    let spec = TableSpec::of(spec().columns[..2].to_vec());
    let dataset = Dataset::read(&folder.file("x.csv", content), &spec).unwrap();
    let named: Vec<String> = dataset
        .report()
        .misfits
        .iter()
        .map(|misfit| {
            format!("{}: {:?} {} {:?}", misfit.line, misfit.column, misfit.problem, misfit.found)
        })
        .collect();
    insta::assert_snapshot!(named.join("\n"), @r#"
    3: Some("latency") the cell is not one of the numbers Some("fast")
    4: Some("latency") the cell is not one of the numbers Some("Infinity")
    6: None the row has 1 cells, 2 are expected None
    7: None the row has 3 cells, 2 are expected None
    8: None a quote is opened and never closed; the line was read without quotes None
    "#);
    assert_eq!(dataset.report().n_misfit_rows, 5);
    assert_eq!(dataset.n_rows(), 7);
    assert_eq!(dataset.column("host").unwrap().text(5), Some("\"open"));
    assert_eq!(dataset.column("latency").unwrap().number(6), Some(7.0));
}

#[test]
fn a_cache_file_gives_back_what_was_read() {
    let folder = Folder::new();
    let source = folder.file("a.csv", CSV);
    let cache = folder.0.path().join("cache");
    let first = LiveTable::open(&source, spec(), &cache).unwrap();
    let again = LiveTable::open(&source, spec(), &cache).unwrap();
    assert_eq!(all_rows(&first), all_rows(&again));
    assert_eq!(all_rows(&first), all_rows(&Dataset::read(&source, &spec()).unwrap()));
    assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 1);
}

#[test]
fn a_changed_file_is_followed_and_a_broken_one_is_told() {
    let folder = Folder::new();
    let source = folder.file("a.csv", CSV);
    let cache = folder.0.path().join("cache");
    let table = LiveTable::open(&source, spec(), &cache).unwrap();
    let old = table.snapshot();
    fs_err::write(&source, format!("{CSV}z,1,true,2024-01-01,ams\n")).unwrap();
    assert_eq!(all_rows(&table).len(), 5);
    assert_eq!(all_rows(old.as_ref()).len(), 4);
    assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 1);
    fs_err::write(&source, "nothing,of,this\n").unwrap();
    assert_eq!(all_rows(&table).len(), 5);
    assert!(table.staleness().unwrap().contains("no column `host`"));
    fs_err::write(&source, CSV).unwrap();
    assert_eq!(all_rows(&table).len(), 4);
    assert_eq!(table.staleness(), None);
}

#[test]
fn groups_are_added_up_by_their_values() {
    let folder = Folder::new();
    let content = "period,code,amount\n2023,70.11,1.1\n2024,70.12,2.2\n2024,80.1,4\n2024,70.11,\n";
    let mut columns =
        vec![ColumnSpec::new("period", Kind::Text), ColumnSpec::new("code", Kind::Text)];
    columns.push(ColumnSpec::new("amount", Kind::Number));
    let facts = Dataset::read(&folder.file("f.csv", content), &TableSpec::of(columns)).unwrap();
    let sums = |filters: Vec<Filter>| -> Vec<(String, u64, f64)> {
        let query =
            GroupQuery { filters, group_by: vec!["period".into()], sum: Some("amount".into()) };
        series(&facts, &query, &deadline())
            .unwrap()
            .into_iter()
            .map(|group| (group.keys[0].as_str().unwrap().to_owned(), group.count, group.sum))
            .collect()
    };
    assert_eq!(sums(vec![]), [("2023".into(), 1, 1.1), ("2024".into(), 3, 6.2)]);
    let chapter = Filter::new("code", Test::HasPrefix(vec!["70.".into()]));
    assert_eq!(sums(vec![chapter.clone()]), [("2023".into(), 1, 1.1), ("2024".into(), 2, 2.2)]);
    let not_chapter = Filter::new("code", Test::Not(Box::new(chapter.test.clone())));
    assert_eq!(sums(vec![not_chapter]), [("2024".into(), 1, 4.0)]);
    let by_text =
        GroupQuery { filters: vec![], group_by: vec!["period".into()], sum: Some("code".into()) };
    assert!(matches!(series(&facts, &by_text, &deadline()), Err(Error::WrongTest { .. })));
}

#[test]
fn filters_on_lists_look_at_every_value() {
    let folder = Folder::new();
    let table = Dataset::read(&folder.file("a.csv", CSV), &spec()).unwrap();
    let count = |test: Test| {
        let mut query = Query::first(10, vec!["host".into()]);
        query.filters.push(Filter::new("regions", test));
        table.query(&query, &deadline()).unwrap().total
    };
    let any = |values: &[&str]| Test::AnyOf(values.iter().map(|value| (*value).into()).collect());
    assert_eq!(count(any(&["ams"])), 2);
    assert_eq!(count(any(&["ams", "fra"])), 3);
    assert_eq!(count(Test::Not(Box::new(any(&["ams"])))), 2);
    assert_eq!(count(Test::AnyOf(vec![Value::Null])), 1);
    assert_eq!(count(Test::HoldsAll(vec![vec!["ams".into(), "fra".into()]])), 1);
    let text = "m".to_owned();
    assert_eq!(count(Test::Contains { text, case: Case::Sensitive }), 2);
}

#[test]
fn a_deadline_that_passed_ends_the_scan() {
    let folder = Folder::new();
    let table = Dataset::read(&folder.file("a.csv", CSV), &spec()).unwrap();
    let over = deadline();
    over.cancel();
    let outcome = table.query(&Query::first(10, vec!["host".into()]), &over);
    assert!(matches!(outcome, Err(Error::TimedOut)));
}

/// Two threads must find what one finds: the table is long enough to be split.
#[test]
fn a_long_table_gives_the_same_answer_in_parts() {
    let folder = Folder::new();
    let n_rows = 300_000_usize;
    let mut content = "n,k\n".to_owned();
    for row in 0..n_rows {
        content.push_str(&format!("{},{}\n", row * 7919 % 1000, row % 3));
    }
    let columns = vec![ColumnSpec::new("n", Kind::Number), ColumnSpec::new("k", Kind::Text)];
    let table = Dataset::read(&folder.file("l.csv", content), &TableSpec::of(columns)).unwrap();
    let mut query = Query::first(5, vec!["n".into(), "k".into()]);
    query.filters.push(Filter::new("k", Test::AnyOf(vec!["1".into()])));
    query.facets.push("n".into());
    query.sort = vec![Sort { column: "n".into(), direction: Direction::Descending }];
    query.offset = 98;
    let answer = table.query(&query, &deadline()).unwrap();
    assert_eq!(answer.total, 100_000);
    assert_eq!(answer.facets[0].rows.iter().map(|row| row.total).sum::<u64>(), 10_000);
    assert_eq!(answer.facets[0].n_values, 1000);
    assert_eq!(answer.rows[0][0], Value::Integer(999));
    assert_eq!(answer.rows[2][0], Value::Integer(998));
    let next = Query { after: answer.next.clone(), offset: 0, ..query.clone() };
    let behind = Query { offset: 103, ..query };
    assert_eq!(
        table.query(&next, &deadline()).unwrap().rows,
        table.query(&behind, &deadline()).unwrap().rows
    );
}

#[test]
fn dates_without_a_time_are_known_and_the_end_of_time_is_kept() {
    let folder = Folder::new();
    let rows = "day,at\n2024-01-01,2024-01-01T00:00:00Z\n9999-12-31,9999-12-31T23:59:59Z\n,\n";
    let path = folder.file("days.csv", rows);
    let spec = TableSpec::of(vec![
        ColumnSpec::new("day", Kind::Timestamp),
        ColumnSpec::new("at", Kind::Timestamp),
    ]);
    let table = Dataset::read(&path, &spec).unwrap();
    assert_eq!(table.report().date_columns, ["day"]);
    assert_eq!(table.report().n_misfits, 0);
    let shown: Vec<String> =
        all_rows(&table)[1].iter().map(|cell| cell.to_row_json().to_string()).collect();
    assert_eq!(shown, ["\"9999-12-31T00:00:00.000Z\"", "\"9999-12-31T23:59:59.000Z\""]);
}

#[test]
fn a_folder_may_have_files_with_other_columns() {
    let folder = Folder::new();
    folder.file("1.csv", "a,b\n1,x\n");
    folder.file("2.csv", "a,c\n2,y\n");
    folder.file("3.csv", "");
    let path = folder.0.path();
    let all = Dataset::read(path, &TableSpec::all_text()).unwrap();
    let null = Value::Null;
    assert_eq!(
        all_rows(&all),
        [
            [Value::from("1"), Value::from("x"), null.clone()],
            [Value::from("2"), null.clone(), Value::from("y")],
        ]
    );
    let missing = |table: &Dataset| -> Vec<(String, u64)> {
        let missing = table.report().missing_in_files.iter();
        missing.map(|missing| (missing.column.clone(), missing.n_files)).collect()
    };
    assert_eq!(missing(&all), [("c".to_owned(), 1), ("b".to_owned(), 1)]);
    let of = |names: &[&str]| {
        TableSpec::of(names.iter().map(|name| ColumnSpec::new(*name, Kind::Text)).collect())
    };
    assert_eq!(missing(&Dataset::read(path, &of(&["a", "c"])).unwrap()), [("c".to_owned(), 1)]);
    let outcome = Dataset::read(path, &of(&["a", "nowhere"]));
    assert!(matches!(outcome, Err(Error::MissingColumn { ref column, .. }) if column == "nowhere"));
    let empty = Folder::new();
    assert!(matches!(Dataset::read(empty.0.path(), &of(&["a"])), Err(Error::Empty { .. })));
    let nothing = empty.file("nothing.csv", "");
    let outcome = Dataset::read(&nothing, &of(&["a"]));
    assert!(matches!(&outcome, Err(error @ Error::Empty { .. }) if error.is_away()), "{outcome:?}");
}

/// The tests of private pieces, for the three engines.
pub(crate) fn check_private_pieces(table: &dyn Table) {
    let total = |test: Test, sight: Sight| {
        let mut query = Query::first(0, Vec::new());
        query.filters.push(Filter { sight, ..Filter::new("note", test) });
        table.query(&query, &deadline()).unwrap().total
    };
    let contains = |text: &str| Test::Contains { text: text.to_owned(), case: Case::Sensitive };
    let starts = |text: &str| Test::HasPrefix(vec![text.to_owned()]);
    let equal = |text: &str| Test::AnyOf(vec![text.into()]);
    assert_eq!(total(contains("ana@"), Sight::Whole), 1);
    assert_eq!(total(contains("ana@"), Sight::Shown), 0);
    assert_eq!(total(contains("write"), Sight::Shown), 1);
    assert_eq!(total(contains("e"), Sight::Shown), 2, "the letter is outside the address too");
    assert_eq!(total(starts("+40 722"), Sight::Shown), 0);
    assert_eq!(total(equal("+40 722 123 456"), Sight::Shown), 0);
    let range = Range { low: "+40 722".into(), high: "+40 723".into() };
    assert_eq!(total(Test::Within(vec![range]), Sight::Shown), 0);
    // What is shown in place of a private piece opens nothing: neither a guess beside the mark, nor
    // a letter or a range that holds the mark, too.
    let guess = Test::AnyOf(vec!["+40 722 123 456".into(), "[phone]".into()]);
    assert_eq!(total(guess.clone(), Sight::Whole), 1);
    let around = Test::Within(vec![Range { low: "+40 722".into(), high: "[z".into() }]);
    assert_eq!(total(around.clone(), Sight::Whole), 1);
    assert_eq!(total(contains("m"), Sight::Whole), 1);
    for test in [guess.clone(), around.clone(), contains("m"), equal("[phone]")] {
        assert_eq!(total(test.clone(), Sight::Shown), 0, "{test:?}");
    }
    let from_letter = Test::Within(vec![Range { low: "write".into(), high: Value::Null }]);
    assert_eq!(total(from_letter, Sight::Shown), 1, "the beginning is public");
    for test in [contains("ana@"), starts("+40 722"), equal("+40 722 123 456"), guess, around] {
        assert_eq!(total(Test::Not(Box::new(test)), Sight::Shown), 3, "nothing is left out");
    }
    assert_eq!(total(Test::Not(Box::new(contains("write"))), Sight::Shown), 2);
    // The same conditions among others of which one must hold.
    let total_of_any = |tests: &[Test]| {
        let shown =
            |test: &Test| Filter { sight: Sight::Shown, ..Filter::new("note", test.clone()) };
        let nothing = Filter::new("note", equal("no such note"));
        let alternatives = vec![tests.iter().map(shown).collect(), vec![nothing]];
        let mut query = Query::first(0, Vec::new());
        query.any.push(AnyGroup { alternatives });
        table.query(&query, &deadline()).unwrap().total
    };
    let not = |test: Test| Test::Not(Box::new(test));
    for test in [contains("ana@"), contains("e"), starts("+40 722"), contains("write")] {
        assert_eq!(total_of_any(std::slice::from_ref(&test)), total(test.clone(), Sight::Shown));
        assert_eq!(total_of_any(&[not(test.clone())]), total(not(test), Sight::Shown));
    }
    assert_eq!(total_of_any(&[not(contains("ana@")), not(starts("+40 722"))]), 3);
    assert_eq!(total_of_any(&[not(contains("ana@")), contains("nothing")]), 1);
}

#[test]
fn a_condition_does_not_tell_what_redaction_hides() {
    let folder = Folder::new();
    let rows = "note\nwrite to ana@example.org\n+40 722 123 456\nnothing else\n";
    let path = folder.file("notes.csv", rows);
    let spec = TableSpec::of(vec![ColumnSpec::new("note", Kind::Text)]);
    check_private_pieces(&Dataset::read(&path, &spec).unwrap());
    let database = folder.0.path().join("notes.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    let texts = "('write to ana@example.org'), ('+40 722 123 456'), ('nothing else')";
    let sql = format!("CREATE TABLE notes (note TEXT); INSERT INTO notes VALUES {texts}");
    connection.execute_batch(&sql).unwrap();
    check_private_pieces(&SqliteTable::open(&database, "notes", &spec).unwrap());
}

#[test]
fn a_number_is_said_to_be_rounded_when_it_is() {
    let folder = Folder::new();
    let rows = "amount\n12345678901234.56\n0.1\n99999999999999.99\n1e-40\n";
    let spec = TableSpec::of(vec![ColumnSpec::new("amount", Kind::Number)]);
    let table = Dataset::read(&folder.file("a.csv", rows), &spec).unwrap();
    assert_eq!(table.report().n_rounded, 1, "a float shows all digits of the others");
    assert_eq!(table.report().rounded_by_column["amount"], 1);
}
