//! What the service promises.
//!
//! 1. The five examples of the contract hold on a dimension file that contains their rows.
//! 2. Every mistake of a caller is named, and the contract's sentence comes first.
//! 3. What a caller may not use does not exist for them.
//! 4. Changed files are read again; broken ones leave the last good state, and answers say so.

mod demo;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Access, Caller, Clearance, Identity, TenantId};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::*;

const CONFIG: &str = r#"
[[dimensions]]
category = "uat"
source = "uat.csv"
value = "id"
filter_key = "uat_ids"
name = { ro = "name", en = "name_en" }
aliases = "aliases"
context = "County: {county_code} | Population: {population} | Type: {kind}"
metadata = { uatId = "id", countyCode = "county_code", population = "population", isCounty = "is_county" }
[[dimensions]]
category = "entity"
source = "entity.tsv"
value = "cui"
filter_key = "entity_cuis"
name = "name"
context = "Type: {entity_type} | Location: {location}"
metadata = { cui = "cui", entityType = "entity_type" }
[[dimensions]]
category = "functional_classification"
source = "functional.csv"
code = "code"
filter_key = { prefix = "functional_prefixes", exact = "functional_codes" }
name = { ro = "name_ro", en = "name_en" }
aliases = "keywords"
[[dimensions]]
category = "economic_classification"
source = "economic.jsonl"
code = "code"
filter_key = { prefix = "economic_prefixes", exact = "economic_codes" }
name = "name"
"#;

const UAT: &str = "\
id,name,name_en,aliases,county_code,population,kind,is_county
123,JUDEȚUL CLUJ,Cluj County,,CJ,691106,County,true
124,MUNICIPIUL CLUJ-NAPOCA,City of Cluj-Napoca,Kolozsvár;Klausenburg,CJ,286598,City,false
125,COMUNA CILNIC,Commune of Câlnic,,GJ,2214,Commune,false
126,TÂRGU OCNA,Târgu Ocna,,BC,10410,Town,false
";

const ENTITY: &str = "\
cui\tname\tentity_type\tlocation
4305857\tPRIMĂRIA MUNICIPIULUI CLUJ-NAPOCA\tcity_hall\tCluj-Napoca
9012345\tPRIMĂRIA COMUNEI CLUJANA\tcity_hall\t(dummy)
7654321\tCONSILIUL JUDEȚEAN CLUJ\tcounty_council\tCluj
";

const FUNCTIONAL: &str = "\
code;name_ro;name_en;keywords
70.;Învățământ;Education;educație,|educație|școli
70.11;Servicii auxiliare;Auxiliary services;
70.11.01;Cămine;Dormitories;
65.;Sănătate;Health;spitale
65.02;Spitale;Hospitals;
";

const ECONOMIC: &str = r#"
{"code": "20", "name": "Bunuri si servicii"}
{"code": "20.30", "name": "Cheltuieli de personal (Contribuții)"}
{"code": "20.30.01", "name": "Altele"}
{"code": "10", "name": "Cheltuieli de personal"}
"#;

#[derive(serde::Deserialize)]
struct Config {
    dimensions: Vec<DimensionConfig>,
}

/// Category, query, the first value, and the best match: what every engine must answer.
pub(crate) const CASES: &[(&str, &str, Option<&str>, Option<&str>)] = &[
    ("uat", "Cluj", Some("123"), Some("123")),
    ("uat", "CÂLNIC", Some("125"), Some("125")),
    ("uat", "TG. OCNA", Some("126"), Some("126")),
    ("uat", "Kolozsvar", Some("124"), Some("124")),
    ("uat", "124", Some("124"), Some("124")),
    ("uat", "butterfly", None, None),
    ("entity", "Primăria Cluj-Napoca", Some("4305857"), Some("4305857")),
    ("entity", "primaria cluj", Some("4305857"), None),
    ("functional_classification", "educație", Some("70."), Some("70.")),
    ("functional_classification", "70.11", Some("70.11"), Some("70.11")),
    ("functional_classification", "65.00", Some("65."), Some("65.")),
    ("economic_classification", "20.30", Some("20.30"), Some("20.30")),
    ("economic_classification", "2030", Some("20.30"), Some("20.30")),
];

