//! What a dimension holds, and what a lookup asks and gives.

use model::Score;
use serde::Serialize;

/// The position of an entry in the list an index was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EntryIdx(pub u32);

/// One thing that can be looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The machine's value; looked up as it is.
    pub value: String,
    /// A hierarchical code such as `70.11.01`, where the dimension has codes.
    pub code: Option<String>,
    /// Official names, the default one first.
    pub names: Vec<Name>,
    /// Other names, keywords and abbreviations, in any language.
    pub aliases: Vec<String>,
    /// Words that a hint can speak of: the kind, the place, the level.
    pub traits: Vec<String>,
}

/// An official name in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The language, or nothing when the dimension has one only.
    pub locale: Option<String>,
    /// As people read it, with its diacritics.
    pub text: String,
}

/// One question to an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// A name, a part of one, an alias, a code or a value.
    pub text: &'a str,
    /// The language whose names win among equals.
    pub locale: Option<&'a str>,
    /// A kind, such as `county`, that raises entries of that kind a little.
    pub hint: Option<&'a str>,
    /// How many matches to give; the total is counted beyond it.
    pub limit: usize,
}

/// The ranked answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Best first; each entry once. Ties are in the order of name and value.
    pub matches: Vec<Match>,
    /// How many entries matched in all; a lower bound when `is_total_exact` is false.
    pub n_total: usize,
    /// Whether every match was counted.
    pub is_total_exact: bool,
    /// Whether letters gave nothing sure, so that vectors were asked where the index has them.
    pub wanted_meaning: bool,
    /// Why vectors were asked for and could not be used.
    pub vectors_failed: Option<String>,
}

/// One matching entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its place in [`crate::Index`].
    pub entry: EntryIdx,
    /// Calibrated relevance.
    pub score: Score,
    /// The name, alias, code or value that matched, as it is written in the dimension.
    pub matched: String,
    /// In which way it matched.
    pub how: How,
    /// Whether a word of the query is a slip away from the name's, or only begins it.
    pub is_misspelt: bool,
    /// pg_trgm's similarity of the folded query and the folded matched text.
    pub trigram_similarity: f64,
}

/// The way in which an entry matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The value itself.
    Value,
    /// The code, or one under it.
    Code,
    /// The whole name, letter for letter but for case.
    Exact,
    /// The whole name but for diacritics, punctuation or orthography.
    Folded,
    /// Words of the name.
    Words,
    /// No letters in common worth the name: the vectors are near.
    // What answers call it: agents read this word.
    #[serde(rename = "meaning")]
    Semantic,
}
