//! What a family gives to a question over everything.

use model::{Around, Caller, Chance, Deadline, Score, Warning};
use retrieve::{Given, StageTiming};
use serde::Serialize;
use serde_json::Value;

use crate::{Result, id};

/// One thing that a family found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The thing, in the family's own words: the same for every hit in it.
    pub thing: String,
    /// Where in the thing; [`Source::key`] makes the key of both.
    pub position: u32,
    /// What a person calls it.
    pub title: String,
    /// What it says, unredacted.
    pub snippet: String,
    /// What is around the snippet in its source; it is looked at and never leaves.
    pub around: Around,
    /// Where in it.
    pub pointer: Option<String>,
    /// Calibrated relevance.
    pub score: Score,
    /// Why it was found, where the family says so.
    pub explanation: Option<Explanation>,
    /// How the score moves with the number of passages that were searched; absent where it does
    /// not.
    pub chance: Option<Chance>,
    /// Other things of the family with the same content, which it gives with this one alone.
    pub same: Vec<Same>,
    /// Why there is no text of it, where it was found by its name alone.
    pub no_text: Option<String>,
}

/// A thing with the same content as another one of its family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Same {
    /// The thing, as [`Hit::thing`].
    pub thing: String,
    /// What a person calls it.
    pub title: String,
}

impl Hit {
    /// Tells whether words of the query are in it. A family that does not explain itself finds
    /// by words.
    pub(crate) fn has_words(&self) -> bool {
        match &self.explanation {
            Some(Explanation::Passage(why)) => !why.exact.is_empty() || !why.folded.is_empty(),
            Some(Explanation::Name(_) | Explanation::Cells { .. }) | None => true,
        }
    }
}

/// Why something was found, as its family says it; written as the family's own tools write it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Explanation {
    /// A passage: the stages of the search, and its words.
    Passage(model::Explanation),
    /// A name or a code.
    Name(filters::ResultExplanation),
    /// A table, or a value in it.
    Cells {
        /// The words of the question that are in it.
        matched: Vec<String>,
        /// Which part of the worth of all words they are.
        coverage: f64,
        /// Rows that have the value; absent for a table.
        #[serde(skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
    },
}

/// What a family found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceHits {
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage of its search took, in order; empty where the family has no stages.
    pub timings: Vec<StageTiming>,
    /// Set by a family that gives no more than so many of one kind, however many are asked for,
    /// where there are more: the tool that gives them all.
    pub others_by: Option<&'static str>,
    /// Whether these are the best of each kind alone, and [`Source::search_in_order`] gives the
    /// others as well.
    pub has_others: bool,
    /// How many passages were searched; 0 for a family that has none.
    pub n_passages: usize,
}

/// Which part of a thing is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The character to begin at, or the row of a table; where the hit is when absent.
    pub offset: Option<usize>,
    /// How many characters at most.
    pub max_chars: usize,
}

/// Which characters of a longer text are given, or which rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The first.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// How many there are.
    pub total: usize,
}

/// A thing, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// What a person calls it.
    pub title: String,
    /// Its text, unredacted.
    pub text: String,
    /// What is around the text in its source; it is looked at and never leaves.
    pub around: Around,
    /// Which part of its text this is; absent where the text is all there is.
    pub span: Option<Stretch>,
    /// What else is known.
    pub metadata: Value,
}

impl Fetched {
    /// Takes a part out of the text of a thing that was read whole.
    pub fn cut_to(mut self, part: &Part, at: usize) -> Self {
        let total = self.text.chars().count();
        let around =
            if total <= part.max_chars { 0 } else { at.saturating_sub(part.max_chars / 2) };
        let start = part.offset.unwrap_or(around).min(total);
        let end = (start + part.max_chars).min(total);
        let head: String = self.text.chars().take(start).collect();
        let after: String =
            self.text.chars().skip(end).take(text::REDACTION_CONTEXT_CHARS).collect();
        self.around = Around::new(text::context_before(&head), after);
        self.text = self.text.chars().skip(start).take(end - start).collect();
        self.span = Some(Stretch { start, end, total });
        self
    }
}

/// Whether results of a family that say the same are one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// What says the same is the same.
    ByContent,
    /// Each stands for itself: two places of one name are two places.
    Never,
}

/// Things of a family that a walk in a fixed order goes through, where the family has no such order
/// of its own.
const MAX_IN_ORDER: usize = 1_000;

/// A family, as far as a question over everything needs it.
///
/// All methods see only what the caller may see; they block, and a source that fails gives a
/// warning instead of hits, so that the others still answer.
pub trait Source: Send + Sync {
    /// Gives the family's name in answers and ids.
    fn name(&self) -> &'static str;

    /// The first letter of the family's ids.
    fn letter(&self) -> char;

    /// Gives the key of a place in a thing, as [`Source::fetch`] takes it.
    fn key(&self, thing: &str, position: u32) -> String;

    /// Finds the thing that a caller may see and `is_it` knows; looks at all of them.
    ///
    /// Fails when the family does.
    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>>;

    /// Finds up to `limit` things.
    fn search(&self, caller: &Caller, query: &str, limit: usize, deadline: &Deadline)
    -> SourceHits;

    /// Finds up to `limit` things that were not given, in the order of [`Given::place_of`] of
    /// their names, which never moves.
    fn search_in_order(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        let mut found = self.search(caller, query, MAX_IN_ORDER, deadline);
        if found.hits.len() >= MAX_IN_ORDER {
            let message = format!("{}: only the best {MAX_IN_ORDER} are given", self.name());
            found.warnings.push(Warning::new("walk_too_long", message));
        }
        let name = |hit: &Hit| self.walk_name(&hit.thing, hit.position);
        found.hits = in_order(found.hits, name, given, limit);
        found
    }

    /// Gives what a walk knows a place in a thing by.
    fn walk_name(&self, thing: &str, position: u32) -> String {
        let place = if self.has_many_places() { position } else { 0 };
        id::encode(self.letter(), &id::mark(self.name(), thing), place)
    }

    /// Gives a thing by its key, or nothing when it is gone or the caller may not see it.
    ///
    /// Fails when the family does.
    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>>;

    /// Tells whether one thing may be found at several places at once. Where it is not, its hit
    /// may be at another place in the next answer and is still the same hit.
    fn has_many_places(&self) -> bool {
        false
    }

    /// Tells whether results that say the same are one result.
    fn folding(&self) -> Folding {
        Folding::ByContent
    }
}

/// Takes the first hits in the order of [`Given::place_of`] of their names that were not given.
pub(crate) fn in_order(
    mut hits: Vec<Hit>,
    name: impl Fn(&Hit) -> String,
    given: &Given,
    limit: usize,
) -> Vec<Hit> {
    hits.retain(|hit| !given.holds(&name(hit)));
    hits.sort_by_cached_key(|hit| Given::place_of(&name(hit)));
    hits.truncate(limit);
    hits
}
