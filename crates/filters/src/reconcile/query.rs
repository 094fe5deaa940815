//! One query of a batch, read with every mistake named.

use serde_json::{Map, Value};

use crate::request::MAX_QUERY_CHARS;
use crate::{Error, Result};

/// Candidates given for a query that names no limit.
const DEFAULT_CANDIDATES: usize = 5;

/// The most candidates of one query, and suggestions of one list.
pub(crate) const MAX_CANDIDATES: usize = 50;

/// One query of a batch.
pub(crate) struct Query {
    pub(crate) text: String,
    pub(crate) types: Vec<String>,
    pub(crate) limit: usize,
    pub(crate) properties: Vec<(String, Vec<String>)>,
}

impl Query {
    /// Reads a query; `key` names it in messages.
    pub(crate) fn read(key: &str, query: &Value) -> Result<Self> {
        let fields = query.as_object().ok_or_else(|| bad(key, "an object", query))?;
        let text = match fields.get("query") {
            None => String::new(),
            Some(Value::String(text)) => text.chars().take(MAX_QUERY_CHARS).collect(),
            Some(other) => return Err(bad(&format!("{key}.query"), "a string", other)),
        };
        let types = match fields.get("type") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(category)) => vec![category.clone()],
            Some(list) => strings(Some(list), &format!("{key}.type"))?,
        };
        let limit = fields
            .get("limit")
            .and_then(Value::as_f64)
            .map_or(DEFAULT_CANDIDATES, |limit| (limit as usize).clamp(1, MAX_CANDIDATES));
        let properties = match fields.get("properties") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(properties)) => properties
                .iter()
                .filter_map(|property| {
                    let name = property.get("pid")?.as_str()?.to_owned();
                    Some((name, wanted_values(property.get("v")?)))
                })
                .collect(),
            Some(other) => {
                return Err(bad(&format!("{key}.properties"), "a list of {pid, v}", other));
            }
        };
        Ok(Query { text, types, limit, properties })
    }
}

/// Gives the texts that a property may have: a value, an entity, or a list of these.
fn wanted_values(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(wanted_values).collect(),
        Value::Object(entity) => ["id", "name"]
            .iter()
            .filter_map(|field| entity.get(*field)?.as_str())
            .map(text::fold)
            .collect(),
        Value::String(value) => vec![text::fold(value)],
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
    }
}

/// Tells whether a property is one of the folded texts wanted.
pub(crate) fn agrees(value: &Value, wanted: &[String]) -> bool {
    let value = value.as_str().map_or_else(|| value.to_string(), text::fold);
    wanted.contains(&value)
}

/// Reads a list of strings.
pub(crate) fn strings(value: Option<&Value>, name: &str) -> Result<Vec<String>> {
    let Some(value) = value else { return Err(Error::Required { name: name.to_owned() }) };
    let list = value.as_array().ok_or_else(|| bad(name, "a list of strings", value))?;
    list.iter()
        .map(|item| {
            item.as_str().map(str::to_owned).ok_or_else(|| bad(name, "a list of strings", item))
        })
        .collect()
}

/// Gives the members of what must be an object.
pub(super) fn object(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().ok_or_else(|| bad("arguments", "an object", value))
}

/// Says that a part of a message has the wrong type.
pub(super) fn bad(name: &str, expected: &'static str, received: &Value) -> Error {
    const MAX_SHOWN_CHARS: usize = 60;
    let text = received.as_str().map_or_else(|| received.to_string(), str::to_owned);
    let shown = match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    Error::BadArgument { name: name.to_owned(), expected, received: shown }
}
