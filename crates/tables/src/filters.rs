//! From the filters of a call to tests on cells: every value is checked against its field, and
//! milliseconds become points in time.

use columns::{Case, DAY_MILLIS, Filter, Range, Test, Value as Cell};
use serde_json::{Map, Value};

use crate::config::{Field, FieldType, Operator};
use crate::error::did_you_mean;
use crate::request::{SortRequest, sort, unknown_name, wrong_type};
use crate::schema::leaf;
use crate::{Error, Result, Schema};

/// The most values of one filter.
pub const MAX_FILTER_VALUES: usize = 1000;
/// The longest text of a filter.
pub const MAX_FILTER_CHARS: usize = 10_000;

/// The filters of a call with their types.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedFilters {
    /// Conditions, all of which must hold. Filters that are null, empty arrays or empty texts
    /// ask for nothing and are left out.
    pub filters: Vec<Filter>,
    /// The order, where the schema has a field of type `sort` and the call used it.
    pub sort: Option<SortRequest>,
}

/// Checks filters against the schema.
pub fn typed(schema: &Schema, filters: &Map<String, Value>) -> Result<TypedFilters> {
    let mut typed = TypedFilters::default();
    for (name, value) in filters {
        let field = schema
            .field(name)
            .ok_or_else(|| unknown_name("filter", name, &schema.filter_names()))?;
        if value.is_null() {
            continue;
        }
        if field.field_type == FieldType::Sort {
            typed.sort = Some(sort(value)?);
            continue;
        }
        if let Some(test) = test(name, field, value)? {
            typed.filters.push(Filter::new(name, test));
        }
    }
    Ok(typed)
}

fn test(name: &str, field: &Field, value: &Value) -> Result<Option<Test>> {
    match field.field_type {
        FieldType::String => {
            let text = text(name, value)?;
            let case = if field.ignore_case { Case::Ignored } else { Case::Sensitive };
            Ok((!text.is_empty()).then_some(Test::Contains { text, case }))
        }
        FieldType::Number | FieldType::Boolean | FieldType::StringLiteral => {
            Ok(Some(Test::AnyOf(vec![cell(name, field, value)?])))
        }
        FieldType::Timestamp => Ok(Some(Test::Within(vec![range(name, field, &[value])?]))),
        FieldType::Array => array_test(name, field, value),
        FieldType::Sort => Ok(None),
    }
}

fn array_test(name: &str, field: &Field, value: &Value) -> Result<Option<Test>> {
    let items = field.items.as_deref().expect("a checked array has items");
    let values = array(name, value)?;
    if values.is_empty() {
        return Ok(None);
    }
    let is_nested = items.field_type == FieldType::Array;
    let is_range = field.operator == Some(Operator::Range);
    let leaf = leaf(field);
    Ok(Some(match (is_range, is_nested) {
        (true, false) => Test::Within(vec![range(name, leaf, &values.iter().collect::<Vec<_>>())?]),
        (true, true) => Test::Within(
            values
                .iter()
                .map(|pair| range(name, leaf, &array(name, pair)?.iter().collect::<Vec<_>>()))
                .collect::<Result<_>>()?,
        ),
        (false, false) => {
            Test::AnyOf(values.iter().map(|value| cell(name, leaf, value)).collect::<Result<_>>()?)
        }
        (false, true) => Test::HoldsAll(
            values
                .iter()
                .map(|list| {
                    array(name, list)?.iter().map(|value| cell(name, leaf, value)).collect()
                })
                .collect::<Result<_>>()?,
        ),
    }))
}

/// One value is itself, or its whole day for a timestamp; two are an inclusive range, in which
/// null leaves an end open.
fn range(name: &str, field: &Field, values: &[&Value]) -> Result<Range> {
    let end = |value: &Value| {
        if value.is_null() { Ok(Cell::Null) } else { cell(name, field, value) }
    };
    match values {
        [value] => {
            let value = cell(name, field, value)?;
            let Cell::Timestamp(millis) = value else {
                return Ok(Range { low: value.clone(), high: value });
            };
            let start = millis.div_euclid(DAY_MILLIS) * DAY_MILLIS;
            Ok(Range { low: Cell::Timestamp(start), high: Cell::Timestamp(start + DAY_MILLIS - 1) })
        }
        [low, high] => {
            let range = Range { low: end(low)?, high: end(high)? };
            let is_empty = match (&range.low, &range.high) {
                (Cell::Integer(low), Cell::Integer(high))
                | (Cell::Timestamp(low), Cell::Timestamp(high)) => low > high,
                (low, high) => match (low.as_f64(), high.as_f64()) {
                    (Some(low), Some(high)) => low > high,
                    _ => false,
                },
            };
            if is_empty {
                return Err(Error::EmptyRange {
                    field: name.to_owned(),
                    start: low.to_string(),
                    end: high.to_string(),
                });
            }
            Ok(range)
        }
        others => Err(Error::WrongType {
            field: name.to_owned(),
            expected: "`[value]` or `[min, max]`".to_owned(),
            received: Value::from(others.iter().map(|value| (*value).clone()).collect::<Vec<_>>())
                .to_string(),
        }),
    }
}

fn cell(name: &str, field: &Field, value: &Value) -> Result<Cell> {
    match field.field_type {
        FieldType::Number => number(value).ok_or_else(|| wrong_type(name, "numbers", value)),
        FieldType::Timestamp => {
            let millis = value.as_i64().or_else(|| value.as_f64().map(|millis| millis as i64));
            millis
                .map(Cell::Timestamp)
                .ok_or_else(|| wrong_type(name, "Unix timestamps in milliseconds", value))
        }
        FieldType::Boolean => value
            .as_bool()
            .map(Cell::Boolean)
            .ok_or_else(|| wrong_type(name, "true or false", value)),
        FieldType::StringLiteral => {
            let text = text(name, value)?;
            if field.values.contains(&text) {
                return Ok(Cell::Text(text));
            }
            Err(Error::NotAllowed {
                field: name.to_owned(),
                did_you_mean: did_you_mean(&text, &field.values),
                received: text,
                allowed: field.values.clone(),
            })
        }
        FieldType::String | FieldType::Array | FieldType::Sort => {
            Ok(Cell::Text(text(name, value)?))
        }
    }
}

fn number(value: &Value) -> Option<Cell> {
    value.as_i64().map(Cell::Integer).or_else(|| value.as_f64().map(Cell::Real))
}

fn text(name: &str, value: &Value) -> Result<String> {
    let text = value.as_str().ok_or_else(|| wrong_type(name, "a string", value))?;
    let n_chars = text.chars().count();
    if n_chars > MAX_FILTER_CHARS {
        return Err(Error::OutOfBounds {
            field: name.to_owned(),
            received: format!("{n_chars} characters"),
            expected: format!("at most {MAX_FILTER_CHARS} characters"),
        });
    }
    Ok(text.to_owned())
}

fn array<'v>(name: &str, value: &'v Value) -> Result<&'v Vec<Value>> {
    let values = value.as_array().ok_or_else(|| wrong_type(name, "an array", value))?;
    if values.len() > MAX_FILTER_VALUES {
        return Err(Error::OutOfBounds {
            field: name.to_owned(),
            received: format!("{} values", values.len()),
            expected: format!("at most {MAX_FILTER_VALUES} values"),
        });
    }
    Ok(values)
}
