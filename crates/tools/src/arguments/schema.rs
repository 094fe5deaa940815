//! The schema of a tool's arguments: derived from a struct, made plain, and compiled once.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// A JSON Schema 2020-12 with its validator, which is compiled when it is first needed.
pub struct InputSchema {
    schema: Arc<Map<String, Value>>,
    validator: OnceLock<Option<Validator>>,
}

impl InputSchema {
    /// Keeps a schema. Unknown arguments are refused for every tool.
    ///
    /// Invariant: the value is a JSON object without references.
    pub fn new(schema: Value) -> Self {
        let Value::Object(mut schema) = schema else {
            debug_assert!(false, "a schema must be an object, not {schema}");
            return InputSchema::default();
        };
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
        InputSchema { schema: Arc::new(schema), validator: OnceLock::new() }
    }

    /// Derives the schema of an argument struct, without what an agent has no use for: titles,
    /// the names of Rust's number types, and null, which means absent everywhere.
    pub fn of<T: JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        make_plain(&mut schema);
        // The doc comment of the struct is for readers of the code.
        if let Value::Object(schema) = &mut schema {
            schema.shift_remove("description");
            schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
        schema
    }

    /// Gives the schema as it is sent to agents.
    pub fn shared(&self) -> Arc<Map<String, Value>> {
        Arc::clone(&self.schema)
    }

    /// Gives the validator; none when the schema itself is wrong, which tests exclude.
    pub(super) fn validator(&self) -> Option<&Validator> {
        self.validator
            .get_or_init(|| {
                let schema = Value::Object((*self.schema).clone());
                let compiled =
                    jsonschema::draft202012::options().should_validate_formats(true).build(&schema);
                compiled
                    .inspect_err(|error| tracing::error!(%error, "an input schema is wrong"))
                    .ok()
            })
            .as_ref()
    }
}

impl Default for InputSchema {
    fn default() -> Self {
        InputSchema::new(serde_json::json!({ "type": "object", "properties": {} }))
    }
}

impl Deref for InputSchema {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.schema
    }
}

impl PartialEq for InputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

impl std::fmt::Debug for InputSchema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.schema.fmt(formatter)
    }
}

/// Formats that only name a type of Rust.
const RUST_FORMATS: [&str; 10] =
    ["uint", "uint8", "uint16", "uint32", "uint64", "int", "int32", "int64", "float", "double"];

fn make_plain(schema: &mut Value) {
    match schema {
        Value::Array(elements) => elements.iter_mut().for_each(make_plain),
        Value::Object(schema) => {
            schema.shift_remove("$schema");
            if !matches!(schema.get("title"), Some(Value::Object(_))) {
                schema.shift_remove("title");
            }
            let is_rusts = |format: &Value| {
                format.as_str().is_some_and(|format| RUST_FORMATS.contains(&format))
            };
            if schema.get("format").is_some_and(is_rusts) {
                schema.shift_remove("format");
            }
            if schema.get("default") == Some(&Value::Null) {
                schema.shift_remove("default");
            }
            without_null(schema);
            // What an element is, the list says: this is the doc comment of a struct.
            if let Some(Value::Object(items)) = schema.get_mut("items")
                && items.contains_key("properties")
            {
                items.shift_remove("description");
            }
            schema.values_mut().for_each(make_plain);
            if schema.get("properties").is_some_and(Value::is_object)
                && schema.get("type").is_some_and(Value::is_string)
            {
                schema.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes null out of what is allowed: an absent argument is what it means.
fn without_null(schema: &mut Map<String, Value>) {
    let is_null = |value: &Value| value.is_null() || value == "null";
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| !is_null(kind));
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(allowed)) = schema.get_mut("enum") {
        allowed.retain(|value| !is_null(value));
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|kind| !is_null(kind)));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            schema.shift_remove("anyOf");
            for (keyword, value) in only {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
}
