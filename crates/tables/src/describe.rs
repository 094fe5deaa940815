//! `describe_schema`: what can be asked of a table, and what is in it.

use columns::{Answer, Query};
use model::{Deadline, Warning};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::Result;
use crate::Schema;
use crate::config::{Field, FieldType, Operator};
use crate::operators;
use crate::response::shown;
use crate::schema::{is_redacted, leaf};
use crate::served_table::ServedTable;

/// How many frequent values of a field are named.
pub const MAX_TOP_VALUES: usize = 12;
/// How many values outside a closed list are named.
const NAMED_STRANGERS: usize = 10;
/// How many values of a closed list are looked at.
const MAX_LITERALS_SEEN: usize = 1000;

/// Describes a table with figures from its data.
pub(crate) fn describe(table: &ServedTable, deadline: &Deadline) -> Result<Value> {
    let schema = &table.schema;
    let answer = figures(table, deadline)?;
    let mut description = described(schema);
    description["total"] = answer.total.into();
    let mut warnings = load_warnings(table, deadline);
    for ((name, field), facet) in schema.columns().zip(&answer.facets) {
        let entry = &mut description["fields"][name.as_str()];
        let n_null: u64 = facet
            .rows
            .iter()
            .filter(|row| row.value == columns::Value::Null)
            .map(|row| row.total)
            .sum();
        entry["distinct"] = facet.n_values.into();
        if n_null > 0 {
            entry["null"] = n_null.into();
        }
        if let (Some(min), Some(max)) = (&facet.min, &facet.max) {
            entry["min"] = min.to_json();
            entry["max"] = max.to_json();
        }
        let is_listed = !is_secret(name, field)
            && (facet.n_values <= MAX_TOP_VALUES as u64
                || !matches!(leaf(field).field_type, FieldType::Number | FieldType::Timestamp));
        if is_listed {
            let top: Vec<Value> = facet
                .rows
                .iter()
                .take(MAX_TOP_VALUES)
                .map(|row| json!({ "value": shown(&row.value), "total": row.total }))
                .collect();
            entry["top"] = top.into();
        }
        warnings.extend(strangers(name, leaf(field), facet));
    }
    if let Some(staleness) = table.engine.staleness() {
        warnings.push(Warning::new("stale_data", staleness));
    }
    if !warnings.is_empty() {
        description["warnings"] = json!(warnings);
    }
    Ok(description)
}

/// Asks for the facets of every field over the whole table.
fn figures(table: &ServedTable, deadline: &Deadline) -> Result<Answer> {
    let query = Query {
        facets: table.schema.column_names(),
        facet_rows: MAX_LITERALS_SEEN,
        ..Query::first(0, Vec::new())
    };
    table
        .engine
        .query(&query, deadline)
        .map_err(|cause| Error::of_source(&table.schema.name, cause))
}

/// How many frequent values of a field a brief description names.
const BRIEF_VALUES: usize = 6;
/// The most characters of those values.
const BRIEF_CHARS: usize = 40;

/// Describes a table for the first call of an agent: the JSON Schema of its filters, in which
/// each field says its range or its most frequent values. Everything else is left to
/// [`describe`].
pub(crate) fn briefly(table: &ServedTable, deadline: &Deadline) -> Result<Value> {
    let schema = &table.schema;
    let answer = figures(table, deadline)?;
    let mut filters = schema.filters_json_schema();
    let mut warnings = load_warnings(table, deadline);
    for ((name, field), facet) in schema.columns().zip(&answer.facets) {
        let entry = &mut filters["properties"][name.as_str()];
        let leaf = leaf(field);
        if leaf.values.is_empty() {
            let own = field.description.as_ref().or(leaf.description.as_ref()).cloned();
            let unit = field.unit.as_ref().or(leaf.unit.as_ref()).map(|unit| format!("in {unit}"));
            let figures = if is_secret(name, field) { None } else { brief_figures(facet) };
            let parts: Vec<String> = [own, unit, figures].into_iter().flatten().collect();
            if !parts.is_empty() {
                entry["description"] = parts.join("; ").into();
            }
        }
        warnings.extend(strangers(name, leaf, facet));
    }
    let mut description = json!({ "table": schema.name, "total": answer.total, "schema": filters });
    if let Some(text) = &schema.description {
        description["description"] = text.as_str().into();
    }
    if let Some(staleness) = table.engine.staleness() {
        warnings.push(Warning::new("stale_data", staleness));
    }
    if !warnings.is_empty() {
        description["warnings"] = json!(warnings);
    }
    Ok(description)
}

