//! One value of a document's metadata, or one that a condition names.
//!
//! Metadata is stored as its user gave it; what is compared, counted and named of it are these
//! values. What is neither text, number nor flag counts as it is written.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// A value of a field, without lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetadataValue {
    /// Text, or JSON that is none of the others.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
    /// True or false.
    Boolean(bool),
}

impl MetadataValue {
    /// Gives the values of a stored field: the elements of a list, none for null.
    pub(crate) fn all_of(stored: &Value) -> Vec<MetadataValue> {
        match stored {
            Value::Array(elements) => elements.iter().map(MetadataValue::of_json).collect(),
            Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                vec![MetadataValue::of_json(stored)]
            }
        }
    }

    pub(crate) fn of_json(stored: &Value) -> MetadataValue {
        let number = stored.as_f64().map(MetadataValue::Real);
        let number = stored.as_i64().map(MetadataValue::Whole).or(number);
        let flag = stored.as_bool().map(MetadataValue::Boolean);
        number.or(flag).unwrap_or_else(|| {
            let text = stored.as_str().map_or_else(|| stored.to_string(), str::to_owned);
            MetadataValue::Text(text)
        })
    }

    /// Gives the number, also where it is written as text.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            MetadataValue::Whole(number) => Some(*number as f64),
            MetadataValue::Real(number) => Some(*number),
            MetadataValue::Text(text) => {
                text.trim().parse().ok().filter(|number: &f64| number.is_finite())
            }
            MetadataValue::Boolean(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            MetadataValue::Text(text) => Some(text),
            MetadataValue::Whole(_) | MetadataValue::Real(_) | MetadataValue::Boolean(_) => None,
        }
    }

    /// Writes the value as people do, without quotes.
    pub(crate) fn plain(&self) -> String {
        match self {
            MetadataValue::Text(text) => text.clone(),
            MetadataValue::Whole(number) => number.to_string(),
            MetadataValue::Real(number) => number.to_string(),
            MetadataValue::Boolean(flag) => flag.to_string(),
        }
    }
}

impl From<&str> for MetadataValue {
    fn from(text: &str) -> Self {
        MetadataValue::Text(text.to_owned())
    }
}

/// As an agent wrote it: text in quotes.
impl fmt::Display for MetadataValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetadataValue::Text(text) => write!(out, "{}", Value::from(text.as_str())),
            MetadataValue::Whole(_) | MetadataValue::Real(_) | MetadataValue::Boolean(_) => {
                out.write_str(&self.plain())
            }
        }
    }
}
