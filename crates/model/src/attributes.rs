//! What a document or passage can be filtered by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One value of a filterable attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AttributeValue {
    /// A whole number: a year, a clearance level, a time in milliseconds.
    Integer(i64),
    /// A word compared as a whole: an extension, a department, a tenant.
    Keyword(String),
    /// Several words, any of which can match.
    Keywords(Vec<String>),
}

/// Attributes by name, in a fixed order.
pub type Attributes = BTreeMap<String, AttributeValue>;

impl From<&str> for AttributeValue {
    fn from(word: &str) -> Self {
        AttributeValue::Keyword(word.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(word: String) -> Self {
        AttributeValue::Keyword(word)
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        AttributeValue::Integer(number)
    }
}

impl From<Vec<String>> for AttributeValue {
    fn from(words: Vec<String>) -> Self {
        AttributeValue::Keywords(words)
    }
}
