//! JSON Schemas of the arguments and answers of the family, made from the schemas of tables.

use serde_json::{Map, Value, json};
use tables::{
    Bucket, DEFAULT_PAGE_SIZE, Field, FieldType, Format, MAX_PAGE_SIZE, Operator, Schema,
    TableHandler,
};

/// Gives the JSON Schema of the arguments of `query_table` for one table, or for several, which
/// are then named in `table`.
pub(super) fn query_input_schema(schemas: &[&Schema]) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    let filters = match schemas {
        [schema] => filters_schema(schema),
        schemas => {
            let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
            properties.insert("table".to_owned(), json!({ "type": "string", "enum": names }));
            required.push("table");
            json!({
                "type": "object",
                "description": "Filters of the table by field name; describe_schema lists them."
            })
        }
    };
    properties.insert("filters".to_owned(), filters);
    properties.insert("page".to_owned(), json!({ "type": "integer", "minimum": 1, "default": 1 }));
    properties.insert(
        "pageSize".to_owned(),
        json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE }),
    );
    let formats: Vec<&str> = Format::ALL.into_iter().map(Format::as_str).collect();
    properties.insert(
        "format".to_owned(),
        json!({ "type": "string", "enum": formats, "default": "json" }),
    );
    let mut sort_id = json!({ "type": "string" });
    if let [schema] = schemas {
        sort_id["enum"] = schema.column_names().into();
    }
    let one_sort = json!({
        "type": "object",
        "properties": { "id": sort_id, "desc": { "type": "boolean", "default": false } },
        "required": ["id"],
        "additionalProperties": false
    });
    properties.insert(
        "sort".to_owned(),
        json!({ "anyOf": [one_sort, { "type": "array", "items": one_sort }] }),
    );
    let listed =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    properties.insert("columns".to_owned(), listed("fields of a row; default all"));
    properties.insert("facets".to_owned(), listed("fields to count; default all with stats"));
    properties.insert(
        "time_zone".to_owned(),
        json!({ "type": "string", "description": "IANA zone of dates in filters and of series; default UTC" }),
    );
    properties.insert(
        "cursor".to_owned(),
        json!({ "type": "string", "description": "`next` of the page before; instead of page" }),
    );
    let buckets: Vec<&str> = Bucket::ALL.into_iter().map(Bucket::as_str).collect();
    properties.insert(
        "series".to_owned(),
        json!({
            "type": "object",
            "description": "Count, or sum of a number field, by time",
            "properties": {
                "field": { "type": "string" },
                "bucket": { "type": "string", "enum": buckets },
                "sum": { "type": "string" }
            },
            "required": ["field"],
            "additionalProperties": false
        }),
    );
    properties.insert(
        "offset".to_owned(),
        json!({ "type": "integer", "minimum": 0, "description": "`next_offset`: read on in long cells" }),
    );
    properties.insert(
        "defuseFormulas".to_owned(),
        json!({ "type": "boolean", "default": false, "description": "csv: make =, +, -, @ cells safe for spreadsheets" }),
    );
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Gives a schema of `query_table` that takes every form of a filter: the table itself checks
/// each against its field.
pub(super) fn lenient_input_schema(mut shown: Value) -> Value {
    shown["properties"]["filters"] = json!({ "type": "object" });
    shown
}

/// Gives the JSON Schema of `query_table` over a mounted program's data, without what such a
/// program cannot be asked for: continuation tokens, series, and counts that it does not make.
pub(super) fn handler_input_schema(handler: &TableHandler) -> Value {
    let mut input = query_input_schema(&[handler.schema()]);
    if let Some(properties) = input["properties"].as_object_mut() {
        properties.shift_remove("cursor");
        properties.shift_remove("series");
        if !handler.has_facets() {
            properties.shift_remove("facets");
            let formats = Format::ALL.into_iter().filter(|format| *format != Format::Stats);
            properties["format"]["enum"] = formats.map(Format::as_str).collect();
        }
    }
    input
}

