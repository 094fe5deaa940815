//! Proves that: the schema bridge is the contract's table; every mistake in a call is an error
//! that names it; the four formats are exact and safe to paste; facets count 0, "" and null;
//! pages continue after a change; what a caller may not use does not exist; a drafted
//! configuration opens the file it was drafted from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Access, Caller, Clearance, Deadline, Identity, TenantId};
use serde_json::{Value, json};
use tables::{
    Error, ExportFormat, Field, MAX_CELL_CHARS, MAX_FACET_ROWS, QueryRequest, Result, Schema,
    Service, ServiceConfig, TableConfig, demo, infer, infer_config,
};

use super::arguments::query_request;
use super::description::in_full;
use super::schemas::{field_schema, query_input_schema};
use super::written::query_json;

struct Bed {
    folder: tempfile::TempDir,
    service: Service,
}

fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn open(folder: &Path, tables: Vec<TableConfig>) -> Result<Service> {
    Service::open(ServiceConfig {
        tables,
        base_folder: folder.to_owned(),
        cache_folder: folder.join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
}

impl Bed {
    /// A table from the text of its configuration and of its file.
    fn new(toml: &str, file: &str, content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(file), content).unwrap();
        let config: TableConfig = toml::from_str(toml).unwrap();
        let service = open(folder.path(), vec![config]).unwrap();
        Bed { folder, service }
    }

    fn requests() -> Self {
        let folder = tempfile::tempdir().unwrap();
        demo::requests(demo::DEMO_SEED, 2000, &folder.path().join("requests.csv")).unwrap();
        let service = open(folder.path(), vec![demo::table_config("requests.csv")]).unwrap();
        Bed { folder, service }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_query(&self, arguments: &Value) -> Result<Value> {
        let request = query_request(arguments)?;
        let response = self.service.query(&Caller::local_admin(), &request, &deadline())?;
        let mut response = response;
        response.show(response.window, &mut |_, _, _| None);
        Ok(query_json(&response))
    }

    fn described(&self) -> Value {
        let caller = Caller::local_admin();
        let figures = self.service.describe(&caller, None, &deadline()).unwrap();
        in_full(self.service.schemas(&caller)[0], &figures)
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "calls read better without a reference")]
    fn query(&self, arguments: Value) -> Value {
        self.try_query(&arguments).unwrap()
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "calls read better without a reference")]
    fn refuses(&self, arguments: Value, expected: &str) {
        let error = self.try_query(&arguments).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.code(), "BAD_REQUEST");
    }
}

const SMALL: &str = r#"
name = "things"
source = "things.csv"
description = "Things, one row each"
[fields]
name = { type = "string", description = "What it is called" }
size = { type = "array", items = { type = "number" }, match = "range", unit = "kg" }
kind = { type = "array", items = { type = "stringLiteral", values = ["a", "b", ""] } }
tags = { type = "array", items = { type = "array", items = { type = "string" } }, match = "in", separator = ";" }
ok = { type = "boolean" }
at = { type = "timestamp" }
secret = { type = "string", hidden = true }
order = { type = "sort" }
"#;

const SMALL_CSV: &str = "name,size,kind,tags,ok,at,secret\n\
    Pipe | one,0,a,x;y,true,2024-01-01T05:00:00Z,s1\n\
    \"two\nlines\",,b,y,false,2024-01-01T23:59:59.999Z,s2\n\
    =SUM(A1),2.5,,,,2024-01-02,s3\n\
    back\\slash <b>,0,c,x,true,,s4\n";

fn small() -> Bed {
    Bed::new(SMALL, "things.csv", SMALL_CSV)
}

#[test]
fn the_schema_bridge_is_the_contracts_table() {
    let check = |field: &Field, expected: Value| assert_eq!(field_schema(field), expected);
    check(&Field::string(), json!({ "type": "string" }));
    check(&Field::number(), json!({ "type": "number" }));
    check(&Field::boolean(), json!({ "type": "boolean" }));
    check(
        &Field::timestamp(),
        json!({ "type": "number", "description": "Unix timestamp in milliseconds" }),
    );
    check(&Field::string_literal(["a", "b"]), json!({ "type": "string", "enum": ["a", "b"] }));
    check(
        &Field::any_of(Field::any_of(Field::boolean())),
        json!({ "type": "array", "items": { "type": "array", "items": { "type": "boolean" } } }),
    );
    check(
        &Field::sort(),
        json!({ "type": "object", "properties": { "id": { "type": "string" }, "desc": { "type": "boolean" } } }),
    );
}

