//! Proves that no file makes the reader panic, hang, lose rows in silence or take more memory
//! than the file is worth: broken quotes, ragged rows, bytes that are no text, huge cells,
//! mixed types, nothing at all.

use proptest::prelude::*;

use crate::{Cells, ColumnSpec, Dataset, Error, Kind, MAX_CELL_BYTES, Query, Table, TableSpec};

fn read(name: &str, content: &[u8], spec: &TableSpec) -> crate::Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs_err::write(&path, content).unwrap();
    Dataset::read(&path, spec)
}

fn numbers() -> TableSpec {
    TableSpec::of(vec![ColumnSpec::new("n", Kind::Number)])
}

#[track_caller]
fn check(name: &str, content: &[u8], n_rows: usize, n_misfits: u64) {
    let dataset = read(name, content, &numbers()).unwrap();
    assert_eq!(dataset.n_rows(), n_rows, "{name}");
    assert_eq!(dataset.report().n_misfits, n_misfits, "{name}: {:?}", dataset.report());
}

#[test]
fn odd_files_are_read_and_reported() {
    check("a.csv", b"n\n", 0, 0);
    check("a.csv", b"n", 0, 0);
    check("a.csv", b"\xef\xbb\xbfn\r\n1\r\n2", 2, 0);
    check("a.csv", b"n\nNaN\nnan\nNA\n\ninf\n-Infinity\n1e999\n0x10\n", 8, 4);
    check("a.csv", b"n\n9223372036854775807\n9223372036854775808\n1e308\n-0\n0\n", 5, 0);
    check("a.csv", b"\"n\"\n\"1\"\n\"2\n", 2, 2);
    check("a.csv", b"n\n\"1\"x\n\"\"\"\"\n", 2, 2);
    check("a.csv", b"n,m\n1\n1,2,3\n1,2\n", 3, 2);
    check("a.json", b"[]", 0, 0);
    check("a.json", b"", 0, 0);
    check(
        "a.json",
        br#"[{"n": 1}, {"n": "x"}, {"n": null}, {}, 7, {"n": {"a": [1]}}, {"n": true}]"#,
        7,
        4,
    );
    check("a.jsonl", b"{\"n\": 1}\n\nnot json\n[1]\n{\"n\": \"2\"}\n", 4, 2);
    check("a.jsonl", b"", 0, 0);
}

#[test]
fn what_cannot_be_read_is_an_error_that_says_why() {
    let error = |name: &str, content: &[u8]| read(name, content, &numbers()).unwrap_err();
    assert!(matches!(error("a.csv", b""), Error::Empty { .. }));
    assert!(matches!(error("a.json", b"{\"n\": 1}"), Error::Malformed { .. }));
    assert!(matches!(error("a.json", b"[{\"n\": 1}"), Error::Malformed { .. }));
    assert!(matches!(error("a.parquet", b"PAR1 is not enough"), Error::Parquet { .. }));
    assert!(matches!(error("a.xml", b""), Error::UnknownFormat { .. }));
}

#[test]
fn a_huge_cell_is_cut_and_counted() {
    let mut content = b"n,t\n1,".to_vec();
    content.resize(content.len() + MAX_CELL_BYTES + 5, b'x');
    let spec = TableSpec::of(vec![ColumnSpec::new("t", Kind::Text)]);
    let dataset = read("a.csv", &content, &spec).unwrap();
    assert_eq!(dataset.report().n_cut_cells, 1);
    assert_eq!(dataset.column("t").unwrap().text(0).unwrap().len(), MAX_CELL_BYTES);
}

#[test]
fn a_quote_that_never_closes_costs_one_line() {
    let mut content = b"n\n1\n\"2\n".to_vec();
    for _ in 0..500_000 {
        content.extend_from_slice(b"1234567.1234567890\n");
    }
    let dataset = read("a.csv", &content, &numbers()).unwrap();
    assert_eq!(dataset.n_rows(), 500_002);
    assert_eq!(dataset.report().misfits[0].line, 3);
    assert_eq!(dataset.report().n_misfit_rows, 1);
}

