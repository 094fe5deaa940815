//! What an engine is asked, checked the same way by all of them before anything is searched.

use model::{NamespaceId, PassageId};

use super::filter::Filter;
use super::manifest::VectorSpace;
use super::words::WordsQuery;
use crate::Result;
use crate::bounds::unit_vector;
use crate::limits::{self, within};

/// A search by words.
#[derive(Debug, Clone, Copy)]
pub struct ByWords<'a> {
    /// The clauses, each with its weight.
    pub query: &'a WordsQuery,
    /// The most candidates.
    pub limit: usize,
}

/// A search by vector.
#[derive(Debug, Clone, Copy)]
pub struct ByVector<'a> {
    /// The query's vector, of any length but zero.
    pub vector: &'a [f32],
    /// The most candidates.
    pub limit: usize,
}

/// A search by words, by vector or by both, over the passages that fit one filter.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Nothing where vectors alone are asked.
    pub by_words: Option<ByWords<'a>>,
    /// Nothing where words alone are asked.
    pub by_vector: Option<ByVector<'a>>,
    /// What passages have to fit.
    pub filter: &'a Filter,
}

impl Search<'_> {
    /// Checks the bounds.
    ///
    /// # Errors
    ///
    /// [`crate::Error::TooLarge`] names what is over its limit.
    pub fn check(&self) -> Result<()> {
        self.filter.check()?;
        check_limit(self.by_words.map_or(0, |words| words.limit))?;
        check_limit(self.by_vector.map_or(0, |near| near.limit))?;
        self.by_words.map_or(Ok(()), |words| words.query.check())
    }
}

/// Checks the number of candidates that are asked for.
pub(crate) fn check_limit(received: usize) -> Result<()> {
    within("the number of candidates", received, limits::MAX_CANDIDATES)
}

/// Gives the query's vector with length 1.
///
/// # Errors
///
/// When the namespace has no vectors or others than these, or the vector has no direction.
pub fn question_of(
    namespace: &NamespaceId,
    vector: &[f32],
    space: Option<&VectorSpace>,
) -> Result<Vec<f32>> {
    unit_vector(namespace, space, &PassageId::new("query"), vector)
}