#[test]
fn the_arguments_of_the_demo_are_these() {
    let bed = Bed::requests();
    let caller = Caller::local_admin();
    insta::assert_json_snapshot!(query_input_schema(&bed.service.schemas(&caller)));
}

#[test]
fn a_table_describes_itself() {
    let bed = small();
    let description = bed.described();
    insta::assert_json_snapshot!(description);
}

#[test]
fn the_four_formats_are_exact() {
    let bed = small();
    insta::assert_json_snapshot!("small_json", bed.query(json!({})));
    insta::assert_json_snapshot!("small_stats", bed.query(json!({ "format": "stats" })));
    insta::assert_snapshot!(
        "small_markdown",
        bed.query(json!({ "format": "markdown" }))["markdown"].as_str().unwrap()
    );
    let csv = bed.query(json!({ "format": "csv", "defuseFormulas": true }));
    insta::assert_snapshot!("small_csv", csv["csv"].as_str().unwrap().replace("\r\n", "␍␊\n"));
    assert_eq!(csv["total"], 4);
    assert_eq!(csv.get("rows"), None);
    let keys = |format: &str| -> Vec<String> {
        let answer = bed.query(json!({ "format": format }));
        answer.as_object().unwrap().keys().cloned().collect()
    };
    // The kind `c` is outside its list, which every format says.
    assert_eq!(keys("json"), ["rows", "total", "warnings"]);
    assert_eq!(keys("stats"), ["rows", "total", "facets", "warnings"]);
    assert_eq!(keys("markdown"), ["markdown", "total", "warnings"]);
    assert_eq!(keys("csv"), ["csv", "total", "warnings"]);
}

