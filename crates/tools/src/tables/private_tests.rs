//! Proves that: what a field's configuration says of redaction holds in every format, in facets,
//! groups and measures under other names; values of fields that are private by their name never
//! leave; a hidden field cannot be named anywhere; views and charts keep to the same.

use std::sync::Arc;
use std::time::Duration;

use filters::charts::{ChartSettings, Charts};
use model::{Caller, Clock, Deadline, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use testkit::Folder;
use text::Budget;

use super::{AggregateTable, ChartTable, DescribeSchema, QueryTable, SavedView, ViewAddresses};
use crate::{Answer, Call, ResourceBody, Resources as _, Tool, ToolError};

const CONTACTS: &str = r#"{
    "name": "contacts",
    "source": "contacts.csv",
    "fields": {
        "mail": { "type": "string", "redact": false },
        "note": { "type": "string" },
        "password": { "type": "string" },
        "aliases": { "type": "array", "items": { "type": "string" }, "separator": ";" },
        "size": { "type": "number", "unit": "kg" },
        "at": { "type": "timestamp" },
        "pay": { "type": "number", "hidden": true }
    }
}"#;

const ROWS: &str = "mail,note,password,aliases,size,at,pay\n\
    ana@example.org,call ana@example.org,tiger,a@example.org;x,3,2024-01-05,1\n\
    bob@example.org,nothing,lion,b@example.org;y,5,2024-03-05,2\n";

