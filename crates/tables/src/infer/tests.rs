//! Proves that strangers' files are drafted as what they are: codes stay text, dates and numbers
//! are read as people write them, doubts are named, and what is drafted reads what it was drafted
//! from without a cell that does not fit.

use std::path::PathBuf;

use columns::Dataset;

use super::*;
use crate::schema::table_spec;

struct Draft {
    _folder: tempfile::TempDir,
    path: PathBuf,
    config: TableConfig,
    notes: Vec<String>,
}

impl Draft {
    fn of(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs_err::write(&path, bytes).unwrap();
        let (config, notes) = infer_config(&path).unwrap();
        Draft { _folder: folder, path, config, notes }
    }

    fn field(&self, name: &str) -> (&Field, &str) {
        let at = self.config.fields.0.iter().position(|(known, _)| known == name).unwrap();
        (&self.config.fields.0[at].1, &self.notes[at])
    }

    fn leaf(&self, name: &str) -> &'static str {
        self.field(name).0.leaf().field_type.as_str()
    }

    /// Reads the file by what was drafted.
    fn read(&self) -> Dataset {
        Dataset::read(&self.path, &table_spec(&self.config, Vec::new())).unwrap()
    }
}

/// A file with one column, whose cells repeat with a difference in none.
#[track_caller]
fn check(name: &str, cells: &[&str], expected: &str) -> Draft {
    let mut text = format!("{name}\tother\n");
    cells.iter().for_each(|cell| text.push_str(&format!("{cell}\tx\n")));
    let draft = Draft::of("t.tsv", text.as_bytes());
    assert_eq!(draft.leaf(name), expected, "{cells:?}: {}", draft.field(name).1);
    assert_eq!(draft.read().report().n_misfits, 0, "{cells:?}");
    draft
}

#[test]
fn digits_are_moments_where_the_name_says_so_and_all_are_of_our_time() {
    let epoch = |draft: &Draft, name: &str| draft.field(name).0.epoch;
    let seconds = check("created_at", &["1714557600", "1714557700"], "timestamp");
    assert_eq!(epoch(&seconds, "created_at"), Some(Epoch::S));
    assert!(seconds.field("created_at").1.contains("2024-05-01"), "{:?}", seconds.notes);
    let millis = check("eventTime", &["1714557600000", "1714557700000"], "timestamp");
    assert_eq!(epoch(&millis, "eventTime"), Some(Epoch::Ms));
    let dates = check("date", &["20240501", "20240613", "20231231"], "timestamp");
    assert_eq!(dates.field("date").0.date_order, Some(DateOrder::Ymd));
    assert_eq!(dates.read().report().date_columns, ["date"]);
    let drafted = to_toml(&dates.config, &dates.notes, None);
    assert!(drafted.contains("date_order = \"ymd\""), "{drafted}");
    check("date", &["20240501", "20241345"], "number");
    check("amount", &["20240501", "20240613"], "number");
    check("response_time", &["120", "1714557600"], "number");
    check("zip", &["20240501", "20240613"], "string");
}

#[test]
fn remarks_above_a_table_are_passed_over() {
    let draft = Draft::of("a.csv", b"# made by x, again\n# 2024\na,b\n1,2\n3,4\n");
    assert_eq!((draft.leaf("a"), draft.leaf("b"), draft.read().n_rows()), ("number", "number", 2));
    assert_eq!(draft.read().report().n_above_header, 2);
    let draft = Draft::of("a.csv", b"sep=;\r\na;b\r\n1,5;2\r\n2,5;3\r\n");
    assert_eq!((draft.leaf("a"), draft.read().n_rows()), ("number", 2));
    let draft = Draft::of("a.csv", b"#,name\n1,x\n2,y\n");
    assert_eq!((draft.leaf("#"), draft.read().n_rows()), ("number", 2));
    let draft = Draft::of("a.csv", b"#only\n#lines\n");
    assert_eq!(draft.read().n_rows(), 1);
}

#[test]
fn blank_lines_are_no_rows_whichever_columns_are_read() {
    let draft = Draft::of("a.csv", b"a,b\n1,2\n\n3,4\n\n");
    assert!(draft.notes.iter().all(|note| !note.contains("not fit")), "{:?}", draft.notes);
}

#[test]
fn codes_and_telephone_numbers_stay_text() {
    check("zip", &["10001", "94110", "60601"], "string");
    check("ZIPCODE", &["10001", "94110", "60601"], "string");
    check("PHONE_NO", &["2125551234", "4155551234"], "string");
    check("place", &["00501", "94110", "60601"], "string");
    check("contact", &["721 123 456", "722 123 456", "733 123 457"], "string");
    check("contact", &["+40721123456", "+40722123456"], "string");
    check("change", &["+1.25", "-0.5", "+3"], "number");
}

