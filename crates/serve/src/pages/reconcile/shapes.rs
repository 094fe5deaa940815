//! What the specification asks of each message of version 0.2, as JSON Schema in our own words.
//!
//! Where the specification leaves more open than we need, the schema is as strict as our answers:
//! what it does not name is not sent.

use serde_json::{Value, json};

/// Checks a message against a schema.
#[track_caller]
pub(super) fn check(message: &Value, schema: &Value) {
    let validator = jsonschema::draft202012::new(schema).expect("the schema is JSON Schema");
    let problems: Vec<String> = validator
        .iter_errors(message)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{}\n{message:#}", problems.join("\n"));
}

/// Tells whether a message is as a schema asks.
pub(super) fn is_valid(message: &Value, schema: &Value) -> bool {
    jsonschema::draft202012::is_valid(schema, message)
}

/// An object with these members and no others; those not named in `required` may be missing.
#[expect(clippy::needless_pass_by_value, reason = "calls read better without a reference")]
fn object(required: &[&str], members: Value) -> Value {
    json!({
        "type": "object", "properties": members, "required": required, "additionalProperties": false,
    })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

#[expect(clippy::needless_pass_by_value, reason = "calls read better without a reference")]
fn list_of(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

/// A type or property: an id and a name that people read.
fn named() -> Value {
    object(&["id", "name"], json!({ "id": text(), "name": text() }))
}

/// A template into which an entity's id is put.
fn template() -> Value {
    json!({ "type": "string", "pattern": "^https?://.*\\{\\{id\\}\\}" })
}

pub(super) fn manifest() -> Value {
    let place = || {
        let members = json!({
            "service_url": { "type": "string", "pattern": "^https?://" },
            "service_path": { "type": "string", "pattern": "^/" },
        });
        object(&["service_url", "service_path"], members)
    };
    object(
        &["versions", "name", "identifierSpace", "schemaSpace"],
        json!({
            "versions": { "type": "array", "items": text(), "contains": { "const": "0.2" } },
            "name": text(),
            "identifierSpace": { "type": "string", "pattern": "^https?://" },
            "schemaSpace": { "type": "string", "pattern": "^https?://" },
            "batchSize": { "type": "integer", "minimum": 1 },
            "defaultTypes": { "type": "array", "items": named(), "uniqueItems": true },
            "view": object(&["url"], json!({ "url": template() })),
            "preview": object(&["url", "width", "height"], json!({
                "url": template(),
                "width": { "type": "integer", "minimum": 1 },
                "height": { "type": "integer", "minimum": 1 },
            })),
            "suggest": object(&[], json!({ "entity": place(), "property": place(), "type": place() })),
            "extend": object(&[], json!({
                "propose_properties": place(),
                "property_settings": { "type": "array", "maxItems": 0 },
            })),
        }),
    )
}

/// A batch of queries: each names a text, or at least one property.
pub(super) fn queries() -> Value {
    let entity = json!({
        "type": "object",
        "properties": { "id": text(), "name": { "type": "string" } },
        "required": ["id"],
    });
    let value = json!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, entity] });
    let mut query = object(
        &[],
        json!({
            "query": { "type": "string" },
            "type": { "anyOf": [text(), list_of(text())] },
            "limit": { "type": "number" },
            "type_strict": { "enum": ["any", "should", "all"] },
            "properties": list_of(object(
                &["pid", "v"],
                json!({ "pid": text(), "v": { "anyOf": [value, list_of(value.clone())] } }),
            )),
        }),
    );
    let properties = json!({
        "required": ["properties"], "properties": { "properties": { "minItems": 1 } },
    });
    query["anyOf"] = json!([{ "required": ["query"] }, properties]);
    json!({ "type": "object", "additionalProperties": query })
}

pub(super) fn results() -> Value {
    let feature = object(
        &["id", "value"],
        json!({ "id": text(), "value": { "type": ["number", "boolean"] } }),
    );
    let candidate = object(
        &["id", "name", "score"],
        json!({
            "id": text(),
            "name": text(),
            "description": { "type": "string" },
            "score": { "type": "number" },
            "match": { "type": "boolean" },
            "features": list_of(feature),
            "type": list_of(named()),
        }),
    );
    let answer = object(&["result"], json!({ "result": list_of(candidate) }));
    json!({ "type": "object", "additionalProperties": answer })
}

pub(super) fn suggested_entities() -> Value {
    let entity = object(
        &["id", "name"],
        json!({
            "id": text(), "name": text(), "description": { "type": "string" },
            "notable": list_of(named()),
        }),
    );
    object(&["result"], json!({ "result": list_of(entity) }))
}

pub(super) fn suggested_names() -> Value {
    object(&["result"], json!({ "result": list_of(named()) }))
}

pub(super) fn proposed_properties() -> Value {
    object(
        &["properties"],
        json!({ "properties": list_of(named()), "type": text(), "limit": { "type": "number" } }),
    )
}

pub(super) fn extended() -> Value {
    let one = |name: &str, kind: &str| object(&[name], json!({ name: { "type": kind } }));
    let cell =
        json!({ "oneOf": [one("str", "string"), one("int", "integer"), one("float", "number")] });
    let row = json!({ "type": "object", "additionalProperties": list_of(cell) });
    object(
        &["meta", "rows"],
        json!({
            "meta": list_of(named()),
            "rows": { "type": "object", "additionalProperties": row },
        }),
    )
}