#[test]
fn every_filter_does_what_its_type_says() {
    let bed = small();
    let check = |filters: Value, names: &[&str]| {
        let answer = bed.query(json!({ "filters": filters }));
        let found: Vec<&str> = answer["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        assert_eq!(found, names, "{filters}");
    };
    const ALL: [&str; 4] = ["Pipe | one", "two\nlines", "=SUM(A1)", "back\\slash <b>"];
    check(json!({}), &ALL);
    check(json!({ "name": "", "size": [], "kind": null }), &ALL);
    check(json!({ "name": "one" }), &ALL[..1]);
    check(json!({ "name": "One" }), &[]);
    check(json!({ "size": [0] }), &[ALL[0], ALL[3]]);
    check(json!({ "size": [0.5, 2.5] }), &[ALL[2]]);
    check(json!({ "size": [null, 2] }), &[ALL[0], ALL[3]]);
    check(json!({ "kind": ["b", ""] }), &[ALL[1], ALL[2]]);
    check(json!({ "tags": [["x", "y"]] }), &[ALL[0]]);
    check(json!({ "tags": [["y"], ["x"]] }), &[ALL[0], ALL[1], ALL[3]]);
    check(json!({ "ok": false }), &[ALL[1]]);
    check(json!({ "at": 1_704_110_400_000_i64 }), &ALL[..2]);
    check(json!({ "at": "2024-01-01" }), &ALL[..2]);
    check(json!({ "at": "20240102" }), &ALL[2..3]);
    check(json!({ "at": "2024-01" }), &ALL[..3]);
    check(json!({ "at": "2024" }), &ALL[..3]);
    check(json!({ "at": "2023" }), &[]);
    check(json!({ "order": { "id": "name", "desc": true } }), &[ALL[1], ALL[3], ALL[0], ALL[2]]);
    check(json!({ "ok": true, "size": [0], "name": "back" }), &[ALL[3]]);
}

#[test]
fn every_mistake_is_named() {
    let bed = small();
    bed.refuses(
        json!({ "filter": {} }),
        "unknown argument `filter`, allowed: `table`, `filters`, `page`, `pageSize`, `format`, `sort`, `columns`, `facets`, `time_zone`, `cursor`, `series`, `offset`, `defuseFormulas`; did you mean `filters`?",
    );
    bed.refuses(
        json!({ "filters": { "nam": "x" } }),
        "unknown filter `nam`: expected one of `name`, `size`, `kind`, `tags`, `ok`, `at`, `order`; did you mean `name`?",
    );
    bed.refuses(
        json!({ "filters": { "secret": "s1" } }),
        "unknown filter `secret`: expected one of `name`, `size`, `kind`, `tags`, `ok`, `at`, `order`",
    );
    bed.refuses(
        json!({ "filters": { "kind": ["A"] } }),
        "`kind` does not take `A`: expected one of `a`, `b`, ``; did you mean `a`?",
    );
    bed.refuses(
        json!({ "filters": { "size": ["3x"] } }),
        "`size` takes numbers, received `\"3x\"`",
    );
    bed.refuses(
        json!({ "filters": { "size": [1, 2, 3] } }),
        "`size` takes `[value]` or `[min, max]`, received `[1,2,3]`",
    );
    bed.refuses(
        json!({ "filters": { "size": [5, 1] } }),
        "the range of `size` is empty: its start `5` is greater than its end `1`; swap them",
    );
    bed.refuses(json!({ "page": 0 }), "`page` must be at least 1, received `0`");
    bed.refuses(json!({ "pageSize": 501 }), "`pageSize` must be from 1 to 500, received `501`");
    bed.refuses(
        json!({ "format": "cvs" }),
        "`format` must be one of `json`, `stats`, `markdown`, `csv` (did you mean `csv`?), received `cvs`",
    );
    bed.refuses(
        json!({ "sort": { "id": "sise" } }),
        "unknown sort field `sise`: expected one of `name`, `size`, `kind`, `tags`, `ok`, `at`; did you mean `size`?",
    );
    bed.refuses(
        json!({ "series": { "field": "size" } }),
        "unknown series field `size`: expected one of `at`",
    );
    bed.refuses(
        json!({ "cursor": "nonsense" }),
        "the cursor is not one that this query returned: leave `cursor` out to start again",
    );
    let error = bed.try_query(&json!({ "table": "thing" })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown table `thing`: expected one of `things`; did you mean `things`?"
    );
    assert_eq!(error.code(), "NOT_FOUND");
}

#[test]
fn what_was_cut_or_missed_is_said() {
    let bed = small();
    let behind = bed.query(json!({ "page": 9, "pageSize": 3 }));
    let said = behind["warnings"].as_array().unwrap().iter().map(|warning| &warning["message"]);
    let said: Vec<&Value> = said.collect();
    assert!(said.iter().any(|one| *one == "page 9 is out of range: 4 rows make 2 pages of 3"));
    let nothing = bed.query(json!({ "filters": { "name": "pipes", "ok": true } }));
    assert_eq!(nothing["total"], 0);
    assert_eq!(
        nothing["did_you_mean"],
        json!([{ "field": "name", "received": "pipes", "suggestions": ["Pipe | one"] }])
    );
    let far = bed.query(json!({ "filters": { "size": [100, 200] } }));
    assert_eq!(far["did_you_mean"][0]["suggestions"], json!([2.5, 0]));

    let long = "x".repeat(MAX_CELL_CHARS + 1);
    let content = format!("name,size\n{long},big\n");
    let toml = "name = \"t\"\nsource = \"t.csv\"\n[fields]\nname = { type = \"string\" }\nsize = { type = \"number\" }";
    let bed = Bed::new(toml, "t.csv", &content);
    let stats = bed.query(json!({ "format": "stats" }));
    insta::assert_json_snapshot!(stats["warnings"]);
}

#[test]
fn a_page_that_is_too_large_ends_early_and_continues() {
    let n_rows = 100_usize;
    let mut content = "name,n\n".to_owned();
    for row in 0..n_rows {
        content.push_str(&format!("{},{row}\n", "x".repeat(1500)));
    }
    let toml = "name = \"t\"\nsource = \"t.csv\"\n[fields]\nname = { type = \"string\" }\nn = { type = \"number\" }";
    let bed = Bed::new(toml, "t.csv", &content);
    let mut seen = Vec::new();
    let mut arguments = json!({ "pageSize": 500 });
    loop {
        let answer = bed.query(arguments.clone());
        assert_eq!(answer["total"], n_rows);
        seen.extend(answer["rows"].as_array().unwrap().iter().map(|row| row["n"].clone()));
        let Some(next) = answer.get("next") else { break };
        assert_eq!(answer["warnings"][0]["code"], "page_cut");
        assert!(answer.to_string().len() < 100_000);
        arguments["cursor"] = next.clone();
    }
    assert_eq!(seen, (0..n_rows).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn facets_of_many_values_are_cut_and_say_so() {
    let content: String = (0..MAX_FACET_ROWS + 5).map(|row| format!("v{row}\n")).collect();
    let toml = "name = \"t\"\nsource = \"t.csv\"\n[fields]\nname = { type = \"string\" }";
    let bed = Bed::new(toml, "t.csv", &format!("name\n{content}"));
    let answer = bed.query(json!({ "format": "stats", "pageSize": 1 }));
    assert_eq!(answer["facets"]["name"]["rows"].as_array().unwrap().len(), MAX_FACET_ROWS);
    assert_eq!(answer["facets"]["name"]["total"], MAX_FACET_ROWS + 5);
    assert_eq!(
        answer["warnings"][0]["message"],
        "facets list only the 100 most frequent values of name (105 values); total, min and max are of all"
    );
}

/// Bars hold no null, so what they add up to was less than the total, and nothing said why.
#[test]
fn a_histogram_says_how_many_have_no_value() {
    let toml = "name = \"t\"\nsource = \"t.csv\"\n[fields]\nname = { type = \"string\" }\n\
                n = { type = \"array\", items = { type = \"number\" }, match = \"range\" }";
    let rows: String = (0..40).map(|n| format!("a,{n}\n")).collect();
    let bed = Bed::new(toml, "t.csv", &format!("name,n\n{rows}b,\nb,\n"));
    let facet = |name: &str| {
        let asked = json!({ "format": "stats", "facets": ["n"], "filters": { "name": name } });
        bed.query(asked)["facets"]["n"].clone()
    };
    let all = bed.query(json!({ "format": "stats", "facets": ["n"] }))["facets"]["n"].clone();
    assert_eq!(all["rows"], json!([{ "value": null, "total": 2 }]));
    let bars = all["histogram"]["totals"].as_array().unwrap().iter().filter_map(Value::as_u64);
    assert_eq!((bars.sum::<u64>(), &all["total"]), (40, &json!(42)));
    assert_eq!(facet("a")["rows"], json!([]), "where every row has one, nothing is said");
}

#[test]
fn rows_of_a_database_that_do_not_fit_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("t.db")).unwrap();
    database
        .execute_batch("CREATE TABLE t (name, n); INSERT INTO t VALUES ('a', 1), ('b', 'many')")
        .unwrap();
    let toml = "name = \"t\"\nsource = \"sqlite:t.db#t\"\n[fields]\nname = { type = \"string\" }\nn = { type = \"number\" }";
    let service = open(folder.path(), vec![toml::from_str(toml).unwrap()]).unwrap();
    let bed = Bed { folder, service };
    let said = "1 of 2 rows do not fit the schema; 1 unfit cell is null. First: row 2, n: the cell is not one of the numbers";
    let stats = bed.query(json!({ "format": "stats" }));
    assert_eq!(stats["warnings"][0]["message"], said);
    let described = bed.described();
    assert_eq!(described["warnings"][0]["message"], said);
    let mut written = Vec::new();
    let request = query_request(&json!({})).unwrap();
    let caller = Caller::local_admin();
    let exported = bed
        .service
        .export(&caller, &request, ExportFormat::Csv, &|_, _| None, &mut written, &deadline())
        .unwrap();
    let messages: Vec<&str> =
        exported.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!((exported.n_rows, messages), (2, vec![said]));
}

#[test]
fn pages_continue_where_they_ended_when_the_data_changes() {
    let bed = small();
    let arguments = json!({ "pageSize": 2, "sort": { "id": "name" } });
    let first = bed.query(arguments.clone());
    let next = first["next"].as_str().unwrap();
    let mut again = arguments.clone();
    again["cursor"] = next.into();
    let second = bed.query(again.clone());
    assert_eq!(second["rows"][0]["name"], "back\\slash <b>");
    assert_eq!(second.get("next"), None);
    let codes = |answer: &Value| -> Vec<Value> {
        let warnings = answer["warnings"].as_array().into_iter().flatten();
        warnings.map(|warning| warning["code"].clone()).collect()
    };
    assert_eq!(codes(&second), ["values_outside_enum"]);
    // Rows come in before the place and the row itself moves; nothing is seen twice or missed.
    let header_end = SMALL_CSV.find('\n').unwrap() + 1;
    let (header, rows) = SMALL_CSV.split_at(header_end);
    fs_err::write(bed.path("things.csv"), format!("{header}AAA,1,a,,,,\nZ,1,a,,,,\n{rows}"))
        .unwrap();
    let second = bed.query(again.clone());
    let names: Vec<&str> = second["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Z", "back\\slash <b>"]);
    assert!(codes(&second).contains(&json!("data_changed")));
    again["filters"] = json!({ "ok": true });
    assert!(matches!(bed.try_query(&again), Err(Error::BadCursor)));
}