#[test]
fn digits_between_quotes_are_text_where_numbers_are_bare() {
    let mixed = Draft::of("t.csv", b"\"ref\",\"qty\"\n\"1001\",5\n\"1002\",6\n\"1003\",7\n");
    assert_eq!((mixed.leaf("ref"), mixed.leaf("qty")), ("string", "number"));
    let all = Draft::of("t.csv", b"\"ref\",\"qty\"\n\"1001\",\"5\"\n\"1002\",\"6\"\n");
    assert_eq!((all.leaf("ref"), all.leaf("qty")), ("number", "number"));
    // Where the comma separates cells, quotes around a number with one say nothing.
    let needed = Draft::of(
        "t.csv",
        b"n,pay,part\n1,\"$1,234.50\",\"1,5\"\n2,\"$2,000.00\",\"2,75\"\n3,$900.25,\"3,25\"\n",
    );
    assert_eq!((needed.leaf("pay"), needed.leaf("part")), ("number", "number"));
    assert_eq!(needed.read().report().n_misfits, 0);
}

#[test]
fn quotes_that_are_letters_take_no_rows_away() {
    let cells =
        ["5\" pipe", "he said \"hi", "\"start only", "\"bal\"anced", "ends here\"", "\"whole\""];
    for separator in ['\t', ',', ';'] {
        let mut text = format!("n{separator}text{separator}m\n");
        for n in 0..60 {
            let cell = cells[n * 7 % 6];
            text.push_str(&format!("{n}{separator}{cell}{separator}{n}\n"));
        }
        let read = Draft::of("t.csv", text.as_bytes()).read();
        assert_eq!((read.n_rows(), read.report().n_misfits), (60, 0), "{separator:?}");
        let column = read.column("text").unwrap();
        for n in 0..60 {
            let cell = cells[n * 7 % 6];
            let shown = if cell == "\"whole\"" { "whole" } else { cell };
            assert_eq!(column.text(n), Some(shown), "{separator:?}, row {n}");
        }
    }
    // Cells of several lines are still one cell each, in the last column too.
    let read =
        Draft::of("t.tsv", b"a\tb\tc\n1\t\"x\ny\"\t2\n3\tz\t\"p\nq\"\n4\t\"t\tu\nv\"\t5\n").read();
    assert_eq!((read.n_rows(), read.report().n_misfits), (3, 0));
    assert_eq!(read.column("b").unwrap().text(2), Some("t\tu\nv"));
}

#[test]
fn dates_are_read_as_people_write_them() {
    check("d", &["Jun 12 1998", "Jan 3 2001"], "timestamp");
    check("d", &["Tue, 23 May 2023 10:00:00 GMT", "Wed, 24 May 2023 10:00:00 GMT"], "timestamp");
    check("d", &["3/14/2024 2:15 PM", "12/1/2024 12:05 AM"], "timestamp");
    check("d", &["3/14/98", "12/1/02"], "timestamp");
    check("d", &["31.12.2024", "1.2.2024"], "timestamp");
    let doubtful = check("d", &["03/04/2024", "05/06/2024"], "timestamp");
    assert!(doubtful.field("d").1.contains("AMBIGUOUS"));
    // What has the numbers of dates and something else behind is no date.
    check("d", &["03/04/2024 lot A", "05/06/2024 lot B"], "string");
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let total = |draft: &Draft| {
        let read = draft.read();
        read.all_columns()[0].distinct_values().map(|it| it.as_f64().unwrap()).sum::<f64>()
    };
    let american = check("v", &["1,234.50", "12.00", "(100.00)"], "number");
    assert_eq!(total(&american), 1146.5);
    let european = check("v", &["1.234,50", "12,00", "7"], "number");
    assert_eq!(total(&european), 1253.5);
    let money = check("v", &["$1,000.00", "$5.50"], "number");
    assert_eq!(money.field("v").0.unit.as_deref(), Some("$"));
    let share = check("v", &["12 %", "7,5 %"], "number");
    assert_eq!((share.field("v").0.unit.as_deref(), total(&share)), (Some("%"), 19.5));
    check("v", &["$5", "€7"], "string");
}

