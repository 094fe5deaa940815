//! A condition on passages in turbopuffer's language.
//!
//! A condition on an attribute that no row has would be refused by the engine; it fits nothing
//! here, and its negation everything, as the contract says.

use std::collections::BTreeSet;

use serde_json::Value;
use turbopuffer::types::Filter as EngineFilter;

use super::naming;
use super::row::{DOCUMENT, PASSAGE, POINTER};
use crate::Filter;

/// What a condition comes down to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// Every row fits.
    Everything,
    /// No row fits.
    Nothing,
    /// The engine decides.
    Some(EngineFilter),
}

/// Translates a filter, given the attributes that rows of the namespace have.
pub(super) fn translate(filter: &Filter, attributes: &BTreeSet<String>) -> Condition {
    let known = |attribute: String, make: &dyn Fn(String) -> EngineFilter| {
        if attributes.contains(&attribute) {
            Condition::Some(make(attribute))
        } else {
            Condition::Nothing
        }
    };
    match filter {
        Filter::All => Condition::Everything,
        Filter::Equals { attribute, value } => {
            known(naming::keywords_attribute(attribute), &|attribute| {
                EngineFilter::contains(attribute, naming::value(value))
            })
        }
        Filter::AnyOf { values, .. } if values.is_empty() => Condition::Nothing,
        Filter::AnyOf { attribute, values } => {
            known(naming::keywords_attribute(attribute), &|attribute| {
                EngineFilter::contains_any(
                    attribute,
                    values.iter().map(|value| naming::value(value)),
                )
            })
        }
        Filter::Range { attribute, from, to } => {
            known(naming::number_attribute(attribute), &|attribute| range(attribute, *from, *to))
        }
        Filter::Documents(ids) if ids.is_empty() => Condition::Nothing,
        Filter::Documents(ids) => Condition::Some(EngineFilter::in_(
            DOCUMENT,
            ids.iter().map(|id| naming::value(id.as_str())),
        )),
        Filter::DocumentPrefix(prefix) => starts_with(DOCUMENT, prefix),
        Filter::Passages(ids) if ids.is_empty() => Condition::Nothing,
        Filter::Passages(ids) => Condition::Some(EngineFilter::in_(
            PASSAGE,
            ids.iter().map(|id| naming::value(id.as_str())),
        )),
        Filter::PointerPrefix(prefix) => starts_with(POINTER, prefix),
        Filter::Pointer(pointer) => {
            Condition::Some(EngineFilter::eq(POINTER, naming::value(pointer)))
        }
        Filter::And(parts) => all(parts.iter().map(|part| translate(part, attributes))),
        Filter::Or(parts) => any(parts.iter().map(|part| translate(part, attributes))),
        Filter::Not(part) => not(translate(part, attributes)),
    }
}

/// Joins conditions that all have to hold.
pub(super) fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut filters = vec![];
    for part in parts {
        match part {
            Condition::Everything => {}
            Condition::Nothing => return Condition::Nothing,
            Condition::Some(filter) => filters.push(filter),
        }
    }
    match filters.len() {
        0 => Condition::Everything,
        1 => filters.pop().map_or(Condition::Everything, Condition::Some),
        _ => Condition::Some(EngineFilter::and(filters)),
    }
}

fn any(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut filters = vec![];
    for part in parts {
        match part {
            Condition::Everything => return Condition::Everything,
            Condition::Nothing => {}
            Condition::Some(filter) => filters.push(filter),
        }
    }
    match filters.len() {
        0 => Condition::Nothing,
        1 => filters.pop().map_or(Condition::Nothing, Condition::Some),
        _ => Condition::Some(EngineFilter::or(filters)),
    }
}

fn not(condition: Condition) -> Condition {
    match condition {
        Condition::Everything => Condition::Nothing,
        Condition::Nothing => Condition::Everything,
        Condition::Some(EngineFilter::Not { filter }) => Condition::Some(*filter),
        Condition::Some(filter) => Condition::Some(EngineFilter::not(filter)),
    }
}

fn range(attribute: String, from: Option<i64>, to: Option<i64>) -> EngineFilter {
    match (from, to) {
        (None, None) => EngineFilter::not_eq(attribute, Value::Null),
        (Some(from), None) => EngineFilter::gte(attribute, from),
        // A row without the attribute is before every value for the engine.
        (None, Some(to)) => EngineFilter::and([
            EngineFilter::not_eq(attribute.clone(), Value::Null),
            EngineFilter::lte(attribute, to),
        ]),
        (Some(from), Some(to)) => EngineFilter::and([
            EngineFilter::gte(attribute.clone(), from),
            EngineFilter::lte(attribute, to),
        ]),
    }
}

/// Gives the condition that a text starts with another, as a range: texts are compared in the
/// order of their characters, and no character of the prefix means anything else.
fn starts_with(attribute: &str, prefix: &str) -> Condition {
    let prefix = naming::value(prefix);
    if prefix.is_empty() {
        return Condition::Everything;
    }
    let from = EngineFilter::gte(attribute, prefix);
    Condition::Some(match after_prefix(prefix) {
        Some(end) => EngineFilter::and([from, EngineFilter::lt(attribute, end)]),
        None => from,
    })
}

/// Gives the first text after all that start with a prefix.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            _ => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fall_out() {
        let attributes = BTreeSet::from([naming::keywords_attribute("ext")]);
        let check = |filter: Filter, expected: Condition| {
            assert_eq!(translate(&filter, &attributes), expected, "{filter:?}");
        };
        let pdf = Condition::Some(EngineFilter::contains("k_ext", "pdf"));
        let not = |filter| Filter::Not(Box::new(filter));
        check(Filter::equals("ext", "pdf"), pdf.clone());
        check(Filter::equals("year", "x"), Condition::Nothing);
        check(not(Filter::equals("year", "x")), Condition::Everything);
        check(Filter::Or(vec![]), Condition::Nothing);
        check(Filter::And(vec![]), Condition::Everything);
        check(Filter::Or(vec![Filter::equals("ext", "pdf"), Filter::Or(vec![])]), pdf.clone());
        check(not(not(Filter::equals("ext", "pdf"))), pdf);
        check(Filter::range("ext", 1..=2), Condition::Nothing);
    }

    #[test]
    fn prefixes_end_before_the_next_text() {
        assert_eq!(after_prefix("ab").as_deref(), Some("ac"));
        assert_eq!(after_prefix("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(after_prefix("\u{d7ff}").as_deref(), Some("\u{e000}"));
        assert_eq!(after_prefix("\u{10ffff}"), None);
    }
}
