//! Proves that operators, alternatives, zones, several sort keys, chosen columns and facets, and
//! aggregates mean what their words say, through the service.

use std::time::Duration;

use model::{Caller, Deadline};
use serde_json::{Value, json};
use tables::{
    AggregateRequest, Calendar, ExportFormat, Fields, GroupRequest, MeasureRequest, Op, Service,
    ServiceConfig, TableConfig,
};

use super::arguments::query_request;
use super::written::query_json;

const ROWS: &str = "name,size,at,secret\n\
    Ada,3,2024-01-31T23:30:00Z,1\n\
    Bob,5,2024-02-01T04:00:00Z,2\n\
    Cyd,,2024-02-02T12:00:00Z,3\n\
    ,9,,4\n";

fn service() -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("people.csv"), ROWS).unwrap();
    let fields: Fields = serde_json::from_value(json!({
        "name": { "type": "string" },
        "size": { "type": "array", "items": { "type": "number" }, "match": "range" },
        "at": { "type": "array", "items": { "type": "timestamp" }, "match": "range" },
        "secret": { "type": "number", "hidden": true }
    }))
    .unwrap();
    let table = TableConfig {
        name: "people".to_owned(),
        source: "people.csv".to_owned(),
        description: None,
        allow: model::Access::everyone(),
        null_values: vec![String::new()],
        delimiter: None,
        fields,
        relations: Vec::new(),
    };
    let service = Service::open(ServiceConfig {
        tables: vec![table],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    });
    (service.unwrap(), folder)
}

fn written(rows: &[Vec<tables::Value>]) -> Value {
    rows.iter().map(|row| row.iter().map(tables::Value::to_json).collect::<Value>()).collect()
}

fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(10))
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written in place")]
fn names(arguments: Value) -> Vec<String> {
    let (service, _folder) = service();
    let request = query_request(&arguments).unwrap();
    let answer = query_json(&service.query(&Caller::local_admin(), &request, &deadline()).unwrap());
    let rows = answer["rows"].as_array().unwrap();
    rows.iter().map(|row| row["name"].as_str().unwrap_or("-").to_owned()).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "filters are written in place")]
#[track_caller]
fn check(filters: Value, expected: &[&str]) {
    assert_eq!(names(json!({ "filters": filters })), expected, "{filters}");
}

#[test]
fn operators_say_what_they_say() {
    check(json!({ "name": { "eq": "Ada" } }), &["Ada"]);
    check(json!({ "name": { "not": "Ada" } }), &["Bob", "Cyd", "-"]);
    check(json!({ "name": { "not": ["Ada", "Bob"], "is_null": false } }), &["Cyd"]);
    check(json!({ "name": { "in": ["Ada", "Cyd"] } }), &["Ada", "Cyd"]);
    check(json!({ "name": { "starts_with": "B" } }), &["Bob"]);
    check(json!({ "name": { "contains": "d" } }), &["Ada", "Cyd"]);
    check(json!({ "name": { "is_null": true } }), &["-"]);
    // Empty text under an operator is a value: it was passed over, and every row came.
    check(json!({ "name": { "in": "" } }), &[]);
    check(json!({ "name": { "not": "", "is_null": false } }), &["Ada", "Bob", "Cyd"]);
    check(json!({ "size": { "min": 4 } }), &["Bob", "-"]);
    check(json!({ "size": { "min": "4", "max": 8 } }), &["Bob"]);
    check(json!({ "size": { "is_null": true } }), &["Cyd"]);
    check(json!({ "size": null, "name": "" }), &["Ada", "Bob", "Cyd", "-"]);
    check(json!({ "any": [{ "name": { "eq": "Ada" } }, { "size": { "min": 9 } }] }), &["Ada", "-"]);
    check(json!({ "any": [{ "name": "A" }, { "name": "B" }], "size": { "max": 4 } }), &["Ada"]);
}

#[test]
fn a_date_is_its_whole_day_in_the_zone() {
    check(json!({ "at": ["2024-02-01"] }), &["Bob"]);
    check(json!({ "at": ["2024-01-31", "2024-02-01"] }), &["Ada", "Bob"]);
    check(json!({ "at": { "max": "2024-01-31" } }), &["Ada"]);
    let zoned = json!({ "filters": { "at": ["2024-01-31"] }, "time_zone": "America/New_York" });
    assert_eq!(names(zoned), ["Ada", "Bob"]);
}

