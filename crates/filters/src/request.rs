//! What a caller asks of a dimension, and its limits.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Results given when the caller names no limit.
pub const DEFAULT_LIMIT: usize = 10;

/// The most results of one lookup.
pub const MAX_LIMIT: usize = 50;

/// Names that are ranked best first; a walk goes through the others in a fixed order.
pub const MAX_RANKED: usize = lookup::MAX_MATCHES;

/// Names of one dimension that a walk goes through.
pub const MAX_WALKED: usize = 1_000_000;

/// The most characters of a query.
pub const MAX_QUERY_CHARS: usize = 500;

/// The most lookups of one batch.
pub const MAX_BATCH: usize = 100;

/// One lookup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchRequest {
    /// The dimension.
    pub category: String,
    /// A name, a part of one, an alias or a code.
    pub query: String,
    /// How many results to give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// A kind, such as `county` or `city`, that is preferred among equals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether results carry `metadata`; they do unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_metadata: Option<bool>,
    /// The language of names and contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Whether each result says why it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<bool>,
}

impl SearchRequest {
    /// Makes a request with defaults.
    pub fn new(category: impl Into<String>, query: impl Into<String>) -> Self {
        SearchRequest {
            category: category.into(),
            query: query.into(),
            limit: None,
            hint: None,
            include_metadata: None,
            locale: None,
            explain: None,
        }
    }

    /// Checks what types cannot say.
    pub fn check(&self) -> Result<()> {
        if text::is_blank(&self.query) {
            return Err(Error::QueryRequired);
        }
        let n_chars = self.query.chars().count();
        if n_chars > MAX_QUERY_CHARS {
            return Err(Error::QueryTooLong { n_chars, most: MAX_QUERY_CHARS });
        }
        match self.limit {
            Some(limit) if !(1..=MAX_LIMIT).contains(&limit) => {
                Err(Error::BadLimit { received: limit.to_string(), most: MAX_LIMIT })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Gives how many results are wanted.
    pub fn limit_or_default(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }
}