#[test]
fn a_series_pictures_the_result() {
    let bed = Bed::requests();
    let answer = bed.query(json!({
        "filters": { "level": ["error"] }, "pageSize": 1, "series": { "field": "date", "bucket": "week" }
    }));
    let points = answer["series"]["points"].as_array().unwrap();
    let sum: f64 = points.iter().map(|point| point["value"].as_f64().unwrap()).sum();
    assert_eq!(sum, answer["total"].as_f64().unwrap());
    assert_eq!(answer["series"]["bucket"], "week");
    assert_eq!(answer["series"]["time_zone"], "UTC");
    let error =
        bed.try_query(&json!({ "series": { "field": "date", "bucket": "minute" } })).unwrap_err();
    assert_eq!(error.code(), "BAD_REQUEST");
}

#[test]
fn a_series_has_no_noise_and_is_of_the_zone_that_it_states() {
    let bed = Bed::new(
        "name = \"t\"\nsource = \"t.csv\"\n[fields]\nat = { type = \"timestamp\" }\n\
         x = { type = \"number\" }\nname = { type = \"string\" }\n",
        "t.csv",
        "at,x,name\n2024-01-01T00:00:00Z,0.1,a\n2024-01-01T00:00:00Z,0.2,b\n",
    );
    let series = json!({ "field": "at", "bucket": "day", "sum": "x" });
    let answer = bed.query(json!({ "series": series, "time_zone": "America/New_York" }));
    // Midnight in UTC is the evening before in New York, which starts at five in the morning.
    let points = json!([{ "start": 1_703_998_800_000_i64, "value": 0.3 }]);
    assert_eq!(answer["series"]["points"], points);
    assert_eq!(answer["series"]["time_zone"], "America/New_York");
    assert_eq!(answer.get("warnings"), None);
    let in_utc = bed.query(json!({ "series": series }));
    assert_eq!(in_utc["series"]["points"][0]["start"], 1_704_067_200_000_i64);
    assert_eq!(in_utc["series"]["time_zone"], "UTC");
    let months = json!({ "field": "at", "bucket": "month" });
    let answer = bed.query(json!({ "series": months, "time_zone": "America/New_York" }));
    let december = json!([{ "start": 1_701_406_800_000_i64, "value": 2 }]);
    assert_eq!(answer["series"]["points"], december);
    let counted = json!({ "series": { "field": "at", "sum": "name" } });
    bed.refuses(counted, "unknown series sum `name`: expected one of `x`");
}