#[test]
fn a_comma_in_doubt_is_named_or_decided_by_the_other_columns() {
    let alone = check("v", &["1,234", "5,678"], "number");
    assert!(alone.field("v").1.contains("AMBIGUOUS"), "{}", alone.field("v").1);
    let text = "v;w\n1,234;0,5\n5,678;1,25\n";
    let beside = Draft::of("t.csv", text.as_bytes());
    assert_eq!(beside.field("v").0.decimal, Some(DecimalMark::Comma));
    assert!(!beside.field("v").1.contains("AMBIGUOUS"));
}

#[test]
fn titles_above_the_names_are_passed_over_and_said() {
    let draft = Draft::of("t.csv", b"Sales of 2023;;\n\nRegion;Amount;Paid\nN;1;yes\nS;2;no\n");
    let names: Vec<&str> = draft.config.fields.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Region", "Amount", "Paid"]);
    assert_eq!(draft.read().n_rows(), 2);
    let toml = infer(&draft.path).unwrap();
    assert!(toml.starts_with("# 1 row above the names of the columns"), "{toml}");
}

#[test]
fn what_a_reader_must_know_is_named() {
    let draft = Draft::of("t.csv", b"1,2\n3,4\n5,6\n");
    let toml = infer(&draft.path).unwrap();
    assert!(toml.starts_with("# AMBIGUOUS: the first row is numbers"), "{toml}");
    let draft = Draft::of(
        "t.csv",
        b"amount,paid\n0.12345678901234567890123456789012345678901,yes\n2.5,Yes\n3.5,no\n",
    );
    let (_, note) = draft.field("amount");
    assert!(note.contains("1 with more digits than a number keeps"), "{note}");
    assert_eq!(draft.field("paid").1, "no or yes");
    let draft = Draft::of("t.csv", b"a,b\r1,x\r2,y\r");
    assert_eq!((draft.read().n_rows(), draft.leaf("b")), (2, "string"));
}

#[test]
fn a_column_without_values_is_text_and_says_so() {
    let draft = Draft::of("t.csv", b"a,b\n1,\n2,\n");
    assert_eq!((draft.leaf("b"), draft.field("b").1), ("string", "no values"));
}

#[test]
fn the_draft_is_toml_that_keeps_what_was_found() {
    let draft =
        Draft::of("t.csv", b"v;d\n1.234,50 \xe2\x82\xac;31/12/2024\n2,00 \xe2\x82\xac;1/2/2024\n");
    let toml = infer(&draft.path).unwrap();
    let line = "v = { type = \"array\", items = { type = \"number\" }, match = \"range\", unit = \"€\", decimal = \",\" }";
    assert!(toml.contains(line), "{toml}");
}

#[test]
fn a_wide_file_is_read_twice_and_not_once_for_each_column() {
    let names: Vec<String> = (0..3000).map(|at| format!("c{at}")).collect();
    let cells: Vec<String> = (0..3000).map(|at| format!("{at}.5")).collect();
    let text = format!("{}\n{}\n", names.join(","), cells.join(","));
    let draft = Draft::of("wide.csv", text.as_bytes());
    assert_eq!(draft.leaf("c2999"), "number");
    assert!(draft.field("c2999").1.contains("2999.5"), "{}", draft.field("c2999").1);
}

#[test]
fn a_point_before_three_digits_is_in_doubt_unless_another_column_tells() {
    let doubt = |text: &str, name: &str| {
        let draft = Draft::of("t.csv", text.as_bytes());
        let (field, note) = draft.field(name);
        (field.decimal, note.contains("AMBIGUOUS"), note.to_owned())
    };
    let (decimal, is_ambiguous, note) = doubt("a;b\n1.000;x\n2.500;y\n", "a");
    assert_eq!((decimal, is_ambiguous), (None, true), "{note}");
    let (decimal, is_ambiguous, note) = doubt("a;b\n1.000;1,5\n2.500;2,25\n", "a");
    assert_eq!((decimal, is_ambiguous), (Some(DecimalMark::Comma), false), "{note}");
    assert!(note.contains("1000 to 2500"), "{note}");
    for plain in ["0.125;x\n1.250;y\n", "1.5;x\n2.500;y\n", "1000;x\n2500;y\n"] {
        let (decimal, is_ambiguous, note) = doubt(&format!("a;b\n{plain}"), "a");
        assert_eq!((decimal, is_ambiguous), (None, false), "{note}");
    }
}

#[test]
fn broken_rows_are_said_once_and_not_of_every_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ragged.csv");
    fs_err::write(&path, "a,b,c\n1,2\n1,2,3,4\n5,6,7\n").unwrap();
    let toml = infer(&path).unwrap();
    assert!(toml.starts_with("# 2 rows are broken"), "{toml}");
    assert!(!toml.contains("do not fit"), "{toml}");
}

