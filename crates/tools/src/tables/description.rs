//! A table's description, written: its filters as JSON Schema and what is in its columns.

use serde_json::{Map, Value, json};
use tables::{Description, Field, FieldType, Format, Operator, Schema, TableHandler};

use super::arguments::{DescribeArguments, from_accepted};
use super::schemas::filters_schema;

/// Writes all that is known of a table.
pub(super) fn in_full(schema: &Schema, figures: &Description) -> Value {
    let mut description = described(schema);
    description["total"] = figures.total.into();
    for column in &figures.columns {
        let entry = &mut description["fields"][column.name.as_str()];
        entry["distinct"] = column.n_values.into();
        if column.n_null > 0 {
            entry["null"] = column.n_null.into();
        }
        if let Some((min, max)) = &column.range {
            entry["min"] = min.to_json();
            entry["max"] = max.to_json();
        }
        if let Some(top) = &column.top {
            let top = top.iter();
            entry["top"] = top
                .map(|row| json!({ "value": row.value.to_json(), "total": row.total }))
                .collect();
        }
    }
    if !figures.warnings.is_empty() {
        description["warnings"] = json!(figures.warnings);
    }
    description
}

/// Writes what the first call of an agent needs: the JSON Schema of the filters, in which each
/// field says its range or its most frequent values. Everything else is left to [`in_full`].
pub(super) fn in_brief(schema: &Schema, figures: &Description) -> Value {
    let mut filters = filters_schema(schema);
    for ((name, field), column) in schema.columns().zip(&figures.columns) {
        let leaf = field.leaf();
        if !leaf.values.is_empty() {
            continue;
        }
        let own = field.description.as_ref().or(leaf.description.as_ref()).cloned();
        let unit = field.unit.as_ref().or(leaf.unit.as_ref()).map(|unit| format!("in {unit}"));
        let parts: Vec<String> =
            [own, unit, column.in_brief.clone()].into_iter().flatten().collect();
        if !parts.is_empty() {
            filters["properties"][name.as_str()]["description"] = parts.join("; ").into();
        }
    }
    let mut description =
        json!({ "table": schema.name, "total": figures.total, "schema": filters });
    // What `dowse tables infer` drafts says the total and the name once more.
    let drafted = format!("{} rows of {}", figures.total, schema.name);
    if let Some(text) = schema.description.as_ref().filter(|text| **text != drafted) {
        description["description"] = text.as_str().into();
    }
    if !figures.warnings.is_empty() {
        description["warnings"] = json!(figures.warnings);
    }
    description
}

/// Describes a mounted program's table, of whose data nothing is known: what its function can be
/// asked for.
///
/// Fails when the arguments name another table.
pub fn mounted_description(handler: &TableHandler, arguments: &Value) -> tables::Result<Value> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let DescribeArguments { table, .. } = from_accepted(arguments)?;
    handler.check_table(table.as_deref())?;
    let has_facets = handler.has_facets();
    let mut description = described(handler.schema());
    if !has_facets {
        let formats = Format::ALL.into_iter().filter(|format| *format != Format::Stats);
        description["formats"] = formats.map(Format::as_str).collect();
    }
    let is_had = |example: &Value| {
        example.get("series").is_none() && (has_facets || example["format"] != "stats")
    };
    if let Some(examples) = description["examples"].as_array_mut() {
        examples.retain(is_had);
    }
    Ok(description)
}

/// Describes a schema, whatever is in its table.
fn described(schema: &Schema) -> Value {
    let fields: Map<String, Value> =
        schema.columns().map(|(name, field)| (name.clone(), describe_field(field))).collect();
    let mut description = json!({
        "table": schema.name,
        "schema": filters_schema(schema),
        "fields": fields,
        "sortable": schema.column_names(),
        "formats": Format::ALL.map(Format::as_str),
        "examples": examples(schema)
    });
    if let Some(text) = &schema.description {
        description["description"] = text.as_str().into();
    }
    description
}

fn describe_field(field: &Field) -> Value {
    let leaf = field.leaf();
    let mut entry = json!({
        "type": leaf.field_type.as_str(),
        "match": operator(field),
        "operators": field.operators()
    });
    if let Some(text) = field.description.as_ref().or(leaf.description.as_ref()) {
        entry["description"] = text.as_str().into();
    }
    if let Some(unit) = field.unit.as_ref().or(leaf.unit.as_ref()) {
        entry["unit"] = unit.as_str().into();
    }
    if !leaf.values.is_empty() {
        entry["values"] = leaf.values.clone().into();
    }
    entry
}

/// Says in words how a field filters.
fn operator(field: &Field) -> &'static str {
    let is_nested = field.items.as_ref().is_some_and(|items| items.field_type == FieldType::Array);
    match (field.field_type, field.operator) {
        (FieldType::String, _) if field.ignore_case => "contains the text, ignoring case",
        (FieldType::String, _) => "contains the text, case-sensitive",
        (FieldType::Timestamp, _) => "same UTC day",
        (FieldType::Array, Some(Operator::Range)) if is_nested => "in any of the [min, max] ranges",
        (FieldType::Array, Some(Operator::Range))
            if field.leaf().field_type == FieldType::Timestamp =>
        {
            "[value]: same UTC day; [min, max]: inclusive range"
        }
        (FieldType::Array, Some(Operator::Range)) => "[value]: equal; [min, max]: inclusive range",
        (FieldType::Array, _) if is_nested => "holds all values of any of the lists",
        (FieldType::Array, _) => "any of",
        (_, _) => "equal",
    }
}

/// Calls that work on this schema as they are.
fn examples(schema: &Schema) -> Vec<Value> {
    let mut examples = Vec::new();
    let filter = schema.columns().find_map(|(name, field)| {
        let literal = field.leaf().values.first()?;
        let is_plain_array = field.items.as_ref().is_some_and(|items| items.items.is_none());
        if field.field_type == FieldType::StringLiteral {
            return Some(json!({ name.as_str(): literal }));
        }
        is_plain_array.then(|| json!({ name.as_str(): [literal] }))
    });
    let filters = filter.unwrap_or_else(|| json!({}));
    examples.push(json!({ "filters": filters, "format": "stats", "pageSize": 5 }));
    let ordered = schema.columns().find(|(_, field)| {
        matches!(field.leaf().field_type, FieldType::Number | FieldType::Timestamp)
    });
    if let Some((name, _)) = ordered {
        examples.push(
            json!({ "sort": { "id": name, "desc": true }, "format": "markdown", "pageSize": 10 }),
        );
    }
    let time = schema.columns().find(|(_, field)| field.leaf().field_type == FieldType::Timestamp);
    if let Some((name, _)) = time {
        examples.push(json!({ "series": { "field": name, "bucket": "day" }, "pageSize": 1 }));
    }
    examples
}
