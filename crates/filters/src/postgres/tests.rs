//! The same contract on a real PostgreSQL: as the source of a dimension, as the engine of its
//! lookups, and as the home of facts. Without the test bed these tests have nothing to run on.

use std::time::Duration;

use model::{Caller, Clock, Timestamp};
use serde_json::{Value, json};
use testkit::Postgres;

use super::Database;
use crate::charts::{ChartColumns, ChartSettings, Charts, ChartsConfig};
use crate::tests::{self, dimension_configs};
use crate::{Engine, FiltersConfig, Service, Settings};

const TABLES: &str = "
CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent;
CREATE TABLE uat (id integer PRIMARY KEY, name text, name_en text, aliases text, county_code text, population integer, kind text, is_county boolean);
INSERT INTO uat VALUES
 (123, 'JUDEȚUL CLUJ', 'Cluj County', NULL, 'CJ', 691106, 'County', true),
 (124, 'MUNICIPIUL CLUJ-NAPOCA', 'City of Cluj-Napoca', 'Kolozsvár;Klausenburg', 'CJ', 286598, 'City', false),
 (125, 'COMUNA CILNIC', 'Commune of Câlnic', '', 'GJ', 2214, 'Commune', false),
 (126, 'TÂRGU OCNA', 'Târgu Ocna', '', 'BC', 10410, 'Town', false);
CREATE TABLE entity (cui text, name text, entity_type text, location text);
INSERT INTO entity VALUES
 ('4305857', 'PRIMĂRIA MUNICIPIULUI CLUJ-NAPOCA', 'city_hall', 'Cluj-Napoca'),
 ('9012345', 'PRIMĂRIA COMUNEI CLUJANA', 'city_hall', '(dummy)'),
 ('7654321', 'CONSILIUL JUDEȚEAN CLUJ', 'county_council', 'Cluj');
CREATE TABLE functional (code text, name_ro text, name_en text, keywords text);
INSERT INTO functional VALUES
 ('70.', 'Învățământ', 'Education', 'educație;școli'),
 ('70.11', 'Servicii auxiliare', 'Auxiliary services', ''),
 ('65.', 'Sănătate', 'Health', 'spitale');
CREATE TABLE economic (code text, name text);
INSERT INTO economic VALUES
 ('20', 'Bunuri si servicii'), ('20.30', 'Cheltuieli de personal (Contribuții)'), ('10', 'Cheltuieli de personal');
CREATE TABLE facts (month text, account text, amount numeric, cui text, unit text, function text);
INSERT INTO facts VALUES
 ('2023-01', 'ch', 100.5, '1', '124', '70.04'), ('2023-04', 'ch', 25, '1', '124', '65.02'),
 ('2024-01', 'ch', 7, '1', '123', '70'), ('2024-01', 'vn', 999, '1', '124', NULL);
";

fn service(postgres: &Postgres, engine: Engine) -> Service {
    let mut dimensions = dimension_configs();
    let tables = ["uat", "entity", "functional", "economic"];
    for (dimension, table) in dimensions.iter_mut().zip(tables) {
        dimension.source = format!("{}#{table}", postgres.url());
        dimension.engine = engine;
    }
    Service::open(Settings {
        folder: std::env::temp_dir(),
        filters: FiltersConfig::default(),
        dimensions,
        name_embedder: None,
    })
    .unwrap()
}

#[test]
fn source_and_engine_keep_the_contract() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run(TABLES);
    for engine in [Engine::Memory, Engine::Postgres] {
        let service = service(&postgres, engine);
        let search = |category: &str, query: &str| -> Value {
            let arguments = json!({"category": category, "query": query});
            tests::call(&service, &arguments)
        };
        for (category, query, top, best) in tests::CASES {
            let response = search(category, query);
            let first = response["results"][0]["filterValue"].as_str();
            assert_eq!(first, *top, "{engine:?} `{query}`: {response}");
            let found = response["bestMatch"]["filterValue"].as_str();
            assert_eq!(found, *best, "{engine:?} `{query}`: {response}");
        }
        let county = search("uat", "Cluj");
        assert_eq!(
            county["results"][0]["context"], "County: CJ | Population: 691,106 | Type: County",
            "{engine:?}"
        );
        let code = search("economic_classification", "20.30");
        assert_eq!(
            code["results"][0]["metadata"]["chapterName"], "Bunuri si servicii",
            "{engine:?}"
        );
        assert_eq!(service.dimensions(&Caller::local_admin())[0].n_entries, 4, "{engine:?}");
    }
}