#[test]
fn bytes_that_are_no_text_are_counted() {
    let spec = TableSpec::of(vec![ColumnSpec::new("t", Kind::Text)]);
    let content = "t\nșase\nțară\ncaf\u{e9}\n".replace('\u{e9}', "?").into_bytes();
    let content: Vec<u8> =
        content.into_iter().map(|byte| if byte == b'?' { 0xe9 } else { byte }).collect();
    let dataset = read("a.csv", &content, &spec).unwrap();
    assert_eq!(dataset.report().n_not_utf8, 1);
    assert_eq!(dataset.report().encoding, None);
    assert_eq!(dataset.column("t").unwrap().text(2), Some("caf\u{fffd}"));
}

#[test]
fn other_encodings_are_read_and_said() {
    let spec = TableSpec::of(vec![ColumnSpec::new("t", Kind::Text)]);
    let check = |content: &[u8], encoding: &str, expected: &str| {
        let dataset = read("a.csv", content, &spec).unwrap();
        assert_eq!(dataset.report().encoding.as_deref(), Some(encoding));
        assert_eq!(dataset.column("t").unwrap().text(0), Some(expected));
        assert_eq!(dataset.report().n_not_utf8, 0);
    };
    check(b"t\ncaf\xe9\nfa\xe7ade\n", "windows-1252", "café");
    let utf16: Vec<u8> = "\u{feff}t\nșase\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&utf16, "UTF-16LE", "șase");
}

/// A cell of two delimiters and a line break has as many cells on each of its lines as a row, and
/// was read as two rows although every cell was between quotes.
#[test]
fn lines_of_a_quoted_cell_are_no_rows() {
    let content = b"a,b,c\n\",,\n\",\"\",\"\"\r\n";
    let dataset = read("a.csv", content, &TableSpec::all_text()).unwrap();
    let cells: Vec<_> = dataset.all_columns().iter().map(|column| column.text(0)).collect();
    assert_eq!(cells, [Some(",,\n"), Some(""), Some("")]);
    assert!(dataset.report().is_clean());
}