#[test]
fn years_of_two_digits_are_named_as_a_doubt() {
    for cells in [["2/23/37", "9/24/06"], ["23.02.37", "24.09.06"], ["12-Jun-37", "13-Jun-06"]] {
        let draft = check("signed", &cells, "timestamp");
        let note = draft.field("signed").1;
        assert!(note.contains("1969 to 2068"), "{cells:?}: {note}");
    }
    let draft = check("signed", &["2/23/1937", "9/24/1906"], "timestamp");
    assert!(!draft.field("signed").1.contains("AMBIGUOUS"), "{:?}", draft.notes);
}

#[test]
fn dates_between_points_are_dates_and_versions_are_not() {
    let draft = check("d", &["31.12.99", "01.02.10"], "timestamp");
    assert!(draft.field("d").1.contains("1999-12-31"), "{:?}", draft.notes);
    check("date", &["13.5.10", "1.12.09"], "timestamp");
    check("d", &["2000.01.31", "2004.12.13"], "timestamp");
    check("d", &["2000.01.31 12:10:00", "2004.12.13 14:00:00"], "timestamp");
    check("release", &["1.2.34", "1.12.10"], "string");
    check("d", &["90.01.13", "02.02.22"], "string");
}

#[test]
fn a_first_row_of_values_is_named_as_a_doubt() {
    let remark = |name: &str, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs_err::write(&path, text).unwrap();
        infer(&path).unwrap().contains("AMBIGUOUS: the first row")
    };
    assert!(remark("t.csv", "1,bob,2024-01-31\n2,ana,2024-02-01\n"));
    assert!(remark("t.csv", "1,bob,x\n2,ana,y\n"));
    assert!(!remark("t.csv", "id,name,day\n1,bob,2024-01-31\n2,ana,2024-02-01\n"));
    assert!(!remark("t.csv", "country,2010,2011\nRO,5,6\nDE,7,8\n"));
    assert!(!remark("t.csv", "country,city,2010\nRO,a,6\nDE,b,8\n"));
}

#[test]
fn few_different_words_may_be_most_of_the_cells() {
    let mut text = "height,other\n".to_owned();
    (0..60).for_each(|number| text.push_str(&format!("{number},x\nFALSE,x\nFALSE,x\n")));
    let draft = Draft::of("t.csv", text.as_bytes());
    assert_eq!(draft.leaf("height"), "string", "{:?}", draft.notes);
    assert_eq!(draft.read().report().n_misfits, 0);
}

#[test]
fn a_letter_alone_is_no_boolean() {
    check("w", &["t", "t"], "string");
    check("w", &["t", "f"], "boolean");
    check("w", &["yes", "yes"], "boolean");
}

#[test]
fn infinities_among_numbers_leave_numbers() {
    let draft = Draft::of("t.csv", b"f,g\n0.5,a\ninf,b\nNaN,c\n1.5,d\n-inf,e\n");
    assert_eq!(draft.leaf("f"), "number", "{:?}", draft.notes);
    assert!(draft.field("f").1.contains("do not fit"), "{:?}", draft.notes);
}

#[test]
fn a_file_of_one_column_loses_nothing_behind_a_comma() {
    let draft = Draft::of("t.csv", b"amount\n12,5\n145,00\n3,25\n");
    assert_eq!(draft.leaf("amount"), "number", "{:?}", draft.notes);
    assert_eq!(draft.read().all_columns()[0].number(0), Some(12.5));
    let draft = Draft::of("t.csv", b"address\n\"5, Main St\"\nLow St 6, Town\n");
    assert_eq!(draft.read().all_columns()[0].text(1), Some("Low St 6, Town"));
    assert_eq!(draft.read().report().n_misfits, 0);
}

#[test]
fn returns_end_lines_though_a_feed_is_at_the_end() {
    let draft = Draft::of("t.csv", b"a,b\r1,x\r2,y\r3,z\n");
    assert_eq!((draft.leaf("a"), draft.read().n_rows()), ("number", 3));
    // Inside of cells they end no line.
    let draft = Draft::of("t.csv", b"a,b\r\n1,\"x\ry\rz\rw\"\r\n2,y\r\n");
    assert_eq!(draft.read().n_rows(), 2);
}

#[test]
fn another_encoding_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs_err::write(&path, b"name;city\nM\xfcller;K\xf6ln\n").unwrap();
    assert!(infer(&path).unwrap().contains("# read as windows-1252, not UTF-8"));
}

