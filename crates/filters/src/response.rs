//! What a caller gets: the shapes of `search_filters`.

use lookup::How;
use model::{Score, Warning};
use serde::Serialize;
use serde_json::{Map, Value};

/// The answer to one lookup.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResponse {
    /// True; an error has its own shape.
    pub ok: bool,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// The first result, when it is sure enough to be taken without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_match: Option<SearchResult>,
    /// How many entries matched, given or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<usize>,
    /// What went less than perfectly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// One value that can go into a filter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// The name, in the language asked for.
    pub name: String,
    /// The dimension.
    pub category: String,
    /// What tells it from others of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Calibrated relevance.
    pub score: Score,
    /// The field of analytics filters.
    pub filter_key: String,
    /// The value for that field.
    pub filter_value: String,
    /// Details of the category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Why it was found, when asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ResultExplanation>,
}

/// Why a result was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultExplanation {
    /// The name, alias, code or value that matched.
    pub matched: String,
    /// In which way.
    pub how: How,
    /// pg_trgm's similarity of the folded texts.
    pub trigram_similarity: f64,
}