/// Towns of three syllables, the country of each, and queries that mean them.
fn towns() -> (String, Vec<(String, String)>) {
    const FIRST: [&str; 8] = ["Bar", "Mol", "Tes", "Vin", "Kor", "Lun", "Hag", "Fro"];
    const MIDDLE: [&str; 8] = ["ti", "ka", "lo", "du", "me", "zo", "ri", "pu"];
    const LAST: [&str; 8] = ["berg", "sk", "ville", "nau", "dorf", "gow", "rad", "tex"];
    const COUNTRIES: [&str; 3] = ["The Netherlands", "United Kingdom", "Papua New Guinea"];
    let mut rows = Vec::new();
    let mut queries = Vec::new();
    for at in 0..512 {
        let name = [FIRST[at % 8], MIDDLE[at / 8 % 8], LAST[at / 64]].concat();
        let country = COUNTRIES[at % 3];
        rows.push(format!("('{at}', '{name}', '{country}')"));
        if at % 31 != 0 {
            continue;
        }
        let (start, end) = name.split_at(3);
        let swapped = format!("{}{}{}", &name[..2], &name[3..4], &name[2..3]) + &name[4..];
        for written in [
            format!("{name}, {country}"),
            format!("{country}: {name}"),
            format!("city of {name} in {country}"),
            format!("{start}{}, {country}", &end[1..]),
            format!("{start}x{end}"),
            format!("{start}x{}", &end[1..]),
            swapped.clone(),
            format!("{swapped} ({country})"),
        ] {
            queries.push((written, at.to_string()));
        }
    }
    (rows.join(", "), queries)
}

/// One wrong letter of four leaves two trigrams of five, far from each other.
#[test]
fn every_slip_in_a_short_name_finds_something() {
    const NAMES: [&str; 9] =
        ["Leu", "Rus", "Sâg", "Pui", "Ucea", "Zara", "Bahna", "Del Rio", "Saint-Lô"];
    let Some(postgres) = Postgres::start() else { return };
    let (towns, _) = towns();
    let names: Vec<String> =
        NAMES.iter().map(|name| format!("('{name}', '{name}', 'Fiji')")).collect();
    postgres.run(&format!(
        "CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent; \
         CREATE TABLE towns (id text, name text, country text); \
         INSERT INTO towns VALUES {towns}, {}",
        names.join(", ")
    ));
    let dimension = serde_json::from_value(json!({
        "category": "town", "source": format!("{}#towns", postgres.url()), "engine": "postgres",
        "value": "id", "filter_key": "ids", "name": "name", "context": "Country: {country}",
    }))
    .unwrap();
    let service = Service::open(Settings {
        folder: std::env::temp_dir(),
        filters: FiltersConfig::default(),
        dimensions: vec![dimension],
        name_embedder: None,
    })
    .unwrap();
    let mut empty = Vec::new();
    for name in NAMES {
        let letters: Vec<char> = name.chars().collect();
        for at in (0..letters.len()).filter(|at| letters[*at].is_alphabetic()) {
            let mut wrong = letters.clone();
            wrong[at] = 'q';
            let mut lost = letters.clone();
            lost.remove(at);
            let mut swapped = letters.clone();
            let next = (at + 1).min(letters.len() - 1);
            if letters[next].is_alphabetic() {
                swapped.swap(at, next);
            }
            for written in [wrong, lost, swapped].map(String::from_iter) {
                let query = json!({"category": "town", "query": written});
                let answer = tests::call(&service, &query);
                let found = answer["results"].as_array().unwrap().iter();
                let is_found = found.clone().any(|found| found["filterValue"] == name);
                let is_one_letter = written.chars().count() < 2;
                if !is_found && !is_one_letter {
                    empty.push((written, name, answer["results"].clone()));
                }
            }
        }
    }
    assert!(empty.is_empty(), "{empty:#?}");
}

