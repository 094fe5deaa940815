//! What a document or passage can be filtered by.

use std::collections::BTreeMap;

use std::fmt;

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// One value of a filterable attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AttributeValue {
    /// A whole number: a year, a clearance level, a time in milliseconds.
    Integer(i64),
    /// A word compared as a whole: an extension, a department, a tenant.
    Keyword(String),
    /// Several words, any of which can match.
    Keywords(Vec<String>),
}

/// Read by hand: the derived reader of an untagged enum tries one variant after the other and
/// writes a message for each that does not fit, which was a twentieth of a whole search.
impl<'de> Deserialize<'de> for AttributeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = AttributeValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number, a word or a list of words")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<AttributeValue, E> {
        Ok(AttributeValue::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<AttributeValue, E> {
        let whole = i64::try_from(number);
        whole.map(AttributeValue::Integer).map_err(|_| {
            E::invalid_value(de::Unexpected::Unsigned(number), &"a number up to 2^63 - 1")
        })
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<AttributeValue, E> {
        Ok(AttributeValue::Keyword(word.to_owned()))
    }

    fn visit_string<E: de::Error>(self, word: String) -> Result<AttributeValue, E> {
        Ok(AttributeValue::Keyword(word))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<AttributeValue, A::Error> {
        let mut keywords = Vec::new();
        while let Some(word) = words.next_element()? {
            keywords.push(word);
        }
        Ok(AttributeValue::Keywords(keywords))
    }
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

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::Error;

    use super::*;

    #[test]
    fn a_value_is_read_by_its_own_type_and_nothing_else() {
        let read = |value: Result<AttributeValue, Error>| value.ok();
        assert_eq!(
            read(Deserialize::deserialize(i64::MIN.into_deserializer())),
            Some(i64::MIN.into())
        );
        assert_eq!(read(Deserialize::deserialize(2024_u64.into_deserializer())), Some(2024.into()));
        assert_eq!(read(Deserialize::deserialize(u64::MAX.into_deserializer())), None);
        assert_eq!(read(Deserialize::deserialize(1.5_f64.into_deserializer())), None);
        assert_eq!(read(Deserialize::deserialize(true.into_deserializer())), None);
        assert_eq!(read(Deserialize::deserialize("acme".into_deserializer())), Some("acme".into()));
        let words = vec!["a".to_owned(), "b".to_owned()];
        let list = words.clone().into_deserializer();
        assert_eq!(read(Deserialize::deserialize(list)), Some(words.into()));
        assert_eq!(read(Deserialize::deserialize(vec![1_u8].into_deserializer())), None);
    }
}
