//! Filters: what the server is asked for, and what is checked of the passages that come back.
//!
//! The server's condition is never narrower than the filter. Where it is wider (a prefix that does
//! not end at a `/`), what comes back is checked again.

use std::collections::BTreeSet;

use model::{AttributeValue, Attributes};
use qdrant_client::qdrant::{Condition, Filter as ServerFilter, Range};
use store::Filter;

use crate::point::{
    ANCESTORS, DOCUMENT, KEYWORDS, PASSAGE, POINTER, PrefixOf, STARTS, TENANT, TERMS,
    integer_field, keyword_value,
};
use crate::terms::{self, Term};

/// Integers up to this size are compared as they are: the server compares as floating point.
const MAX_EXACT_INTEGER: i64 = 1 << 53;

/// What the server is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// The condition; nothing lets everything through.
    condition: Option<Condition>,
    /// Whether exactly the passages pass that fit.
    pub(crate) is_exact: bool,
}

/// A passage that came back, as far as filters look at it.
pub(crate) struct Candidate<'a> {
    pub(crate) document: &'a str,
    pub(crate) passage: &'a str,
    pub(crate) pointer: &'a str,
    pub(crate) attributes: &'a Attributes,
}

/// Translates a filter; `integers` are the fields of integer attributes that the namespace has.
pub(crate) fn bound_of(filter: &Filter, integers: &BTreeSet<String>) -> Bound {
    let exact = |condition| Bound { condition: Some(condition), is_exact: true };
    match filter {
        Filter::All => Bound { condition: None, is_exact: true },
        Filter::Equals { attribute, value } => {
            exact(Condition::matches(KEYWORDS, keyword_value(attribute, value)))
        }
        Filter::AnyOf { attribute, values } if values.is_empty() => {
            let _ = attribute;
            exact(nothing())
        }
        Filter::AnyOf { attribute, values } => {
            let values: Vec<String> =
                values.iter().map(|value| keyword_value(attribute, value)).collect();
            exact(Condition::matches(KEYWORDS, values))
        }
        Filter::Range { attribute, from, to } => {
            let field = integer_field(attribute);
            if !integers.contains(&field) {
                return exact(nothing());
            }
            let is_large = |bound: &Option<i64>| {
                bound.is_some_and(|bound| bound.unsigned_abs() > MAX_EXACT_INTEGER as u64)
            };
            if is_large(from) || is_large(to) {
                return Bound { condition: None, is_exact: false };
            }
            let range = Range {
                gte: from.map(|from| from as f64),
                lte: to.map(|to| to as f64),
                ..Range::default()
            };
            // Without an end every passage fits that has the attribute.
            let range = match (from, to) {
                (None, None) => Range { gte: Some(f64::MIN), ..Range::default() },
                _ => range,
            };
            exact(Condition::range(field, range))
        }
        Filter::Documents(ids) if ids.is_empty() => exact(nothing()),
        Filter::Documents(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
            exact(Condition::matches(DOCUMENT, ids))
        }
        Filter::DocumentPrefix(prefix) => prefix_bound(PrefixOf::Document, prefix),
        Filter::Passages(ids) if ids.is_empty() => exact(nothing()),
        Filter::Passages(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
            exact(Condition::matches(PASSAGE, ids))
        }
        Filter::PointerPrefix(prefix) => prefix_bound(PrefixOf::Pointer, prefix),
        Filter::Pointer(pointer) => exact(Condition::matches(POINTER, pointer.clone())),
        Filter::And(parts) => {
            let bounds: Vec<Bound> = parts.iter().map(|part| bound_of(part, integers)).collect();
            let is_exact = bounds.iter().all(|bound| bound.is_exact);
            let conditions: Vec<Condition> =
                bounds.into_iter().filter_map(|bound| bound.condition).collect();
            let condition = (!conditions.is_empty()).then(|| ServerFilter::must(conditions).into());
            Bound { condition, is_exact }
        }
        Filter::Or(parts) if parts.is_empty() => exact(nothing()),
        Filter::Or(parts) => {
            let bounds: Vec<Bound> = parts.iter().map(|part| bound_of(part, integers)).collect();
            let is_exact = bounds.iter().all(|bound| bound.is_exact);
            if bounds.iter().any(|bound| bound.condition.is_none()) {
                return Bound { condition: None, is_exact };
            }
            let conditions = bounds.into_iter().filter_map(|bound| bound.condition);
            Bound { condition: Some(ServerFilter::should(conditions).into()), is_exact }
        }
        Filter::Not(part) => match bound_of(part, integers) {
            Bound { is_exact: false, .. } => Bound { condition: None, is_exact: false },
            Bound { condition: None, .. } => exact(nothing()),
            Bound { condition: Some(condition), .. } => {
                exact(ServerFilter::must_not([condition]).into())
            }
        },
    }
}

