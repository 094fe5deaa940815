//! The answers have the shapes of the specification, and mean what the lookup means.

use model::Caller;
use serde_json::{Value, json};

use super::shapes;
use crate::Reconciliation;
use crate::tests::fixture;

const URL: &str = "http://127.0.0.1:7700/reconcile";

fn reconciliation() -> (tempfile::TempDir, Reconciliation) {
    let (folder, service) = fixture();
    (folder, Reconciliation::new(service))
}

#[test]
fn the_manifest_names_every_service() {
    let (_folder, reconciliation) = reconciliation();
    let manifest = reconciliation.manifest(&Caller::local_admin(), URL);
    shapes::check(&manifest, &shapes::manifest());
    assert_eq!(manifest["defaultTypes"].as_array().unwrap().len(), 4);
    for member in ["view", "preview", "suggest", "extend"] {
        assert!(manifest[member].is_object(), "{member}");
    }
}

#[test]
fn queries_are_answered_by_key() {
    let (_folder, reconciliation) = reconciliation();
    let batch = json!({
        "q0": {"query": "Cluj", "type": "uat", "limit": 2},
        "q1": {"query": "Primăria Cluj-Napoca", "type": ["entity"], "type_strict": "any"},
        "q2": {"query": "zzz"},
        "q3": {"query": "Cluj", "type": "uat", "properties": [{"pid": "isCounty", "v": false}]},
        "q4": {"properties": [{"pid": "countyCode", "v": ["CJ", {"id": "GJ"}]}, {"pid": "isCounty", "v": false}]},
    });
    shapes::check(&batch, &shapes::queries());
    let answer = reconciliation.queries(&Caller::local_admin(), &batch).unwrap();
    shapes::check(&answer, &shapes::results());
    assert_eq!(answer["q0"]["result"][0]["id"], "uat/123");
    assert_eq!(answer["q0"]["result"][0]["match"], true);
    assert_eq!(answer["q1"]["result"][0]["id"], "entity/4305857");
    assert_eq!(answer["q2"]["result"], json!([]));
    assert_eq!(answer["q3"]["result"][0]["id"], "uat/124");
    let by_properties: Vec<&Value> =
        answer["q4"]["result"].as_array().unwrap().iter().map(|found| &found["id"]).collect();
    assert_eq!(by_properties, ["uat/124", "uat/125"]);
    assert_eq!(answer["q4"]["result"][0]["match"], false, "two of them fit alike");
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
    let (_folder, reconciliation) = reconciliation();
    let whole = reconciliation.manifest(&Caller::local_admin(), URL);
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
fn malformed_batches_are_refused() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    for batch in [json!([]), json!({"q0": 5}), json!({"q0": {"query": 5}})] {
        assert!(reconciliation.queries(&caller, &batch).unwrap_err().is_callers());
    }
}

#[test]
fn suggestions_have_their_shapes() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    let entities = reconciliation.suggest_entities(&caller, "clu");
    shapes::check(&entities, &shapes::suggested_entities());
    assert!(!entities["result"].as_array().unwrap().is_empty());
    let types = reconciliation.suggest_types(&caller, "class");
    shapes::check(&types, &shapes::suggested_names());
    assert_eq!(types["result"].as_array().unwrap().len(), 2);
    let properties = reconciliation.suggest_properties(&caller, "popu");
    shapes::check(&properties, &shapes::suggested_names());
    assert_eq!(properties, json!({"result": [{"id": "population", "name": "population"}]}));
}

#[test]
fn entities_are_extended_and_previewed() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    let proposed = reconciliation.propose_properties(&caller, "uat", 3).unwrap();
    shapes::check(&proposed, &shapes::proposed_properties());
    assert_eq!(proposed["properties"].as_array().unwrap().len(), 3);
    let extended = reconciliation
        .extend(
            &caller,
            &json!({
                "ids": ["uat/123", "uat/nope"],
                "properties": [{"id": "population"}, {"id": "isCounty"}, {"id": "name_en"}],
            }),
        )
        .unwrap();
    shapes::check(&extended, &shapes::extended());
    assert_eq!(
        extended["rows"],
        json!({
            "uat/123": {
                "population": [{"int": 691106}],
                "isCounty": [{"str": "true"}],
                "name_en": [{"str": "Cluj County"}],
            },
            "uat/nope": {"population": [], "isCounty": [], "name_en": []},
        })
    );
    assert_eq!(extended["meta"][0], json!({"id": "population", "name": "population"}));
    let entity = reconciliation.entity(&caller, "uat/123").unwrap();
    assert_eq!((entity.name.as_str(), entity.filter_value.as_str()), ("JUDEȚUL CLUJ", "123"));
    assert!(reconciliation.entity(&caller, "uat/<script>").is_err());
}