#[test]
fn the_verification_of_the_contract_works_on_the_demo() {
    let bed = Bed::requests();
    let errors = bed.query(
        json!({ "filters": { "level": ["error"] }, "page": 1, "pageSize": 5, "format": "stats" }),
    );
    assert_eq!(errors["rows"].as_array().unwrap().len(), 5);
    assert_eq!(
        errors["facets"]["level"]["rows"],
        json!([{ "value": "error", "total": errors["total"] }])
    );
    let date = errors["rows"][0]["date"].as_str().unwrap();
    assert!(date.ends_with('Z') && date.contains('T'), "{date}");
    let low = errors["facets"]["latency"]["min"].as_f64().unwrap();
    assert!(low < errors["facets"]["latency"]["max"].as_f64().unwrap());
    let markdown = bed
        .query(json!({ "filters": { "regions": ["ams"] }, "format": "markdown", "pageSize": 10 }));
    let lines: Vec<&str> = markdown["markdown"].as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 12);
    assert!(lines[2..].iter().all(|line| line.contains("ams")));
}

#[test]
fn what_a_caller_may_not_use_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    demo::requests(1, 10, &folder.path().join("r.csv")).unwrap();
    let mut open_table = demo::table_config("r.csv");
    open_table.name = "open".to_owned();
    let mut closed_table = demo::table_config("r.csv");
    closed_table.name = "closed".to_owned();
    closed_table.allow = Access { tenants: Vec::new(), roles: vec!["finance".to_owned()] };
    let service = open(folder.path(), vec![open_table, closed_table]).unwrap();
    let guest = Caller {
        subject: "guest".to_owned(),
        tenant: TenantId::new("acme"),
        department: None,
        clearance: Clearance::Internal,
        roles: Default::default(),
        identity: Identity::Key,
    };
    assert_eq!(service.schemas(&guest).len(), 1);
    assert!(service.query(&guest, &QueryRequest::default(), &deadline()).is_ok());
    let closed = QueryRequest { table: Some("closed".to_owned()), ..QueryRequest::default() };
    let error = service.query(&guest, &closed, &deadline()).unwrap_err();
    assert_eq!(error.to_string(), "unknown table `closed`: expected one of `open`");
    let admin = Caller::local_admin();
    assert!(matches!(
        service.query(&admin, &QueryRequest::default(), &deadline()),
        Err(Error::TableRequired { .. })
    ));
    assert!(service.query(&admin, &closed, &deadline()).is_ok());
    let alone = service.only("open").unwrap();
    assert!(alone.query(&admin, &QueryRequest::default(), &deadline()).is_ok());
}

