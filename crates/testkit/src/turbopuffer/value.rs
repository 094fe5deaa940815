//! Ids, attribute types and attribute values.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::error::{Outcome, Refusal, kind};

/// The longest id that is a text, in bytes.
pub(super) const MAX_ID_BYTES: usize = 64;
/// The longest value that can be filtered by, in bytes.
pub(super) const MAX_FILTERABLE_BYTES: usize = 4_096;
/// The longest value of one attribute, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 8 << 20;
/// Dimensions of a dense vector.
const MAX_DIMENSIONS: usize = 10_752;

/// The id of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Id {
    /// An unsigned number.
    Number(u64),
    /// A text.
    Text(String),
}

impl Id {
    pub(super) fn read(value: &Value) -> Outcome<Self> {
        match value {
            Value::Number(number) => number.as_u64().map(Id::Number).ok_or_else(|| {
                Refusal::bad_request(format!("invalid document id `{number}`, expected u64"))
            }),
            Value::String(text) if text.is_empty() || text.len() > MAX_ID_BYTES => {
                Err(Refusal::bad_request(format!(
                    "document id {text:?} has {} bytes, expected 1 to {MAX_ID_BYTES}",
                    text.len()
                )))
            }
            Value::String(text) => Ok(Id::Text(text.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(Refusal::unprocessable(format!(
                    "invalid type: {}, expected a document id",
                    kind(value)
                )))
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Id::Number(number) => (*number).into(),
            Id::Text(text) => text.as_str().into(),
        }
    }
}

/// The type of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Int,
    Uint,
    Float,
    Uuid,
    Datetime,
    Bool,
    Array(Box<Kind>),
    Vector { dimensions: usize, element: String },
}

impl Kind {
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        if let Some(element) = text.strip_prefix("[]") {
            let element = Kind::parse(element)?;
            if matches!(element, Kind::Array(_) | Kind::Vector { .. }) {
                return Err(Refusal::unsupported(&format!("type `{text}`")));
            }
            return Ok(Kind::Array(Box::new(element)));
        }
        if let Some((dimensions, element)) =
            text.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        {
            let dimensions: usize = dimensions
                .parse()
                .map_err(|_| Refusal::bad_request(format!("invalid attribute type `{text}`")))?;
            if dimensions == 0 || dimensions > MAX_DIMENSIONS {
                return Err(Refusal::bad_request(format!(
                    "vectors have 1 to {MAX_DIMENSIONS} dimensions, got {dimensions}"
                )));
            }
            if !["f32", "f16"].contains(&element) {
                return Err(Refusal::unsupported(&format!("type `{text}`")));
            }
            return Ok(Kind::Vector { dimensions, element: element.to_owned() });
        }
        Ok(match text {
            "string" => Kind::String,
            "int" => Kind::Int,
            "uint" => Kind::Uint,
            "float" => Kind::Float,
            "uuid" => Kind::Uuid,
            "datetime" => Kind::Datetime,
            "bool" => Kind::Bool,
            _ => return Err(Refusal::bad_request(format!("invalid attribute type `{text}`"))),
        })
    }

    pub(super) fn name(&self) -> String {
        match self {
            Kind::String => "string".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Uint => "uint".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Uuid => "uuid".to_owned(),
            Kind::Datetime => "datetime".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Array(element) => format!("[]{}", element.name()),
            Kind::Vector { dimensions, element } => format!("[{dimensions}]{element}"),
        }
    }

    /// Tells the type of a value whose attribute is not in the schema yet.
    pub(super) fn infer(name: &str, value: &Value) -> Outcome<Option<Self>> {
        if name == "vector" {
            let dimensions = vector(value)?.len();
            return Ok(Some(Kind::parse(&format!("[{dimensions}]f32"))?));
        }
        Ok(match value {
            Value::Null => None,
            Value::Bool(_) => Some(Kind::Bool),
            Value::String(_) => Some(Kind::String),
            Value::Number(number) if number.is_f64() => {
                return Err(Refusal::bad_request(format!(
                    "the type of attribute `{name}` cannot be inferred from {number}; \
                     name it in the schema"
                )));
            }
            Value::Number(_) => Some(Kind::Int),
            Value::Array(items) => match items.first() {
                None => None,
                Some(first) => Kind::infer(&format!("{name}[]"), first)?
                    .map(|kind| Kind::Array(Box::new(kind))),
            },
            Value::Object(_) => {
                return Err(Refusal::bad_request(format!(
                    "attribute `{name}` is an object, which no type allows"
                )));
            }
        })
    }

    /// Checks that a value is of this type, and gives it as it is kept.
    pub(super) fn check(&self, name: &str, value: &Value) -> Outcome<Value> {
        let wrong = || {
            Refusal::bad_request(format!(
                "attribute `{name}` has type {}, got {}",
                self.name(),
                kind(value)
            ))
        };
        let fits = match self {
            _ if value.is_null() => true,
            Kind::String => value.is_string(),
            Kind::Datetime => value.as_str().is_some_and(begins_with_date),
            Kind::Int => value.is_i64(),
            Kind::Uint => value.is_u64(),
            Kind::Float => value.is_number(),
            Kind::Bool => value.is_boolean(),
            Kind::Uuid => value.as_str().is_some_and(is_uuid),
            Kind::Array(element) => {
                for item in value.as_array().ok_or_else(wrong)? {
                    if item.is_null() {
                        return Err(wrong());
                    }
                    element.check(name, item)?;
                }
                true
            }
            Kind::Vector { dimensions, .. } => {
                let numbers = vector(value)?;
                if numbers.len() != *dimensions {
                    return Err(Refusal::bad_request(format!(
                        "attribute `{name}` has {dimensions} dimensions, got {}",
                        numbers.len()
                    )));
                }
                return Ok(numbers.into());
            }
        };
        if !fits {
            return Err(wrong());
        }
        Ok(value.clone())
    }
}

/// Reads a vector: numbers, or little-endian floats in base64.
pub(super) fn vector(value: &Value) -> Outcome<Vec<f32>> {
    let wrong = || Refusal::bad_request(format!("invalid vector: {}", kind(value)));
    let numbers: Vec<f32> = match value {
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_f64().map(|number| number as f32).ok_or_else(wrong))
            .collect::<Outcome<_>>()?,
        Value::String(text) => {
            let bytes = STANDARD.decode(text).map_err(|_| wrong())?;
            let (chunks, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(wrong());
            }
            chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return Err(wrong()),
    };
    if numbers.is_empty() || numbers.iter().any(|number| !number.is_finite()) {
        return Err(wrong());
    }
    Ok(numbers)
}

/// Compares two values of one type; nothing when they cannot be compared.
pub(super) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => {
            match (left.as_i64(), right.as_i64(), left.as_u64(), right.as_u64()) {
                (Some(left), Some(right), ..) => Some(left.cmp(&right)),
                (.., Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
            }
        }
        _ => None,
    }
}

/// Gives the longest text in a value, in bytes.
pub(super) fn longest_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest_text).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 0,
    }
}

/// Counts the bytes of all texts in a value.
pub(super) fn total_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(total_text).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 0,
    }
}

/// Tells whether a text begins with a day as ISO 8601 writes it; the rest is taken as it is.
fn begins_with_date(text: &str) -> bool {
    let day = text.as_bytes().get(..10).unwrap_or_default();
    let is_right = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    day.len() == 10 && day.iter().enumerate().all(is_right)
}

fn is_uuid(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| *byte != b'-');
    digits.clone().count() == 32 && digits.clone().all(|byte| byte.is_ascii_hexdigit())
}
