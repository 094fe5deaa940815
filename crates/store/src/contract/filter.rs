//! Which passages a search may look at, decided inside the search.

use std::ops::{Bound, RangeInclusive};

use model::{DocumentId, PassageId};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::limits::{self, within};

/// A condition on a passage and the document it belongs to.
///
/// An attribute that a document does not have fits no condition on it, so `Not` of such a
/// condition does fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Filter {
    /// Every passage.
    #[default]
    All,
    /// The keyword attribute, or one of its keywords, equals the value.
    Equals {
        /// By its name in [`crate::Document::attributes`].
        attribute: String,
        /// The value, compared as it is written.
        value: String,
    },
    /// The keyword attribute, or one of its keywords, is one of the values.
    AnyOf {
        /// By its name in [`crate::Document::attributes`].
        attribute: String,
        /// Compared as they are written; without any, nothing fits.
        values: Vec<String>,
    },
    /// The integer attribute lies in a range.
    Range {
        /// By its name in [`crate::Document::attributes`].
        attribute: String,
        /// The smallest value that fits, or nothing for no lower end.
        from: Option<i64>,
        /// The largest value that fits, or nothing for no upper end.
        to: Option<i64>,
    },
    /// The document is one of these.
    Documents(Vec<DocumentId>),
    /// The document's id starts with this text.
    DocumentPrefix(String),
    /// The passage is one of these.
    Passages(Vec<PassageId>),
    /// The passage's pointer, as it prints, starts with this text.
    PointerPrefix(String),
    /// The passage's pointer, as it prints, is exactly this text.
    Pointer(String),
    /// Every part fits; an empty list fits everything.
    And(Vec<Filter>),
    /// At least one part fits; an empty list fits nothing.
    Or(Vec<Filter>),
    /// The part does not fit.
    Not(Box<Filter>),
}

impl Filter {
    /// Makes a condition that an attribute equals a value.
    pub fn equals(attribute: impl Into<String>, value: impl Into<String>) -> Self {
        Filter::Equals { attribute: attribute.into(), value: value.into() }
    }

    /// Makes a condition that an attribute is one of some values.
    pub fn any_of<V: Into<String>>(
        attribute: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        Filter::AnyOf {
            attribute: attribute.into(),
            values: values.into_iter().map(Into::into).collect(),
        }
    }

    /// Makes a condition that an integer attribute lies between two values, both included.
    pub fn range(attribute: impl Into<String>, range: RangeInclusive<i64>) -> Self {
        let (from, to) = range.into_inner();
        Filter::Range { attribute: attribute.into(), from: Some(from), to: Some(to) }
    }

    /// Makes a condition that a JSON pointer is the given one or lies under it, by component:
    /// `/a/b` covers `/a/b` and `/a/b/0`, not `/a/bc`. The empty pointer covers everything.
    pub fn pointer_scope(pointer: &str) -> Self {
        if pointer.is_empty() {
            return Filter::All;
        }
        Filter::Or(vec![
            Filter::Pointer(pointer.to_owned()),
            Filter::PointerPrefix(format!("{pointer}/")),
        ])
    }

    /// Joins two conditions so that both have to fit.
    #[must_use]
    pub fn and(self, other: Filter) -> Self {
        match (self, other) {
            (Filter::All, filter) | (filter, Filter::All) => filter,
            (Filter::And(mut parts), Filter::And(more)) => {
                parts.extend(more);
                Filter::And(parts)
            }
            (Filter::And(mut parts), filter) => {
                parts.push(filter);
                Filter::And(parts)
            }
            (left, right) => Filter::And(vec![left, right]),
        }
    }

    /// Tells whether every passage fits whatever it is.
    pub fn is_all(&self) -> bool {
        match self {
            Filter::All => true,
            Filter::And(parts) => parts.iter().all(Filter::is_all),
            Filter::Equals { .. }
            | Filter::AnyOf { .. }
            | Filter::Range { .. }
            | Filter::Documents(_)
            | Filter::DocumentPrefix(_)
            | Filter::Passages(_)
            | Filter::PointerPrefix(_)
            | Filter::Pointer(_)
            | Filter::Or(_)
            | Filter::Not(_) => false,
        }
    }

    /// Checks that the filter stays inside the limits.
    ///
    /// # Errors
    ///
    /// [`crate::Error::TooLarge`] names the limit: depth, nodes, or values in one list.
    pub fn check(&self) -> Result<()> {
        let mut n_nodes = 0;
        self.check_below(0, &mut n_nodes)
    }

    fn check_below(&self, depth: usize, n_nodes: &mut usize) -> Result<()> {
        *n_nodes += 1;
        within("the depth of a filter", depth, limits::MAX_FILTER_DEPTH)?;
        within("the number of nodes of a filter", *n_nodes, limits::MAX_FILTER_NODES)?;
        match self {
            Filter::AnyOf { values, .. } => {
                within("the values of a filter", values.len(), limits::MAX_FILTER_VALUES)
            }
            Filter::Documents(ids) => {
                within("the documents of a filter", ids.len(), limits::MAX_FILTER_VALUES)
            }
            Filter::Passages(ids) => {
                within("the passages of a filter", ids.len(), limits::MAX_FILTER_VALUES)
            }
            Filter::And(parts) | Filter::Or(parts) => {
                parts.iter().try_for_each(|part| part.check_below(depth + 1, n_nodes))
            }
            Filter::Not(part) => part.check_below(depth + 1, n_nodes),
            Filter::All
            | Filter::Equals { .. }
            | Filter::Range { .. }
            | Filter::DocumentPrefix(_)
            | Filter::PointerPrefix(_)
            | Filter::Pointer(_) => Ok(()),
        }
    }
}

/// Gives the range of texts that start with a prefix, for engines that keep sorted texts.
pub(crate) fn prefix_range(prefix: &[u8]) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let mut end = prefix.to_vec();
    while let Some(last) = end.last_mut() {
        if *last < u8::MAX {
            *last += 1;
            return (Bound::Included(prefix.to_vec()), Bound::Excluded(end));
        }
        end.pop();
    }
    (Bound::Included(prefix.to_vec()), Bound::Unbounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn filters_have_limits() {
        let mut deep = Filter::All;
        for _ in 0..100 {
            deep = Filter::Not(Box::new(deep));
        }
        assert!(matches!(deep.check(), Err(Error::TooLarge { .. })));
        let wide = Filter::Or(vec![Filter::All; limits::MAX_FILTER_NODES + 1]);
        assert!(matches!(wide.check(), Err(Error::TooLarge { .. })));
        assert!(Filter::pointer_scope("/a").check().is_ok());
    }

    #[test]
    fn prefixes_end_before_the_next_text() {
        assert_eq!(
            prefix_range(b"ab"),
            (Bound::Included(b"ab".to_vec()), Bound::Excluded(b"ac".to_vec()))
        );
        assert_eq!(
            prefix_range(&[7, 255]),
            (Bound::Included(vec![7, 255]), Bound::Excluded(vec![8]))
        );
        assert_eq!(prefix_range(&[255]), (Bound::Included(vec![255]), Bound::Unbounded));
    }

    #[test]
    fn joining_with_everything_changes_nothing() {
        let filter = Filter::equals("ext", "pdf");
        assert_eq!(Filter::All.and(filter.clone()), filter);
        assert_eq!(filter.clone().and(Filter::All), filter);
        assert!(Filter::And(vec![]).is_all());
    }
}