fn service(folder: &Folder) -> tables::Service {
    folder.write("contacts.csv", ROWS);
    tables::Service::open(tables::ServiceConfig {
        tables: vec![serde_json::from_str(CONTACTS).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written in place")]
pub(super) fn try_ask(tool: &dyn Tool, arguments: Value) -> Result<Answer, ToolError> {
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let accepted = crate::accept(&spec, arguments.as_object().unwrap().clone())?;
    let answer = tool.call(&Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &Deadline::after(Duration::from_secs(60)),
        budget: Budget { chars: 100_000, tokens: 100_000 },
        progress: &|_| {},
    })?;
    spec.check_output(&answer.value).unwrap();
    Ok(answer)
}

fn ask(tool: &dyn Tool, arguments: Value) -> String {
    try_ask(tool, arguments).unwrap().value.to_string()
}

#[track_caller]
fn check(answer: &str, shows_mail: bool) {
    assert_eq!(answer.contains("bob@example.org"), shows_mail, "{answer}");
    for private in ["tiger", "lion", "call ana@example.org", "a@example.org;", "\"a@example.org"] {
        assert!(!answer.contains(private), "`{private}` left in {answer}");
    }
}

#[test]
fn every_format_keeps_to_the_fields() {
    let folder = Folder::new();
    let tool = QueryTable::new(service(&folder));
    for format in ["json", "stats", "markdown", "csv"] {
        let answer = ask(&tool, json!({ "format": format }));
        check(&answer, true);
        assert!(answer.contains("[email") && answer.contains("[password"), "{answer}");
    }
    let meant = ask(&tool, json!({ "filters": { "password": { "eq": "tigr" } } }));
    check(&meant, false);
}

#[test]
fn groups_and_measures_under_other_names_are_redacted() {
    let folder = Folder::new();
    let service = service(&folder);
    let tool = AggregateTable::new(service.clone());
    check(&ask(&tool, json!({ "group_by": ["mail"], "measures": [{ "op": "count" }] })), true);
    check(&ask(&tool, json!({ "group_by": ["note"], "measures": [{ "op": "count" }] })), false);
    check(&ask(&tool, json!({ "group_by": ["password"], "measures": [{ "op": "count" }] })), false);
    let renamed = json!({ "measures": [
        { "op": "max", "field": "password", "as": "x" }, { "op": "min", "field": "note", "as": "y" },
    ] });
    check(&ask(&tool, renamed), false);
    for detail in [false, true] {
        let described = ask(&DescribeSchema::brief(service.clone()), json!({ "detail": detail }));
        assert!(!described.contains("tiger") && !described.contains("lion"), "{described}");
    }
}

/// Cells of numbers were not looked at.
#[test]
fn numbers_that_are_private_are_hidden() {
    let folder = Folder::new();
    folder.write(
        "cards.csv",
        "name,card,password,size\nann,4111111111111111,734912,5\nbob,5500000000000004,734913,6\n",
    );
    let config = json!({ "name": "cards", "source": "cards.csv", "fields": {
        "name": { "type": "string" }, "card": { "type": "number" },
        "password": { "type": "number" }, "size": { "type": "number" },
    } });
    let service = tables::Service::open(tables::ServiceConfig {
        tables: vec![serde_json::from_value(config).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap();
    let hides = |answer: &str| {
        for digits in ["41111", "55000", "73491"] {
            assert!(!answer.contains(digits), "`{digits}` left in {answer}");
        }
    };
    let query = QueryTable::new(service.clone());
    for format in ["json", "stats", "markdown", "csv"] {
        let answer = ask(&query, json!({ "format": format }));
        hides(&answer);
        assert!(answer.contains("[card") && answer.contains("[password"), "{answer}");
        assert!(answer.contains('6'), "{answer}");
    }
    let aggregate = AggregateTable::new(service.clone());
    for op in ["sum", "avg", "min", "max", "median"] {
        let measures = ["card", "password", "size"]
            .map(|field| json!({ "op": op, "field": field, "as": format!("of_{field}") }));
        let answer = ask(&aggregate, json!({ "group_by": ["name"], "measures": measures }));
        hides(&answer);
        assert!(answer.contains('6'), "{answer}");
    }
    hides(&ask(&aggregate, json!({ "group_by": ["card", "password"] })));
    for (format, shows_marks) in [
        (tables::ExportFormat::Csv, true),
        (tables::ExportFormat::JsonLines, true),
        (tables::ExportFormat::Parquet, false),
    ] {
        let mut written = Vec::new();
        let request = tables::QueryRequest::default();
        let deadline = Deadline::after(Duration::from_secs(60));
        let caller = Caller::local_admin();
        let changed = &super::redacted_cell;
        service.export(&caller, &request, format, changed, &mut written, &deadline).unwrap();
        let text = String::from_utf8_lossy(&written);
        hides(&text);
        assert_eq!(text.contains("[card"), shows_marks, "{text}");
    }
}

/// The decimals of a longitude were taken for a card, and sums for telephone numbers.
#[test]
fn numbers_that_name_nothing_are_shown() {
    let folder = Folder::new();
    let mut csv = "place,lon,amount,password\n".to_owned();
    // Both decimals and the sum of the amounts have the digits of a card.
    csv.push_str("a,-31.4111111111111111,4111111111111110,1\nb,0.05500000000000004,1,2\n");
    folder.write("places.csv", csv);
    let config = json!({ "name": "places", "source": "places.csv", "fields": {
        "place": { "type": "string" }, "lon": { "type": "number" },
        "amount": { "type": "number" }, "password": { "type": "number" },
    } });
    let service = tables::Service::open(tables::ServiceConfig {
        tables: vec![serde_json::from_value(config).unwrap()],
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap();
    for format in ["json", "stats", "markdown", "csv"] {
        let answer = ask(&QueryTable::new(service.clone()), json!({ "format": format }));
        assert!(answer.contains("-31.41111111") && !answer.contains("[card"), "{answer}");
    }
    let measures = ["amount", "password"]
        .map(|field| json!({ "op": "sum", "field": field, "as": format!("of_{field}") }));
    let aggregate = AggregateTable::new(service.clone());
    let answer = ask(&aggregate, json!({ "measures": measures }));
    assert!(answer.contains("4111111111111111"), "{answer}");
    assert!(answer.contains("[password"), "what is private by its name is hidden: {answer}");
    let mut written = Vec::new();
    let request = tables::QueryRequest::default();
    let deadline = Deadline::after(Duration::from_secs(60));
    let (caller, changed) = (Caller::local_admin(), &super::redacted_cell);
    let format = tables::ExportFormat::Csv;
    service.export(&caller, &request, format, changed, &mut written, &deadline).unwrap();
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains("-31.41111111") && !text.contains("[card"), "{text}");
}

#[test]
fn a_hidden_field_cannot_be_named_anywhere() {
    let folder = Folder::new();
    let service = service(&folder);
    let query = QueryTable::with_exports(service.clone(), "http://127.0.0.1");
    let aggregate = AggregateTable::new(service);
    let count = json!([{ "op": "count" }]);
    let probes: [(&dyn Tool, Value); 13] = [
        (&query, json!({ "filters": { "pay": 1 } })),
        (&query, json!({ "filters": { "pay": { "min": 1 } } })),
        (&query, json!({ "filters": { "any": [{ "pay": 1 }] } })),
        (&query, json!({ "sort": { "id": "pay" } })),
        (&query, json!({ "columns": ["pay"] })),
        (&query, json!({ "facets": ["pay"] })),
        (&query, json!({ "series": { "field": "at", "sum": "pay" } })),
        (&query, json!({ "filters": { "pay": 1 }, "export": "csv" })),
        (&query, json!({ "columns": ["pay"], "export": "csv" })),
        (&aggregate, json!({ "group_by": ["pay"], "measures": count })),
        (&aggregate, json!({ "measures": [{ "op": "sum", "field": "pay" }] })),
        (&aggregate, json!({ "filters": { "pay": 1 }, "measures": count })),
        (&aggregate, json!({ "measures": count, "having": { "sum_pay": { "min": 1 } } })),
    ];
    for (tool, arguments) in probes {
        let error = try_ask(tool, arguments.clone()).unwrap_err();
        let listed = format!("{} {:?}", error.message, error.details);
        let names = listed.matches("`pay`").count() + listed.matches("\"pay\"").count();
        assert!(names <= 2, "{arguments} is refused without listing the field: {listed}");
        let unknown =
            ["unknown", "one of", "does not"].iter().any(|word| error.message.contains(word));
        assert!(unknown, "{arguments}: {}", error.message);
    }
}

/// Says what the guard may redact in a description: the fields that the configuration names.
#[test]
fn a_description_shows_the_fields_that_are_left_as_they_are() {
    let folder = Folder::new();
    let service = service(&folder);
    for detail in [false, true] {
        let tool = DescribeSchema::brief(service.clone());
        let answer = try_ask(&tool, json!({ "detail": detail })).unwrap();
        let places = answer.source_text.unwrap();
        assert!(places.iter().any(|place| place == "/fields/note/top/*/value"), "{places:?}");
        assert!(!places.iter().any(|place| place.contains("mail")), "{places:?}");
        assert!(answer.value.to_string().contains("bob@example.org"), "{}", answer.value);
    }
}

/// Rows with these values of the hidden field, and its owners.
fn two_tables(folder: &Folder, pay: [i64; 4]) -> tables::Service {
    let rows: String = pay
        .iter()
        .enumerate()
        .map(|(at, pay)| format!("m{at},{},{pay},o{}\n", at % 2, at % 3))
        .collect();
    folder.write("rows.csv", format!("name,size,pay,owner\n{rows}"));
    let owners: String = (0..3).map(|at| format!("o{at},Owner {at},{}\n", pay[at])).collect();
    folder.write("owners.csv", format!("id,title,debt\n{owners}"));
    let tables = json!([
        {
            "name": "rows", "source": "rows.csv",
            "fields": {
                "name": { "type": "string" }, "size": { "type": "number" },
                "pay": { "type": "number", "hidden": true },
                "owner": { "type": "string", "hidden": true },
            },
            "relations": [{
                "table": "owners", "on": "owner", "key": "id", "fields": { "holder": "title" },
            }],
        },
        {
            "name": "owners", "source": "owners.csv",
            "fields": {
                "id": { "type": "string" }, "title": { "type": "string" },
                "debt": { "type": "number", "hidden": true },
            },
        },
    ]);
    tables::Service::open(tables::ServiceConfig {
        tables: serde_json::from_value(tables).unwrap(),
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap()
}

/// Calls that name a field wherever a field can be named.
fn probes(table: &str, field: &str, value: i64) -> Vec<(&'static str, Value)> {
    let filter = json!({ field: { "min": value } });
    let count = json!([{ "op": "count" }]);
    let with = |more: Value| {
        let mut arguments = json!({ "table": table });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    vec![
        ("query", with(json!({ "filters": filter }))),
        ("query", with(json!({ "filters": { field: value } }))),
        ("query", with(json!({ "filters": { "any": [filter, { "size": 1 }] } }))),
        ("query", with(json!({ "filters": { "any": [filter] }, "format": "stats" }))),
        ("query", with(json!({ "sort": [{ "id": field, "desc": true }] }))),
        ("query", with(json!({ "columns": [field], "format": "csv" }))),
        ("query", with(json!({ "facets": [field] }))),
        ("query", with(json!({ "filters": filter, "export": "csv" }))),
        ("query", with(json!({ "format": "stats" }))),
        ("aggregate", with(json!({ "group_by": [field], "measures": count }))),
        ("aggregate", with(json!({ "measures": [{ "op": "max", "field": field }] }))),
        ("aggregate", with(json!({ "filters": filter, "measures": count }))),
        ("aggregate", with(json!({ "measures": count, "sort": [{ "id": field }] }))),
        ("aggregate", with(json!({ "measures": count, "having": { field: { "min": value } } }))),
        ("chart", with(json!({ "title": "t", "group_by": [field] }))),
        ("chart", with(json!({ "title": "t", "group_by": ["name"], "filters": filter }))),
        (
            "chart",
            with(json!({
                "title": "t", "group_by": ["name"], "measures": [{ "op": "sum", "field": field }],
            })),
        ),
        ("describe", with(json!({ "detail": true }))),
    ]
}

/// Asks all of it, and gives the answers without what is random in them.
fn answers(folder: &Folder, service: &tables::Service, value: i64) -> Vec<String> {
    let charts = Arc::new(
        Charts::open(ChartSettings {
            config: None,
            folder: folder.path().to_owned(),
            data_folder: folder.path().join("charts"),
            base_url: "http://127.0.0.1:7700".to_owned(),
            clock: Clock::fixed(Timestamp(1_700_000_000_000)),
            dimensions: None,
        })
        .unwrap(),
    );
    let query = QueryTable::with_exports(service.clone(), "http://127.0.0.1");
    let aggregate = AggregateTable::new(service.clone());
    let chart = ChartTable::new(service.clone(), charts);
    let describe = DescribeSchema::brief(service.clone());
    let fields = [("rows", "pay"), ("rows", "owner"), ("rows", "debt"), ("owners", "debt")];
    let shown = [("rows", "holder"), ("rows", "size")];
    let asked = fields.into_iter().chain(shown);
    asked
        .flat_map(|(table, field)| probes(table, field, value))
        .map(|(tool, arguments)| {
            let tool: &dyn Tool = match tool {
                "query" => &query,
                "aggregate" => &aggregate,
                "chart" => &chart,
                _ => &describe,
            };
            match try_ask(tool, arguments.clone()) {
                Ok(mut answer) => {
                    if let Some(answer) = answer.value.as_object_mut() {
                        for random in ["chart_id", "chart_url", "export"] {
                            answer.remove(random);
                        }
                    }
                    format!("{arguments}: {}", answer.value)
                }
                Err(error) => format!("{arguments}: {} {:?}", error.message, error.details),
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever is asked, two tables that differ in hidden values alone cannot be told apart.
    #[test]
    fn hidden_values_change_no_answer(
        one in prop::array::uniform4(-9_i64..9),
        other in prop::array::uniform4(-9_i64..9),
        value in -9_i64..9,
    ) {
        let (first, second) = (Folder::new(), Folder::new());
        let before = answers(&first, &two_tables(&first, one), value);
        let after = answers(&second, &two_tables(&second, other), value);
        prop_assert_eq!(before, after);
    }
}

#[test]
fn a_view_is_a_tool_or_a_resource_and_keeps_to_the_same() {
    let folder = Folder::new();
    let service = service(&folder);
    let view = |form: &str| {
        let config = json!({
            "name": "heavier",
            "description": "Contacts heavier than something",
            "table": "contacts",
            "as": form,
            "parameters": { "least": { "type": "number", "default": 0 } },
            "query": { "filters": { "size": { "min": "{least}" } }, "format": "csv" },
        });
        super::views::View::new(serde_json::from_value(config).unwrap(), &service).unwrap()
    };
    let tool = SavedView::new(service.clone(), view("tool"));
    check(&ask(&tool, json!({})), true);
    assert!(!ask(&tool, json!({ "least": 4 })).contains("ana@"));
    assert!(try_ask(&tool, json!({ "least": "many" })).is_err());
    let read = ViewAddresses::new(service.clone(), &[view("resource")]);
    let caller = Caller::local_admin();
    assert_eq!(read.list(&caller, None, 10)[0].uri, "dowse://views/heavier");
    assert_eq!(read.patterns(&caller)[0].pattern, "dowse://views/heavier{?least}");
    let deadline = Deadline::after(Duration::from_secs(60));
    let content = read.read(&caller, "dowse://views/heavier?least=4", &deadline).unwrap().unwrap();
    let ResourceBody::OwnText(text) = content.body else { unreachable!("it is text") };
    check(&text, true);
    assert!(!text.contains("ana@"));
    assert!(read.read(&caller, "dowse://views/lighter", &deadline).unwrap().is_none());
    assert!(
        ViewAddresses::new(service.clone(), &[view("tool")]).list(&caller, None, 10).is_empty()
    );
}

#[test]
fn any_aggregate_becomes_a_chart() {
    let folder = Folder::new();
    let service = service(&folder);
    let charts = Arc::new(
        Charts::open(ChartSettings {
            config: None,
            folder: folder.path().to_owned(),
            data_folder: folder.path().join("charts"),
            base_url: "http://127.0.0.1:7700".to_owned(),
            clock: Clock::fixed(Timestamp(1_700_000_000_000)),
            dimensions: None,
        })
        .unwrap(),
    );
    let tool = ChartTable::new(service, Arc::clone(&charts));
    let by_month = json!({
        "title": "Weight by month", "chart_type": "line",
        "group_by": [{ "field": "at", "bucket": "month" }],
        "measures": [{ "op": "sum", "field": "size" }],
    });
    let answer = try_ask(&tool, by_month).unwrap();
    let id = answer.value["chart_id"].as_str().unwrap();
    let chart = charts.get(&Caller::local_admin(), &filters::charts::ChartId::new(id)).unwrap();
    let places: Vec<String> = chart.places().iter().map(ToString::to_string).collect();
    assert_eq!(places, ["2024-01", "2024-02", "2024-03"], "February has a place");
    assert_eq!(chart.series[0].data_points.len(), 2, "and no point: a gap is no zero");
    assert_eq!(chart.series[0].y_axis.unit, "kg");
    assert!(chart.warnings.iter().any(|warning| warning.message.contains("gaps, not zeros")));
    let counted = json!({ "title": "Rows", "group_by": [{ "field": "at", "bucket": "month" }] });
    let answer = try_ask(&tool, counted).unwrap();
    let chart = charts.get(
        &Caller::local_admin(),
        &filters::charts::ChartId::new(answer.value["chart_id"].as_str().unwrap()),
    );
    let amounts: Vec<f64> =
        chart.unwrap().series[0].data_points.iter().map(|point| point.y).collect();
    assert_eq!(amounts, [1.0, 0.0, 1.0], "no rows are counted as none");
    let cut = json!({ "title": "Rows", "limit": 1,
        "group_by": [{ "field": "at", "bucket": "month" }, "note"] });
    let answer = try_ask(&tool, cut).unwrap();
    let chart = charts.get(
        &Caller::local_admin(),
        &filters::charts::ChartId::new(answer.value["chart_id"].as_str().unwrap()),
    );
    let points = chart.unwrap().series.into_iter().flat_map(|series| series.data_points);
    assert!(points.into_iter().all(|point| point.y > 0.0), "what was cut off is no zero");
    let units = json!({ "title": "Two units", "group_by": ["note"], "measures": [
        { "op": "sum", "field": "size" }, { "op": "count" } ] });
    let refused = try_ask(&tool, units).unwrap_err();
    assert!(refused.message.contains("one unit"), "{}", refused.message);
    let nothing = json!({ "title": "None", "group_by": ["note"],
        "filters": { "size": { "min": 100 }, "note": { "contains": "n" } } });
    let refused = try_ask(&tool, nothing).unwrap_err();
    assert!(
        refused.message.ends_with("without the filter `size` there is 1 row"),
        "{}",
        refused.message
    );
    let private = json!({ "title": "Notes", "group_by": ["note"] });
    let answer = try_ask(&tool, private).unwrap();
    let chart = charts.get(
        &Caller::local_admin(),
        &filters::charts::ChartId::new(answer.value["chart_id"].as_str().unwrap()),
    );
    assert!(!serde_json::to_string(&chart.unwrap()).unwrap().contains("ana@example.org"));
}

#[test]
fn a_filter_finds_nothing_by_what_is_redacted() {
    let folder = Folder::new();
    let service = service(&folder);
    let tool = QueryTable::new(service.clone());
    let total = |filters: Value| {
        let answer = try_ask(&tool, json!({ "filters": filters, "pageSize": 1 })).unwrap();
        answer.value["total"].as_u64().unwrap()
    };
    assert_eq!(total(json!({ "note": "ana@" })), 0);
    assert_eq!(total(json!({ "note": { "starts_with": "call ana" } })), 0);
    assert_eq!(total(json!({ "note": { "not": "call ana@example.org" } })), 2);
    assert_eq!(total(json!({ "any": [{ "note": "ana@" }] })), 0);
    assert_eq!(total(json!({ "password": { "eq": "tiger" } })), 0);
    assert_eq!(total(json!({ "password": { "starts_with": "t" } })), 0);
    assert_eq!(total(json!({ "note": "call" })), 1, "what is shown is found");
    assert_eq!(total(json!({ "mail": "ana@" })), 1, "the field is left as it is");
    let counted = AggregateTable::new(service);
    let counted = try_ask(&counted, json!({ "filters": { "note": "ana@" } })).unwrap();
    assert_eq!(counted.value["total_rows"], 0);
}
