//! JSON Schemas of the arguments and answers of the family, made from the schemas of tables.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use tables::{Field, FieldType, Format, Operator, Schema, TableHandler};

use super::arguments::{DescribeArguments, QueryArguments};
use crate::InputSchema;

/// Fields that are listed where an agent names one; more are listed by `describe_schema` alone, so
/// that every conversation does not pay for them.
const MAX_LISTED_FIELDS: usize = 60;

/// Gives the JSON Schema of the arguments of `query_table` for one table, or for several, which
/// are then named in `table`.
pub(super) fn query_input_schema(schemas: &[&Schema]) -> Value {
    without(exporting_input_schema(schemas), &["export"])
}

/// Gives the same where links to whole results can be made.
pub(super) fn exporting_input_schema(schemas: &[&Schema]) -> Value {
    let mut input = with_tables(InputSchema::of::<QueryArguments>(), schemas);
    input["properties"]["filters"] = match schemas {
        [schema] => filters_schema(schema),
        _ => unlisted_filters(),
    };
    let places = ["/sort/anyOf/0/properties/id", "/sort/anyOf/1/items/properties/id"];
    with_fields(input, schemas, &places)
}

/// Gives the JSON Schema of the arguments of `aggregate_table`, or of a tool that takes them too.
pub(super) fn aggregate_input_schema<T: JsonSchema>(schemas: &[&Schema]) -> Value {
    let mut input = with_tables(InputSchema::of::<T>(), schemas);
    for name in ["filters", "having"] {
        // Any member is allowed where nothing is said.
        if let Some(property) = input["properties"][name].as_object_mut() {
            property.shift_remove("additionalProperties");
        }
    }
    let places = [
        "/group_by/items/anyOf/0",
        "/group_by/items/anyOf/1/properties/field",
        "/measures/items/anyOf/1/properties/field",
    ];
    with_fields(input, schemas, &places)
}

/// Lists the tables in `table`, which is required then; with a single one it is left out.
fn with_tables(mut input: Value, schemas: &[&Schema]) -> Value {
    if let [_] = schemas {
        return without(input, &["table"]);
    }
    let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
    input["properties"]["table"]["enum"] = names.into();
    match input["required"].as_array_mut() {
        Some(required) => required.push("table".into()),
        None => input["required"] = json!(["table"]),
    }
    input
}

/// Lists the fields of a single table at these places.
fn with_fields(mut input: Value, schemas: &[&Schema], places: &[&str]) -> Value {
    let [schema] = schemas else { return input };
    if schema.column_names().len() > MAX_LISTED_FIELDS {
        return input;
    }
    for place in places {
        if let Some(field) = input["properties"].pointer_mut(place) {
            field["enum"] = schema.column_names().into();
        }
    }
    input
}

/// Leaves the fields of filters to `describe_schema` where there are very many.
pub(super) fn with_few_filters(mut input: Value, schemas: &[&Schema]) -> Value {
    if let [schema] = schemas
        && schema.fields().len() > MAX_LISTED_FIELDS
    {
        input["properties"]["filters"] = unlisted_filters();
    }
    input
}

fn unlisted_filters() -> Value {
    json!({
        "type": "object",
        "description": "Filters of the table by field name; describe_schema lists them."
    })
}

/// Leaves arguments out.
pub(super) fn without(mut input: Value, names: &[&str]) -> Value {
    if let Some(properties) = input["properties"].as_object_mut() {
        names.iter().for_each(|name| drop(properties.shift_remove(*name)));
    }
    input
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
    let mut input = without(query_input_schema(&[handler.schema()]), &["cursor", "series"]);
    if !handler.has_facets() {
        input = without(input, &["facets"]);
        let formats = Format::ALL.into_iter().filter(|format| *format != Format::Stats);
        input["properties"]["format"]["enum"] = formats.map(Format::as_str).collect();
    }
    input
}

/// Gives the JSON Schema of the arguments of `describe_schema`, those in `more` too.
pub(super) fn describe_input_schema(schemas: &[&Schema], more: &[&str]) -> Value {
    let input = with_tables(InputSchema::of::<DescribeArguments>(), schemas);
    let left_out: Vec<&str> =
        ["detail", "cursor"].into_iter().filter(|name| !more.contains(name)).collect();
    without(input, &left_out)
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
    if texts.len() > MAX_LISTED_FIELDS {
        hint.push_str(" Strings: substring.");
    } else if !texts.is_empty() {
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