/// Gives the JSON Schema of the arguments of `describe_schema`.
pub(super) fn describe_input_schema(schemas: &[&Schema]) -> Value {
    match schemas {
        [_] => json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        schemas => {
            let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
            json!({
                "type": "object",
                "properties": { "table": { "type": "string", "enum": names } },
                "required": ["table"],
                "additionalProperties": false
            })
        }
    }
}

/// Gives the JSON Schema of the answer of `query_table`.
pub(super) fn query_output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "rows": { "type": "array", "items": { "type": "object" } },
            "total": { "type": "integer" },
            "facets": { "type": "object" },
            "markdown": { "type": "string" },
            "csv": { "type": "string" },
            "series": { "type": "object" },
            "next": { "type": "string" },
            "next_offset": { "type": "integer" },
            "export": { "type": "object" },
            "did_you_mean": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["total"]
    })
}

/// Gives the JSON Schema of what `describe_schema` gives.
pub(super) fn describe_output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "table": { "type": "string" },
            "description": { "type": "string" },
            "schema": { "type": "object" },
            "fields": { "type": "object" },
            "sortable": { "type": "array", "items": { "type": "string" } },
            "formats": { "type": "array", "items": { "type": "string" } },
            "examples": { "type": "array", "items": { "type": "object" } },
            "total": { "type": "integer" },
            "warnings": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["table", "schema"]
    })
}

/// Gives the JSON Schema of the filters: an object whose properties are all optional.
pub(super) fn filters_schema(schema: &Schema) -> Value {
    let properties: Map<String, Value> =
        schema.fields().iter().map(|(name, field)| (name.clone(), field_schema(field))).collect();
    json!({
        "type": "object",
        "description": filters_hint(schema),
        "properties": properties,
        "additionalProperties": false
    })
}

/// Says in a sentence how values filter, since JSON Schema cannot.
fn filters_hint(schema: &Schema) -> String {
    let named = |wanted: &dyn Fn(&Field) -> bool| -> Vec<&str> {
        let fields = schema.fields().iter().filter(|(_, field)| wanted(field));
        fields.map(|(name, _)| name.as_str()).collect()
    };
    let mut hint = "All optional; rows must pass all. Also {eq, not, in, contains, starts_with, \
                    min, max, is_null}, and any: [{…}, {…}] for OR."
        .to_owned();
    let texts = named(&|field| field.field_type == FieldType::String);
    if !texts.is_empty() {
        hint.push_str(&format!(" Substring: {}.", texts.join(", ")));
    }
    let members = named(&|field| field.operator == Some(Operator::In));
    let ranges = named(&|field| field.operator == Some(Operator::Range));
    // Arrays are of two kinds; naming the smaller one says what the others are.
    hint.push_str(&match (members.len(), ranges.len()) {
        (0, 0) => String::new(),
        (_, 0) => " Arrays: any of.".to_owned(),
        (0, _) => " Arrays: [value] or inclusive [min, max].".to_owned(),
        (n_members, n_ranges) if n_members < n_ranges => {
            format!(" Arrays: [value] or inclusive [min, max], but any of: {}.", members.join(", "))
        }
        _ => {
            format!(" Arrays: any of, but [value] or inclusive [min, max]: {}.", ranges.join(", "))
        }
    });
    hint
}

/// Turns a field into JSON Schema.
pub(super) fn field_schema(field: &Field) -> Value {
    let mut schema = match field.field_type {
        FieldType::String => json!({ "type": "string" }),
        FieldType::Number => json!({ "type": "number" }),
        FieldType::Boolean => json!({ "type": "boolean" }),
        FieldType::Timestamp => {
            json!({ "type": "number", "description": "Unix timestamp in milliseconds" })
        }
        FieldType::StringLiteral => json!({ "type": "string", "enum": field.values }),
        FieldType::Array => {
            let items = field.items.as_deref().map_or_else(|| json!({}), field_schema);
            json!({ "type": "array", "items": items })
        }
        FieldType::Sort => json!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "desc": { "type": "boolean" } }
        }),
    };
    let own = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let unit = field.unit.as_ref().map(|unit| format!("in {unit}"));
    let parts: Vec<String> = [own, field.description.clone(), unit].into_iter().flatten().collect();
    if !parts.is_empty() {
        schema["description"] = parts.join("; ").into();
    }
    schema
}
