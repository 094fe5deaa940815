//! What charts promise.
//!
//! 1. Every mistake of a request is named with its place.
//! 2. Sums, units and statistics are right; what is not there is 0 and said.
//! 3. Charts are kept for their tenant, listed, and forgotten when their time is over.

use model::{Caller, Clock, TenantId, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::Service;
use crate::tests::fixture as dimensions;

const FACTS: &str = "\
month,account,amount,cui,unit,county,function,nature
2023-01,ch,100,4305857,124,CJ,70.04,10.01
2023-02,ch,50,4305857,124,CJ,70.04,20.01
2023-04,ch,25,4305857,124,CJ,65.02,10.01
2024-01,ch,200,4305857,124,CJ,70.04,10.01
2024-01,ch,7,7654321,123,CJ,70,10.01
2024-01,vn,999,4305857,124,CJ,04.02,
2024-02,ch,1,1,9,AB,70.04,10.01
";

fn fixture() -> (TempDir, Charts) {
    world_at(Clock::fixed(Timestamp(1_700_000_000_000)))
}

fn world_at(clock: Clock) -> (TempDir, Charts) {
    let (folder, service) = dimensions();
    let charts = open(&folder, service, clock);
    (folder, charts)
}

fn open(folder: &TempDir, service: Service, clock: Clock) -> Charts {
    let files = [
        ("facts.csv", FACTS),
        (
            "population.csv",
            "uat_id,county_code,is_county,year,population\n123,CJ,true,2023,1000\n124,CJ,false,2023,400\n9,AB,true,2023,500\n",
        ),
        ("eur.csv", "year,rate\n2023,5\n2024,4\n"),
    ];
    for (name, text) in files {
        fs_err::write(folder.path().join(name), text).unwrap();
    }
    let config: ChartsConfig = toml::from_str(
        r#"source = "facts.csv"
           columns = { period = "month", account = "account", amount = "amount", entity = "cui", uat = "unit", county = "county", functional = "function", economic = "nature" }
           population = "population.csv"
           rates = "eur.csv"
           keep_days = 10"#,
    )
    .unwrap();
    Charts::open(ChartSettings {
        config: Some(config),
        folder: folder.path().to_owned(),
        data_folder: folder.path().join("data"),
        base_url: "http://127.0.0.1:7700/".to_owned(),
        clock,
        dimensions: Some(service),
    })
    .unwrap()
}

fn arguments(filter: &Value) -> Value {
    json!({
        "title": "Education in Cluj",
        "chart_type": "line",
        "series_definitions": [{"label": "Cluj", "filter": filter}],
    })
}

fn years(start: &str, end: &str, more: &Value) -> Value {
    let mut filter = json!({
        "report_period": {"type": "YEAR", "selection": {"interval": {"start": start, "end": end}}},
        "account_category": "ch",
    });
    filter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    filter
}

fn call(charts: &Charts, arguments: &Value) -> Value {
    crate::tests::chart(charts, arguments)
}

#[track_caller]
fn check_points(filter: &Value, expected: &[(&str, f64)]) {
    let (_folder, charts) = fixture();
    let answer = call(&charts, &arguments(filter));
    let points: Vec<(String, f64)> = answer["data_series"][0]["data_points"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(|point| (point["x"].as_str().unwrap().to_owned(), point["y"].as_f64().unwrap()))
        .collect();
    let expected: Vec<(String, f64)> =
        expected.iter().map(|(x, y)| ((*x).to_owned(), *y)).collect();
    assert_eq!(points, expected);
}

#[test]
fn sums_follow_the_filter() {
    let all = json!({});
    check_points(&years("2022", "2024", &all), &[("2023", 175.0), ("2024", 208.0)]);
    check_points(
        &years("2023", "2024", &json!({"uat_ids": ["124"]})),
        &[("2023", 175.0), ("2024", 200.0)],
    );
    check_points(
        &years("2024", "2024", &json!({"functional_prefixes": ["70."]})),
        &[("2024", 208.0)],
    );
    check_points(&years("2024", "2024", &json!({"functional_codes": ["70"]})), &[("2024", 7.0)]);
    check_points(
        &years(
            "2023",
            "2023",
            &json!({"functional_prefixes": ["65."], "functional_codes": ["70.04"]}),
        ),
        &[("2023", 175.0)],
    );
    check_points(&years("2023", "2023", &json!({"economic_prefixes": ["20."]})), &[("2023", 50.0)]);
    check_points(
        &years("2023", "2024", &json!({"exclude": {"economic_codes": ["10.01"]}})),
        &[("2023", 50.0)],
    );
    check_points(
        &years("2024", "2024", &json!({"exclude": {"county_codes": ["CJ"]}})),
        &[("2024", 1.0)],
    );
    let mut revenue = years("2024", "2024", &json!({}));
    revenue["account_category"] = json!("vn");
    check_points(&revenue, &[("2024", 999.0)]);
}

#[test]
fn periods_are_years_quarters_and_months() {
    let of = |period: Value| json!({"report_period": period, "account_category": "ch", "uat_ids": ["124"]});
    check_points(
        &of(
            json!({"type": "QUARTER", "selection": {"interval": {"start": "2023-Q1", "end": "2023-Q3"}}}),
        ),
        &[("2023-Q1", 150.0), ("2023-Q2", 25.0)],
    );
    check_points(
        &of(json!({"type": "MONTH", "selection": {"dates": ["2023-02", "2023-01", "2023-02"]}})),
        &[("2023-01", 100.0), ("2023-02", 50.0)],
    );
}

#[test]
fn units_are_applied() {
    let with = |normalization: &str, more: Value| {
        let mut filter = years("2023", "2024", &more);
        filter["normalization"] = json!(normalization);
        filter
    };
    let unit = json!({"uat_ids": ["124"]});
    check_points(&with("total_euro", unit.clone()), &[("2023", 35.0), ("2024", 50.0)]);
    check_points(&with("per_capita", unit.clone()), &[("2023", 0.44), ("2024", 0.5)]);
    check_points(&with("per_capita_euro", unit), &[("2023", 0.09), ("2024", 0.13)]);
    check_points(
        &with("per_capita", json!({"county_codes": ["CJ"]})),
        &[("2023", 0.18), ("2024", 0.21)],
    );
    check_points(
        &with("per_capita", json!({"entity_cuis": ["4305857"]})),
        &[("2023", 0.44), ("2024", 0.5)],
    );
    check_points(&with("per_capita", json!({})), &[("2023", 0.12), ("2024", 0.14)]);
    check_points(
        &with("per_capita", json!({"uat_ids": ["123", "124"]})),
        &[("2023", 0.18), ("2024", 0.21)],
    );
}

#[test]
fn the_answer_has_the_shape_of_the_contract() {
    let (_folder, charts) = fixture();
    let answer = call(&charts, &arguments(&years("2023", "2024", &json!({"uat_ids": ["124"]}))));
    let id = answer["chart_id"].as_str().unwrap();
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["kind"], "chart-data.generated");
    assert_eq!(answer["chart_url"], format!("http://127.0.0.1:7700/charts/{id}"));
    let series = &answer["data_series"][0];
    assert_eq!(series["label"], "Cluj");
    assert_eq!(series["x_axis"], json!({"name": "Year", "unit": "year"}));
    assert_eq!(series["y_axis"], json!({"name": "Amount", "unit": "RON"}));
    assert_eq!(
        series["statistics"],
        json!({"min": 175.0, "max": 200.0, "avg": 187.5, "sum": 375.0, "count": 2})
    );
    let again = call(&charts, &arguments(&years("2023", "2024", &json!({"uat_ids": ["124"]}))));
    assert_eq!(again["data_series"][0]["series_id"], series["series_id"]);
    assert_ne!(again["chart_id"], answer["chart_id"]);
}

#[test]
fn an_empty_series_is_zeros_and_said() {
    let (_folder, charts) = fixture();
    let answer = call(&charts, &arguments(&years("2023", "2024", &json!({"uat_ids": ["none"]}))));
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["data_series"][0]["statistics"]["sum"], 0.0);
    assert_eq!(answer["data_series"][0]["statistics"]["count"], 2);
    assert_eq!(answer["warnings"][0]["code"], "empty_series");
}

