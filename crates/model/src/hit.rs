//! A ranked result that can say why it is where it is.

use serde::Serialize;

use crate::{DocumentId, NamespaceId, PassageId, Score};

/// A step of the read path that gives a rank and a score of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Knowledge bases and collections by their summaries.
    Atlas,
    /// BM25 over words.
    Sparse,
    /// Nearest vectors.
    Dense,
    /// Reciprocal rank fusion, divided by its theoretical maximum.
    Rrf,
    /// BM25 over the candidates.
    Bm25,
    /// Late interaction: the tokens of query and passage.
    LateInteraction,
    /// What a cross-encoder said; absent where none has read the passage.
    CrossEncoder,
}

/// What one stage thought of one hit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageScore {
    /// Whose order and score these are; [`Explanation::stage`] looks a score up by it.
    pub stage: Stage,
    /// The position in the stage's own order, from 1.
    pub rank: u32,
    /// The stage's own score, 0 to 1; comparable only inside the stage.
    pub score: f64,
    /// The figure before it was brought to 0 to 1, where that differs: BM25, a cosine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<f64>,
}

/// Why a hit was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Every stage that saw the hit, in pipeline order.
    pub stages: Vec<StageScore>,
    /// Words of the query that are in the passage in the same spelling.
    pub exact: Vec<String>,
    /// Words that match after folding or stemming, as `query → index term`.
    pub folded: Vec<String>,
    /// How much of the score may be owed to chance; it is looked at and never leaves.
    #[serde(skip)]
    pub chance: Option<Chance>,
}

/// How a score moves with the number of passages that were searched: the more there are, the
/// nearer the nearest of them comes by chance. Absent where words alone were looked at, or where
/// all words of the query are in the passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// The score's logit.
    pub logit: f64,
    /// What the logit gains, at most 0, for each unit of ln(1 + passages).
    pub slope: f64,
    /// ln(1 + passages) of the namespace that the score was made for.
    pub ln_passages: f64,
}

impl Explanation {
    /// Gives the score of a stage, or nothing when the stage did not run or did not see the hit.
    pub fn stage(&self, stage: Stage) -> Option<f64> {
        self.stages.iter().find(|entry| entry.stage == stage).map(|entry| entry.score)
    }
}

/// One ranked passage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// Where it is kept.
    pub namespace: NamespaceId,
    /// The document it belongs to.
    pub document: DocumentId,
    /// Under which the store has it.
    pub passage: PassageId,
    /// Calibrated relevance after the last stage.
    pub score: Score,
    /// What each stage thought.
    pub explanation: Explanation,
}
