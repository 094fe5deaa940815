//! What a client sends, read with every mistake named.

use filters::{ReconcileQuery, WantedProperty};
use serde_json::{Map, Value};
use tools::ToolError;

/// Candidates given for a query that names no limit.
const DEFAULT_CANDIDATES: usize = 5;

/// What a client wants to know of entities that it has matched.
#[derive(Debug)]
pub(super) struct Extension {
    pub(super) ids: Vec<String>,
    pub(super) properties: Vec<String>,
}

/// Reads a batch: an object of queries by any key, which the answers have again.
pub(super) fn queries(batch: &Value) -> Result<Vec<(String, ReconcileQuery)>, ToolError> {
    object(batch)?.iter().map(|(key, query)| Ok((key.clone(), read_query(key, query)?))).collect()
}

/// Reads a request for properties: `{ids, properties: [{id}]}`.
pub(super) fn extension(request: &Value) -> Result<Extension, ToolError> {
    let request = object(request)?;
    let Some(ids) = request.get("ids") else { return Err(missing("ids")) };
    let properties = match request.get("properties") {
        Some(Value::Array(properties)) => properties
            .iter()
            .map(|property| {
                let id = property.get("id").and_then(Value::as_str);
                id.map(str::to_owned).ok_or_else(|| bad("properties", "a list of {id}", property))
            })
            .collect::<Result<_, _>>()?,
        Some(other) => return Err(bad("properties", "a list of {id}", other)),
        None => return Err(missing("properties")),
    };
    Ok(Extension { ids: strings(ids, "ids")?, properties })
}

/// Reads one query; `key` names it in messages.
fn read_query(key: &str, query: &Value) -> Result<ReconcileQuery, ToolError> {
    let fields = query.as_object().ok_or_else(|| bad(key, "an object", query))?;
    let text = match fields.get("query") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => return Err(bad(&format!("{key}.query"), "a string", other)),
    };
    let types = match fields.get("type") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(category)) => vec![category.clone()],
        Some(list) => strings(list, &format!("{key}.type"))?,
    };
    let limit = fields.get("limit").and_then(Value::as_f64);
    let properties = match fields.get("properties") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(properties)) => properties
            .iter()
            .filter_map(|property| {
                let name = property.get("pid")?.as_str()?.to_owned();
                Some(WantedProperty { name, values: wanted_values(property.get("v")?) })
            })
            .collect(),
        Some(other) => return Err(bad(&format!("{key}.properties"), "a list of {pid, v}", other)),
    };
    let limit = limit.map_or(DEFAULT_CANDIDATES, |limit| limit as usize);
    Ok(ReconcileQuery { text, types, limit, properties })
}

/// Gives the texts that a property may have: a value, an entity, or a list of these.
fn wanted_values(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(wanted_values).collect(),
        Value::Object(entity) => ["id", "name"]
            .iter()
            .filter_map(|field| entity.get(*field)?.as_str())
            .map(str::to_owned)
            .collect(),
        Value::String(value) => vec![value.clone()],
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
    }
}

fn strings(value: &Value, name: &str) -> Result<Vec<String>, ToolError> {
    let list = value.as_array().ok_or_else(|| bad(name, "a list of strings", value))?;
    list.iter()
        .map(|item| {
            item.as_str().map(str::to_owned).ok_or_else(|| bad(name, "a list of strings", item))
        })
        .collect()
}

fn object(value: &Value) -> Result<&Map<String, Value>, ToolError> {
    value.as_object().ok_or_else(|| bad("arguments", "an object", value))
}

fn missing(name: &str) -> ToolError {
    ToolError::bad_request(format!("{name} is required"))
}

/// Says that a part of a message has the wrong type.
fn bad(name: &str, expected: &str, received: &Value) -> ToolError {
    const MAX_SHOWN_CHARS: usize = 60;
    let text = received.as_str().map_or_else(|| received.to_string(), str::to_owned);
    let shown = match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    ToolError::bad_request(format!("{name} must be {expected}: received `{shown}`"))
}
