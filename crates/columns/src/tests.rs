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
