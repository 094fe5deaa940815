//! Columns of other tables: files, SQLite and PostgreSQL answer like a plain scan over rows that
//! were joined by hand, for random tables in which keys are missing, null and repeated.

use proptest::prelude::*;
use testkit::Postgres;

use super::random::random_value;
use super::*;
use crate::{Error, Lookup, open_related};

const N_BASE: usize = 60;
const N_OTHER: usize = 12;

/// Two tables and the plain join of them.
struct Tables {
    /// Name, size, key.
    base: Vec<Vec<Value>>,
    /// Key, ratio, ok, at.
    other: Vec<Vec<Value>>,
    joined: Model,
}

impl Tables {
    fn random(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let key = |numbers: &mut Numbers| match numbers.below(16) {
            0 => Value::Null,
            1 => Value::from(""),
            n => Value::from(format!("k{n}").as_str()),
        };
        let other: Vec<Vec<Value>> = (0..N_OTHER)
            .map(|_| {
                let key = key(&mut numbers);
                let values = (2..5).map(|column| random_value(&mut numbers, column));
                std::iter::once(key).chain(values).collect()
            })
            .collect();
        let base: Vec<Vec<Value>> = (0..N_BASE)
            .map(|_| {
                let own: Vec<Value> =
                    (0..2).map(|column| random_value(&mut numbers, column)).collect();
                own.into_iter().chain([key(&mut numbers)]).collect()
            })
            .collect();
        let rows = base.iter().map(|row| {
            let found: Vec<&Vec<Value>> =
                other.iter().filter(|other| is_key(&row[2]) && other[0] == row[2]).collect();
            let values = match found.as_slice() {
                [only] => only[1..].to_vec(),
                _ => vec![Value::Null; 3],
            };
            row[..2].iter().cloned().chain(values).collect()
        });
        let joined = Model { rows: rows.collect() };
        Tables { base, other, joined }
    }

    /// Counts the keys that several rows have.
    fn n_repeated(&self) -> u64 {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for key in self.other.iter().filter(|row| is_key(&row[0])).filter_map(|row| row[0].as_str())
        {
            *counts.entry(key).or_default() += 1;
        }
        counts.values().filter(|count| **count > 1).count() as u64
    }

    /// Counts our keys that are not over there, and the rows that have them.
    fn n_missing(&self) -> (u64, u64) {
        let is_there = |key: &Value| self.other.iter().any(|row| row[0] == *key);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let keys = self.base.iter().map(|row| &row[2]).filter(|key| is_key(key) && !is_there(key));
        for key in keys {
            *counts.entry(key.as_str().unwrap()).or_default() += 1;
        }
        (counts.len() as u64, counts.values().sum())
    }

    fn check(&self, table: &dyn Table, seed: u64, n_queries: usize) {
        self.joined.check(&[table], seed, n_queries);
        self.joined.check_aggregates(&[table], seed + 1, n_queries);
        let repeated = table.load_report(&deadline()).unwrap().repeated_keys;
        let n_keys: u64 = repeated.iter().map(|repeated| repeated.n_keys).sum();
        assert_eq!(n_keys, self.n_repeated());
        let missing = table.load_report(&deadline()).unwrap().missing_keys;
        let missing = missing.first().map_or((0, 0), |missing| (missing.n_keys, missing.n_rows));
        assert_eq!(missing, self.n_missing());
    }
}

/// An empty text names nothing, as null does.
fn is_key(key: &Value) -> bool {
    !matches!(key, Value::Null) && *key != Value::from("")
}

fn csv(header: &str, rows: &[Vec<Value>]) -> String {
    let cell = |value: &Value| match value {
        Value::Null => "\\N".to_owned(),
        Value::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_)
        | Value::List(_) => value.to_row_json().to_string().trim_matches('"').to_owned(),
    };
    let lines = rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(","));
    format!("{header}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

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

fn values(rows: &[Vec<Value>]) -> String {
    let row =
        |row: &Vec<Value>| format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", "));
    rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn base_spec() -> TableSpec {
    let columns = vec![
        ColumnSpec::new("name", Kind::Text),
        ColumnSpec::new("size", Kind::Number),
        ColumnSpec::new("k", Kind::Text),
    ];
    TableSpec { null_values: vec!["\\N".into()], ..TableSpec::of(columns) }
}

