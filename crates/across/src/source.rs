//! What a family gives to a question over everything.

use model::{Caller, Deadline, Score, Warning};
use serde_json::Value;

use crate::Result;

/// One thing that a family found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The family's own key; opaque to everyone else.
    pub key: String,
    /// What a person calls it.
    pub title: String,
    /// What it says, unredacted.
    pub snippet: String,
    /// Where in it.
    pub pointer: Option<String>,
    /// Calibrated relevance.
    pub score: Score,
    /// Why it was found; null when the family does not say.
    pub explanation: Value,
}

/// What a family found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundIn {
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
}

/// The whole of a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// What a person calls it.
    pub title: String,
    /// Its text, unredacted.
    pub text: String,
    /// What else is known.
    pub metadata: Value,
}

/// Whether results of a family that say the same are one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// What says the same is the same.
    ByContent,
    /// Each stands for itself: two places of one name are two places.
    Never,
}

/// A family, as far as a question over everything needs it.
///
/// Both methods see only what the caller may see; they block, and a source that fails gives a
/// warning instead of hits, so that the others still answer.
pub trait Source: Send + Sync {
    /// Gives the family's name in answers and ids.
    fn name(&self) -> &'static str;

    /// Finds up to `limit` things.
    fn search(&self, caller: &Caller, query: &str, limit: usize, deadline: &Deadline) -> FoundIn;

    /// Gives a thing by its key, or nothing when it is gone or the caller may not see it.
    fn fetch(&self, caller: &Caller, key: &str) -> Option<Fetched>;

    /// Gives a thing by its key, telling a family that fails from a thing that is not there.
    ///
    /// Fails when the family does.
    fn try_fetch(&self, caller: &Caller, key: &str) -> Result<Option<Fetched>> {
        Ok(self.fetch(caller, key))
    }

    /// Tells whether results that say the same are one result.
    fn folding(&self) -> Folding {
        Folding::ByContent
    }
}
