//! The same contract on a real PostgreSQL, started from the folder that
//! `DOWSE_TEST_POSTGRES_BIN` names, and what is PostgreSQL's own: time-outs, read-only
//! transactions, types, views.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::Deadline;

use super::{Model, spec};
use crate::tests::deadline;
use crate::{ColumnSpec, Error, Kind, PostgresTable, Query, Table, TableSpec, Value};

/// A server that lives as long as the test.
struct Server {
    process: Child,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let bin = PathBuf::from(
            std::env::var("DOWSE_TEST_POSTGRES_BIN")
                .expect("`DOWSE_TEST_POSTGRES_BIN` names the `bin` folder of PostgreSQL"),
        );
        let folder = tempfile::tempdir().unwrap();
        give_away(folder.path());
        let data = folder.path().join("data");
        let made = command(&bin.join("initdb"))
            .args(["-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let process = command(&bin.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-c", "listen_addresses=", "-c", "fsync=off"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Server { process, folder }
    }

    fn url(&self) -> String {
        let socket = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://tester@{socket}/postgres")
    }

    /// Runs statements as soon as the server answers.
    fn execute(&self, sql: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let limit = Deadline::after(Duration::from_secs(60));
            let (client, connection) = loop {
                match tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await {
                    Ok(connected) => break connected,
                    Err(error) => assert!(!limit.is_over(), "{error}"),
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            };
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// PostgreSQL refuses to run as root, so the tests of a root step down to `nobody`.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs_err::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn command(program: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn give_away(folder: &Path) {
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null | Value::List(_) => "NULL".to_owned(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Timestamp(millis) => format!("'{}'", crate::to_iso(*millis)),
        Value::Integer(_) | Value::Real(_) | Value::Boolean(_) => value.to_json().to_string(),
    }
}

#[test]
fn postgres_answers_like_a_plain_scan_and_keeps_its_limits() {
    let server = Server::start();
    let model = Model::random(7);
    let rows: Vec<String> = model
        .rows
        .iter()
        .map(|row| format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", ")))
        .collect();
    server.execute(&format!(
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