/// A quote that a later row seems to close held everything between together where one of the rows
/// between was broken itself, and two on one line held the cells between.
#[test]
fn quotes_between_tabs_are_letters_unless_they_make_a_row() {
    let content = "id\ttitle\tyear\n1\t\"Rome\t1999\n2\tParis\n3\t5\" pipe\t2001\n4\tends\"\t2002\n\
                   5\t\"both\tsides\"\n6\t\"a\nb\"\t2003\n7\t\"open\t2004\n";
    let dataset = read("a.tsv", content.as_bytes(), &TableSpec::all_text()).unwrap();
    let titles: Vec<_> = (0..7).map(|row| dataset.column("title").unwrap().text(row)).collect();
    let expected = ["\"Rome", "Paris", "5\" pipe", "ends\"", "\"both", "a\nb", "\"open"].map(Some);
    assert_eq!((dataset.n_rows(), titles.as_slice()), (7, expected.as_slice()));
    assert_eq!(dataset.column("year").unwrap().text(4), Some("sides\""));
    assert_eq!(dataset.report().n_misfits, 1, "the row of two cells: {:?}", dataset.report());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Between tabs each line is a row, wherever its cells have quotes.
    #[test]
    fn lines_with_tabs_and_stray_quotes_are_rows(
        rows in proptest::collection::vec(proptest::collection::vec("[\"a ]{0,4}", 2), 1..20),
    ) {
        let mut content = "id\tb\tc\n".to_owned();
        for (at, row) in rows.iter().enumerate() {
            content.push_str(&format!("{at}\t{}\t{}\n", row[0], row[1]));
        }
        let dataset = read("a.tsv", content.as_bytes(), &TableSpec::all_text()).unwrap();
        prop_assert_eq!(dataset.n_rows(), rows.len());
        prop_assert!(dataset.report().is_clean(), "{:?}", dataset.report());
        for (at, row) in rows.iter().enumerate() {
            let id = at.to_string();
            prop_assert_eq!(dataset.column("id").unwrap().text(at), Some(id.as_str()));
            for (name, cell) in ["b", "c"].into_iter().zip(row) {
                let found = dataset.column(name).unwrap().text(at).unwrap();
                let bare = cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"');
                let unquoted = bare.then(|| cell[1..cell.len() - 1].replace("\"\"", "\""));
                prop_assert!(found == cell || Some(found) == unquoted.as_deref(), "{:?} {:?}", found, cell);
            }
        }
    }

    /// Whatever the bytes, reading ends with a table or an error, and the table can be asked.
    #[test]
    fn any_bytes_end_in_a_table_or_an_error(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), Just(b'\r'), any::<u8>()], 0..300),
        extension in prop_oneof![Just("csv"), Just("tsv"), Just("json"), Just("jsonl"), Just("parquet")],
    ) {
        if let Ok(dataset) = read(&format!("a.{extension}"), &bytes, &TableSpec::all_text()) {
            let names = dataset.columns().into_iter().map(|column| column.name).collect();
            let answer = dataset.query(&Query::first(1000, names), &crate::tests::deadline()).unwrap();
            prop_assert_eq!(answer.total, dataset.n_rows() as u64);
        }
    }

    /// What RFC 4180 writes is what is read, whatever is in the cells.
    #[test]
    fn quoted_cells_come_back_as_they_were(
        rows in proptest::collection::vec(proptest::collection::vec("[ -~\n\r\"ș日]{0,12}", 3), 1..20),
    ) {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let mut content = "a,b,c\n".to_owned();
        for row in &rows {
            content.push_str(&row.iter().map(quoted).collect::<Vec<_>>().join(","));
            content.push_str("\r\n");
        }
        let dataset = read("a.csv", content.as_bytes(), &TableSpec::all_text()).unwrap();
        prop_assert!(dataset.report().is_clean());
        for (at, row) in rows.iter().enumerate() {
            for (column, cell) in dataset.all_columns().iter().zip(row) {
                prop_assert_eq!(column.text(at), Some(cell.as_str()));
            }
        }
    }

    /// Lists keep their values once each, in order.
    #[test]
    fn lists_come_back(cells in proptest::collection::vec(proptest::collection::vec("[a-c]{1,2}", 0..4), 1..20)) {
        let mut spec = ColumnSpec::new("t", Kind::Text);
        spec.cells = Cells::Many { separator: '|' };
        let content: String = std::iter::once("t,u\n".to_owned())
            .chain(cells.iter().map(|cell| format!("{},x\n", cell.join("|"))))
            .collect();
        let dataset = read("a.csv", content.as_bytes(), &TableSpec::of(vec![spec])).unwrap();
        for (at, cell) in cells.iter().enumerate() {
            let mut once: Vec<crate::Value> = Vec::new();
            for value in cell {
                if !once.contains(&value.as_str().into()) {
                    once.push(value.as_str().into());
                }
            }
            prop_assert_eq!(dataset.column("t").unwrap().value(at), crate::Value::List(once));
        }
    }
}

/// An address of two lines has as many commas in each as a row has cells.
#[test]
fn a_cell_of_several_lines_is_one_whatever_its_commas() {
    let content = b"id,address,n\n1,\"Main St 5, Springfield\nIL, US\",2\n";
    let dataset = read("a.csv", content, &TableSpec::all_text()).unwrap();
    assert_eq!(dataset.n_rows(), 1);
    let address = dataset.column("address").unwrap();
    assert_eq!(address.text(0), Some("Main St 5, Springfield\nIL, US"));
}