pub(crate) fn dimension_configs() -> Vec<DimensionConfig> {
    toml::from_str::<Config>(CONFIG).unwrap().dimensions
}

/// An embedder that knows one synonym, once it is there.
#[derive(Debug)]
struct Colours {
    is_there: AtomicBool,
}

impl NameEmbedder for Colours {
    fn embed_names(&self, names: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NameEmbedderError> {
        names.iter().map(|name| self.embed_query(name)).collect()
    }

    fn embed_query(&self, query: &str) -> std::result::Result<Vec<f32>, NameEmbedderError> {
        if !self.is_there.load(Ordering::Acquire) {
            return Err(NameEmbedderError { reason: "the model is not there".to_owned() });
        }
        let is_red = matches!(query, "roșu" | "crimson");
        Ok(if is_red { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
    }
}

#[test]
fn meaning_comes_when_the_model_does_and_its_absence_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let greens: String = (0..30).map(|at| format!("g{at},verde {at}\n")).collect();
    fs_err::write(folder.path().join("c.csv"), format!("id,name\nr,roșu\n{greens}")).unwrap();
    let dimension = json!({
        "category": "colour", "source": "c.csv", "value": "id", "filter_key": "colour_ids",
        "name": "name",
    });
    let colours = Arc::new(Colours { is_there: AtomicBool::new(false) });
    let name_embedder: Arc<dyn NameEmbedder> = Arc::clone(&colours) as Arc<dyn NameEmbedder>;
    let service = Service::open(Settings {
        folder: folder.path().to_owned(),
        filters: FiltersConfig::default(),
        dimensions: vec![serde_json::from_value(dimension).unwrap()],
        name_embedder: Some(Arc::clone(&name_embedder)),
    })
    .unwrap();
    let caller = Caller::local_admin();
    let search =
        |query: &str| service.search(&caller, &SearchRequest::new("colour", query)).unwrap();
    let said = "looked up by letters alone: the model is not there";
    let is_said = || {
        let warnings = &service.dimensions(&caller)[0].warnings;
        warnings.iter().any(|warning| warning.message == said)
    };
    while !is_said() {
        std::thread::yield_now();
    }
    let missed = search("crimson");
    assert!(missed.results.is_empty());
    assert_eq!(
        (missed.warnings[0].code.as_str(), missed.warnings[0].message.as_str()),
        ("meaning_unavailable", said)
    );
    assert!(search("rosu").warnings.is_empty(), "letters are enough here");

    colours.is_there.store(true, Ordering::Release);
    service.embed(&name_embedder);
    assert!(service.dimensions(&caller)[0].has_vectors);
    let found = search("crimson");
    assert_eq!(found.results[0].filter_value, "r");
    assert_eq!(
        (found.best_match, found.warnings),
        (None, Vec::new()),
        "a vector alone is never sure"
    );
}

#[test]
fn memory_keeps_the_contract() {
    for (category, query, top, best) in CASES {
        let response = search(&json!({"category": category, "query": query}));
        assert_eq!(response["results"][0]["filterValue"].as_str(), *top, "`{query}`: {response}");
        assert_eq!(response["bestMatch"]["filterValue"].as_str(), *best, "`{query}`: {response}");
    }
}

pub(crate) fn fixture() -> (TempDir, Service) {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("uat.csv", UAT),
        ("entity.tsv", ENTITY),
        ("functional.csv", FUNCTIONAL),
        ("economic.jsonl", ECONOMIC),
    ];
    for (name, text) in files {
        fs_err::write(folder.path().join(name), text).unwrap();
    }
    let config: Config = toml::from_str(CONFIG).unwrap();
    let service = open(&folder, config.dimensions).unwrap();
    (folder, service)
}

fn open(folder: &TempDir, dimensions: Vec<DimensionConfig>) -> Result<Service> {
    Service::open(Settings {
        folder: folder.path().to_owned(),
        filters: FiltersConfig::default(),
        dimensions,
        name_embedder: None,
    })
}

fn search(arguments: &Value) -> Value {
    let (_folder, service) = fixture();
    call(&service, arguments)
}

/// Writes an error as the tool does: what the caller cannot fix is only named.
fn refused(error: &crate::Error) -> Value {
    let is_told =
        error.is_callers() || matches!(error, crate::Error::Away { .. } | crate::Error::Store(_));
    let text = if is_told { error.to_string() } else { "internal_error".to_owned() };
    json!({ "ok": false, "error": text })
}

/// Answers as the tool does: one lookup, or many.
pub(crate) fn call(service: &Service, arguments: &Value) -> Value {
    let caller = Caller::local_admin();
    let one = |response: Result<crate::SearchResponse>| match response {
        Ok(response) => serde_json::to_value(response).unwrap(),
        Err(error) => refused(&error),
    };
    match arguments.get("queries") {
        Some(queries) => {
            let requests: Vec<SearchRequest> = serde_json::from_value(queries.clone()).unwrap();
            let responses = requests.iter().map(|request| service.search(&caller, request));
            let responses: Vec<Value> = responses.map(one).collect();
            json!({ "ok": true, "responses": responses })
        }
        None => {
            let request = serde_json::from_value(arguments.clone()).unwrap();
            one(service.search(&caller, &request))
        }
    }
}

/// Makes a chart as the tool does.
pub(crate) fn chart(charts: &crate::charts::Charts, arguments: &Value) -> Value {
    let request = serde_json::from_value(arguments.clone()).unwrap();
    let deadline = model::Deadline::after(std::time::Duration::from_secs(60));
    match charts.generate(&Caller::local_admin(), &request, &deadline) {
        Ok(answer) => serde_json::to_value(answer).unwrap(),
        Err(error) => refused(&error),
    }
}

/// Cuts scores out, since their exact value is nobody's contract, and checks their range.
#[track_caller]
fn check_scores(response: &mut Value, ranges: &[(f64, f64)]) {
    let results = response["results"].as_array_mut().unwrap();
    for (result, (least, most)) in results.iter_mut().zip(ranges) {
        let score = result["score"].take().as_f64().unwrap();
        assert!((*least..=*most).contains(&score), "{score} of {result}");
        result.as_object_mut().unwrap().remove("score");
    }
}

#[test]
fn example_a_finds_the_county() {
    let mut response = search(&json!({"category": "uat", "query": "Cluj", "limit": 5}));
    check_scores(&mut response, &[(0.95, 1.0), (0.5, 0.92)]);
    assert_eq!(response["ok"], true);
    assert_eq!(
        response["results"][0],
        json!({
            "name": "JUDEȚUL CLUJ",
            "category": "uat",
            "context": "County: CJ | Population: 691,106 | Type: County",
            "filterKey": "uat_ids",
            "filterValue": "123",
            "metadata": {"countyCode": "CJ", "isCounty": true, "population": 691106, "uatId": "123"}
        })
    );
    assert_eq!(response["bestMatch"]["filterValue"], "123");
}

#[test]
fn example_b_finds_the_institution() {
    let mut response = search(&json!({"category": "entity", "query": "Primăria Cluj-Napoca"}));
    check_scores(&mut response, &[(0.93, 1.0)]);
    assert_eq!(
        response["results"][0],
        json!({
            "name": "PRIMĂRIA MUNICIPIULUI CLUJ-NAPOCA",
            "category": "entity",
            "context": "Type: city_hall | Location: Cluj-Napoca",
            "filterKey": "entity_cuis",
            "filterValue": "4305857",
            "metadata": {"cui": "4305857", "entityType": "city_hall"}
        })
    );
    assert_eq!(response["bestMatch"]["filterValue"], "4305857");
}

#[test]
fn example_c_finds_a_chapter_by_its_alias() {
    let mut response =
        search(&json!({"category": "functional_classification", "query": "educație"}));
    check_scores(&mut response, &[(0.95, 1.0)]);
    assert_eq!(
        response["results"][0],
        json!({
            "name": "Învățământ",
            "category": "functional_classification",
            "context": "COFOG: 70. | Chapter: 70 Învățământ",
            "filterKey": "functional_prefixes",
            "filterValue": "70.",
            "metadata": {
                "code": "70.", "level": 1, "levelName": "Chapter", "codeKind": "prefix",
                "chapterCode": "70", "chapterName": "Învățământ"
            }
        })
    );
    assert_eq!(response["bestMatch"]["filterValue"], "70.");
}

#[test]
fn example_d_finds_an_exact_code() {
    let mut response = search(&json!({"category": "economic_classification", "query": "20.30"}));
    check_scores(&mut response, &[(0.9, 1.0)]);
    assert_eq!(
        response["results"][0],
        json!({
            "name": "Cheltuieli de personal (Contribuții)",
            "category": "economic_classification",
            "context": "Economic: 20.30 | Chapter: 20 Bunuri si servicii",
            "filterKey": "economic_codes",
            "filterValue": "20.30",
            "metadata": {
                "code": "20.30", "level": 2, "levelName": "Paragraph", "codeKind": "exact",
                "chapterCode": "20", "chapterName": "Bunuri si servicii"
            }
        })
    );
    assert_eq!(response["bestMatch"]["filterValue"], "20.30");
}

/// The second form of a code was behind the first, and before another code that scored as the
/// first did.
#[test]
fn two_forms_of_a_code_leave_the_list_sorted() {
    let mut table = FUNCTIONAL.replace("Servicii auxiliare", "Învățământ");
    table.push_str("70.20;Învățământ;Education;\n");
    let (folder, service) = fixture();
    fs_err::write(folder.path().join("functional.csv"), table).unwrap();
    service.reload_changed();
    let ask = |limit: usize| {
        let asked = json!({
            "category": "functional_classification", "query": "Învățământ", "limit": limit,
        });
        let found = call(&service, &asked)["results"].as_array().unwrap().clone();
        let of = |one: &Value| (one["filterValue"].to_string(), one["score"].as_f64().unwrap());
        found.iter().map(of).collect::<Vec<_>>()
    };
    let all = ask(10);
    let values: Vec<&str> = all.iter().map(|(value, _)| value.as_str()).collect();
    assert_eq!(values, ["\"70.\"", "\"70\"", "\"70.11.\"", "\"70.11\"", "\"70.20\""]);
    assert!(all.is_sorted_by(|left, right| left.1 >= right.1), "{all:?}");
    for limit in 1..=all.len() {
        assert_eq!(ask(limit), all[..limit], "of {limit}");
    }
}

#[test]
fn example_e_has_no_best_match() {
    let mut response = search(&json!({"category": "entity", "query": "primaria cluj"}));
    check_scores(&mut response, &[(0.85, 0.95), (0.7, 0.92), (0.6, 0.8)]);
    let values: Vec<&str> = response["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["filterValue"].as_str().unwrap())
        .collect();
    assert_eq!(values, ["4305857", "9012345", "7654321"]);
    assert_eq!(response.get("bestMatch"), None);
}

#[track_caller]
fn check_best(category: &str, query: &str, expected: Option<&str>) {
    let response = search(&json!({"category": category, "query": query}));
    assert_eq!(response["bestMatch"]["filterValue"].as_str(), expected, "`{query}`: {response}");
}

#[test]
fn names_are_found_as_people_write_them() {
    check_best("uat", "CÂLNIC", Some("125"));
    check_best("uat", "calnic", Some("125"));
    check_best("uat", "TG. OCNA", Some("126"));
    check_best("uat", "Kolozsvar", Some("124"));
    check_best("uat", "cluj napoca", Some("124"));
    check_best("uat", "clujnapoca", Some("124"));
    check_best("uat", "124", Some("124"));
    check_best("entity", "RO4305857", Some("4305857"));
    check_best("functional_classification", "7011", Some("70.11"));
    check_best("functional_classification", "65.00", Some("65."));
    check_best("functional_classification", "70.11.01", Some("70.11.01"));
    check_best("functional_classification", "EDUCATIE", Some("70."));
    check_best("functional_classification", "butterfly", None);
}

#[test]
fn locale_chooses_names_and_hint_breaks_ties() {
    let response = search(&json!({"category": "uat", "query": "cluj", "locale": "en"}));
    assert_eq!(response["results"][0]["name"], "Cluj County");
    let response = search(&json!({"category": "uat", "query": "cluj", "locale": "fr"}));
    assert_eq!(response["warnings"][0]["code"], "unknown_locale");
    let american = search(&json!({"category": "uat", "query": "cluj", "locale": "en-US"}));
    assert_eq!(american["results"][0]["name"], "Cluj County");
    assert_eq!(american.get("warnings"), None);
    let plain = search(&json!({"category": "uat", "query": "cluj"}));
    assert_eq!(plain["results"][0]["filterValue"], "123");
    let hinted = search(&json!({"category": "uat", "query": "cluj", "hint": "city"}));
    assert_eq!(hinted["results"][0]["filterValue"], "124");
}

#[test]
fn metadata_and_explanation_are_as_asked() {
    let response = search(&json!({"category": "uat", "query": "cluj", "includeMetadata": false}));
    assert_eq!(response["results"][0].get("metadata"), None);
    let response = search(&json!({"category": "uat", "query": "Kolozsvár", "explain": true}));
    assert_eq!(
        response["results"][0]["explanation"],
        json!({"matched": "Kolozsvár", "how": "exact", "trigramSimilarity": 1.0})
    );
}

#[track_caller]
fn check_error(arguments: &Value, starts_with: &str) {
    let response = search(arguments);
    assert_eq!(response["ok"], false);
    let error = response["error"].as_str().unwrap();
    assert!(error.starts_with(starts_with), "{error}");
}

#[test]
fn mistakes_are_named() {
    check_error(&json!({"category": "", "query": "Cluj"}), "category is required");
    check_error(
        &json!({"category": "nope", "query": "Cluj"}),
        "category is unknown: received `nope`",
    );
    check_error(&json!({"category": "uat", "query": " "}), "query is required");
    check_error(&json!({"category": "uat", "query": "\u{3000}\u{200b}"}), "query is required");
    check_error(&json!({"category": "uat", "query": "x", "limit": 0}), "limit must be");
    check_error(&json!({"category": "uat", "query": "x", "limit": 51}), "limit must be");
    check_error(&json!({"category": "uat", "query": "x".repeat(501)}), "query is too long");
}

#[test]
fn nothing_found_is_no_error() {
    let response = search(&json!({"category": "uat", "query": "zzz"}));
    assert_eq!(response, json!({"ok": true, "results": []}));
}

#[test]
fn a_batch_answers_each_lookup_at_its_place() {
    let response = search(&json!({"queries": [
        {"category": "uat", "query": "Cluj"},
        {"category": "nope", "query": "Cluj"},
        {"category": "economic_classification", "query": "20.30", "limit": 1},
    ]}));
    assert_eq!(response["responses"][0]["bestMatch"]["filterValue"], "123");
    assert_eq!(response["responses"][1]["ok"], false);
    assert_eq!(response["responses"][2]["results"].as_array().unwrap().len(), 1);
}

fn reader(roles: &[&str]) -> Caller {
    Caller {
        subject: "someone".to_owned(),
        tenant: TenantId::new("acme"),
        department: None,
        clearance: Clearance::Internal,
        roles: roles.iter().map(|role| (*role).to_owned()).collect::<BTreeSet<_>>(),
        identity: Identity::Key,
    }
}

#[test]
fn what_a_caller_may_not_use_does_not_exist() {
    let (folder, _) = fixture();
    let mut config: Config = toml::from_str(CONFIG).unwrap();
    config.dimensions[1].allow = Access { tenants: vec![], roles: vec!["finance".to_owned()] };
    let service = open(&folder, config.dimensions).unwrap();
    let request = SearchRequest::new("entity", "cluj");
    assert!(service.search(&reader(&["finance"]), &request).is_ok());
    let error = service.search(&reader(&[]), &request).unwrap_err().to_string();
    assert_eq!(
        error,
        "category is unknown: received `entity`, expected one of `uat`, \
         `functional_classification`, `economic_classification`"
    );
    assert_eq!(service.dimensions(&reader(&[])).len(), 3);
}

#[test]
fn changed_files_are_read_again() {
    let (folder, service) = fixture();
    let path = folder.path().join("uat.csv");
    assert!(service.reload_changed().is_empty());
    fs_err::write(&path, format!("{UAT}130,JUDEȚUL NOU,,,NN,1,County,true\n")).unwrap();
    assert_eq!(service.reload_changed(), ["uat"]);
    let caller = Caller::local_admin();
    let response = service.search(&caller, &SearchRequest::new("uat", "nou")).unwrap();
    assert_eq!(response.results[0].filter_value, "130");

    fs_err::write(&path, "nothing,useful\n").unwrap();
    assert!(service.reload_changed().is_empty());
    let response = service.search(&caller, &SearchRequest::new("uat", "nou")).unwrap();
    assert_eq!(response.results[0].filter_value, "130");
    assert_eq!(response.warnings[0].code, "stale_dimension");
}

#[test]
fn rows_that_do_not_fit_are_counted() {
    let (folder, _) = fixture();
    let text = format!("{UAT}131\n132,,,,CJ,1,x,true\n123,CLUJUL,,,CJ,1,County,true\n");
    fs_err::write(folder.path().join("uat.csv"), text).unwrap();
    let config: Config = toml::from_str(CONFIG).unwrap();
    let service = open(&folder, config.dimensions).unwrap();
    let info = service.dimensions(&Caller::local_admin()).remove(0);
    assert_eq!(info.n_entries, 4);
    let codes: Vec<&str> = info.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["rows_skipped", "rows_merged"]);
    assert!(info.warnings[0].message.starts_with("2 rows"));
}

#[test]
fn a_source_that_is_away_stops_nothing_and_comes_back() {
    let (folder, _) = fixture();
    let mut config: Config = toml::from_str(CONFIG).unwrap();
    config.dimensions[0].source = "late.csv".to_owned();
    let service = open(&folder, config.dimensions).unwrap();
    let search = |category: &str| call(&service, &json!({"category": category, "query": "cluj"}));
    let away = search("uat");
    assert_eq!(away["ok"], false);
    assert!(away["error"].as_str().unwrap().starts_with("UNAVAILABLE: category `uat`"), "{away}");
    assert!(!search("entity")["results"].as_array().unwrap().is_empty());
    let rows = fs_err::read(folder.path().join("uat.csv")).unwrap();
    fs_err::write(folder.path().join("late.csv"), rows).unwrap();
    assert_eq!(service.reload_changed(), ["uat"]);
    assert_eq!(search("uat")["results"][0]["filterValue"], "123");
}

#[test]
fn a_configuration_that_does_not_fit_is_refused() {
    let (folder, _) = fixture();
    let with = |change: fn(&mut DimensionConfig)| {
        let mut config: Config = toml::from_str(CONFIG).unwrap();
        change(&mut config.dimensions[0]);
        open(&folder, config.dimensions).unwrap_err().to_string()
    };
    // A column that the source does not have may come with its next state: it stops nothing.
    let away = |change: fn(&mut DimensionConfig)| {
        let mut config: Config = toml::from_str(CONFIG).unwrap();
        change(&mut config.dimensions[0]);
        let service = open(&folder, config.dimensions).unwrap();
        let found = call(&service, &json!({"category": "entity", "query": "cluj"}));
        assert!(!found["results"].as_array().unwrap().is_empty());
        let said = call(&service, &json!({"category": "uat", "query": "cluj"}));
        let (category, reason) = service.away().remove(0);
        assert_eq!(category, "uat");
        assert!(said["error"].as_str().unwrap().contains(&reason), "{said}");
        reason
    };
    assert_eq!(
        away(|uat| uat.aliases = Some("other".to_owned())),
        "dimension `uat` names column `other`, which `uat.csv` does not have: it has `id`, `name`, \
         `name_en`, `aliases`, `county_code`, `population`, `kind`, `is_county`"
    );
    assert!(away(|uat| uat.context = Some(PerLocale::One("{no}".to_owned()))).contains("`no`"));
    assert!(with(|uat| uat.value = None).contains("neither"));
    assert!(with(|uat| uat.category = "entity".to_owned()).contains("twice"));
    assert!(with(|uat| uat.source = "file.xyz".to_owned()).contains("file.xyz"));
    let unknown = CONFIG.replacen("value = ", "valeu = ", 1);
    assert!(toml::from_str::<Config>(&unknown).is_err());
}