#[test]
fn several_keys_sort_and_columns_are_chosen() {
    let sorted = json!({ "sort": [{ "id": "size", "desc": true }, { "id": "name" }] });
    assert_eq!(names(sorted), ["-", "Bob", "Ada", "Cyd"]);
    let (service, _folder) = service();
    let arguments = json!({ "columns": ["size"], "facets": ["name"], "pageSize": 1 });
    let request = query_request(&arguments).unwrap();
    let answer = query_json(&service.query(&Caller::local_admin(), &request, &deadline()).unwrap());
    assert_eq!(answer["rows"], json!([{ "size": 3 }]));
    assert_eq!(answer["facets"].as_object().unwrap().keys().collect::<Vec<_>>(), ["name"]);
}

#[test]
fn mistakes_name_what_is_allowed() {
    let (service, _folder) = service();
    let refuse = |arguments: Value| {
        let request = query_request(&arguments).unwrap();
        service.query(&Caller::local_admin(), &request, &deadline()).unwrap_err().to_string()
    };
    let operator = refuse(json!({ "filters": { "name": { "min": 3 } } }));
    assert!(operator.contains("unknown operator `min`") && operator.contains("`contains`"));
    let hidden = refuse(json!({ "filters": { "secret": { "eq": 1 } } }));
    assert!(hidden.starts_with("unknown filter `secret`"), "{hidden}");
    let zone = refuse(json!({ "time_zone": "Mars/Olympus" }));
    assert!(zone.contains("unknown time zone `Mars/Olympus`"), "{zone}");
}

#[test]
fn aggregates_state_their_zone_and_names() {
    let (service, _folder) = service();
    let ask = |request: &AggregateRequest| {
        service.aggregate(&Caller::local_admin(), request, &deadline())
    };
    let month = |zone: Option<&str>| GroupRequest {
        field: "at".to_owned(),
        bucket: Some(Calendar::Month),
        time_zone: zone.map(str::to_owned),
        width: None,
    };
    let size = |op: Op| MeasureRequest { op, field: Some("size".to_owned()), name: None };
    let answer = ask(&AggregateRequest {
        group_by: vec![month(None)],
        measures: vec![MeasureRequest { op: Op::Count, field: None, name: None }, size(Op::Avg)],
        ..AggregateRequest::default()
    })
    .unwrap();
    assert_eq!(answer.columns, ["month", "count", "avg_size"]);
    assert_eq!(answer.time_zone.as_deref(), Some("UTC"));
    let expected = json!([["2024-01", 1, 3], ["2024-02", 2, 5], [null, 1, 9]]);
    assert_eq!(written(&answer.rows), expected);
    let zoned = ask(&AggregateRequest {
        group_by: vec![month(Some("America/New_York"))],
        having: serde_json::from_value(json!({ "count": { "min": 2 } })).unwrap(),
        ..AggregateRequest::default()
    })
    .unwrap();
    assert_eq!(written(&zoned.rows), json!([["2024-01", 2]]));
    assert_eq!((zoned.total_groups, zoned.total_rows), (1, 4));
    let wrong = ask(&AggregateRequest {
        group_by: vec![GroupRequest {
            bucket: Some(Calendar::Day),
            ..GroupRequest { field: "name".to_owned(), ..GroupRequest::default() }
        }],
        ..AggregateRequest::default()
    });
    assert!(wrong.unwrap_err().to_string().contains("`bucket` is for timestamps"));
    let hidden = ask(&AggregateRequest {
        measures: vec![MeasureRequest {
            op: Op::Sum,
            field: Some("secret".to_owned()),
            name: None,
        }],
        ..AggregateRequest::default()
    });
    assert!(hidden.unwrap_err().to_string().starts_with("unknown measure field `secret`"));
}