/// A warning that names no more than what is too narrow leaves the next call to be guessed.
#[test]
fn an_empty_series_names_the_nearest_filter_with_facts() {
    let (_folder, charts) = fixture();
    let warned = |filter: Value| {
        let answer = call(&charts, &arguments(&years("2023", "2024", &filter)));
        answer["warnings"][0]["message"].as_str().unwrap().to_owned()
    };
    for (filter, nearest) in [
        (
            json!({"uat_ids": ["124"], "functional_codes": ["70"]}),
            "`functional_prefixes` `70.` has facts",
        ),
        (
            json!({"functional_prefixes": ["70.11.", "65.07."]}),
            "`functional_prefixes` `65.`, `70.` has facts",
        ),
        (json!({"economic_codes": ["10.09"]}), "without `economic_codes` there are facts"),
        (json!({"uat_ids": ["none"]}), "without `uat_ids` there are facts"),
        (json!({"functional_prefixes": ["04."]}), "without `functional_prefixes` there are facts"),
    ] {
        let warned = warned(filter.clone());
        assert!(warned.contains(nearest), "{filter}: {warned}");
    }
}

#[track_caller]
fn check_error(change: impl FnOnce(&mut Value), expected: &str) {
    let (_folder, charts) = fixture();
    let mut arguments = arguments(&years("2023", "2024", &json!({})));
    change(&mut arguments);
    let answer = call(&charts, &arguments);
    assert_eq!(answer["ok"], false, "{answer}");
    let error = answer["error"].as_str().unwrap();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let filter = |more: Value| {
        move |arguments: &mut Value| {
            let filter = arguments["series_definitions"][0]["filter"].as_object_mut().unwrap();
            filter.extend(more.as_object().unwrap().clone());
        }
    };
    let period = |period: Value| filter(json!({"report_period": period}));
    let interval = |start: &str, end: &str| {
        period(json!({"type": "YEAR", "selection": {"interval": {"start": start, "end": end}}}))
    };
    let place = "series_definitions[0].filter";
    check_error(|arguments| arguments["title"] = json!(""), "title is required");
    check_error(
        |arguments| arguments["series_definitions"] = json!([]),
        "series_definitions must hold between 1 and 10 series: received 0",
    );
    check_error(
        |arguments| {
            let series = arguments["series_definitions"][0].clone();
            arguments["series_definitions"] = Value::Array(vec![series; 11]);
        },
        "series_definitions must hold between 1 and 10 series: received 11",
    );
    check_error(
        filter(json!({"functional_prefixes": ["70"]})),
        &format!("{place}.functional_prefixes[0] must end in a dot: received `70`, write `70.`"),
    );
    check_error(
        filter(json!({"exclude": {"economic_prefixes": ["20"]}})),
        &format!("{place}.exclude.economic_prefixes[0] must end in a dot"),
    );
    check_error(
        interval("2024", "2023"),
        &format!("{place}.report_period.selection.interval must start before it ends"),
    );
    check_error(
        interval("2024-01", "2024"),
        &format!(
            "{place}.report_period.selection.interval.start must be a period of type YEAR such as `2024`: received `2024-01`"
        ),
    );
    check_error(
        interval("0001", "9999"),
        &format!("{place}.report_period.selection.interval must hold between 1 and 600 periods"),
    );
    check_error(
        period(json!({"type": "YEAR", "selection": {"dates": []}})),
        &format!("{place}.report_period.selection.dates must hold"),
    );
}

