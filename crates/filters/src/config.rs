//! Dimensions as configuration: the `[filters]` and `[[dimensions]]` tables of `dowse.toml`.
//!
//! Categories are data. The four that an analytics server of public finance has come with
//! defaults for contexts and level names; any other dimension says what it needs.

use std::collections::BTreeMap;

use model::Access;
use serde::{Deserialize, Serialize};

use crate::classification::CODE_PLACES;
use crate::template;

/// When a match is sure enough to be taken without asking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FiltersConfig {
    /// The score that the best match must reach.
    pub best_match_threshold: f64,
    /// By how much it must lead the second; a misspelt name must lead by twice as much.
    pub best_match_margin: f64,
}

impl Default for FiltersConfig {
    fn default() -> Self {
        FiltersConfig { best_match_threshold: 0.85, best_match_margin: 0.05 }
    }
}

impl FiltersConfig {
    /// Tells whether the best of two scores can be taken without asking, where the best must lead
    /// by so much.
    ///
    /// Rounded scores are compared, so that what is shown explains what was decided; two equal
    /// scores are always ambiguous.
    pub fn is_sure(&self, best: f64, second: f64, needed: f64) -> bool {
        let round = |score: f64| (score * 10_000.0).round();
        let lead = round(best) - round(second);
        best >= self.best_match_threshold && lead > 0.0 && lead >= round(needed)
    }
}

/// One dimension: where its entries are, and which column means what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DimensionConfig {
    /// The name by which callers ask for it.
    pub category: String,
    /// A file (`.csv`, `.tsv`, `.json`, `.jsonl`, `.parquet`) relative to the configuration, or
    /// `postgres://…#TABLE`.
    pub source: String,
    /// Where the lookup is done, for a PostgreSQL source.
    #[serde(default, skip_serializing_if = "Engine::is_memory")]
    pub engine: Engine,
    /// The column that becomes `filterValue`; the code column when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The column with hierarchical codes: `70.` is a prefix, `70.11.01` exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The field of analytics filters that takes the value.
    pub filter_key: FilterKeyConfig,
    /// The column of the name, or one for each locale.
    pub name: PerLocale,
    /// The column with `;`-separated alternative names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<String>,
    /// A template such as `County: {county_code}`, or one for each locale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PerLocale>,
    /// Fields of `metadata` and the columns they come from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Names of the levels of codes, from the top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// What the dimension holds, for people and agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who may use it.
    #[serde(default, skip_serializing_if = "Access::is_everyone")]
    pub allow: Access,
}

/// Where lookups of a dimension are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// In the memory of this server.
    #[default]
    Memory,
    /// In PostgreSQL, by pg_trgm and unaccent, for data that changes or is too large.
    Postgres,
}

impl Engine {
    fn is_memory(&self) -> bool {
        *self == Engine::Memory
    }
}

/// One filter key, or one for prefixes and one for exact codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FilterKeyConfig {
    /// The same key for every entry.
    One(String),
    /// By whether the code ends in a dot.
    ByKind {
        /// The key for codes that end in a dot.
        prefix: String,
        /// The key for all others.
        exact: String,
    },
}

impl FilterKeyConfig {
    /// Tells whether a filter key is one of these.
    pub fn holds(&self, key: &str) -> bool {
        match self {
            FilterKeyConfig::One(one) => one == key,
            FilterKeyConfig::ByKind { prefix, exact } => prefix == key || exact == key,
        }
    }
}

/// One text for all languages, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerLocale {
    /// The same for all.
    One(String),
    /// By locale; the first in the alphabet that is not English is the default.
    Each(BTreeMap<String, String>),
}

impl PerLocale {
    /// Gives locale and text pairs, the default first.
    pub fn pairs(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            PerLocale::One(text) => vec![(None, text)],
            PerLocale::Each(texts) => {
                let mut pairs: Vec<(Option<&str>, &str)> = texts
                    .iter()
                    .map(|(locale, text)| (Some(locale.as_str()), text.as_str()))
                    .collect();
                // English is the fallback of most data, never its own language.
                pairs.sort_by_key(|(locale, _)| (*locale == Some("en"), *locale));
                pairs
            }
        }
    }

    /// Gives the text for a locale, or the default.
    pub fn get(&self, locale: Option<&str>) -> &str {
        let pairs = self.pairs();
        let wanted = pairs.iter().find(|(of, _)| of.is_some() && *of == locale);
        wanted.or(pairs.first()).map_or("", |(_, text)| text)
    }
}

impl DimensionConfig {
    /// Gives the names of code levels: those configured, or the defaults of the category.
    pub fn level_names(&self) -> Vec<String> {
        if !self.levels.is_empty() {
            return self.levels.clone();
        }
        let names: &[&str] = match self.category.as_str() {
            "economic_classification" => &["Chapter", "Paragraph", "Subparagraph"],
            _ => &["Chapter", "Subchapter", "Paragraph"],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Gives every column that the configuration names, each once.
    pub fn columns(&self) -> Vec<String> {
        let mut columns: Vec<&str> = Vec::new();
        columns.extend(self.value.as_deref());
        columns.extend(self.code.as_deref());
        columns.extend(self.name.pairs().into_iter().map(|(_, column)| column));
        columns.extend(self.aliases.as_deref());
        columns.extend(self.metadata.values().map(String::as_str));
        for (_, template) in self.context.iter().flat_map(PerLocale::pairs) {
            let places = template::places(template).into_iter();
            let is_own = |place: &&str| {
                self.code.is_some() && CODE_PLACES.contains(place) || *place == "name"
            };
            columns.extend(places.filter(|place| !is_own(place)));
        }
        let mut named: Vec<String> = Vec::new();
        for column in columns {
            if named.iter().all(|known| known != column) {
                named.push(column.to_owned());
            }
        }
        named
    }

    /// Gives the context template: the one configured, or the default of the category.
    pub fn context_template(&self, locale: Option<&str>) -> &str {
        if let Some(context) = &self.context {
            return context.get(locale);
        }
        match (self.category.as_str(), self.code.is_some()) {
            ("functional_classification", true) => FUNCTIONAL_CONTEXT,
            ("economic_classification", true) => ECONOMIC_CONTEXT,
            (_, true) => CODE_CONTEXT,
            (_, false) => "",
        }
    }
}

const FUNCTIONAL_CONTEXT: &str = "COFOG: {code} | Chapter: {chapter_code} {chapter_name} | Subchapter: {subchapter_code} {subchapter_name}";
const ECONOMIC_CONTEXT: &str = "Economic: {code} | Chapter: {chapter_code} {chapter_name} | Subchapter: {subchapter_code} {subchapter_name}";
const CODE_CONTEXT: &str = "Code: {code} | Chapter: {chapter_code} {chapter_name} | Subchapter: {subchapter_code} {subchapter_name}";
