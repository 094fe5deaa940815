//! Examples in the OpenAPI document, made from schemas and the names of what they describe, so that
//! no route can be without one and none can differ from its schema.

use serde_json::{Map, Value, json};

/// Which members of an object an example has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Members {
    /// Those that must be there: what a request needs at least.
    Required,
    /// All that may be there: what an answer can hold.
    All,
}

/// Objects in objects beyond this are left empty.
const MAX_DEPTH: usize = 8;

/// What a text with a name in it looks like; the first name that fits counts.
const TEXTS: &[(&str, &str)] = &[
    ("_at", "2026-01-31T09:30:00Z"),
    ("modified", "2026-01-31T09:30:00Z"),
    ("url", "https://search.example.org/open/f1UshX08G2c3CmLq9aBzA"),
    ("uri", "dowse://open/f1UshX08G2c3CmLq9aBzA"),
    ("cursor", "wBq4xZ"),
    ("after", "wBq4xZ"),
    ("next", "wBq4xZ"),
    ("prev", "0"),
    ("json_path", "/chapters/0/text"),
    ("json_pointer", "/chapters/0/text"),
    ("pointer", "page 3"),
    ("path", "/srv/documents/handbook.md"),
    ("root", "/srv/documents"),
    ("ext", ".md"),
    ("year", "2026"),
    ("query", "remote work allowance"),
    ("filter_key", "place_ids"),
    ("filterKey", "place_ids"),
    ("filterValue", "54975"),
    ("title", "Remote work"),
    ("name", "Handbook"),
    ("email", "ann@example.org"),
    ("subject", "ann"),
    ("owner", "ann"),
    ("tenant", "acme"),
    ("language", "en"),
    ("locale", "en"),
    ("time_zone", "Europe/Berlin"),
    ("mcp_version", "v1.0.0"),
    ("status", "done"),
    ("error", "no such thing"),
    ("text", "The allowance for remote work is 40 euros a month."),
    ("snippet", "The allowance for remote work is 40 euros a month."),
    ("preview", "The allowance for remote work is 40 euros a month."),
    ("id", "0198c2f4-7d1e-7c3a-9b52-6f1f6d2a4e10"),
];

/// Makes a value that a schema allows; `name` is what it is called where it is used.
pub(super) fn example(
    schema: &Value,
    definitions: &Map<String, Value>,
    name: &str,
    members: Members,
) -> Value {
    Examples { definitions, members }.of(schema, name, 0)
}

struct Examples<'a> {
    definitions: &'a Map<String, Value>,
    members: Members,
}

impl Examples<'_> {
    fn of(&self, schema: &Value, name: &str, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let defined = reference.rsplit('/').next().and_then(|name| self.definitions.get(name));
            return defined.map_or(Value::Null, |schema| self.of(schema, name, depth));
        }
        let mut given = ["const", "example", "default"].iter().filter_map(|key| schema.get(*key));
        if let Some(given) = given.find(|given| !given.is_null()) {
            return given.clone();
        }
        let first_of = |key: &str| schema[key].as_array().and_then(|all| all.first().cloned());
        if let Some(first) = first_of("enum").or_else(|| first_of("examples")) {
            return first;
        }
        let forms = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[*key].as_array());
        let is_null = |form: &Value| form["type"] == "null";
        if let Some(form) = forms.flatten().find(|form| !is_null(form)) {
            return self.of(form, name, depth);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => {
                let n_elements = schema["minItems"].as_u64().unwrap_or(1).max(1);
                let element = || self.of(&schema["items"], singular(name), depth + 1);
                match schema.get("items") {
                    Some(_) if depth < MAX_DEPTH => (0..n_elements).map(|_| element()).collect(),
                    _ => json!([]),
                }
            }
            "integer" => number(schema, if name.contains("total") { 42 } else { 10 }),
            "number" if name.contains("score") => json!(0.82),
            "number" => number(schema, 1),
            "boolean" => json!(true),
            "string" => text(schema, name),
            "null" => Value::Null,
            // Anything is allowed.
            _ => json!({}),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let properties = schema["properties"].as_object();
        let required = schema["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let is_wanted = |name: &str| self.members == Members::All || is_required(name);
        let mut object = Map::new();
        for (name, schema) in properties.into_iter().flatten() {
            if is_wanted(name) && (depth < MAX_DEPTH || is_required(name)) {
                object.insert(name.clone(), self.of(schema, name, depth + 1));
            }
        }
        Value::Object(object)
    }
}

/// Gives the type of a schema, or the first of several that is not null.
fn kind(schema: &Value) -> &str {
    let kinds = &schema["type"];
    if let Some(kind) = kinds.as_str() {
        return kind;
    }
    if let Some(kinds) = kinds.as_array() {
        let mut kinds = kinds.iter().filter_map(Value::as_str);
        return kinds.find(|kind| *kind != "null").unwrap_or("null");
    }
    if schema["properties"].is_object() { "object" } else { "" }
}

fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

fn number(schema: &Value, usual: i64) -> Value {
    let least = schema["minimum"].as_f64().map_or(i64::MIN, |least| least.ceil() as i64);
    let most = schema["maximum"].as_f64().map_or(i64::MAX, |most| most.floor() as i64);
    json!(usual.max(least).min(most))
}

fn text(schema: &Value, name: &str) -> Value {
    // The only pattern of the document is that of years.
    let known = match schema.get("pattern") {
        Some(_) => Some("2026"),
        None => TEXTS.iter().find(|(known, _)| name.contains(known)).map(|(_, text)| *text),
    };
    let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
    json!(known.unwrap_or("text").chars().take(most).collect::<String>())
}