/// A word beside the name and a slip in it hid the name from the database, whose index compares
/// the whole query with names.
#[test]
fn a_name_is_found_beside_other_words_and_with_a_slip() {
    let Some(postgres) = Postgres::start() else { return };
    let (rows, queries) = towns();
    postgres.run(&format!(
        "CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent; \
         CREATE TABLE plain (id text, name text, country text); INSERT INTO plain VALUES {rows}; \
         CREATE TABLE indexed AS SELECT * FROM plain; \
         CREATE INDEX ON indexed USING gin (name gin_trgm_ops)"
    ));
    let dimension = |table: &str, engine: &str| {
        serde_json::from_value(json!({
            "category": format!("{table}_{engine}"),
            "source": format!("{}#{table}", postgres.url()),
            "engine": engine, "value": "id", "filter_key": "ids", "name": "name",
            "context": "Country: {country}",
        }))
        .unwrap()
    };
    let service = Service::open(Settings {
        folder: std::env::temp_dir(),
        filters: FiltersConfig::default(),
        dimensions: vec![
            dimension("plain", "memory"),
            dimension("plain", "postgres"),
            dimension("indexed", "postgres"),
        ],
        name_embedder: None,
    })
    .unwrap();
    for category in ["plain_memory", "plain_postgres", "indexed_postgres"] {
        for (query, id) in &queries {
            let response = tests::call(&service, &json!({"category": category, "query": query}));
            let results = response["results"].as_array().unwrap();
            // A slip may lead to a neighbour as well, which is not behind then.
            let is_found = results.iter().take(3).any(|found| found["filterValue"] == id.as_str());
            assert!(is_found, "{category} `{query}`: {response}");
        }
    }
}

#[test]
fn hostile_queries_are_only_text() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run(TABLES);
    let service = service(&postgres, Engine::Postgres);
    for query in ["'; DROP TABLE uat; --", "%", "_", "\\", "$1", "\u{feff}x"] {
        let arguments = json!({"category": "functional_classification", "query": query});
        assert_eq!(tests::call(&service, &arguments)["ok"], true);
    }
    assert_eq!(service.dimensions(&Caller::local_admin())[0].n_entries, 4);
}

#[test]
fn facts_are_summed_where_they_are() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run(TABLES);
    let data = tempfile::tempdir().unwrap();
    let charts = Charts::open(ChartSettings {
        config: Some(ChartsConfig {
            source: format!("{}#facts", postgres.url()),
            columns: ChartColumns {
                period: "month".to_owned(),
                account: "account".to_owned(),
                amount: "amount".to_owned(),
                entity: Some("cui".to_owned()),
                uat: Some("unit".to_owned()),
                county: None,
                functional: Some("function".to_owned()),
                economic: None,
                dimensions: std::collections::BTreeMap::new(),
            },
            population: None,
            rates: None,
            currency: "RON".to_owned(),
            keep_days: 1,
            allow: model::Access::everyone(),
        }),
        folder: data.path().to_owned(),
        data_folder: data.path().to_owned(),
        base_url: "http://127.0.0.1".to_owned(),
        clock: Clock::fixed(Timestamp(0)),
        dimensions: Some(service(&postgres, Engine::Memory)),
    })
    .unwrap();
    let sums = |more: Value| -> Value {
        let mut filter = json!({
            "report_period": {"type": "YEAR", "selection": {"dates": ["2023", "2024"]}},
            "account_category": "ch",
        });
        filter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let arguments = json!({
            "title": "t", "chart_type": "line",
            "series_definitions": [{"label": "l", "filter": filter}],
        });
        let answer = tests::chart(&charts, &arguments);
        let points = answer["data_series"][0]["data_points"].as_array().cloned();
        points.map_or(answer, |points| points.iter().map(|point| point["y"].clone()).collect())
    };
    assert_eq!(sums(json!({})), json!([125.5, 7.0]));
    assert_eq!(sums(json!({"functional_prefixes": ["70."]})), json!([100.5, 7.0]));
    assert_eq!(sums(json!({"functional_codes": ["70"]})), json!([7.0]));
    assert_eq!(sums(json!({"uat_ids": ["124"]})), json!([125.5]));
    assert_eq!(sums(json!({"exclude": {"functional_prefixes": ["70."]}})), json!([25.0]));
    assert_eq!(
        sums(json!({"county_codes": ["CJ"]}))["error"],
        "county_codes is not available on this server: the fact table has no such column"
    );
}

