//! Proves that tables of databases are drafted by what they hold, that a draft reads what it was
//! drafted from without a cell that does not fit, and that lists of databases filter, count and
//! show as lists do everywhere.

use std::path::Path;
use std::time::Duration;

use model::{Caller, Deadline, with_causes};
use serde_json::{Value, json};
use tables::{Service, ServiceConfig, TableConfig, infer, infer_config};
use testkit::Postgres;

use super::arguments::query_request;
use super::written::query_json;

/// A table of a database that is served.
struct Bed {
    _folder: tempfile::TempDir,
    service: Service,
}

impl Bed {
    fn of(config: TableConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = Service::open(ServiceConfig {
            tables: vec![config],
            base_folder: folder.path().to_owned(),
            cache_folder: folder.path().join("cache"),
            export_link_minutes: tables::EXPORT_LINK_MINUTES,
        });
        Bed { service: service.unwrap(), _folder: folder }
    }

    fn query(&self, arguments: &Value) -> Value {
        let request = query_request(arguments).unwrap();
        let deadline = Deadline::after(Duration::from_secs(60));
        let caller = Caller::local_admin();
        query_json(&self.service.query(&caller, &request, &deadline).unwrap())
    }
}

fn drafted(source: &str) -> TableConfig {
    infer_config(Path::new(source)).unwrap().0
}

/// Writes each field with its type, and whether it is a list.
fn types(config: &TableConfig) -> Vec<String> {
    let written = config.fields.0.iter().map(|(name, field)| {
        let list = if field.separator.is_some() { " list" } else { "" };
        format!("{name} {}{list}", field.leaf().field_type.as_str())
    });
    written.collect()
}

fn names(drafts: &str) -> Vec<String> {
    let drafts: toml::Table = drafts.parse().unwrap();
    let tables = drafts["tables"].as_array().unwrap().iter();
    tables.map(|table| table["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tables_of_postgres_are_drafted_by_their_types() {
    let Some(server) = Postgres::start() else { return };
    server.run(
        "CREATE DOMAIN amount AS numeric(12,2); CREATE SCHEMA other; CREATE TYPE mood AS ENUM ('good', 'bad'); \
         CREATE TABLE orders (id bigint PRIMARY KEY, zip int, customer text, price amount, paid bool, \
           day date, at timestamptz, created_at bigint, tags text[], sizes int[], mood mood, note jsonb); \
         INSERT INTO orders SELECT n, 1000 + n, CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END, n * 1.5, n % 3 = 0, \
           '2024-01-01'::date + n, '2024-01-01 10:00Z'::timestamptz + n * interval '1 hour', 1714557600 + n, \
           ARRAY['x', 'y' || n], ARRAY[n, n + 1], 'good', '{}' FROM generate_series(1, 40) AS n; \
         CREATE VIEW cheap AS SELECT id, price FROM orders WHERE price < 5; \
         CREATE TABLE other.empty (id int, name text, at timestamp)",
    );
    let drafts = infer(Path::new(&server.url())).unwrap();
    assert_eq!(names(&drafts), ["cheap", "orders", "empty"]);
    assert!(drafts.contains("#other.empty") && drafts.contains("2024-05-01"), "{drafts}");
    assert!(drafts.contains("values = [\"good\", \"bad\"]"), "{drafts}");

    let orders = drafted(&format!("{}#orders", server.url()));
    let expected = [
        "id string",
        "zip string",
        "customer stringLiteral",
        "price number",
        "paid boolean",
        "day timestamp",
        "at timestamp",
        "created_at timestamp",
        "tags string list",
        "sizes number list",
        "mood stringLiteral",
        "note stringLiteral",
    ];
    assert_eq!(types(&orders), expected, "{drafts}");
    let bed = Bed::of(orders);
    let all = bed.query(&json!({ "format": "stats", "pageSize": 1 }));
    assert_eq!((&all["total"], all.get("warnings")), (&json!(40), None), "{all}");
    assert_eq!(all["rows"][0]["tags"], json!(["x", "y1"]));
    assert_eq!(all["rows"][0]["sizes"], json!([1, 2]));
    let sizes = &all["facets"]["sizes"];
    assert_eq!(
        (&sizes["total"], &sizes["min"], &sizes["max"]),
        (&json!(80), &json!(1), &json!(41))
    );
    for (filters, total) in [
        (json!({ "tags": ["x"] }), 40),
        (json!({ "tags": ["y3", "y4", "none"] }), 2),
        (json!({ "tags": { "not": { "in": ["y3"] } } }), 39),
        (json!({ "tags": { "starts_with": "y1" } }), 11),
        (json!({ "sizes": [7] }), 2),
        (json!({ "sizes": { "min": 40 } }), 2),
        (json!({ "tags": { "is_null": true } }), 0),
    ] {
        let found = bed.query(&json!({ "filters": filters, "pageSize": 1 }));
        assert_eq!(found["total"], total, "{filters}");
    }

    let empty = drafted(&format!("{}#other.empty", server.url()));
    assert_eq!(types(&empty), ["id string", "name string", "at timestamp"]);
    assert_eq!(Bed::of(empty).query(&json!({}))["total"], 0);

    let missing = infer_config(Path::new(&format!("{}#nothing", server.url()))).unwrap_err();
    let said = with_causes(&missing);
    assert!(said.contains("is not a table") && said.contains("`orders`"), "{said}");
}

#[test]
fn every_table_of_a_sqlite_file_is_drafted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            r#"CREATE TABLE a (day, price, tags); CREATE TABLE b (n INTEGER); INSERT INTO b VALUES (1), (2);
             INSERT INTO a VALUES ('31/12/2023', '1.234,56', '["x","y"]'), ('13/01/2024', '0,50', '[]');"#,
        )
        .unwrap();
    assert_eq!(names(&infer(&path).unwrap()), ["a", "b"]);
    let config = drafted(&format!("sqlite:{}#a", path.display()));
    assert_eq!(types(&config), ["day timestamp", "price number", "tags string list"]);
    let bed = Bed::of(config);
    let all = bed.query(&json!({ "format": "stats" }));
    assert_eq!(all.get("warnings"), None, "{all}");
    let row = json!({ "day": "2023-12-31T00:00:00.000Z", "price": 1234.56, "tags": ["x", "y"] });
    assert_eq!(all["rows"][0], row);
    let of_day =
        bed.query(&json!({ "filters": { "day": ["2024-01-13"], "tags": { "is_null": true } } }));
    assert_eq!(of_day["total"], 1);
}
