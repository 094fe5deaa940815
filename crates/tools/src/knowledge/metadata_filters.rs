//! The `filters` of `search_documents`: conditions on the metadata of documents.

use std::collections::BTreeMap;

use knowledge::{Condition, MetadataField, MetadataValue, Test};
use serde_json::{Map, Value, json};

use crate::ToolError;

/// What the operators of a filter are.
const OPERATORS: [&str; 7] = ["eq", "not", "in", "contains", "min", "max", "is_null"];

/// Fields that an error names.
const MAX_SHOWN_FIELDS: usize = 30;

/// Reads filters: a value, a list of which one must fit, or operators.
///
/// Fails when an operator is unknown or has a value that it cannot take.
pub(super) fn conditions(filters: &Map<String, Value>) -> Result<Vec<Condition>, ToolError> {
    let mut conditions = Vec::new();
    for (field, value) in filters {
        let mut add = |test: Test| conditions.push(Condition { field: field.clone(), test });
        match value {
            // Nothing, or a list of nothing, is no filter: models fill in what they leave out.
            absent if is_absent(absent) => {}
            Value::Null => {}
            Value::Array(values) => {
                let given = values.iter().filter(|value| !is_absent(value));
                add(Test::AnyOf(given.map(metadata_value).collect()));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                add(Test::AnyOf(listed(value)));
            }
            Value::Object(operators) => {
                let (mut min, mut max) = (None, None);
                for (operator, operand) in operators {
                    match (operator.as_str(), operand) {
                        (_, Value::Null) => {}
                        ("contains" | "min" | "max", Value::String(empty)) if empty.is_empty() => {}
                        ("eq" | "in", operand) => add(Test::AnyOf(listed(operand))),
                        ("not", operand) => add(Test::NoneOf(listed(operand))),
                        ("contains", Value::String(part)) => add(Test::Contains(part.clone())),
                        ("min", Value::Number(_) | Value::String(_)) => {
                            min = Some(metadata_value(operand))
                        }
                        ("max", Value::Number(_) | Value::String(_)) => {
                            max = Some(metadata_value(operand))
                        }
                        ("is_null", Value::Bool(is_wanted)) => add(Test::IsNull(*is_wanted)),
                        _ => return Err(bad_operator(field, operator, operand)),
                    }
                }
                if min.is_some() || max.is_some() {
                    add(Test::Range { min, max });
                }
            }
        }
    }
    Ok(conditions)
}

/// Refuses conditions on fields that no document has, and names those that there are.
pub(super) fn check_fields(
    conditions: &[Condition],
    fields: &BTreeMap<String, MetadataField>,
) -> Result<(), ToolError> {
    let Some(unknown) = conditions.iter().find(|one| !fields.contains_key(&one.field)) else {
        return check_dates(conditions, fields);
    };
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let mut message = format!("unknown filter `{}`: no document has this metadata", unknown.field);
    if let Some(nearest) = text::nearest(&unknown.field, &names) {
        message.push_str(&format!("; did you mean `{nearest}`?"));
    }
    let shown: Map<String, Value> = fields
        .iter()
        .take(MAX_SHOWN_FIELDS)
        .map(|(name, field)| (name.clone(), json!(field)))
        .collect();
    let hint = if fields.is_empty() {
        "leave `filters` out: the documents of this knowledge base have no metadata"
    } else {
        "filter by one of `allowed`, or leave `filters` out"
    };
    Err(ToolError::bad_request(message)
        .with_detail("argument", format!("filters.{}", unknown.field))
        .with_detail("allowed", shown)
        .with_hint(hint))
}

/// Refuses ends of ranges that are no dates, for fields that are.
fn check_dates(
    conditions: &[Condition],
    fields: &BTreeMap<String, MetadataField>,
) -> Result<(), ToolError> {
    for Condition { field, test } in conditions {
        let Some(known) = fields.get(field).filter(|known| known.kind == "date") else { continue };
        if let Some(bad) = test.end_without_date() {
            let message = format!("filters.{field} is a date and cannot be compared with `{bad}`");
            return Err(ToolError::bad_request(message)
                .with_detail("argument", format!("filters.{field}"))
                .with_detail("allowed", json!(known.range))
                .with_hint(
                    "write dates as ISO 8601 (`2024`, `2024-03`, `2024-03-31`) or milliseconds",
                ));
        }
    }
    Ok(())
}

/// Tells whether a bare value asks for nothing. `{"eq": ""}` asks for what is empty.
fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.iter().all(is_absent),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn listed(operand: &Value) -> Vec<MetadataValue> {
    match operand {
        Value::Array(values) => values.iter().map(metadata_value).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![metadata_value(operand)]
        }
    }
}

/// What is no value is compared as it is written.
fn metadata_value(operand: &Value) -> MetadataValue {
    match operand {
        Value::String(text) => MetadataValue::Text(text.clone()),
        Value::Bool(flag) => MetadataValue::Boolean(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => MetadataValue::Whole(whole),
            (None, Some(real)) => MetadataValue::Real(real),
            (None, None) => MetadataValue::Text(number.to_string()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => {
            MetadataValue::Text(operand.to_string())
        }
    }
}

fn bad_operator(field: &str, operator: &str, operand: &Value) -> ToolError {
    let message = if OPERATORS.contains(&operator) {
        format!("filters.{field}.{operator} does not take `{operand}`")
    } else {
        format!("filters.{field}: unknown operator `{operator}`")
    };
    ToolError::bad_request(message)
        .with_detail("argument", format!("filters.{field}"))
        .with_detail("allowed", OPERATORS.to_vec())
        .with_hint("write `{field: value}`, `{field: [values]}` or `{field: {min, max}}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_nothing_is_no_filter() {
        let n_conditions = |filters: Value| {
            let Value::Object(filters) = filters else { panic!("{filters} is no object") };
            conditions(&filters).unwrap().len()
        };
        for nothing in [json!(""), json!(null), json!([]), json!([null, ""]), json!([[]])] {
            assert_eq!(n_conditions(json!({ "kind": nothing })), 0, "{nothing}");
        }
        assert_eq!(n_conditions(json!({"n": {"min": "", "max": null, "contains": ""}})), 0);
        assert_eq!(n_conditions(json!({"n": {"min": "", "max": 5}})), 1);
        assert_eq!(n_conditions(json!({"kind": {"eq": ""}, "tags": ["", "a"]})), 2);
        let tags = json!({"tags": ["", "a", null]});
        let Value::Object(tags) = tags else { unreachable!() };
        let expected = Test::AnyOf(vec![MetadataValue::Text("a".to_owned())]);
        assert_eq!(conditions(&tags).unwrap()[0].test, expected);
    }
}