#[test]
fn a_schema_that_makes_no_sense_is_refused() {
    let check = |fields: &str, expected: &str| {
        let toml = format!("name = \"t\"\nsource = \"t.csv\"\n[fields]\n{fields}");
        let error = match toml::from_str::<TableConfig>(&toml) {
            Ok(config) => Schema::new("t", None, config.fields).unwrap_err().to_string(),
            Err(error) => error.message().to_owned(),
        };
        assert_eq!(error, expected);
    };
    check(
        "x = { type = \"array\", items = { type = \"number\" } }",
        "table `t`, field `x`: an array of numbers or timestamps needs `match = \"in\"` or `match = \"range\"`",
    );
    check(
        "x = { type = \"array\", items = { type = \"string\" }, match = \"range\" }",
        "table `t`, field `x`: `match = \"range\"` needs numbers or timestamps, not string",
    );
    check(
        "x = { type = \"stringLiteral\" }",
        "table `t`, field `x`: a stringLiteral needs `values`",
    );
    check("x = { type = \"array\" }", "table `t`, field `x`: an array needs `items`");
    check(
        "x = { type = \"string\", hidden = true }",
        "table `t`, field `*`: a table needs at least one field that is not hidden",
    );
    check(
        "x = { type = \"text\" }",
        "unknown variant `text`, expected one of `string`, `number`, `boolean`, `timestamp`, `stringLiteral`, `array`, `sort`",
    );
}

#[test]
fn a_draft_opens_the_file_it_was_drafted_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("requests.csv");
    demo::requests(demo::DEMO_SEED, 500, &path).unwrap();
    let draft = infer(&path).unwrap();
    insta::with_settings!({ filters => vec![(r#"source = ".*""#, "source = \"…\"")] }, {
        insta::assert_snapshot!(draft);
    });
    #[derive(serde::Deserialize)]
    struct Tables {
        tables: Vec<TableConfig>,
    }
    let tables: Tables = toml::from_str(&draft).unwrap();
    let service = open(folder.path(), tables.tables).unwrap();
    let answer =
        service.query(&Caller::local_admin(), &QueryRequest::default(), &deadline()).unwrap();
    assert_eq!(answer.total, 500);
}

#[test]
fn lists_of_numbers_are_drafted_as_numbers_and_a_missing_sheet_names_its_book() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lists.json");
    fs_err::write(&path, r#"[{"n": [1, 2.5], "t": ["a", "1"]}, {"n": [3], "t": []}]"#).unwrap();
    let (config, notes) = infer_config(&path).unwrap();
    let items: Vec<&str> = config
        .fields
        .0
        .iter()
        .map(|(_, field)| field.items.as_ref().unwrap().field_type.as_str())
        .collect();
    assert_eq!(items, ["number", "string"], "{notes:?}");
    let sheet = folder.path().join("book.xlsx#Q2");
    let error = infer(&sheet).unwrap_err();
    let mut cause = String::new();
    let mut inner = std::error::Error::source(&error);
    while let Some(error) = inner {
        cause.push_str(&error.to_string());
        inner = error.source();
    }
    assert!(error.to_string().contains("`Q2`"), "{error}");
    assert!(cause.contains("book.xlsx") && !cause.contains('#'), "{cause}");
}

#[test]
fn the_same_seed_makes_the_same_log() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, seed: u64| {
        let path = folder.path().join(name);
        demo::requests(seed, 100, &path).unwrap();
        fs_err::read_to_string(path).unwrap()
    };
    assert_eq!(read("a", 1), read("b", 1));
    assert_ne!(read("a", 1), read("c", 2));
}