/// Tells whether a field's values are private by its name, as those of `password` are.
fn is_secret(name: &str, field: &Field) -> bool {
    is_redacted(field) && text::is_secret_name(name)
}

/// The range of numbers and moments, or the most frequent texts.
fn brief_figures(facet: &columns::Facet) -> Option<String> {
    if let (Some(min), Some(max)) = (&facet.min, &facet.max) {
        let shown = |value: &columns::Value| match value {
            columns::Value::Timestamp(millis) => columns::to_iso(*millis)[..10].to_owned(),
            other @ (columns::Value::Null
            | columns::Value::Text(_)
            | columns::Value::Integer(_)
            | columns::Value::Real(_)
            | columns::Value::Boolean(_)
            | columns::Value::List(_)) => other.to_json().to_string(),
        };
        return Some(format!("{}..{}", shown(min), shown(max)));
    }
    let mut texts = Vec::new();
    let mut n_chars = 0;
    for text in facet.rows.iter().filter_map(|row| row.value.as_str()).take(BRIEF_VALUES) {
        n_chars += text.chars().count();
        if n_chars > BRIEF_CHARS {
            break;
        }
        texts.push(text);
    }
    if texts.is_empty() {
        return None;
    }
    let more = if facet.n_values > texts.len() as u64 {
        format!(", … {} values", facet.n_values)
    } else {
        String::new()
    };
    Some(format!("{}{more}", texts.join(", ")))
}

