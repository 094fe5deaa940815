//! Proves that: a looked-up field is shown, filtered, sorted, counted, grouped and exported like
//! any other; keys that are missing or repeated look nothing up and are said; a relation that
//! would show what is hidden or another's is refused with what to do.

use std::time::Duration;

use model::{Caller, Deadline};
use serde_json::{Value, json};
use tables::{ExportFormat, Service, ServiceConfig};
use tempfile::TempDir;

use super::arguments::{aggregate_request, query_request};
use super::written::query_json;

const FLIGHTS: &str = "carrier,delay\nUA,10\nUA,20\nBA,5\nXX,1\n,2\nDD,3\n";
const AIRLINES: &str = "code,name,home,secret\nUA,United,Chicago,1\nBA,British,London,2\n\
                        DD,First,Oslo,3\nDD,Second,Rome,4\n";

fn tables() -> Value {
    json!([
        {
            "name": "flights", "source": "flights.csv",
            "fields": { "carrier": { "type": "string" }, "delay": { "type": "number" } },
            "relations": [{
                "table": "airlines", "on": "carrier", "key": "code",
                "fields": { "airline": "name", "base": "home" },
            }],
        },
        {
            "name": "airlines", "source": "airlines.csv",
            "fields": {
                "code": { "type": "string" },
                "name": { "type": "string", "description": "the airline's own name" },
                "home": { "type": "array", "items": { "type": "string" } },
                "secret": { "type": "number", "hidden": true },
            },
        },
    ])
}

fn open(tables: &Value) -> (TempDir, tables::Result<Service>) {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("flights.csv"), FLIGHTS).unwrap();
    fs_err::write(folder.path().join("airlines.csv"), AIRLINES).unwrap();
    let service = Service::open(ServiceConfig {
        tables: serde_json::from_value(tables.clone()).unwrap(),
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    });
    (folder, service)
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn query(service: &Service, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["table"] = json!("flights");
    let request = query_request(&arguments).unwrap();
    query_json(&service.query(&Caller::local_admin(), &request, &soon()).unwrap())
}

#[test]
fn looked_up_fields_are_fields() {
    let (_folder, service) = open(&tables());
    let service = service.unwrap();
    let all = query(&service, &json!({}));
    assert_eq!(
        all["rows"][0],
        json!({ "carrier": "UA", "delay": 10, "airline": "United", "base": "Chicago" })
    );
    let names: Vec<&Value> =
        all["rows"].as_array().unwrap().iter().map(|row| &row["airline"]).collect();
    assert_eq!(json!(names), json!(["United", "United", "British", null, null, null]));
    let said = all["warnings"].to_string();
    assert!(said.contains("1 key is in several rows of `airlines`"), "{said}");

    let london = query(&service, &json!({ "filters": { "base": ["London"] } }));
    assert_eq!((&london["total"], &london["rows"][0]["carrier"]), (&json!(1), &json!("BA")));
    let sorted = query(&service, &json!({ "sort": { "id": "airline", "desc": true } }));
    assert_eq!(sorted["rows"][0]["airline"], "United");
    let counted = query(&service, &json!({ "facets": ["base"] }));
    assert_eq!(
        counted["facets"]["base"]["rows"],
        json!([{ "value": null, "total": 3 }, { "value": "Chicago", "total": 2 }, { "value": "London", "total": 1 }])
    );
    let missed = query(&service, &json!({ "filters": { "base": ["Londn"] } }));
    assert_eq!(missed["did_you_mean"][0]["suggestions"][0], "London", "{missed}");

    let grouped = aggregate_request(&json!({
        "table": "flights", "group_by": ["airline"],
        "measures": [{ "op": "avg", "field": "delay", "as": "mean" }],
        "filters": { "airline": { "is_null": false } }, "sort": [{ "id": "mean", "desc": true }],
    }));
    let caller = Caller::local_admin();
    let groups = service.aggregate(&caller, &grouped.unwrap(), &soon()).unwrap();
    let expected = [["United".into(), 15.0.into()], ["British".into(), tables::Value::Real(5.0)]];
    assert_eq!(groups.rows, expected);

    let request = query_request(&json!({ "table": "flights" })).unwrap();
    let mut exported = Vec::new();
    let unchanged = |_: &str, _: &str| None;
    service
        .export(&caller, &request, ExportFormat::Csv, &unchanged, &mut exported, &soon())
        .unwrap();
    let exported = String::from_utf8(exported).unwrap();
    let lines: Vec<&str> = exported.lines().take(2).collect();
    assert_eq!(lines, ["carrier,delay,airline,base", "UA,10,United,Chicago"]);

    let figures = service.describe(&caller, Some("flights"), &soon()).unwrap();
    let described = super::description::in_full(service.schemas(&caller)[0], &figures);
    assert_eq!(described["fields"]["airline"]["description"], "the airline's own name");
}

#[test]
fn a_key_may_be_hidden_and_stays_so() {
    let mut tables = tables();
    tables[0]["fields"]["carrier"]["hidden"] = json!(true);
    let (_folder, service) = open(&tables);
    let service = service.unwrap();
    let all = query(&service, &json!({}));
    assert_eq!(all["rows"][0], json!({ "delay": 10, "airline": "United", "base": "Chicago" }));
    let arguments = json!({ "table": "flights", "filters": { "carrier": "UA" } });
    let request = query_request(&arguments).unwrap();
    let refused = service.query(&Caller::local_admin(), &request, &soon()).unwrap_err();
    assert!(refused.to_string().contains("unknown filter"), "{refused}");
}

#[track_caller]
fn check_refused(change: impl FnOnce(&mut Value), expected: &str) {
    let mut tables = tables();
    change(&mut tables);
    let (_folder, service) = open(&tables);
    let said = service.err().expect("the relation is refused").to_string();
    assert!(said.contains(expected), "{said}");
}

#[test]
fn relations_that_make_no_sense_are_refused() {
    let relation = |key: &'static str, value: Value| {
        move |tables: &mut Value| tables[0]["relations"][0][key] = value
    };
    check_refused(relation("table", json!("planes")), "no table `planes` is configured");
    check_refused(relation("on", json!("carier")), "`flights` has no field `carier`");
    check_refused(relation("on", json!("delay")), "a key must have one type on both sides");
    check_refused(relation("key", json!("id")), "`airlines` has no field `id`");
    check_refused(relation("fields", json!({})), "a relation needs `fields`");
    check_refused(
        relation("fields", json!({ "x": "secret" })),
        "is hidden and cannot be looked up",
    );
    check_refused(relation("fields", json!({ "delay": "name" })), "choose another");
    check_refused(
        |tables| tables[1]["allow"] = json!({ "roles": ["finance"] }),
        "give both the same `allow`",
    );
    check_refused(
        |tables| tables[1]["source"] = json!("postgres://u:p@127.0.0.1/d#airlines"),
        "both must be files, or tables of one database",
    );
    check_refused(
        |tables| tables[1]["fields"]["name"]["separator"] = json!(";"),
        "several values in a cell",
    );
}

/// A client that checks answers refused a description with warnings: they were objects there.
#[test]
fn a_description_says_in_sentences_which_keys_are_missing() {
    let (_folder, service) = open(&tables());
    let described = super::private_tests::try_ask(
        &super::DescribeSchema::brief(service.unwrap()),
        json!({ "table": "flights" }),
    );
    let warnings = described.unwrap().value["warnings"].clone();
    assert_eq!(
        warnings,
        json!([
            "1 key is in several rows of `airlines`, so nothing is looked up by it",
            "1 key is in no row of `airlines`: what is looked up by it is null in 1 row",
        ])
    );
}
