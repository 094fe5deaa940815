//! What is sent and answered has the shapes of the specification.

use filters::Reconciliation;
use model::Caller;
use serde_json::{Value, json};
use testkit::Folder;

use super::routes::{answer_queries, extend_rows};
use super::{messages, shapes};

const URL: &str = "http://127.0.0.1:7700/reconcile";

fn reconciliation() -> (Folder, Reconciliation) {
    let folder = Folder::new();
    folder.write(
        "uat.csv",
        "id,name,county_code,population,is_county\n\
         123,JUDEȚUL CLUJ,CJ,691106,true\n\
         124,MUNICIPIUL CLUJ-NAPOCA,CJ,286598,false\n\
         125,COMUNA CILNIC,GJ,,false\n",
    );
    let dimension = json!({
        "category": "uat", "source": "uat.csv", "value": "id", "filter_key": "uat_ids",
        "name": "name", "context": "County: {county_code}",
        "metadata": {
            "countyCode": "county_code", "population": "population", "isCounty": "is_county",
        },
    });
    let service = filters::Service::open(filters::Settings {
        folder: folder.path().to_owned(),
        filters: filters::FiltersConfig::default(),
        dimensions: vec![serde_json::from_value(dimension).unwrap()],
        name_embedder: None,
    });
    (folder, Reconciliation::new(service.unwrap()))
}

#[test]
fn the_manifest_names_every_service() {
    let manifest = messages::manifest(&["uat".to_owned(), "entity".to_owned()], URL);
    shapes::check(&manifest, &shapes::manifest());
    assert_eq!(manifest["defaultTypes"].as_array().unwrap().len(), 2);
    for member in ["view", "preview", "suggest", "extend"] {
        assert!(manifest[member].is_object(), "{member}");
    }
}

