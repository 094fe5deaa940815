//! The filters of a call as Rust values: what is wanted of each field, before it is held against
//! the field's type.
//!
//! What a value means follows from its field, which the schema knows: for text it is a part, for a
//! list of numbers the ends of a range. Here are only the three forms that a filter can have.

use std::fmt;

use columns::Value as Cell;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is wanted of fields, or of operators of one field, by name and in the order given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters(Vec<(String, FieldFilter)>);

/// What is wanted of one field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldFilter {
    /// A value or a list of values, read as the field's type says; null asks for nothing.
    Value(Cell),
    /// Operators, all of which must hold: `min` and `max`, or `not` with an operator in it.
    Operators(Filters),
    /// Alternatives under the name `any`, of which one must hold, or the orders of a field of type
    /// `sort`.
    Alternatives(Vec<Filters>),
}

impl Filters {
    /// Gives what is wanted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldFilter)> {
        self.0.iter().map(|(name, wanted)| (name.as_str(), wanted))
    }

    /// Gives the fields that are filtered, in the order of the call.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Gives what is wanted of one name.
    pub fn get(&self, name: &str) -> Option<&FieldFilter> {
        self.iter().find(|(known, _)| *known == name).map(|(_, wanted)| wanted)
    }

    /// Tells whether everything passes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts the names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Gives all but one, to ask what that one costs.
    pub fn without(&self, name: &str) -> Filters {
        Filters(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }
}

impl FieldFilter {
    /// Tells whether nothing is wanted.
    pub(crate) fn is_null(&self) -> bool {
        *self == FieldFilter::Value(Cell::Null)
    }
}

/// The last of several with one name counts, as in JSON.
impl<N: Into<String>, F: Into<FieldFilter>> FromIterator<(N, F)> for Filters {
    fn from_iter<I: IntoIterator<Item = (N, F)>>(wanted: I) -> Self {
        let mut filters = Filters::default();
        for (name, wanted) in wanted {
            let (name, wanted) = (name.into(), wanted.into());
            match filters.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) => *before = wanted,
                None => filters.0.push((name, wanted)),
            }
        }
        filters
    }
}

impl<V: Into<Cell>> From<V> for FieldFilter {
    fn from(value: V) -> Self {
        FieldFilter::Value(value.into())
    }
}

impl From<Filters> for FieldFilter {
    fn from(operators: Filters) -> Self {
        FieldFilter::Operators(operators)
    }
}

/// As agents write it, for what an error received.
impl fmt::Display for FieldFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Filters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, wanted) in &self.0 {
            map.serialize_entry(name, wanted)?;
        }
        map.end()
    }
}

impl Serialize for FieldFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FieldFilter::Value(cell) => cell.to_json().serialize(serializer),
            FieldFilter::Operators(operators) => operators.serialize(serializer),
            FieldFilter::Alternatives(alternatives) => alternatives.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Filters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match FieldFilter::deserialize(deserializer)? {
            FieldFilter::Operators(filters) => Ok(filters),
            other @ (FieldFilter::Value(_) | FieldFilter::Alternatives(_)) => {
                Err(D::Error::custom(format_args!("expected filters by field, received `{other}`")))
            }
        }
    }
}

impl<'de> Deserialize<'de> for FieldFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilterVisitor)
    }
}

/// Reads whichever form is there.
struct FilterVisitor;

impl<'de> Visitor<'de> for FilterVisitor {
    type Value = FieldFilter;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value, a list of values, operators, or a list of filters by field")
    }

    fn visit_unit<E>(self) -> Result<FieldFilter, E> {
        Ok(FieldFilter::Value(Cell::Null))
    }

    fn visit_none<E>(self) -> Result<FieldFilter, E> {
        Ok(FieldFilter::Value(Cell::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<FieldFilter, D::Error> {
        FieldFilter::deserialize(inner)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<FieldFilter, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<FieldFilter, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<FieldFilter, E> {
        // Beyond what a whole number holds its digits are kept: they are what a text field finds.
        Ok(i64::try_from(number).map_or_else(|_| number.to_string().into(), FieldFilter::from))
    }

    fn visit_f64<E>(self, number: f64) -> Result<FieldFilter, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<FieldFilter, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FieldFilter, A::Error> {
        let (mut values, mut alternatives) = (Vec::new(), Vec::new());
        while let Some(element) = list.next_element()? {
            match element {
                FieldFilter::Value(cell) => values.push(cell),
                FieldFilter::Operators(filters) => alternatives.push(filters),
                nested @ FieldFilter::Alternatives(_) => {
                    let problem = format!("a list of values has no filters in it: `{nested}`");
                    return Err(A::Error::custom(problem));
                }
            }
        }
        match (values.is_empty(), alternatives.is_empty()) {
            (_, true) => Ok(FieldFilter::Value(Cell::List(values))),
            (true, false) => Ok(FieldFilter::Alternatives(alternatives)),
            (false, false) => {
                Err(A::Error::custom("a list holds values or filters by field, not both"))
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldFilter, A::Error> {
        let mut wanted: Vec<(String, FieldFilter)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            wanted.push(entry);
        }
        Ok(FieldFilter::Operators(Filters::from_iter(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &[(&str, FieldFilter)]) {
        let filters: Filters = serde_json::from_str(json).unwrap();
        assert_eq!(filters, expected.iter().cloned().collect(), "{json}");
        assert_eq!(serde_json::to_string(&filters).unwrap(), json);
    }

    #[test]
    fn every_form_is_read_and_written_again() {
        check("{}", &[]);
        check(
            r#"{"level":["error",null],"latency":1.5,"ok":true,"n":-3,"nothing":null}"#,
            &[
                ("level", Cell::List(vec!["error".into(), Cell::Null]).into()),
                ("latency", 1.5.into()),
                ("ok", true.into()),
                ("n", (-3_i64).into()),
                ("nothing", Cell::Null.into()),
            ],
        );
        let small = Filters::from_iter([("max", 5_i64)]);
        let negated = Filters::from_iter([("not", Filters::from_iter([("contains", "x")]))]);
        check(
            r#"{"size":{"max":5},"name":{"not":{"contains":"x"}}}"#,
            &[("size", small.clone().into()), ("name", negated.clone().into())],
        );
        let alternatives =
            vec![Filters::from_iter([("size", small)]), Filters::from_iter([("name", negated)])];
        check(
            r#"{"any":[{"size":{"max":5}},{"name":{"not":{"contains":"x"}}}]}"#,
            &[("any", FieldFilter::Alternatives(alternatives))],
        );
        let huge = serde_json::from_str::<Filters>(r#"{"id":18446744073709551615}"#).unwrap();
        assert_eq!(huge.get("id"), Some(&"18446744073709551615".into()));
    }

    #[test]
    fn lists_of_both_kinds_are_refused() {
        for json in [r#"{"any":[{"a":1},2]}"#, r#"{"a":[[{"b":1}]]}"#, "[]", "3"] {
            serde_json::from_str::<Filters>(json).expect_err(json);
        }
    }
}