#[test]
fn charts_are_kept_listed_and_forgotten() {
    let now = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_700_000_000_000));
    let hand = std::sync::Arc::clone(&now);
    let clock = Clock::new(move || Timestamp(hand.load(std::sync::atomic::Ordering::Relaxed)));
    let (folder, charts) = world_at(clock.clone());
    let caller = Caller::local_admin();
    let answer = call(
        &charts,
        &arguments(&years(
            "2023",
            "2024",
            &json!({"uat_ids": ["124"], "functional_prefixes": ["70."]}),
        )),
    );
    let id = answer["chart_id"].as_str().unwrap().to_owned();
    let chart = charts.get(&caller, &crate::charts::ChartId::new(&id)).unwrap();
    assert_eq!(
        chart.words[0].lines,
        [
            "Spending",
            "Period: 2023 to 2024",
            "Administrative units: MUNICIPIUL CLUJ-NAPOCA (124)",
            "Functions, with all under them: Învățământ (70.)",
        ]
    );
    assert_eq!(charts.list(&caller).unwrap().len(), 1);
    let stranger = Caller { tenant: TenantId::new("other"), ..Caller::local_admin() };
    assert!(charts.get(&stranger, &crate::charts::ChartId::new(&id)).is_err());
    assert!(charts.list(&stranger).unwrap().is_empty());
    for bad in ["", "../secret", "nope", "00000000-0000-0000-0000-000000000000"] {
        assert!(charts.get(&caller, &crate::charts::ChartId::new(bad)).is_err());
    }

    let reopened = open(&folder, dimensions().1, clock);
    assert_eq!(reopened.get(&caller, &crate::charts::ChartId::new(&id)).unwrap(), chart);

    now.fetch_add(11 * 24 * 3600 * 1000, std::sync::atomic::Ordering::Relaxed);
    assert!(charts.get(&caller, &crate::charts::ChartId::new(&id)).is_err());
    assert!(charts.list(&caller).unwrap().is_empty());
    let newer = call(&charts, &arguments(&years("2023", "2024", &json!({}))));
    let files = fs_err::read_dir(folder.path().join("data/charts")).unwrap().count();
    assert_eq!(files, 1, "what is over is removed from the folder");
    charts
        .delete(&caller, &crate::charts::ChartId::new(newer["chart_id"].as_str().unwrap()))
        .unwrap();
    assert!(charts.list(&caller).unwrap().is_empty());
}