#[test]
fn a_statement_that_takes_too_long_is_ended_and_said() {
    let Some(postgres) = Postgres::start() else { return };
    let database = Database::open(&postgres.url()).unwrap();
    let slow = || {
        let limit = Duration::from_millis(200);
        database.query("SELECT pg_sleep(60)::text", &[], limit).unwrap_err()
    };
    let error = slow();
    assert!(error.is_timed_out(), "{error}");
    let running = "SELECT count(*)::text FROM pg_stat_activity \
                   WHERE state = 'active' AND query LIKE '%pg_sleep(60)%' \
                   AND pid <> pg_backend_pid()";
    let rows = database.query(running, &[], Duration::from_secs(10)).unwrap();
    assert_eq!(rows, [[Some("0".to_owned())]]);
    drop(postgres);
    let away = database.query("SELECT 1::text", &[], Duration::from_secs(10));
    let error = away.unwrap_err();
    assert!(error.is_away() && !error.is_timed_out(), "{error}");
}

/// An extension that was missing ended the start of everything else.
#[test]
fn a_database_without_its_extensions_stops_nothing_and_comes_back() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.run(
        "CREATE TABLE towns (id text, name text); INSERT INTO towns VALUES ('1', 'Zara'), ('2', 'Ucea')",
    );
    let dimension = |engine: &str, table: &str| {
        serde_json::from_value(json!({
            "category": format!("{engine}_{table}"), "engine": engine, "value": "id",
            "source": format!("{}#{table}", postgres.url()), "filter_key": "ids", "name": "name",
        }))
        .unwrap()
    };
    let service = Service::open(Settings {
        folder: std::env::temp_dir(),
        filters: FiltersConfig::default(),
        dimensions: vec![
            dimension("memory", "towns"),
            dimension("postgres", "towns"),
            dimension("postgres", "nowhere"),
        ],
        name_embedder: None,
    })
    .unwrap();
    let find =
        |category: &str| tests::call(&service, &json!({"category": category, "query": "zara"}));
    assert_eq!(find("memory_towns")["results"][0]["filterValue"], "1");
    for category in ["postgres_towns", "postgres_nowhere"] {
        let away = find(category)["error"].as_str().unwrap_or_default().to_owned();
        assert!(away.starts_with("UNAVAILABLE"), "{away}");
    }
    postgres.run("CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent");
    service.reload_changed();
    assert_eq!(find("postgres_towns")["results"][0]["filterValue"], "1");
}

/// One connection served all lookups one after the other, so that a slow one held up the others.
#[test]
fn a_slow_statement_holds_up_no_other() {
    let Some(postgres) = Postgres::start() else { return };
    let database = Database::open(&postgres.url()).unwrap();
    let limit = Duration::from_secs(60);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| database.query("SELECT pg_sleep(60)::text", &[], limit));
        // Asked over the same database while the other still runs, which is then ended.
        let end_it = "SELECT pg_cancel_backend(pid)::text FROM pg_stat_activity \
                      WHERE state = 'active' AND query LIKE '%pg_sleep(60)%' \
                      AND pid <> pg_backend_pid()";
        while database.query(end_it, &[], limit).unwrap().is_empty() {
            assert!(!slow.is_finished(), "the slow statement was over before another was answered");
        }
        assert!(slow.join().unwrap().unwrap_err().is_timed_out());
    });
}