/// Gives the JSON Schema of what `describe_schema` gives.
pub fn describe_output_schema() -> Value {
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

/// Describes a schema of which no data is known: what a program's own function can be asked for.
pub(crate) fn without_data(schema: &Schema, has_facets: bool) -> Value {
    let mut description = described(schema);
    if !has_facets {
        description["formats"] = json!(["json", "markdown", "csv"]);
    }
    let is_had = |example: &Value| {
        example.get("series").is_none() && (has_facets || example["format"] != "stats")
    };
    if let Some(examples) = description["examples"].as_array_mut() {
        examples.retain(is_had);
    }
    description
}

/// Describes a schema, whatever is in its table.
fn described(schema: &Schema) -> Value {
    let fields: Map<String, Value> =
        schema.columns().map(|(name, field)| (name.clone(), describe_field(field))).collect();
    let mut description = json!({
        "table": schema.name,
        "schema": schema.filters_json_schema(),
        "fields": fields,
        "sortable": schema.column_names(),
        "formats": ["json", "stats", "markdown", "csv"],
        "examples": examples(schema)
    });
    if let Some(text) = &schema.description {
        description["description"] = text.as_str().into();
    }
    description
}

/// Says what of the source does not fit, or that it could not be looked at.
pub(crate) fn load_warnings(table: &ServedTable, deadline: &Deadline) -> Vec<Warning> {
    let report = match table.engine.load_report(deadline) {
        Ok(report) => report,
        Err(error) => {
            let message = format!(
                "rows were not checked against the schema, so cells that do not fit it are shown \
                 as null and not counted: {error}"
            );
            return vec![Warning::new("rows_not_checked", message)];
        }
    };
    let is_shown = |name: &str| table.schema.field(name).is_some();
    let mut warnings = Vec::new();
    for repeated in &report.repeated_keys {
        let message = format!(
            "{} keys of `{}` are in several of its rows, so nothing is looked up for them",
            repeated.n_keys, repeated.table
        );
        warnings.push(Warning::new("repeated_keys", message));
    }
    if report.n_misfits > 0 {
        let named: Vec<String> = report
            .misfits
            .iter()
            // A key that is hidden is read by the engine and has no name for anybody else.
            .filter(|misfit| misfit.column.as_deref().is_none_or(is_shown))
            .map(|misfit| {
                let place = match (&misfit.key, misfit.line) {
                    (Some(key), _) => Some(format!("row {key}")),
                    (None, 0) => None,
                    (None, line) => Some(format!("line {line}")),
                };
                let places: Vec<String> = place.into_iter().chain(misfit.column.clone()).collect();
                format!("{}: {}", places.join(", "), misfit.problem)
            })
            .collect();
        let message = format!(
            "{} of {} rows do not fit the schema; their {} unfit cells are null. First: {}",
            report.n_misfit_rows,
            report.n_rows,
            report.n_misfits,
            named.join("; ")
        );
        warnings.push(Warning::new("rows_do_not_fit", message));
    }
    if report.n_not_utf8 > 0 {
        let message = format!(
            "{} cells are not UTF-8; their bad bytes are shown as U+FFFD",
            report.n_not_utf8
        );
        warnings.push(Warning::new("not_utf8", message));
    }
    if let Some(encoding) = &report.encoding {
        let message = format!("the source is not UTF-8; it was read as {encoding}");
        warnings.push(Warning::new("encoding", message));
    }
    if report.n_rounded > 0 {
        let message = format!(
            "{} different numbers of the source have more digits than are kept and were rounded",
            report.n_rounded
        );
        warnings.push(Warning::new("numbers_rounded", message));
    }
    if report.n_repeated_in_lists > 0 {
        let message = format!(
            "{} values were repeated in one list and are kept once",
            report.n_repeated_in_lists
        );
        warnings.push(Warning::new("list_values_once", message));
    }
    if report.n_cut_cells > 0 {
        let message = format!("{} cells of the source were too long and cut", report.n_cut_cells);
        warnings.push(Warning::new("source_cells_cut", message));
    }
    warnings
}

/// Says which values a closed list does not hold.
fn strangers(name: &str, field: &Field, facet: &columns::Facet) -> Option<Warning> {
    if field.field_type != FieldType::StringLiteral {
        return None;
    }
    let outside: Vec<&columns::FacetRow> = facet
        .rows
        .iter()
        .filter(|row| {
            row.value.as_str().is_some_and(|text| !field.values.iter().any(|v| v == text))
        })
        .collect();
    if outside.is_empty() {
        return None;
    }
    let n_rows: u64 = outside.iter().map(|row| row.total).sum();
    let named: Vec<String> = outside
        .iter()
        .take(NAMED_STRANGERS)
        .filter_map(|row| row.value.as_str())
        .map(|text| format!("`{text}`"))
        .collect();
    let message = format!(
        "{n_rows} rows have a {name} outside the allowed values: {}{}",
        named.join(", "),
        if outside.len() > NAMED_STRANGERS { ", …" } else { "" }
    );
    Some(Warning::new("values_outside_enum", message))
}

fn describe_field(field: &Field) -> Value {
    let leaf = leaf(field);
    let mut entry = json!({
        "type": leaf.field_type.as_str(),
        "match": operator(field),
        "operators": operators::allowed(field)
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
            if leaf(field).field_type == FieldType::Timestamp =>
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
        let literal = leaf(field).values.first()?;
        let is_plain_array = field.items.as_ref().is_some_and(|items| items.items.is_none());
        if field.field_type == FieldType::StringLiteral {
            return Some(json!({ name.as_str(): literal }));
        }
        is_plain_array.then(|| json!({ name.as_str(): [literal] }))
    });
    let filters = filter.unwrap_or_else(|| json!({}));
    examples.push(json!({ "filters": filters, "format": "stats", "pageSize": 5 }));
    let ordered = schema.columns().find(|(_, field)| {
        matches!(leaf(field).field_type, FieldType::Number | FieldType::Timestamp)
    });
    if let Some((name, _)) = ordered {
        examples.push(
            json!({ "sort": { "id": name, "desc": true }, "format": "markdown", "pageSize": 10 }),
        );
    }
    let time = schema.columns().find(|(_, field)| leaf(field).field_type == FieldType::Timestamp);
    if let Some((name, _)) = time {
        examples.push(json!({ "series": { "field": name, "bucket": "day" }, "pageSize": 1 }));
    }
    examples
}