#[test]
fn an_export_has_every_row_once_in_every_format() {
    let (service, folder) = service();
    let caller = Caller::local_admin();
    let request = query_request(&json!({ "sort": [{ "id": "name" }] })).unwrap();
    let redact = |_: &str, text: &str| (text == "Bob").then(|| "[name]".to_owned());
    let export = |format| {
        let mut out = Vec::new();
        let written =
            service.export(&caller, &request, format, &redact, &mut out, &deadline()).unwrap();
        assert_eq!(written.n_rows, 4);
        out
    };
    let csv = String::from_utf8(export(ExportFormat::Csv)).unwrap();
    assert_eq!(
        csv,
        "name,size,at\r\nAda,3,2024-01-31T23:30:00.000Z\r\n[name],5,2024-02-01T04:00:00.000Z\r\n\
         Cyd,,2024-02-02T12:00:00.000Z\r\n,9,\r\n"
    );
    let lines = String::from_utf8(export(ExportFormat::JsonLines)).unwrap();
    assert_eq!(lines.lines().count(), 4);
    assert!(!lines.contains("secret"));
    let path = folder.path().join("out.parquet");
    fs_err::write(&path, export(ExportFormat::Parquet)).unwrap();
    let back = columns::Dataset::read(&path, &columns::TableSpec::all_text()).unwrap();
    assert_eq!(back.n_rows(), 4);
    assert_eq!(back.column("name").unwrap().text(1), Some("[name]"));

    let (token, _) =
        service.link_export(&caller, &request, ExportFormat::Csv, &deadline()).unwrap();
    assert_eq!(service.export_link(&token).unwrap().unwrap().request, request);
}

#[test]
fn null_in_an_operator_is_a_value() {
    check(json!({ "name": { "eq": null } }), &["-"]);
    check(json!({ "name": { "not": null } }), &["Ada", "Bob", "Cyd"]);
    check(json!({ "name": { "in": ["Ada", null] } }), &["Ada", "-"]);
    check(json!({ "name": { "not": ["Ada", null] } }), &["Bob", "Cyd"]);
    check(json!({ "name": { "not": { "contains": "d" } } }), &["Bob", "-"]);
    check(json!({ "at": { "not": null } }), &["Ada", "Bob", "Cyd"]);
    check(json!({ "at": { "eq": null } }), &["-"]);
    let (service, _folder) = service();
    for (filters, part) in [
        (json!({ "name": { "contains": null } }), "is_null"),
        (json!({ "at": { "in": ["2024-01-31", null] } }), "any"),
        (json!({ "name": { "not": { "contains": "a", "eq": "b" } } }), "one operator"),
    ] {
        let request = query_request(&json!({ "filters": filters })).unwrap();
        let refused = service.query(&Caller::local_admin(), &request, &deadline()).unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
}

#[test]
fn a_zone_moves_no_date() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("days.csv"), "d,n\n2024-01-01,1\n2024-02-01,2\n").unwrap();
    let fields: Fields = serde_json::from_value(json!({
        "d": { "type": "timestamp" }, "n": { "type": "number" }
    }))
    .unwrap();
    let table = TableConfig {
        name: "days".to_owned(),
        source: "days.csv".to_owned(),
        description: None,
        allow: model::Access::everyone(),
        null_values: Vec::new(),
        delimiter: None,
        fields,
        relations: Vec::new(),
    };
    let service = Service::open(ServiceConfig {
        tables: vec![table],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap();
    let caller = Caller::local_admin();
    let zone = Some("America/New_York".to_owned());
    let request = AggregateRequest {
        group_by: vec![GroupRequest {
            field: "d".to_owned(),
            bucket: Some(Calendar::Month),
            ..GroupRequest::default()
        }],
        time_zone: zone,
        ..AggregateRequest::default()
    };
    let answer = service.aggregate(&caller, &request, &deadline()).unwrap();
    assert_eq!(written(&answer.rows), json!([["2024-01", 1], ["2024-02", 1]]));
    let codes: Vec<&str> = answer.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!((codes.as_slice(), &answer.time_zone), (&["time_zone_not_applied"][..], &None));
    let arguments = json!({
        "filters": { "d": "2024-01-01" }, "time_zone": "America/New_York"
    });
    let request = query_request(&arguments).unwrap();
    let answer = service.query(&caller, &request, &deadline()).unwrap();
    assert_eq!(answer.total, 1);
    let codes: Vec<&str> = answer.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["time_zone_not_applied"]);
}