#[test]
fn charts_in_a_catalogue_are_those_of_every_server_and_come_and_go_with_it() {
    let now = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_700_000_000_000));
    let hand = std::sync::Arc::clone(&now);
    let clock = Clock::new(move || Timestamp(hand.load(std::sync::atomic::Ordering::Relaxed)));
    let (caller, stranger) =
        (Caller::local_admin(), Caller { tenant: TenantId::new("other"), ..Caller::local_admin() });
    let (folder, alone) = world_at(clock.clone());
    let make = |charts: &Charts| {
        let answer = call(charts, &arguments(&years("2023", "2024", &json!({}))));
        answer["chart_id"].as_str().unwrap().to_owned()
    };
    let early = make(&alone);
    let kept = tempfile::tempdir().unwrap();
    let bounds = store::Config::for_one_machine();
    let store = store::Store::open(kept.path(), &bounds, clock.clone()).unwrap();
    let one = alone.kept_in(store.catalogue()).unwrap();
    let (_other_folder, other) = world_at(clock.clone());
    let other = other.kept_in(store.catalogue()).unwrap();
    let late = make(&one);
    for charts in [&one, &other] {
        assert_eq!(charts.list(&caller).unwrap().len(), 2);
        assert_eq!(
            charts.get(&caller, &crate::charts::ChartId::new(&early)).unwrap().id,
            early.as_str(),
            "it came out of the folder"
        );
        assert_eq!(
            charts.get(&caller, &crate::charts::ChartId::new(late.to_uppercase())).unwrap().id,
            late.as_str()
        );
        assert!(
            charts.get(&stranger, &crate::charts::ChartId::new(&late)).is_err()
                && charts.delete(&stranger, &crate::charts::ChartId::new(&late)).is_err()
        );
        assert!(charts.list(&stranger).unwrap().is_empty());
        assert!(charts.get(&caller, &crate::charts::ChartId::new("../secret")).is_err());
    }
    // Into the folder of a server of its own, and back into the catalogue.
    let data = folder.path().join("data");
    take_charts_into_folder(&*store.catalogue(), &data, clock.now()).unwrap();
    assert!(other.list(&caller).unwrap().is_empty());
    let reopened = open(&folder, dimensions().1, clock.clone());
    assert_eq!(reopened.list(&caller).unwrap().len(), 2);
    take_charts_into_catalogue(&data, &*store.catalogue()).unwrap();
    assert_eq!(other.list(&caller).unwrap().len(), 2);
    other.delete(&caller, &crate::charts::ChartId::new(&late)).unwrap();
    assert!(one.get(&caller, &crate::charts::ChartId::new(&late)).is_err());
    // What is over is taken out when another one is made.
    now.fetch_add(11 * 24 * 3600 * 1000, std::sync::atomic::Ordering::Relaxed);
    assert!(one.get(&caller, &crate::charts::ChartId::new(&early)).is_err());
    make(&one);
    let rows = store.objects().list(&store::ObjectPage::of("chart_figures")).unwrap();
    assert_eq!(rows.len(), 1);
}