#[test]
fn queries_are_answered_by_key() {
    let (_folder, reconciliation) = reconciliation();
    let batch = json!({
        "q0": {"query": "Cluj", "type": "uat", "limit": 2},
        "q1": {"query": "Cluj-Napoca", "type": ["uat"], "type_strict": "any"},
        "q2": {"query": "zzz"},
        "q3": {"query": "Cluj", "type": "uat", "properties": [{"pid": "isCounty", "v": false}]},
        "q4": {"properties": [
            {"pid": "countyCode", "v": ["CJ", {"id": "GJ"}]}, {"pid": "isCounty", "v": false},
        ]},
        "q5": {"query": "", "properties": [{"pid": "population", "v": 286_598}]},
    });
    shapes::check(&batch, &shapes::queries());
    let answer = answer_queries(&reconciliation, &Caller::local_admin(), &batch).unwrap();
    shapes::check(&answer, &shapes::results());
    assert_eq!(answer["q0"]["result"][0]["id"], "uat/123");
    assert_eq!(answer["q0"]["result"][0]["match"], true);
    assert_eq!(answer["q1"]["result"][0]["id"], "uat/124");
    assert_eq!(answer["q2"]["result"], json!([]));
    assert_eq!(answer["q3"]["result"][0]["id"], "uat/124");
    let ids = |key: &str| -> Vec<Value> {
        answer[key]["result"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
    };
    assert_eq!(ids("q4"), ["uat/124", "uat/125"]);
    assert_eq!(answer["q4"]["result"][0]["features"], json!([{"id": "properties", "value": 2}]));
    assert_eq!(ids("q5"), ["uat/124"]);
}

/// A schema that lets everything through would prove nothing.
#[test]
fn the_schemas_refuse_what_the_specification_refuses() {
    let schema = shapes::results();
    let candidate = json!({"id": "uat/1", "name": "Cluj", "score": 90});
    assert!(shapes::is_valid(&json!({"q0": {"result": [candidate]}}), &schema));
    for broken in [
        json!([]),
        json!({"q0": []}),
        json!({"q0": {}}),
        json!({"q0": {"result": [{"name": "Cluj", "score": 90}]}}),
        json!({"q0": {"result": [{"id": "uat/1", "name": "Cluj", "score": "90"}]}}),
        json!({"q0": {"result": [{"id": 1, "name": "Cluj", "score": 90}]}}),
    ] {
        assert!(!shapes::is_valid(&broken, &schema), "{broken}");
    }
    let schema = shapes::queries();
    for broken in [
        json!({"q0": {}}),
        json!({"q0": {"properties": []}}),
        json!({"q0": {"query": "x", "properties": [{"id": "p", "v": 1}]}}),
        json!({"q0": {"query": "x", "type_strict": "most"}}),
    ] {
        assert!(!shapes::is_valid(&broken, &schema), "{broken}");
    }
    let whole = messages::manifest(&["uat".to_owned()], URL);
    for member in ["versions", "name", "identifierSpace", "schemaSpace"] {
        let mut manifest = whole.clone();
        manifest.as_object_mut().unwrap().remove(member);
        assert!(!shapes::is_valid(&manifest, &shapes::manifest()), "without {member}");
    }
    let mut old = whole.clone();
    old["versions"] = json!(["0.1"]);
    assert!(!shapes::is_valid(&old, &shapes::manifest()));
    let mut without_id = whole;
    without_id["view"]["url"] = json!("https://example.org/view");
    assert!(!shapes::is_valid(&without_id, &shapes::manifest()));
}

#[test]
fn malformed_messages_are_refused_and_the_part_is_named() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    for (batch, expected) in [
        (json!([]), "arguments must be an object: received `[]`"),
        (json!({"q0": 5}), "q0 must be an object: received `5`"),
        (json!({"q0": {"query": 5}}), "q0.query must be a string: received `5`"),
        (json!({"q0": {"type": [5]}}), "q0.type must be a list of strings: received `5`"),
        (
            json!({"q0": {"properties": 5}}),
            "q0.properties must be a list of {pid, v}: received `5`",
        ),
    ] {
        let refused = answer_queries(&reconciliation, &caller, &batch).unwrap_err();
        assert_eq!(refused.message, expected);
    }
    for (request, expected) in [
        (json!({"properties": []}), "ids is required"),
        (json!({"ids": []}), "properties is required"),
        (
            json!({"ids": [], "properties": [{}]}),
            "properties must be a list of {id}: received `{}`",
        ),
    ] {
        let refused = extend_rows(&reconciliation, &caller, &request).unwrap_err();
        assert_eq!(refused.message, expected);
    }
}

#[test]
fn suggestions_have_their_shapes() {
    let (_folder, reconciliation) = reconciliation();
    let entities =
        messages::suggested_entities(reconciliation.suggested(&Caller::local_admin(), "clu"));
    shapes::check(&entities, &shapes::suggested_entities());
    assert_eq!(entities["result"][0]["description"], "County: CJ");
    let names = messages::suggested_names(&["population".to_owned()]);
    shapes::check(&names, &shapes::suggested_names());
    assert_eq!(names, json!({"result": [{"id": "population", "name": "population"}]}));
    let proposed = messages::proposed("uat", 3, &["population".to_owned()]);
    shapes::check(&proposed, &shapes::proposed_properties());
}

/// What an entity does not have is an empty cell, whether the property exists or not.
#[test]
fn rows_are_extended_in_the_types_of_the_protocol() {
    let (_folder, reconciliation) = reconciliation();
    let request = json!({
        "ids": ["uat/123", "uat/125", "uat/nope"],
        "properties": [{"id": "population"}, {"id": "isCounty"}],
    });
    let extended = extend_rows(&reconciliation, &Caller::local_admin(), &request).unwrap();
    shapes::check(&extended, &shapes::extended());
    assert_eq!(
        extended["rows"],
        json!({
            "uat/123": {"population": [{"int": 691106}], "isCounty": [{"str": "true"}]},
            "uat/125": {"population": [], "isCounty": [{"str": "false"}]},
            "uat/nope": {"population": [], "isCounty": []},
        })
    );
    assert_eq!(extended["meta"][0], json!({"id": "population", "name": "population"}));
}
