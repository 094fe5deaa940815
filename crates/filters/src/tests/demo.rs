//! The configuration that `dowse demo` serves.

use std::path::{Path, PathBuf};

use model::{Caller, Clock, Timestamp};
use serde_json::{Value, json};

use crate::charts::{ChartSettings, Charts, ChartsConfig};
use crate::{DimensionConfig, FiltersConfig, Service, Settings};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Demo {
    filters: FiltersConfig,
    dimensions: Vec<DimensionConfig>,
    charts: ChartsConfig,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/finance")
}

fn demo() -> (Service, ChartsConfig) {
    let text = fs_err::read_to_string(folder().join("dowse.toml")).unwrap();
    let demo: Demo = toml::from_str(&text).unwrap();
    let service = Service::open(Settings {
        folder: folder(),
        filters: demo.filters,
        dimensions: demo.dimensions,
        name_embedder: None,
    })
    .unwrap();
    (service, demo.charts)
}

#[track_caller]
fn check(category: &str, query: &str, top: &str, context: &str, best: Option<&str>) {
    let (service, _) = demo();
    let arguments = json!({"category": category, "query": query});
    let response = super::call(&service, &arguments);
    let first = &response["results"][0];
    assert_eq!(first["name"], top, "{response}");
    assert_eq!(first["context"], context);
    assert!(first["score"].as_f64().unwrap() >= 0.85, "{response}");
    assert_eq!(response["bestMatch"]["filterValue"].as_str(), best, "{response}");
}

#[test]
fn the_examples_hold() {
    check(
        "uat",
        "Cluj",
        "JUDEȚUL CLUJ",
        "County: CJ | Population: 691,106 | Type: County",
        Some("123"),
    );
    check(
        "entity",
        "Primăria Cluj-Napoca",
        "PRIMĂRIA MUNICIPIULUI CLUJ-NAPOCA",
        "Type: city_hall | Location: Cluj-Napoca",
        Some("4305857"),
    );
    check(
        "functional_classification",
        "educație",
        "Învățământ",
        "COFOG: 70. | Chapter: 70 Învățământ",
        Some("70."),
    );
    check(
        "economic_classification",
        "20.30",
        "Cheltuieli de personal (Contribuții)",
        "Economic: 20.30 | Chapter: 20 Bunuri si servicii",
        Some("20.30"),
    );
    check(
        "entity",
        "primaria cluj",
        "PRIMĂRIA MUNICIPIULUI CLUJ-NAPOCA",
        "Type: city_hall | Location: Cluj-Napoca",
        None,
    );
}

#[test]
fn no_row_of_the_demo_is_lost() {
    let (service, _) = demo();
    for info in service.dimensions(&Caller::local_admin()) {
        assert!(info.warnings.is_empty(), "{info:?}");
        assert!(info.n_entries > 20, "{info:?}");
    }
}

#[test]
fn the_agents_flow_ends_in_a_chart() {
    let (service, config) = demo();
    let caller = Caller::local_admin();
    let find = |category: &str, query: &str| -> Value {
        let arguments = json!({"category": category, "query": query});
        super::call(&service, &arguments)["bestMatch"].clone()
    };
    let (unit, function) = (find("uat", "Cluj"), find("functional_classification", "educație"));
    let data = tempfile::tempdir().unwrap();
    let charts = Charts::open(ChartSettings {
        config: Some(config),
        folder: folder(),
        data_folder: data.path().to_owned(),
        base_url: "http://127.0.0.1:7700".to_owned(),
        clock: Clock::fixed(Timestamp(1_700_000_000_000)),
        dimensions: Some(service.clone()),
    })
    .unwrap();
    let filter = |key: &Value, value: &Value| {
        json!({
            "report_period": {"type": "YEAR", "selection": {"interval": {"start": "2020", "end": "2024"}}},
            "account_category": "ch",
            key.as_str().unwrap(): [value],
            "functional_prefixes": [function["filterValue"]],
        })
    };
    let city = find("uat", "municipiul cluj-napoca");
    for chart_type in ["line", "bar", "area", "pie"] {
        let arguments = json!({
            "title": "Education Spending — Cluj (2020-2024)",
            "description": "County and city, in lei. The figures are invented.",
            "chart_type": chart_type,
            "series_definitions": [
                {"label": "Cluj — Education", "filter": filter(&unit["filterKey"], &unit["filterValue"])},
                {"label": "Cluj-Napoca — Education", "filter": filter(&city["filterKey"], &city["filterValue"])},
            ],
        });
        let answer = super::chart(&charts, &arguments);
        assert_eq!(answer["ok"], true);
        assert_eq!(answer.get("warnings"), None, "{answer}");
        for series in answer["data_series"].as_array().unwrap() {
            assert_eq!(series["statistics"]["count"], 5);
            assert!(series["statistics"]["min"].as_f64().unwrap() > 0.0);
        }
        let chart = charts
            .get(&caller, &crate::charts::ChartId::new(answer["chart_id"].as_str().unwrap()))
            .unwrap();
        let lines = chart.words[0].lines.join("\n");
        assert!(lines.contains("Învățământ (70.)"), "{lines}");
    }
}