impl Bound {
    /// Gives the filter for one tenant, with further conditions.
    pub(crate) fn within(
        &self,
        tenant: &str,
        must: impl IntoIterator<Item = Condition>,
        must_not: impl IntoIterator<Item = Condition>,
    ) -> ServerFilter {
        let mut filter = ServerFilter::must(
            [of_tenant(tenant)].into_iter().chain(self.condition.clone()).chain(must),
        );
        filter.must_not = must_not.into_iter().collect();
        filter
    }
}

/// The condition that a point belongs to a tenant.
pub(crate) fn of_tenant(tenant: &str) -> Condition {
    Condition::matches(TENANT, tenant.to_owned())
}

/// The condition that a passage holds one of some words, or of some beginnings.
pub(crate) fn holds_any(terms: &[Term]) -> Condition {
    let field = if terms.iter().any(|term| term.is_start) { STARTS } else { TERMS };
    Condition::matches_text_any(field, terms::text_of(terms.iter().map(Term::token)))
}

/// A condition that no point fits: no tenant has this name.
fn nothing() -> Condition {
    Condition::matches(TENANT, "\u{1}nobody".to_owned())
}

fn prefix_bound(of: PrefixOf, prefix: &str) -> Bound {
    match prefix.rfind('/') {
        _ if prefix.is_empty() => Bound { condition: None, is_exact: true },
        None => Bound { condition: None, is_exact: false },
        Some(at) => Bound {
            condition: Some(Condition::matches(ANCESTORS, of.value(&prefix[..at + 1]))),
            is_exact: at + 1 == prefix.len(),
        },
    }
}

/// Tells whether a passage fits a filter.
pub(crate) fn fits(filter: &Filter, candidate: &Candidate<'_>) -> bool {
    let has = |attribute: &str, is_one: &dyn Fn(&str) -> bool| match candidate
        .attributes
        .get(attribute)
    {
        Some(AttributeValue::Keyword(word)) => is_one(word),
        Some(AttributeValue::Keywords(words)) => words.iter().any(|word| is_one(word)),
        Some(AttributeValue::Integer(_)) | None => false,
    };
    match filter {
        Filter::All => true,
        Filter::Equals { attribute, value } => has(attribute, &|word| word == value),
        Filter::AnyOf { attribute, values } => {
            has(attribute, &|word| values.iter().any(|value| value == word))
        }
        Filter::Range { attribute, from, to } => match candidate.attributes.get(attribute) {
            Some(AttributeValue::Integer(number)) => {
                from.is_none_or(|from| *number >= from) && to.is_none_or(|to| *number <= to)
            }
            _ => false,
        },
        Filter::Documents(ids) => ids.iter().any(|id| id.as_str() == candidate.document),
        Filter::DocumentPrefix(prefix) => candidate.document.starts_with(prefix),
        Filter::Passages(ids) => ids.iter().any(|id| id.as_str() == candidate.passage),
        Filter::PointerPrefix(prefix) => candidate.pointer.starts_with(prefix),
        Filter::Pointer(pointer) => candidate.pointer == pointer,
        Filter::And(parts) => parts.iter().all(|part| fits(part, candidate)),
        Filter::Or(parts) => parts.iter().any(|part| fits(part, candidate)),
        Filter::Not(part) => !fits(part, candidate),
    }
}
