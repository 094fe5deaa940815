//! How much a word counts: rare words tell names apart, kind words hardly do.
//!
//! All numbers that shape the score are here. They were set on Romanian registers and hold
//! for data they were not set on: `bench` measures both.

use crate::words::Nature;

/// The weight of a kind word inside a name: `COMUNA ALBAC` is hardly more than `ALBAC`.
const KIND_IN_NAME: f32 = 0.08;

/// The weight of a kind word inside a query: who says `primăria` means no county council.
const KIND_IN_QUERY: f32 = 0.35;

/// The weight of glue, anywhere.
const GLUE: f32 = 0.04;

/// The weight that the commonest plain word keeps inside a name: `SCOALA BARSA` is not `BARSA`.
const LEAST_PLAIN_IN_NAME: f32 = 0.35;

/// The weight that the commonest plain word keeps inside a query.
const LEAST_PLAIN_IN_QUERY: f32 = 0.15;

/// A name must cover this share of the query's weight to be a candidate.
pub(crate) const LEAST_QUERY_COVERAGE: f32 = 0.5;

/// Matches below this are noise and are not given.
pub const LEAST_SCORE: f32 = 0.55;

/// What a match of every query word is worth when the name says much more.
const CONTAINED: f32 = 0.70;

/// What the share of the name that the query covers adds to it.
const COVERED: f32 = 0.28;

/// How soon covering more of the name stops to matter.
const COVERED_CURVE: f32 = 0.6;

/// Gives the weight of a word inside a name, from how many of the names hold it.
pub(crate) fn in_name(nature: Nature, n_holding: u32, n_names: u32) -> f32 {
    match nature {
        Nature::Kind => KIND_IN_NAME,
        Nature::Glue => GLUE,
        Nature::Plain => rarity(n_holding, n_names).max(LEAST_PLAIN_IN_NAME),
    }
}

/// Gives the weight of a word inside a query.
pub(crate) fn in_query(nature: Nature, n_holding: u32, n_names: u32) -> f32 {
    match nature {
        Nature::Kind => KIND_IN_QUERY,
        Nature::Glue => GLUE,
        Nature::Plain => rarity(n_holding, n_names).max(LEAST_PLAIN_IN_QUERY),
    }
}

/// Blends how much of the query and how much of the name agree.
///
/// Both are shares of weight between 0 and 1; the result is too, and grows with each.
pub(crate) fn blend(query_coverage: f32, name_coverage: f32) -> f32 {
    query_coverage * (CONTAINED + COVERED * name_coverage.powf(COVERED_CURVE))
}

fn rarity(n_holding: u32, n_names: u32) -> f32 {
    let n_names = n_names.max(2) as f32;
    let n_holding = n_holding.max(1) as f32;
    ((1.0 + n_names / n_holding).ln() / (1.0 + n_names).ln()).min(1.0)
}
