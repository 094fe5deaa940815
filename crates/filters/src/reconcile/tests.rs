//! The answers have the shapes of the specification, and mean what the lookup means.

use model::Caller;
use serde_json::{Value, json};

use crate::Reconciliation;
use crate::tests::world;

const URL: &str = "http://127.0.0.1:7700/reconcile";

fn reconciliation() -> (tempfile::TempDir, Reconciliation) {
    let (folder, service) = world();
    (folder, Reconciliation::new(service))
}

/// Checks a value against a shape: a text names a type, `?` marks what may be missing, a list
/// of one shape stands for any number of it, and `{"*": shape}` for any keys.
#[track_caller]
fn check_shape(value: &Value, shape: &Value, place: &str) {
    match shape {
        Value::String(name) => {
            let fits = match name.trim_end_matches('?') {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "integer" => value.is_i64() || value.is_u64(),
                "boolean" => value.is_boolean(),
                other => panic!("unknown shape `{other}`"),
            };
            assert!(fits, "{place} must be {name}: {value}");
        }
        Value::Array(items) => {
            let values = value.as_array().unwrap_or_else(|| panic!("{place} must be a list"));
            for (at, value) in values.iter().enumerate() {
                check_shape(value, &items[0], &format!("{place}[{at}]"));
            }
        }
        Value::Object(fields) => {
            let object = value.as_object().unwrap_or_else(|| panic!("{place} must be an object"));
            if let Some(any) = fields.get("*") {
                object
                    .iter()
                    .for_each(|(key, value)| check_shape(value, any, &format!("{place}.{key}")));
                return;
            }
            for (field, shape) in fields {
                let is_optional = shape.as_str().is_some_and(|name| name.ends_with('?'));
                match object.get(field) {
                    Some(value) => check_shape(value, shape, &format!("{place}.{field}")),
                    None => assert!(is_optional, "{place}.{field} is missing"),
                }
            }
            for field in object.keys() {
                assert!(fields.contains_key(field), "{place}.{field} is not in the specification");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => panic!("no shape: {shape}"),
    }
}

#[test]
fn the_manifest_names_every_service() {
    let (_folder, reconciliation) = reconciliation();
    let manifest = reconciliation.manifest(&Caller::local_admin(), URL);
    let service = json!({"service_url": "string", "service_path": "string"});
    check_shape(
        &manifest,
        &json!({
            "versions": ["string"],
            "name": "string",
            "identifierSpace": "string",
            "schemaSpace": "string",
            "defaultTypes": [{"id": "string", "name": "string"}],
            "view": {"url": "string"},
            "preview": {"url": "string", "width": "integer", "height": "integer"},
            "suggest": {"entity": service, "property": service, "type": service},
            "extend": {"propose_properties": service, "property_settings": [{}]},
        }),
        "manifest",
    );
    assert_eq!(manifest["versions"], json!(["0.2"]));
    assert!(manifest["preview"]["url"].as_str().unwrap().contains("{{id}}"));
    assert_eq!(manifest["defaultTypes"].as_array().unwrap().len(), 4);
}

#[test]
fn queries_are_answered_by_key() {
    let (_folder, reconciliation) = reconciliation();
    let answer = reconciliation
        .queries(
            &Caller::local_admin(),
            &json!({
                "q0": {"query": "Cluj", "type": "uat", "limit": 2},
                "q1": {"query": "Primăria Cluj-Napoca", "type": ["entity"], "type_strict": "any"},
                "q2": {"query": "zzz"},
                "q3": {"query": "Cluj", "type": "uat", "properties": [{"pid": "isCounty", "v": false}]},
            }),
        )
        .unwrap();
    check_shape(
        &answer,
        &json!({"*": {"result": [{
            "id": "string",
            "name": "string",
            "description": "string?",
            "score": "number",
            "features": [{"id": "string", "value": "number"}],
            "match": "boolean",
            "type": [{"id": "string", "name": "string"}],
        }]}}),
        "answer",
    );
    assert_eq!(answer["q0"]["result"][0]["id"], "uat/123");
    assert_eq!(answer["q0"]["result"][0]["match"], true);
    assert_eq!(answer["q1"]["result"][0]["id"], "entity/4305857");
    assert_eq!(answer["q2"]["result"], json!([]));
    assert_eq!(answer["q3"]["result"][0]["id"], "uat/124");
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
    check_shape(
        &entities,
        &json!({"result": [{
            "id": "string", "name": "string", "description": "string",
            "notable": [{"id": "string", "name": "string"}],
        }]}),
        "entities",
    );
    assert!(!entities["result"].as_array().unwrap().is_empty());
    let types = reconciliation.suggest_types(&caller, "class");
    assert_eq!(types["result"].as_array().unwrap().len(), 2);
    let properties = reconciliation.suggest_properties(&caller, "popu");
    assert_eq!(properties, json!({"result": [{"id": "population", "name": "population"}]}));
}

#[test]
fn entities_are_extended_and_previewed() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    let proposed = reconciliation.propose_properties(&caller, "uat", 3).unwrap();
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
    let preview = reconciliation.preview(&caller, "uat/123").unwrap();
    assert!(preview.contains("JUDEȚUL CLUJ"));
    assert!(reconciliation.preview(&caller, "uat/<script>").is_err());
    assert!(reconciliation.extend(&caller, &json!({"ids": ["uat/123"]})).is_err());
}
