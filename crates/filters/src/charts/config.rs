//! The `[charts]` table of `dowse.toml`.

use std::collections::BTreeMap;

use model::Access;
use serde::{Deserialize, Serialize};

/// Where the facts are, and how long charts are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartsConfig {
    /// The fact table: `.csv`, `.tsv`, `.json`, `.jsonl`, `.parquet` or `postgres://…#TABLE`.
    pub source: String,
    /// Which column means what.
    pub columns: ChartColumns,
    /// Inhabitants by unit and year, for `per_capita`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<String>,
    /// Currency units for one euro by period, for `*_euro`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<String>,
    /// The currency of amounts.
    #[serde(default = "default_currency")]
    pub currency: String,
    /// Days after which a chart is forgotten.
    #[serde(default = "default_keep_days")]
    pub keep_days: u32,
    /// Who may make and see charts.
    #[serde(default, skip_serializing_if = "Access::is_everyone")]
    pub allow: Access,
}

/// The columns of the fact table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartColumns {
    /// `2024`, `2024-03`, `2024-Q1` or a date.
    pub period: String,
    /// `ch` for spending, `vn` for revenue.
    pub account: String,
    /// What is added up.
    pub amount: String,
    /// The institution's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// The unit's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uat: Option<String>,
    /// The county's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// The code by function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functional: Option<String>,
    /// The code by nature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub economic: Option<String>,
    /// The columns of other dimensions, each by its category.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dimensions: BTreeMap<String, String>,
}

fn default_currency() -> String {
    "RON".to_owned()
}

fn default_keep_days() -> u32 {
    crate::charts::DEFAULT_KEEP_DAYS
}
