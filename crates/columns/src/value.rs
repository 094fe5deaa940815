//! One cell, whatever its source: the only form in which values enter a filter and leave in a
//! row or a facet.

use serde::{Deserialize, Serialize};

use crate::{Decimal, decimal, moment};

/// A cell's value, or a filter's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Nothing is there.
    Null,
    /// Text, perhaps empty.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number; never NaN nor infinite when it comes from a table.
    Real(f64),
    /// A number with more digits than the two before keep.
    Decimal(Box<Decimal>),
    /// True or false.
    Boolean(bool),
    /// Milliseconds since the Unix epoch.
    Timestamp(i64),
    /// Several values in one cell.
    List(Vec<Value>),
}

impl Value {
    /// Gives the value as a row shows it: timestamps as ISO 8601 in UTC.
    pub fn to_row_json(&self) -> serde_json::Value {
        match self {
            Value::Timestamp(millis) => moment::to_iso(*millis).into(),
            Value::List(values) => values.iter().map(Value::to_row_json).collect(),
            Value::Null
            | Value::Text(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Decimal(_)
            | Value::Boolean(_) => self.to_json(),
        }
    }

    /// Gives the value as filters and facets show it: timestamps as milliseconds, and decimals that
    /// no number of JSON is sure to keep as text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Text(text) => text.as_str().into(),
            Value::Integer(number) | Value::Timestamp(number) => (*number).into(),
            Value::Real(number) => real_to_json(*number),
            Value::Decimal(number) => number.to_json(),
            Value::Boolean(flag) => (*flag).into(),
            Value::List(values) => values.iter().map(Value::to_json).collect(),
        }
    }

    /// Gives the value as a number, where it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Integer(number) | Value::Timestamp(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            Value::Decimal(number) => Some(number.as_f64()),
            Value::Null | Value::Text(_) | Value::Boolean(_) | Value::List(_) => None,
        }
    }

    /// Gives the text, where the value is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Null
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Decimal(_)
            | Value::Boolean(_)
            | Value::Timestamp(_)
            | Value::List(_) => None,
        }
    }

    /// Tells whether a number is above another one.
    pub fn is_above(&self, other: &Value) -> bool {
        let are_numbers = self.as_f64().is_some() && other.as_f64().is_some();
        are_numbers && decimal::compare(self, other).is_gt()
    }

    /// Reads a number as it is written, with all its digits where they are at most 38.
    pub fn number(text: &str) -> Option<Value> {
        let text = text.trim();
        if let Ok(number) = text.parse::<i64>() {
            return Some(Value::Integer(number));
        }
        let real = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(Decimal::parse(text).map_or(Value::Real(real), Decimal::to_value))
    }
}

/// Whole reals are written without a fraction, so that `5.0` in a file of reals reads as `5`.
fn real_to_json(number: f64) -> serde_json::Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return (number as i64).into();
    }
    serde_json::Number::from_f64(number).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Boolean(flag)
    }
}
