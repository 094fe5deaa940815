//! What is answered.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{Hit, NamespaceId, Score, Span, Warning};
use serde::Serialize;
use store::StoredPassage;

use crate::snippet::{WordMatch, snippet};

/// The best window of a passage for the query, sentence-aligned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The text of the window, unredacted.
    pub text: String,
    /// Where the window is in the passage, in characters.
    pub span: Span,
    /// Where in the window the line is that is worth most to the query: its first word that was
    /// asked for, in characters.
    pub focus: usize,
    /// Where words of the query are in the window, in characters.
    pub matches: Vec<Span>,
}

/// One ranked passage with everything needed to show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Ids, score and explanation.
    pub hit: Hit,
    /// The passage itself.
    pub passage: StoredPassage,
    /// The words of the query in the passage.
    pub(crate) matches: Vec<WordMatch>,
}

impl Ranked {
    /// Cuts the window to show. It is cut when asked for, since callers look at more than they
    /// show, to tell copies apart.
    pub fn snippet(&self) -> Snippet {
        snippet(&self.matches, &self.passage.passage.text)
    }
}

/// How many hits there are in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The number.
    pub n: usize,
    /// Whether it is exact, or at least this many.
    pub is_exact: bool,
}

/// What a stage took, or why it did not run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTiming {
    /// Its name in answers, such as `sparse` or `rrf`.
    pub stage: &'static str,
    /// How long it took.
    pub took: Duration,
    /// Why it was skipped, where it was.
    pub skipped: Option<String>,
}

impl StageTiming {
    /// Tells what a stage took that has just ended.
    pub fn since(stage: &'static str, begun: Instant) -> Self {
        StageTiming { stage, took: begun.elapsed(), skipped: None }
    }

    /// Gives what it took in milliseconds, to the microsecond.
    pub fn millis(&self) -> f64 {
        (self.took.as_secs_f64() * 1e6).round() / 1e3
    }
}

/// What part of the passages can be found by vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Passages that can be found by words.
    pub n_passages: usize,
    /// Passages that can be found by vector too.
    pub n_vectors: usize,
}

impl Coverage {
    /// Gives what some namespaces have together.
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Coverage>) -> Coverage {
        parts.into_iter().fold(Coverage::default(), |sum, part| Coverage {
            n_passages: sum.n_passages + part.n_passages,
            n_vectors: sum.n_vectors + part.n_vectors,
        })
    }
}

/// What a threshold left nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BestBelow {
    /// The best score that the threshold dropped.
    pub score: Score,
    /// How many hits it dropped.
    pub n_dropped: usize,
}

impl BestBelow {
    /// Gives the highest threshold with two digits that would let the best one through: what a
    /// next call asks for.
    pub fn threshold(self) -> f64 {
        (self.score.get() * 100.0).floor() / 100.0
    }
}

/// The answer to a search.
#[derive(Debug, Clone)]
pub struct Response {
    /// Hits, best first.
    pub hits: Vec<Ranked>,
    /// How many there are in all.
    pub total: Total,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage took, in order.
    pub timings: Vec<StageTiming>,
    /// What the whole search took.
    pub took: Duration,
    /// What part has vectors.
    pub coverage: Coverage,
    /// The same for each namespace: one that is searched in several parts counts once.
    pub covered: BTreeMap<NamespaceId, Coverage>,
    /// Of a page in a fixed order: the place up to which candidates were looked at, where others are
    /// behind it.
    pub looked_to: Option<u64>,
    /// Of a page by rank: whether candidates are behind those that were judged, of which a threshold
    /// may keep some.
    pub has_unjudged: bool,
    /// Set when there are no hits because the threshold dropped them all.
    pub best_below: Option<BestBelow>,
    /// The words that were searched for in the place of those that were typed, where these were
    /// found nowhere.
    pub corrected: Option<String>,
}

impl Response {
    /// Gives how long all stages took together, in milliseconds.
    pub(crate) fn whole_ms(&self) -> f64 {
        self.took.as_secs_f64() * 1_000.0
    }
}