fn lookup(source: &str) -> Lookup {
    let columns = vec![
        ColumnSpec::new("k", Kind::Text),
        ColumnSpec::new("share", Kind::Number),
        ColumnSpec::new("ok", Kind::Boolean),
        ColumnSpec::new("at", Kind::Timestamp),
    ];
    let names = [("ratio", "share"), ("ok", "ok"), ("at", "at")];
    Lookup {
        table: "other".to_owned(),
        source: source.to_owned(),
        spec: TableSpec { null_values: vec!["\\N".into()], ..TableSpec::of(columns) },
        on: "k".to_owned(),
        is_on_shown: false,
        key: "k".to_owned(),
        columns: names.map(|(name, column)| (name.to_owned(), column.to_owned())).to_vec(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_related_table_answers_like_rows_joined_by_hand(seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        let tables = Tables::random(seed);
        let folder = folder.path();
        fs_err::write(folder.join("base.csv"), csv("name,size,k", &tables.base)).unwrap();
        fs_err::write(folder.join("other.csv"), csv("k,share,ok,at", &tables.other)).unwrap();
        let cache = folder.join("cache");
        let files =
            open_related("base.csv", base_spec(), &[lookup("other.csv")], folder, &cache).unwrap();
        prop_assert!(files.columns().iter().all(|column| column.name != "k"));
        tables.check(files.as_ref(), seed, 40);

        let database = rusqlite::Connection::open(folder.join("rows.db")).unwrap();
        database
            .execute_batch(&format!(
                "CREATE TABLE base (name TEXT, size INTEGER, k TEXT); \
                 CREATE TABLE other (k TEXT, share REAL, ok INTEGER, at); \
                 INSERT INTO base VALUES {}; INSERT INTO other VALUES {};",
                values(&tables.base),
                values(&tables.other)
            ))
            .unwrap();
        let lookups = [lookup("sqlite:rows.db#other")];
        let sqlite =
            open_related("sqlite:rows.db#base", base_spec(), &lookups, folder, &cache).unwrap();
        tables.check(sqlite.as_ref(), seed, 40);
    }
}

#[test]
fn a_related_table_of_postgres_answers_like_rows_joined_by_hand() {
    let Some(server) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (seed, is_keyed) in [(1, false), (2, true)] {
        let tables = Tables::random(seed);
        server.run(&format!(
            "DROP TABLE IF EXISTS base, other; \
             CREATE TABLE base (name text, size int, k text, n serial); \
             CREATE TABLE other (k text, share float8, ok bool, at timestamptz); \
             INSERT INTO base VALUES {}; INSERT INTO other VALUES {}",
            values(&tables.base),
            values(&tables.other)
        ));
        if is_keyed {
            server.run("ALTER TABLE base ADD PRIMARY KEY (n)");
        }
        let address = |table: &str| format!("{}#{table}", server.url());
        let lookups = [lookup(&address("other"))];
        let table =
            open_related(&address("base"), base_spec(), &lookups, folder.path(), folder.path());
        tables.check(table.unwrap().as_ref(), seed, 80);
    }
}

#[test]
fn a_changed_file_changes_what_is_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs_err::write(folder.join("base.csv"), "name,size,k\na,1,k1\nb,2,k2\n").unwrap();
    fs_err::write(folder.join("other.csv"), "k,share,ok,at\nk1,0.5,true,\n").unwrap();
    let cache = folder.join("cache");
    let table =
        open_related("base.csv", base_spec(), &[lookup("other.csv")], folder, &cache).unwrap();
    let query = Query::first(9, vec!["name".to_owned(), "ratio".to_owned()]);
    let rows = || table.query(&query, &deadline()).unwrap().rows;
    assert_eq!(rows()[1][1], Value::Null);
    fs_err::write(folder.join("other.csv"), "k,share,ok,at\nk2,0.25,true,\nk1,7,,\n").unwrap();
    assert_eq!([rows()[0][1].clone(), rows()[1][1].clone()], [Value::Real(7.0), Value::Real(0.25)]);
}

#[test]
fn tables_apart_are_refused_with_both_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs_err::write(folder.join("base.csv"), "name,size,k\n").unwrap();
    for (own, other) in [
        ("base.csv", "postgres://u:secret@h/d#t"),
        ("postgres://u:secret@h/d#t", "base.csv"),
        ("postgres://u:secret@h/d#t", "postgres://u:secret@h/e#t"),
        ("sqlite:a.db#t", "sqlite:b.db#t"),
    ] {
        let outcome = open_related(own, base_spec(), &[lookup(other)], folder, folder);
        let error = outcome.err().expect("the tables are apart");
        assert!(matches!(error, Error::Apart { .. }), "{error}");
        assert!(!error.is_away() && !error.to_string().contains("secret"), "{error}");
    }
}
