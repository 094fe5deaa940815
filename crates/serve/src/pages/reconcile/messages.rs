//! What is answered, in the shapes of the specification.

use filters::{MAX_RECONCILE_QUERIES, PropertyValue, ReconcileCandidate, ReconcileEvidence};
use serde_json::{Map, Number, Value, json};

use super::read::Extension;

/// The width and height of a preview, in pixels.
const PREVIEW_SIZE: (u32, u32) = (420, 160);

/// Describes the service; `url` is where it is mounted, such as
/// `http://127.0.0.1:7700/reconcile`.
pub(super) fn manifest(types: &[String], url: &str) -> Value {
    let url = url.trim_end_matches('/');
    let types: Vec<Value> = types.iter().map(|category| named(category)).collect();
    let (width, height) = PREVIEW_SIZE;
    let suggest =
        |what: &str| json!({"service_url": url, "service_path": format!("/suggest/{what}")});
    json!({
        "versions": ["0.2"],
        "name": "Dowse",
        "identifierSpace": format!("{url}/entity/"),
        "schemaSpace": format!("{url}/type/"),
        "batchSize": MAX_RECONCILE_QUERIES,
        "defaultTypes": types,
        "view": {"url": format!("{url}/preview?id={{{{id}}}}")},
        "preview": {"url": format!("{url}/preview?id={{{{id}}}}"), "width": width, "height": height},
        "suggest": {
            "entity": suggest("entity"),
            "property": suggest("property"),
            "type": suggest("type"),
        },
        "extend": {
            "propose_properties": {"service_url": url, "service_path": "/extend/propose"},
            "property_settings": [],
        },
    })
}

/// Writes the candidates of each query under its key.
pub(super) fn results(keys: Vec<String>, found: Vec<Vec<ReconcileCandidate>>) -> Value {
    let results = keys.into_iter().zip(found).map(|(key, candidates)| {
        let candidates: Vec<Value> = candidates.iter().map(candidate).collect();
        (key, json!({"result": candidates}))
    });
    Value::Object(results.collect())
}

/// Writes entities that may be meant by what was typed so far.
pub(super) fn suggested_entities(found: Vec<ReconcileCandidate>) -> Value {
    let entity = |found: ReconcileCandidate| {
        json!({
            "id": found.id,
            "name": found.name,
            "description": found.description,
            "notable": [named(&found.category)],
        })
    };
    json!({"result": found.into_iter().map(entity).collect::<Vec<Value>>()})
}

/// Writes types or properties that may be meant by what was typed so far.
pub(super) fn suggested_names(names: &[String]) -> Value {
    json!({"result": names.iter().map(|name| named(name)).collect::<Vec<Value>>()})
}

/// Writes the properties with which entities of a type can be extended.
pub(super) fn proposed(category: &str, limit: usize, properties: &[String]) -> Value {
    let properties: Vec<Value> = properties.iter().map(|name| named(name)).collect();
    json!({"type": category, "limit": limit, "properties": properties})
}

/// Writes what entities have of each property: an empty cell where they have nothing.
pub(super) fn extended(asked: &Extension, values: Vec<Vec<Option<PropertyValue>>>) -> Value {
    let meta: Vec<Value> = asked.properties.iter().map(|property| named(property)).collect();
    let rows = asked.ids.iter().zip(values).map(|(id, values)| {
        let cells = asked.properties.iter().zip(values).map(|(property, value)| {
            let cell = value.into_iter().map(property_value).collect();
            (property.clone(), Value::Array(cell))
        });
        (id.clone(), Value::Object(cells.collect()))
    });
    json!({"meta": meta, "rows": rows.collect::<Map<String, Value>>()})
}

fn candidate(found: &ReconcileCandidate) -> Value {
    let features = match found.evidence {
        ReconcileEvidence::Name { score, trigram_similarity } => json!([
            {"id": "score", "value": score},
            {"id": "trigram_similarity", "value": trigram_similarity},
        ]),
        ReconcileEvidence::Properties { n_wanted } => {
            json!([{"id": "properties", "value": n_wanted}])
        }
    };
    json!({
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "type": [named(&found.category)],
        "features": features,
        // The protocol's scores go to 100.
        "score": (found.score * 10_000.0).round() / 100.0,
        "match": found.is_match,
    })
}

fn named(name: &str) -> Value {
    json!({"id": name, "name": name})
}

fn property_value(value: PropertyValue) -> Value {
    match value {
        PropertyValue::Whole(whole) => match Number::from_i128(whole) {
            Some(number) => json!({"int": number}),
            None => json!({"str": whole.to_string()}),
        },
        PropertyValue::Number(number) => json!({"float": number}),
        PropertyValue::Text(text) => json!({"str": text}),
    }
}