#[test]
fn json_may_be_lines_or_a_member_of_an_object() {
    let lines = Draft::of("t.json", b"{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\n");
    assert_eq!((lines.leaf("a"), lines.read().n_rows()), ("number", 2));
    let member: &[u8] = b"{\"n\":2,\"ok\":[1,2],\"meta\":{\"x\":[{}]},\"data\":[{\"a\":1},\
        {\"a\":2}],\"more\":[{\"z\":1}],\"none\":null}";
    let draft = Draft::of("t.json", member);
    assert_eq!((draft.leaf("a"), draft.read().n_rows()), ("number", 2));
    assert_eq!(draft.read().report().rows_of.as_deref(), Some("data"));
    assert!(infer(&draft.path).unwrap().contains("# the rows are the items of `data`"));
    for none in ["{\"a\":1}", "{\"a\":[1,2],\"b\":[3]}", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        fs_err::write(&path, none).unwrap();
        assert!(infer(&path).is_err(), "{none}");
    }
}

#[test]
fn a_column_of_dates_is_drafted_as_dates_however_they_are_written() {
    let draft = Draft::of(
        "t.csv",
        "point,dash,year,month,long,kanji,version,either\n\
         13.5.10,01-01-20 10:00:00,2000.1.1,Jan 2010,5 mai 2020,2024年3月5日,2021.3.1,1.2.34\n\
         2.11.09,12-02-21 11:00:00,2001.12.31,Feb 2011,1 juin 2021,2024年12月31日,2021.3.2,4.5.17\n\
         31.12.11,11-12-19 12:00:00,2002.5.5,Mar 2012,12 août 2022,2023年1月1日,2022.1.3,1.2.35\n"
            .as_bytes(),
    );
    let read = draft.read();
    for name in ["point", "dash", "year", "month", "long", "kanji"] {
        assert_eq!(draft.leaf(name), "timestamp", "{name}");
    }
    assert!(read.report().is_clean(), "{:?}", read.report());
    for name in ["version", "either"] {
        assert_eq!(draft.leaf(name), "string", "{name}");
    }
    let note = |name| draft.field(name).1;
    assert!(note("point").contains("AMBIGUOUS: years of two digits"), "{}", note("point"));
    let dash = note("dash");
    assert!(dash.contains("read as day-month-year, set date_order = \"mdy\" for"), "{dash}");
    assert!(dash.contains("\"ymd\" for year-month-day"), "{dash}");
    assert!(note("either").contains("AMBIGUOUS: they may be dates"), "{}", note("either"));
}

#[test]
fn a_row_that_may_be_something_else_is_named() {
    let said = |text: &str| infer(&Draft::of("t.csv", text.as_bytes()).path).unwrap();
    for headless in [
        "Ana,Cluj\nIon,Oradea\nEva,Cluj\n",
        "Oslo,10\nRome,20\nBonn,30\n",
        "Oslo,10,7\nRome,20,3\nBonn,30,9\n",
        "a@example.org,x\nb@example.org,y\nc@example.org,z\n",
    ] {
        let toml = said(headless);
        assert!(toml.starts_with("# AMBIGUOUS: the first row looks like values"), "{toml}");
    }
    for named in [
        "country,2020,2021\nRO,1,2\nDE,3,4\n",
        "region,1,2,3\nN,4,5,6\nS,7,8,9\n",
        "name,Python,Rust\nAna,Python,\nIon,,Rust\n",
        "name,size\na,1\nb,2\n",
    ] {
        let toml = said(named);
        assert!(!toml.contains("AMBIGUOUS"), "{toml}");
    }
    let toml = said("region,units\nNorth,10\nSouth,20\nTotal:,30\n");
    assert!(toml.starts_with("# AMBIGUOUS: the last row says `Total:`"), "{toml}");
}

#[test]
fn words_for_true_and_false_and_commas_of_five_countries_are_read() {
    for (yes, no) in
        [("ja", "Nein"), ("Oui", "non"), ("da", "nu"), ("Sí", "no"), ("はい", "いいえ")]
    {
        check("ok", &[yes, no], "boolean");
    }
    check("lang", &["ja"], "string");
    let lakhs = check("n", &["12,34,567.50", "1,00,000.00"], "number");
    let read = lakhs.read();
    assert_eq!(read.column("n").unwrap().number(0), Some(1_234_567.5));
    check("n", &["1 234,5", "2 000,25"], "number");
}
